/* SPDX-License-Identifier: MIT */
#include "host/tool/crash_core.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

#include "patchbay/abi/boot.h"

/* The bit of xPSR that says Thumb. An M-profile CPU has no other state; a record of an assertion may lack it. */
#define XPSR_THUMB (1u << 24)
/* Words of general registers in a note: r0 to r15, psr, and one that Linux has; pc and x1 to x31. */
#define ARM_REGISTERS   18u
#define RISCV_REGISTERS 32u
/* Where registers begin in a note of 32 and of 64 bits, what follows them, and where its signal is (Linux's elf_prstatus). */
#define REGISTERS_AT_32 72u
#define REGISTERS_AT_64 112u
#define BEHIND_32       4u
#define BEHIND_64       8u
#define SIGNAL_AT       12u
#define PROCESS_AT_32   24u
#define PROCESS_AT_64   32u
/*
 * gdb reads the stack in lines of this size. A line whose first byte is not in the core counts as zeros, all of it. So the
 * core begins with the line of the stack pointer; nothing is alive below that.
 */
#define LINE_BYTES 64u
/* The largest note: RV64. */
#define NOTE_BYTES_MAX (REGISTERS_AT_64 + 8u * RISCV_REGISTERS + BEHIND_64)

/* Parts of a core: the note, and the stack. */
#define PROGRAMS 2u

/* What differs among CPUs. */
struct layout {
	uint16_t machine; /* e_machine */
	uint32_t flags;   /* e_flags */
	bool wide;        /* ELF64 */
	uint32_t registers;
};

static struct layout layout_of(uint32_t cpu)
{
	if (cpu == PB_CRASH_CPU_ARM_M)
		return (struct layout){EM_ARM, EF_ARM_EABI_VER5, false, ARM_REGISTERS};
	return (struct layout){EM_RISCV, 0, cpu == PB_CRASH_CPU_RISCV64, RISCV_REGISTERS};
}

bool pb_crash_has_core(const struct pb_crash_record *record)
{
	return record->cpu == PB_CRASH_CPU_ARM_M || record->cpu == PB_CRASH_CPU_RISCV32 ||
	       record->cpu == PB_CRASH_CPU_RISCV64;
}

/* Stores a little-endian number. */
static void put(uint8_t *to, uint64_t value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8u * i);
}

/* Returns the signal that a process would have died of. */
static uint32_t signal_of(const struct pb_crash_record *record)
{
	return record->kind == PB_FATAL_CPU_FAULT ? SIGSEGV : SIGABRT;
}

static uint64_t register_of(const struct pb_crash_record *record, uint32_t number)
{
	if (record->cpu != PB_CRASH_CPU_ARM_M)
		return (uint64_t)record->registers_high[number] << 32 | record->registers[number];
	if (number == 15)
		return record->registers[number] & ~1u;
	return number < 16 ? record->registers[number] : number == 16 ? record->psr | XPSR_THUMB : 0;
}

/* Makes the note's contents. @param note out @return bytes */
static uint32_t make_note(const struct layout *layout, const struct pb_crash_record *record,
			  uint8_t note[NOTE_BYTES_MAX])
{
	const uint32_t word = layout->wide ? 8u : 4u;
	const uint32_t at = layout->wide ? REGISTERS_AT_64 : REGISTERS_AT_32;

	memset(note, 0, NOTE_BYTES_MAX);
	put(note, signal_of(record), 4);
	put(note + SIGNAL_AT, signal_of(record), 2);
	put(note + (layout->wide ? PROCESS_AT_64 : PROCESS_AT_32), 1, 4);
	for (uint32_t i = 0; i < layout->registers; i++)
		put(note + at + i * word, register_of(record, i), word);
	return at + layout->registers * word + (layout->wide ? BEHIND_64 : BEHIND_32);
}

/* Where the parts of the file are. */
struct parts {
	uint32_t note_at, note_bytes;   /* with its header */
	uint32_t stack_at, stack_bytes; /* with the zeros in front */
	uint32_t below;                 /* how many of these there are */
};

static void fill_ident(unsigned char *ident, bool wide)
{
	memset(ident, 0, EI_NIDENT);
	ident[EI_MAG0] = ELFMAG0;
	ident[EI_MAG1] = ELFMAG1;
	ident[EI_MAG2] = ELFMAG2;
	ident[EI_MAG3] = ELFMAG3;
	ident[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	ident[EI_DATA] = ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
}

/* Writes the headers of a 32-bit file: those of a 64-bit one, whose fields have other sizes and places. */
static bool write_narrow(FILE *file, const Elf64_Ehdr *wide, const Elf64_Phdr programs[PROGRAMS])
{
	Elf32_Ehdr header = {.e_type = wide->e_type,
			     .e_machine = wide->e_machine,
			     .e_version = wide->e_version,
			     .e_phoff = sizeof(header),
			     .e_flags = wide->e_flags,
			     .e_ehsize = sizeof(header),
			     .e_phentsize = sizeof(Elf32_Phdr),
			     .e_phnum = wide->e_phnum};

	fill_ident(header.e_ident, false);
	if (fwrite(&header, sizeof(header), 1, file) != 1)
		return false;
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		const Elf32_Phdr program = {.p_type = programs[i].p_type,
					    .p_offset = (Elf32_Off)programs[i].p_offset,
					    .p_vaddr = (Elf32_Addr)programs[i].p_vaddr,
					    .p_filesz = (Elf32_Word)programs[i].p_filesz,
					    .p_memsz = (Elf32_Word)programs[i].p_memsz,
					    .p_flags = programs[i].p_flags,
					    .p_align = (Elf32_Word)programs[i].p_align};

		if (fwrite(&program, sizeof(program), 1, file) != 1)
			return false;
	}
	return true;
}

static bool write_headers(FILE *file, const struct layout *layout, const struct pb_crash_record *record,
			  const struct parts *parts)
{
	Elf64_Ehdr header = {.e_type = ET_CORE,
			     .e_machine = layout->machine,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(header),
			     .e_flags = layout->flags,
			     .e_ehsize = sizeof(header),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = PROGRAMS};
	const Elf64_Phdr programs[PROGRAMS] = {
		{.p_type = PT_NOTE, .p_offset = parts->note_at, .p_filesz = parts->note_bytes, .p_align = 4},
		{.p_type = PT_LOAD,
		 .p_offset = parts->stack_at,
		 .p_vaddr = record->stack_address - parts->below,
		 .p_filesz = parts->stack_bytes,
		 .p_memsz = parts->stack_bytes,
		 .p_flags = PF_R | PF_W,
		 .p_align = 4}};

	if (!layout->wide)
		return write_narrow(file, &header, programs);
	fill_ident(header.e_ident, true);
	return fwrite(&header, sizeof(header), 1, file) == 1 &&
	       fwrite(programs, sizeof(programs), 1, file) == 1;
}

bool pb_crash_write_core(FILE *file, const struct pb_crash_record *record)
{
	static const char name[8] = "CORE"; /* padded to words */
	const struct layout layout = layout_of(record->cpu);
	uint8_t note[NOTE_BYTES_MAX];
	const uint32_t bytes = make_note(&layout, record, note);
	const Elf32_Nhdr header = {.n_namesz = 5, .n_descsz = bytes, .n_type = NT_PRSTATUS};
	static const uint8_t zeros[LINE_BYTES];
	struct parts parts = {.below = record->stack_address % LINE_BYTES};
	const uint32_t saved = record->stack_words * (uint32_t)sizeof(uint32_t);

	parts.stack_bytes = parts.below + saved;
	parts.note_at = layout.wide ? sizeof(Elf64_Ehdr) + PROGRAMS * sizeof(Elf64_Phdr)
				    : sizeof(Elf32_Ehdr) + PROGRAMS * sizeof(Elf32_Phdr);
	parts.note_bytes = (uint32_t)sizeof(header) + (uint32_t)sizeof(name) + bytes;
	parts.stack_at = parts.note_at + parts.note_bytes;
	return write_headers(file, &layout, record, &parts) &&
	       fwrite(&header, sizeof(header), 1, file) == 1 && fwrite(name, sizeof(name), 1, file) == 1 &&
	       fwrite(note, bytes, 1, file) == 1 && fwrite(zeros, 1, parts.below, file) == parts.below &&
	       fwrite(record->stack, 1, saved, file) == saved && fflush(file) == 0;
}
