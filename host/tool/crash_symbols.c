/* SPDX-License-Identifier: MIT */
#include "host/tool/crash_symbols.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/firmware_image.h"

struct pb_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct pb_firmware_image image; /* its code as loaded */
	bool arm;
};

/* Disables the search for separate debug files. */
static int find_no_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			     const char *file, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc, (void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = find_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool open_module(struct pb_symbols *symbols, const char *path)
{
	GElf_Ehdr header;
	GElf_Addr bias;

	symbols->dwfl = dwfl_begin(&callbacks);
	if (symbols->dwfl == NULL)
		return false;
	symbols->module = dwfl_report_offline(symbols->dwfl, "image", path, -1);
	if (symbols->module == NULL || dwfl_report_end(symbols->dwfl, NULL, NULL) != 0)
		return false;
	if (gelf_getehdr(dwfl_module_getelf(symbols->module, &bias), &header) == NULL)
		return false;
	symbols->arm = header.e_machine == EM_ARM;
	return true;
}

struct pb_symbols *pb_symbols_open(const char *path, char *text)
{
	struct pb_symbols *symbols = calloc(1, sizeof(*symbols));
	char why[PB_FIRMWARE_IMAGE_TEXT_BYTES];

	if (symbols == NULL) {
		snprintf(text, PB_SYMBOL_TEXT_BYTES, "out of memory");
		return NULL;
	}
	if (!pb_firmware_image_read(path, &symbols->image, why)) {
		snprintf(text, PB_SYMBOL_TEXT_BYTES, "%s", why);
	} else if (!symbols->image.addressed) {
		snprintf(text, PB_SYMBOL_TEXT_BYTES, "the file is no ELF file; symbols need one");
	} else if (!open_module(symbols, path)) {
		snprintf(text, PB_SYMBOL_TEXT_BYTES, "%s", dwfl_errmsg(-1));
	} else {
		return symbols;
	}
	pb_symbols_close(symbols);
	return NULL;
}

void pb_symbols_close(struct pb_symbols *symbols)
{
	if (symbols->dwfl != NULL)
		dwfl_end(symbols->dwfl);
	pb_firmware_image_free(&symbols->image);
	free(symbols);
}

bool pb_symbols_build_id(struct pb_symbols *symbols, uint8_t id[20])
{
	const unsigned char *bits;
	GElf_Addr address;

	if (dwfl_module_build_id(symbols->module, &bits, &address) != 20)
		return false;
	memcpy(id, bits, 20);
	return true;
}

/*
 * Finds the compilation unit that contains an address. Does not use .debug_aranges: a linker leaves an empty range
 * there for a dropped function, at which libdw stops.
 */
static Dwarf_Die *find_unit(struct pb_symbols *symbols, uint32_t address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = NULL;

	do
		unit = dwfl_module_nextcu(symbols->module, unit, bias);
	while (unit != NULL && dwarf_haspc(unit, address - *bias) != 1);
	return unit;
}

/* Finds the innermost function inlined at an address, if any. */
static void find_inlined(Dwarf_Die *unit, Dwarf_Addr address, struct pb_code_location *location)
{
	Dwarf_Die *scopes = NULL;
	const int count = dwarf_getscopes(unit, address, &scopes);

	for (int i = 0; i < count && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
		const char *name = dwarf_diename(&scopes[i]);

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine || name == NULL)
			continue;
		snprintf(location->inlined, sizeof(location->inlined), "%s", name);
		break;
	}
	free(scopes);
}

/* Returns the part of a path below the project's root. */
static const char *below_project(const char *file)
{
	static const char *const folders[] = {"/firmware/", "/hal/", "/boards/", "/tests/"};
	const char *from = file;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *found = strstr(file, folders[i]);

		if (found != NULL && from == file)
			from = found + 1;
	}
	return from;
}

static void find_line(struct pb_symbols *symbols, uint32_t address, struct pb_code_location *location)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = find_unit(symbols, address, &bias);
	Dwarf_Line *line = unit != NULL ? dwarf_getsrc_die(unit, address - bias) : NULL;
	const char *file = line != NULL ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0;

	if (file == NULL || dwarf_lineno(line, &number) != 0 || number <= 0)
		return;
	snprintf(location->file, sizeof(location->file), "%s", below_project(file));
	location->line = (uint32_t)number;
	find_inlined(unit, address - bias, location);
}

bool pb_symbols_find(struct pb_symbols *symbols, uint32_t address, struct pb_code_location *location)
{
	/* Bit 0 of a Thumb function's symbol is set. */
	const uint32_t wanted = symbols->arm ? address | 1u : address;
	const char *name;
	GElf_Off offset;
	GElf_Sym symbol;

	memset(location, 0, sizeof(*location));
	name = dwfl_module_addrinfo(symbols->module, wanted, &offset, &symbol, NULL, NULL, NULL);
	if (name == NULL || GELF_ST_TYPE(symbol.st_info) != STT_FUNC || offset >= symbol.st_size)
		return false;
	snprintf(location->function, sizeof(location->function), "%s", name);
	location->offset = (uint32_t)offset & (symbols->arm ? ~1u : ~0u);
	find_line(symbols, address, location);
	return true;
}

/* Reads a halfword of the code. @return false: the address is outside the image */
static bool halfword(const struct pb_symbols *symbols, uint32_t address, uint32_t *value)
{
	const uint32_t at = address - symbols->image.load_address;

	if (at >= symbols->image.size || symbols->image.size - at < 2u)
		return false;
	*value = symbols->image.bytes[at] | (uint32_t)symbols->image.bytes[at + 1u] << 8;
	return true;
}

/* Returns whether a Thumb call ends here: BL in two halfwords, or BLX of a register. */
static bool is_arm_call(uint32_t first, uint32_t second)
{
	return ((first & 0xf800u) == 0xf000u && (second & 0xd000u) == 0xd000u) ||
	       (second & 0xff87u) == 0x4780u;
}

/* Returns whether a RISC-V call ends here: JAL or JALR to ra, or their compressed forms. */
static bool is_riscv_call(uint32_t first, uint32_t second)
{
	const bool jumps = (first & 0xfffu) == 0x0efu || (first & 0xfffu) == 0x0e7u;

	return jumps || (second & 0xe003u) == 0x2001u || ((second & 0xf07fu) == 0x9002u && second != 0x9002u);
}

bool pb_symbols_called_from(struct pb_symbols *symbols, uint32_t *address)
{
	const uint32_t behind = *address & ~1u;
	struct pb_code_location location;
	uint32_t first, second;

	/* Return addresses in Thumb code are odd. */
	if ((*address & 1u) != (symbols->arm ? 1u : 0u) || behind < 4u)
		return false;
	if (!halfword(symbols, behind - 4u, &first) || !halfword(symbols, behind - 2u, &second))
		return false;
	if (!(symbols->arm ? is_arm_call(first, second) : is_riscv_call(first, second)))
		return false;
	*address = behind - 2u;
	return pb_symbols_find(symbols, *address, &location);
}
