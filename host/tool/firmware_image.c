/* SPDX-License-Identifier: MIT */
#include "host/tool/firmware_image.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Formats a defect. @return false, for the caller to return */
__attribute__((format(printf, 2, 3))) static bool wrong(char *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, PB_FIRMWARE_IMAGE_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return false;
}

/* ---- contents of the file ---- */

struct file {
	const uint8_t *data;
	size_t bytes;
};

static bool inside(const struct file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->bytes && bytes <= file->bytes - offset;
}

/* The loaded parts of an ELF file: its program headers, and the bounds of the addresses. */
struct parts {
	bool wide; /* 64 bits */
	uint64_t table;
	uint32_t count;
	uint32_t start;
	uint64_t end;
};

/* One loaded part. */
struct part {
	uint64_t offset;
	uint64_t address;
	uint64_t bytes;
};

static size_t entry_bytes(const struct parts *parts)
{
	return parts->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
}

/* Reads a program header. @return true: it describes a loaded part */
static bool read_part(const struct file *file, const struct parts *parts, uint32_t index, struct part *part)
{
	const uint8_t *entry = file->data + parts->table + index * entry_bytes(parts);
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (parts->wide) {
		memcpy(&wide, entry, sizeof(wide));
		*part = (struct part){wide.p_offset, wide.p_paddr, wide.p_filesz};
		return wide.p_type == PT_LOAD && part->bytes != 0;
	}
	memcpy(&narrow, entry, sizeof(narrow));
	*part = (struct part){narrow.p_offset, narrow.p_paddr, narrow.p_filesz};
	return narrow.p_type == PT_LOAD && part->bytes != 0;
}

static bool read_elf_header(const struct file *file, struct parts *parts, char *text)
{
	static const uint8_t kind[] = {0x7f, 'E', 'L', 'F'};
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;
	uint32_t entry;

	parts->wide = file->bytes > EI_CLASS && file->data[EI_CLASS] == ELFCLASS64;
	if (!inside(file, 0, parts->wide ? sizeof(wide) : sizeof(narrow)) ||
	    memcmp(file->data, kind, sizeof(kind)) != 0 || file->data[EI_DATA] != ELFDATA2LSB ||
	    (!parts->wide && file->data[EI_CLASS] != ELFCLASS32))
		return wrong(text, "the file is no complete little-endian ELF file");
	if (parts->wide) {
		memcpy(&wide, file->data, sizeof(wide));
		parts->table = wide.e_phoff;
		parts->count = wide.e_phnum;
		entry = wide.e_phentsize;
	} else {
		memcpy(&narrow, file->data, sizeof(narrow));
		parts->table = narrow.e_phoff;
		parts->count = narrow.e_phnum;
		entry = narrow.e_phentsize;
	}
	if (entry != entry_bytes(parts) || !inside(file, parts->table, (uint64_t)parts->count * entry))
		return wrong(text, "the ELF file's program headers lie outside the file");
	return true;
}

static bool find_bounds(const struct file *file, struct parts *parts, char *text)
{
	struct part part;

	parts->start = UINT32_MAX;
	for (uint32_t i = 0; i < parts->count; i++) {
		if (!read_part(file, parts, i, &part))
			continue;
		if (!inside(file, part.offset, part.bytes))
			return wrong(text, "the ELF file is cut off: part %" PRIu32 " lies outside the file",
				     i);
		if (part.address > UINT32_MAX)
			return wrong(text, "the ELF file has a part beyond 4 GiB");
		parts->start = part.address < parts->start ? (uint32_t)part.address : parts->start;
		if (part.address + part.bytes > parts->end)
			parts->end = part.address + part.bytes;
	}
	if (parts->end == 0)
		return wrong(text, "the ELF file has no part to load");
	if (parts->end - parts->start > PB_FIRMWARE_IMAGE_BYTES_MAX)
		return wrong(text, "the parts of the ELF file span more than 16 MiB");
	return true;
}

static bool allocate(struct pb_firmware_image *image, uint64_t size, char *text)
{
	image->size = (uint32_t)size;
	image->bytes = calloc(1, (size_t)size);
	return image->bytes != NULL || wrong(text, "out of memory");
}

static bool parse_elf(const struct file *file, struct pb_firmware_image *image, char *text)
{
	struct parts parts = {.end = 0};
	struct part part;

	if (!read_elf_header(file, &parts, text) || !find_bounds(file, &parts, text) ||
	    !allocate(image, parts.end - parts.start, text))
		return false;
	image->addressed = true;
	image->load_address = parts.start;
	for (uint32_t i = 0; i < parts.count; i++) {
		if (read_part(file, &parts, i, &part))
			memcpy(image->bytes + (part.address - parts.start), file->data + part.offset,
			       (size_t)part.bytes);
	}
	return true;
}

bool pb_firmware_image_parse(const uint8_t *data, size_t bytes, struct pb_firmware_image *image, char *text)
{
	const struct file file = {data, bytes};

	*image = (struct pb_firmware_image){0};
	if (bytes == 0)
		return wrong(text, "the file is empty");
	if (bytes >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0)
		return parse_elf(&file, image, text);
	if (bytes > PB_FIRMWARE_IMAGE_BYTES_MAX)
		return wrong(text, "the file is longer than 16 MiB");
	if (!allocate(image, bytes, text))
		return false;
	memcpy(image->bytes, data, bytes);
	return true;
}

/* Largest file read: debug information makes an ELF file longer than its loaded parts. */
#define FILE_BYTES_MAX (4u * PB_FIRMWARE_IMAGE_BYTES_MAX)

static bool read_all(FILE *stream, struct pb_firmware_image *image, char *text)
{
	uint8_t *data = malloc(FILE_BYTES_MAX);
	size_t bytes;
	bool read;

	if (data == NULL)
		return wrong(text, "out of memory");
	bytes = fread(data, 1, FILE_BYTES_MAX, stream);
	read = ferror(stream) == 0 || wrong(text, "%s", strerror(errno));
	read = read && pb_firmware_image_parse(data, bytes, image, text);
	free(data);
	return read;
}

bool pb_firmware_image_read(const char *path, struct pb_firmware_image *image, char *text)
{
	FILE *stream = fopen(path, "rb");
	bool read;

	*image = (struct pb_firmware_image){0};
	if (stream == NULL)
		return wrong(text, "%s", strerror(errno));
	read = read_all(stream, image, text);
	(void)fclose(stream);
	return read;
}

void pb_firmware_image_free(struct pb_firmware_image *image)
{
	free(image->bytes);
	*image = (struct pb_firmware_image){0};
}

/* ---- the header ---- */

#define CRC_OFFSET (PB_IMAGE_HEADER_OFFSET + offsetof(struct pb_image_header, crc))

bool pb_firmware_image_header(const struct pb_firmware_image *image, struct pb_image_header *header,
			      char *text)
{
	struct pb_image_header found;

	memset(header, 0, sizeof(*header));
	if (image->size < PB_IMAGE_HEADER_OFFSET + sizeof(found))
		return wrong(text, "the image has %" PRIu32 " bytes, too few for a header", image->size);
	memcpy(&found, image->bytes + PB_IMAGE_HEADER_OFFSET, sizeof(found));
	if (found.magic != PB_IMAGE_MAGIC)
		return wrong(text, "the file is no Patchbay image: 0x%08" PRIx32 " at 0x%x instead of 0x%08x",
			     found.magic, PB_IMAGE_HEADER_OFFSET, PB_IMAGE_MAGIC);
	if (found.version != PB_IMAGE_VERSION)
		return wrong(text, "the header has version %" PRIu32 ", this program knows version %u",
			     found.version, PB_IMAGE_VERSION);
	*header = found;
	return true;
}

static uint32_t find_crc(const struct pb_firmware_image *image)
{
	static const uint8_t none[sizeof(uint32_t)];
	const uint8_t *behind = image->bytes + CRC_OFFSET + sizeof(none);
	uLong crc = crc32(0, image->bytes, CRC_OFFSET);

	crc = crc32(crc, none, sizeof(none));
	return (uint32_t)crc32(crc, behind, image->size - (uint32_t)(CRC_OFFSET + sizeof(none)));
}

static bool check_whole(const struct pb_firmware_image *image, const struct pb_image_header *header,
			char *text)
{
	uint32_t crc;

	if (header->image_bytes == 0)
		return wrong(text, "the image is not sealed; run scripts/seal after linking");
	if (header->image_bytes != image->size)
		return wrong(text, "the header has size %" PRIu32 " bytes, the image has %" PRIu32,
			     header->image_bytes, image->size);
	if (image->size % sizeof(uint32_t) != 0)
		return wrong(text, "the size, %" PRIu32 " bytes, is no multiple of 4", image->size);
	crc = find_crc(image);
	if (crc != header->crc)
		return wrong(text,
			     "the image is damaged: its CRC-32 is 0x%08" PRIx32
			     ", the header has 0x%08" PRIx32,
			     crc, header->crc);
	if (image->addressed && image->load_address != header->load_address)
		return wrong(text, "the header has load address 0x%08" PRIx32 ", the ELF file 0x%08" PRIx32,
			     header->load_address, image->load_address);
	return true;
}

/* Returns whether a name is printable, zero-terminated and not empty. */
static bool is_text(const char *text, size_t bytes)
{
	size_t length = 0;

	while (length < bytes && text[length] > ' ' && text[length] <= '~')
		length++;
	return length != 0 && length < bytes && text[length] == '\0';
}

static bool check_names(const struct pb_image_header *header, const char *board, char *text)
{
	if (!is_text(header->board, sizeof(header->board)))
		return wrong(text, "the header names no board");
	if (!is_text(header->release, sizeof(header->release)))
		return wrong(text, "the header names no release");
	if (board != NULL && strcmp(board, header->board) != 0)
		return wrong(text, "the image is for board %s, not %s", header->board, board);
	return true;
}

static bool check_interface(const struct pb_image_header *header, char *text)
{
	const uint32_t oldest = header->abi_oldest, newest = header->abi_newest;

	if (oldest > newest)
		return wrong(text, "the header has the interface range %u.%u to %u.%u", oldest >> 16,
			     oldest & 0xffffu, newest >> 16, newest & 0xffffu);
	if (PB_ABI_VERSION < oldest || PB_ABI_VERSION > newest)
		return wrong(text, "the image serves interface %u.%u to %u.%u, this program uses %u.%u",
			     oldest >> 16, oldest & 0xffffu, newest >> 16, newest & 0xffffu, PB_ABI_MAJOR,
			     PB_ABI_MINOR);
	return true;
}

bool pb_firmware_image_check(const struct pb_firmware_image *image, const struct pb_image_header *header,
			     const char *board, char *text)
{
	return check_whole(image, header, text) && check_names(header, board, text) &&
	       check_interface(header, text);
}
