/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"

struct image {
	uint8_t *bytes;
	size_t size;
};

/* Copies out of the image; whatever lies there has no alignment. */
static void take(const struct image *image, size_t offset, void *to, size_t bytes)
{
	assert_true(offset <= image->size && bytes <= image->size - offset);
	memcpy(to, image->bytes + offset, bytes);
}

static Elf32_Shdr section(const struct image *image, const Elf32_Ehdr *header, uint32_t index)
{
	Elf32_Shdr found;

	assert_true(index < header->e_shnum);
	take(image, header->e_shoff + index * sizeof(found), &found, sizeof(found));
	return found;
}

static bool is_name(const struct image *image, size_t offset, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	return offset <= image->size && bytes <= image->size - offset &&
	       memcmp(image->bytes + offset, name, bytes) == 0;
}

/* Where a function's code is in the MCU's memory. */
static uint32_t function_address(const struct image *image, const Elf32_Ehdr *header, const char *name)
{
	for (uint32_t s = 0; s < header->e_shnum; s++) {
		const Elf32_Shdr table = section(image, header, s);

		if (table.sh_type != SHT_SYMTAB)
			continue;
		for (uint32_t i = 0; i < table.sh_size / sizeof(Elf32_Sym); i++) {
			Elf32_Sym symbol;

			take(image, table.sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol));
			if (ELF32_ST_TYPE(symbol.st_info) == STT_FUNC &&
			    is_name(image, section(image, header, table.sh_link).sh_offset + symbol.st_name,
				    name))
				return symbol.st_value & ~1u; /* bit 0 says Thumb */
		}
	}
	fail_msg("the image has no function %s", name);
	return 0;
}

static size_t file_offset(const struct image *image, const Elf32_Ehdr *header, uint32_t address)
{
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		Elf32_Phdr part;

		take(image, header->e_phoff + i * sizeof(part), &part, sizeof(part));
		if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return part.p_offset + (address - part.p_vaddr);
	}
	fail_msg("the image does not load 0x%08x", (unsigned)address);
	return 0;
}

uint32_t e2e_image_write(const char *path, const char *function, uint16_t instruction)
{
	static struct e2e_output output;
	const uint8_t code[] = {instruction & 0xffu, (uint8_t)(instruction >> 8)};
	struct image image;
	Elf32_Ehdr header;
	uint32_t address;
	size_t offset;

	image.bytes = e2e_read_file(E2E_IMAGE, &image.size);
	take(&image, 0, &header, sizeof(header));
	assert_memory_equal(header.e_ident, ELFMAG "\x01\x01", SELFMAG + 2); /* 32 bits, little-endian */
	address = function_address(&image, &header, function);
	offset = file_offset(&image, &header, address);
	assert_true(offset + sizeof(code) <= image.size);
	memcpy(image.bytes + offset, code, sizeof(code));
	e2e_write_file(path, image.bytes, image.size);
	free(image.bytes);
	e2e_collect(e2e_spawn(E2E_SEAL, E2E_ARGUMENT_LIST(path), NULL), &output);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	return address;
}
