/* SPDX-License-Identifier: MIT */
/*
 * Physical memory protection binds machine mode too, where an entry is locked;
 * it stays so until the next reset. The entry with the lowest number decides.
 */
#include "hal/riscv/riscv.h"

/* From linker/sections.ld. The sizes are values of symbols. */
extern uint32_t pb_code_start[], pb_code_bytes[], pb_data_memory[], pb_data_bytes[], pb_stack_bottom[];

#define GUARD_BYTES (1u << 20)

/** A configuration: locked, a naturally aligned power of two; and what may be done there. */
#define NONE       0x98u
#define READ_WRITE 0x9bu
#define READ_RUN   0x9du

#define WRITE_CSR(name, value) __asm__ volatile("csrw " name ", %0" ::"r"((uintptr_t)(value)) : "memory")

static uintptr_t napot(uintptr_t start, uint32_t bytes)
{
	const uintptr_t base = pb_region_cover(start, &bytes);

	return base >> 2 | (bytes / 8u - 1u);
}

#define READ_CSR(name, value) __asm__ volatile("csrr %0, " name : "=r"(value))

/** Guard, code and data before the board's regions, and one behind them that closes the rest. */
#define ENTRIES_OWN 4u
#define ENTRIES     (ENTRIES_OWN + PB_REGIONS_MAX)

static struct pb_protection protection;

const struct pb_protection *pb_hal_protection(void)
{
	return &protection;
}

/* What is cached is the platform's: software cannot read it. */
bool pb_hal_may_cache(uintptr_t start, uint32_t bytes)
{
	(void)start;
	(void)bytes;
	return false;
}

void pb_hal_write_back(uintptr_t start, uint32_t bytes)
{
	(void)start;
	(void)bytes;
}

void pb_riscv_guard_stack(void)
{
	WRITE_CSR("pmpaddr0", napot((uintptr_t)pb_stack_bottom - GUARD_BYTES, GUARD_BYTES));
	WRITE_CSR("pmpcfg0", NONE);
}

/** Entry 3 + i. */
static void set_region(uint32_t i, uintptr_t address)
{
	if (i == 0)
		WRITE_CSR("pmpaddr3", address);
	else if (i == 1)
		WRITE_CSR("pmpaddr4", address);
	else if (i == 2)
		WRITE_CSR("pmpaddr5", address);
	else
		WRITE_CSR("pmpaddr6", address);
}

/** Counts the entries that the unit has: one that it lacks reads as 0. @param all the configurations that were written */
static void count_entries(uint64_t all)
{
	uintptr_t word;
	uint64_t found;

	READ_CSR("pmpcfg0", word);
	found = word;
#if __riscv_xlen == 32
	READ_CSR("pmpcfg1", word);
	found |= (uint64_t)word << 32;
#endif
	while (protection.has < ENTRIES && ((found ^ all) >> 8u * protection.has & 0xffu) == 0)
		protection.has++;
}

/** Entries 0 to 7; the guard of entry 0 is locked already. Those of the board that it does not use are off. */
static void write_configurations(uint32_t count)
{
	const uint64_t regions = ((uint64_t)1 << 8u * count) - 1u;
	const uint64_t all = NONE | READ_RUN << 8 | READ_WRITE << 16 | (0x9b9b9b9b000000u & regions << 24) |
			     (uint64_t)NONE << 56;

	/* What closes the rest comes last, or with the others. */
	WRITE_CSR("pmpcfg0", all);
#if __riscv_xlen == 32
	WRITE_CSR("pmpcfg1", all >> 32);
#endif
	count_entries(all);
}

void pb_riscv_protect(const struct pb_region *regions, uint32_t count)
{
	protection.needs = ENTRIES_OWN + (count < PB_REGIONS_MAX ? PB_REGIONS_MAX : count);
	if (protection.needs > ENTRIES)
		return;
	WRITE_CSR("pmpaddr1", napot((uintptr_t)pb_code_start, (uint32_t)(uintptr_t)pb_code_bytes));
	WRITE_CSR("pmpaddr2", napot((uintptr_t)pb_data_memory, (uint32_t)(uintptr_t)pb_data_bytes));
	for (uint32_t i = 0; i < count; i++)
		set_region(i, napot(regions[i].start, regions[i].bytes));
	WRITE_CSR("pmpaddr7", ~(uintptr_t)0);
	write_configurations(count);
}
