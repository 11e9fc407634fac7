/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "tests/e2e/e2e_image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

struct image {
	uint8_t *bytes;
	size_t size;
};

/* Copies out of the image, where no alignment is guaranteed. */
static void copy_out(const struct image *image, size_t offset, void *to, size_t bytes)
{
	assert_true(offset <= image->size && bytes <= image->size - offset);
	memcpy(to, image->bytes + offset, bytes);
}

static bool is_64(const struct image *image)
{
	uint8_t ident[EI_NIDENT];

	copy_out(image, 0, ident, sizeof(ident));
	assert_memory_equal(ident, ELFMAG, SELFMAG);
	assert_int_equal(ident[EI_DATA], ELFDATA2LSB);
	return ident[EI_CLASS] == ELFCLASS64;
}

/* ELF has a 32-bit and a 64-bit form of each structure. These functions read either into the 64-bit form. */

static Elf64_Ehdr header_of(const struct image *image)
{
	Elf64_Ehdr wide;
	Elf32_Ehdr narrow;

	if (is_64(image)) {
		copy_out(image, 0, &wide, sizeof(wide));
		return wide;
	}
	copy_out(image, 0, &narrow, sizeof(narrow));
	return (Elf64_Ehdr){.e_machine = narrow.e_machine,
			    .e_shoff = narrow.e_shoff,
			    .e_shnum = narrow.e_shnum,
			    .e_phoff = narrow.e_phoff,
			    .e_phnum = narrow.e_phnum};
}

static Elf64_Shdr section(const struct image *image, const Elf64_Ehdr *header, uint32_t index)
{
	Elf64_Shdr wide;
	Elf32_Shdr narrow;

	assert_true(index < header->e_shnum);
	if (is_64(image)) {
		copy_out(image, header->e_shoff + index * sizeof(wide), &wide, sizeof(wide));
		return wide;
	}
	copy_out(image, header->e_shoff + index * sizeof(narrow), &narrow, sizeof(narrow));
	return (Elf64_Shdr){.sh_type = narrow.sh_type,
			    .sh_offset = narrow.sh_offset,
			    .sh_size = narrow.sh_size,
			    .sh_link = narrow.sh_link};
}

static Elf64_Sym symbol_at(const struct image *image, const Elf64_Shdr *table, size_t index)
{
	Elf64_Sym wide;
	Elf32_Sym narrow;

	if (is_64(image)) {
		copy_out(image, table->sh_offset + index * sizeof(wide), &wide, sizeof(wide));
		return wide;
	}
	copy_out(image, table->sh_offset + index * sizeof(narrow), &narrow, sizeof(narrow));
	return (Elf64_Sym){.st_name = narrow.st_name, .st_info = narrow.st_info, .st_value = narrow.st_value};
}

static Elf64_Phdr part_at(const struct image *image, const Elf64_Ehdr *header, uint32_t index)
{
	Elf64_Phdr wide;
	Elf32_Phdr narrow;

	if (is_64(image)) {
		copy_out(image, header->e_phoff + index * sizeof(wide), &wide, sizeof(wide));
		return wide;
	}
	copy_out(image, header->e_phoff + index * sizeof(narrow), &narrow, sizeof(narrow));
	return (Elf64_Phdr){.p_type = narrow.p_type,
			    .p_offset = narrow.p_offset,
			    .p_vaddr = narrow.p_vaddr,
			    .p_filesz = narrow.p_filesz};
}

static bool is_name(const struct image *image, size_t offset, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	return offset <= image->size && bytes <= image->size - offset &&
	       memcmp(image->bytes + offset, name, bytes) == 0;
}

/* The value of a symbol. Pre: the name is unique. */
static uint32_t symbol_value(const struct image *image, const Elf64_Ehdr *header, const char *name)
{
	const size_t symbol_bytes = is_64(image) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);

	for (uint32_t s = 0; s < header->e_shnum; s++) {
		const Elf64_Shdr table = section(image, header, s);

		if (table.sh_type != SHT_SYMTAB)
			continue;
		for (size_t i = 0; i < table.sh_size / symbol_bytes; i++) {
			const Elf64_Sym symbol = symbol_at(image, &table, i);

			if (is_name(image, section(image, header, table.sh_link).sh_offset + symbol.st_name,
				    name))
				return (uint32_t)symbol.st_value;
		}
	}
	fail_msg("the image has no symbol %s", name);
	return 0;
}

static size_t file_offset(const struct image *image, const Elf64_Ehdr *header, uint32_t address)
{
	for (uint32_t i = 0; i < header->e_phnum; i++) {
		const Elf64_Phdr part = part_at(image, header, i);

		if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
		    address - part.p_vaddr < part.p_filesz)
			return part.p_offset + (address - part.p_vaddr);
	}
	fail_msg("the image does not load 0x%08x", (unsigned)address);
	return 0;
}

/* The CPUs that there are images for. */
static const struct cpu {
	uint16_t machine;
	uint16_t faults, loops;
	uint32_t status;
} cpus[] = {
	/* UDF #0 and B; UFSR.UNDEFINSTR, as CFSR shows it. */
	{EM_ARM, 0xde00, 0xe7fe, 0x00010000},
	/* C.UNIMP and C.J; illegal instruction, as mcause has it. */
	{EM_RISCV, 0x0000, 0xa001, 2},
};

static const struct cpu *cpu_of(const struct image *image)
{
	const Elf64_Ehdr header = header_of(image);

	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		if (cpus[i].machine == header.e_machine)
			return &cpus[i];
	}
	fail_msg("an image for machine %d", header.e_machine);
	return NULL;
}

uint32_t e2e_image_fault_status(void)
{
	struct image image;
	uint32_t status;

	image.bytes = e2e_read_file(e2e_image(), &image.size);
	status = cpu_of(&image)->status;
	free(image.bytes);
	return status;
}

enum e2e_image_cpu e2e_image_cpu(void)
{
	struct image image;
	enum e2e_image_cpu cpu;

	image.bytes = e2e_read_file(e2e_image(), &image.size);
	cpu = cpu_of(&image)->machine == EM_ARM ? E2E_IMAGE_ARM
	      : is_64(&image)                   ? E2E_IMAGE_RISCV64
						: E2E_IMAGE_RISCV32;
	free(image.bytes);
	return cpu;
}

uint32_t e2e_image_symbol(const char *name)
{
	struct image image;
	Elf64_Ehdr header;
	uint32_t value;

	image.bytes = e2e_read_file(e2e_image(), &image.size);
	header = header_of(&image);
	value = symbol_value(&image, &header, name);
	free(image.bytes);
	return value;
}

/* Writes the image with other bytes at an address, and updates its CRC. */
static void write_changed(const char *path, const struct image *image, const Elf64_Ehdr *header,
			  uint32_t address, const void *code, size_t bytes)
{
	static struct e2e_output output;
	const size_t offset = file_offset(image, header, address);

	assert_true(offset + bytes <= image->size);
	memcpy(image->bytes + offset, code, bytes);
	e2e_write_file(path, image->bytes, image->size);
	e2e_collect(e2e_spawn(E2E_SEAL, E2E_ARGUMENT_LIST(path), NULL), &output);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
}

uint32_t e2e_image_write_at(const char *path, const char *symbol, uint32_t offset, const void *bytes,
			    size_t count)
{
	struct image image;
	Elf64_Ehdr header;
	uint32_t address;

	image.bytes = e2e_read_file(e2e_image(), &image.size);
	header = header_of(&image);
	address = symbol_value(&image, &header, symbol);
	/* Bit 0 of a function's address marks Thumb code. */
	address = (header.e_machine == EM_ARM ? address & ~1u : address) + offset;
	write_changed(path, &image, &header, address, bytes, count);
	free(image.bytes);
	return address;
}

uint32_t e2e_image_write(const char *path, const char *function, enum e2e_image_defect defect)
{
	struct image image;
	const struct cpu *cpu;
	uint16_t instruction;
	uint8_t code[2];

	image.bytes = e2e_read_file(e2e_image(), &image.size);
	cpu = cpu_of(&image);
	free(image.bytes);
	instruction = defect == E2E_IMAGE_FAULTS ? cpu->faults : cpu->loops;
	code[0] = (uint8_t)instruction;
	code[1] = (uint8_t)(instruction >> 8);
	return e2e_image_write_at(path, function, 0, code, sizeof(code));
}

void e2e_image_write_asserting(const char *path)
{
	const uint32_t pool_offset = 0x7000;
	const uint32_t offset = e2e_image_cpu() == E2E_IMAGE_RISCV64 ? 16 : 12;

	(void)e2e_image_write_at(path, "pb_emulated_card_config", offset, &pool_offset, sizeof(pool_offset));
}
