/* SPDX-License-Identifier: MIT */
/*
 * Firmware images: raw ones and ELF files, whose header and checksum are right, or nearly, or not at all.
 *
 * Aims at: host/tool/firmware_image.c
 */
#include <elf.h>
#include <string.h>
#include <zlib.h>

#include "host/tool/firmware_image.h"
#include "tests/fuzz/fuzz.h"

#define FILE_BYTES_MAX 4096u
#define CRC_OFFSET     (PB_IMAGE_HEADER_OFFSET + offsetof(struct pb_image_header, crc))

static uint8_t file[FILE_BYTES_MAX];

/** Bytes that may be an image: its header is as it should be, but for what the case changes. */
static uint32_t make_image(struct fuzz_input *input, uint8_t *image)
{
	struct pb_image_header header = {.magic = PB_IMAGE_MAGIC,
					 .version = PB_IMAGE_VERSION,
					 .abi_oldest = 0x10000,
					 .abi_newest = 0x1ffff,
					 .board = "fuzz",
					 .release = "1"};
	const uint32_t bytes = PB_IMAGE_HEADER_OFFSET + (uint32_t)sizeof(header) + 4u * fuzz_byte(input);
	const bool sealed = fuzz_byte(input) < 0xe0;
	uint32_t words[sizeof(header) / sizeof(uint32_t)];

	header.image_bytes = bytes;
	memcpy(words, &header, sizeof(words));
	for (uint32_t changes = fuzz_below(input, 4); changes != 0; changes--)
		words[fuzz_below(input, sizeof(words) / 4u)] = fuzz_number(input);
	memset(image, 0xee, bytes);
	memcpy(image + PB_IMAGE_HEADER_OFFSET, words, sizeof(words));
	if (sealed) {
		uint32_t crc;

		memset(image + CRC_OFFSET, 0, sizeof(crc));
		crc = (uint32_t)crc32(0, image, bytes);
		memcpy(image + CRC_OFFSET, &crc, sizeof(crc));
	}
	return bytes;
}

/** Where the parts of an ELF file begin, behind its headers. */
#define PARTS_OFFSET 256u

/** Two parts, each with its file offset, address and size. */
struct parts {
	uint32_t offset[2];
	uint32_t address[2];
	uint32_t bytes[2];
};

static void write_narrow(const struct parts *parts)
{
	const Elf32_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB},
				   .e_phoff = sizeof(header),
				   .e_phentsize = sizeof(Elf32_Phdr),
				   .e_phnum = 2};

	memcpy(file, &header, sizeof(header));
	for (uint32_t i = 0; i < 2; i++) {
		const Elf32_Phdr entry = {.p_type = PT_LOAD,
					  .p_offset = parts->offset[i],
					  .p_paddr = parts->address[i],
					  .p_filesz = parts->bytes[i]};

		memcpy(file + sizeof(header) + i * sizeof(entry), &entry, sizeof(entry));
	}
}

static void write_wide(const struct parts *parts)
{
	const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
				   .e_phoff = sizeof(header),
				   .e_phentsize = sizeof(Elf64_Phdr),
				   .e_phnum = 2};

	memcpy(file, &header, sizeof(header));
	for (uint32_t i = 0; i < 2; i++) {
		const Elf64_Phdr entry = {.p_type = PT_LOAD,
					  .p_offset = parts->offset[i],
					  .p_paddr = parts->address[i],
					  .p_filesz = parts->bytes[i]};

		memcpy(file + sizeof(header) + i * sizeof(entry), &entry, sizeof(entry));
	}
}

/** The same as an ELF file of two parts. @return its bytes */
static uint32_t make_elf(struct fuzz_input *input)
{
	static uint8_t image[FILE_BYTES_MAX];
	const uint32_t bytes = make_image(input, image);
	const uint32_t split = fuzz_byte(input) * 4u % bytes;
	struct parts parts = {{PARTS_OFFSET, PARTS_OFFSET + split}, {0, split}, {split, bytes - split}};

	for (uint32_t changes = fuzz_below(input, 4); changes != 0; changes--) {
		const uint32_t i = fuzz_below(input, 6);
		uint32_t *const fields[] = {parts.offset, parts.address, parts.bytes};

		fields[i / 2u][i % 2u] = fuzz_number(input);
	}
	if (fuzz_below(input, 2) == 0)
		write_narrow(&parts);
	else
		write_wide(&parts);
	memcpy(file + PARTS_OFFSET, image, bytes);
	for (uint32_t changes = fuzz_below(input, 3); changes != 0; changes--)
		file[fuzz_byte(input) % PARTS_OFFSET] = (uint8_t)fuzz_byte(input);
	return PARTS_OFFSET + bytes;
}

static uint32_t make_file(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input) % 4u;
	uint32_t bytes;

	memset(file, 0, sizeof(file));
	if (kind == 0) {
		bytes = (uint32_t)(input->left < sizeof(file) ? input->left : sizeof(file));
		fuzz_bytes(input, file, bytes);
		return bytes;
	}
	bytes = kind == 1 ? make_image(input, file) : make_elf(input);
	return fuzz_byte(input) < 0xe0 ? bytes : fuzz_number(input) % (bytes + 1u);
}

/** What was found good has every property that its header claims. */
static void check_good(const struct pb_firmware_image *image, const struct pb_image_header *header)
{
	static uint8_t copy[FILE_BYTES_MAX];

	FUZZ_CHECK(header->magic == PB_IMAGE_MAGIC && header->image_bytes == image->size);
	FUZZ_CHECK(memchr(header->board, 0, sizeof(header->board)) != NULL && header->board[0] != 0);
	FUZZ_CHECK(memchr(header->release, 0, sizeof(header->release)) != NULL);
	FUZZ_CHECK(!image->addressed || image->load_address == header->load_address);
	if (image->size > sizeof(copy))
		return;
	memcpy(copy, image->bytes, image->size);
	memset(copy + CRC_OFFSET, 0, sizeof(uint32_t));
	FUZZ_CHECK((uint32_t)crc32(0, copy, image->size) == header->crc);
}

void fuzz_one(struct fuzz_input *input)
{
	const uint32_t bytes = make_file(input);
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES] = "";
	struct pb_firmware_image image;
	struct pb_image_header header;

	if (!pb_firmware_image_parse(file, bytes, &image, text)) {
		FUZZ_CHECK(text[0] != 0 && image.bytes == NULL);
		return;
	}
	if (pb_firmware_image_header(&image, &header, text)) {
		if (pb_firmware_image_check(&image, &header, NULL, text))
			check_good(&image, &header);
		else
			FUZZ_CHECK(text[0] != 0);
	}
	pb_firmware_image_free(&image);
}
