/* SPDX-License-Identifier: MIT */
#include "hal/riscv/confine.h"

#include "hal/halt.h"

/** A configuration: not locked, a naturally aligned power of two; and what user mode may do there. */
#define READ_WRITE 0x1bu
#define READ_RUN   0x1du

#define WRITE_CSR(name, value) __asm__ volatile("csrw " name ", %0" ::"r"((uintptr_t)(value)) : "memory")

static uintptr_t napot(uintptr_t start, uint32_t bytes)
{
	const uintptr_t base = pb_region_cover(start, &bytes);

	return base >> 2 | (bytes / 8u - 1u);
}

/** Entry 1 + i. */
static void set_region(uint32_t i, uintptr_t address)
{
	if (i == 0)
		WRITE_CSR("pmpaddr1", address);
	else if (i == 1)
		WRITE_CSR("pmpaddr2", address);
	else if (i == 2)
		WRITE_CSR("pmpaddr3", address);
	else if (i == 3)
		WRITE_CSR("pmpaddr4", address);
	else if (i == 4)
		WRITE_CSR("pmpaddr5", address);
	else if (i == 5)
		WRITE_CSR("pmpaddr6", address);
	else
		WRITE_CSR("pmpaddr7", address);
}

/** Entries 0 to 7. */
static void write_configurations(uint64_t all)
{
	WRITE_CSR("pmpcfg0", all);
#if __riscv_xlen == 32
	WRITE_CSR("pmpcfg1", all >> 32);
#endif
}

/** Goes on in user mode, on the same stack. */
static void enter_user_mode(void)
{
	__asm__ volatile("li t0, 0x1800\n" /* mstatus.MPP */
			 "csrc mstatus, t0\n"
			 "la t0, 1f\n"
			 "csrw mepc, t0\n"
			 "mret\n"
			 "j .\n" /* whoever skips that stops here */
			 "j .\n"
			 "1:\n" ::
				 : "t0", "memory");
}

void pb_riscv_confine(uintptr_t code, uint32_t bytes, const struct pb_region *regions, uint32_t count)
{
	uint64_t all = READ_RUN;

	if (count > PB_RISCV_LOADER_REGIONS)
		pb_hal_halt();
	WRITE_CSR("pmpaddr0", napot(code, bytes));
	for (uint32_t i = 0; i < count; i++) {
		set_region(i, napot(regions[i].start, regions[i].bytes));
		all |= (uint64_t)READ_WRITE << 8u * (i + 1u);
	}
	write_configurations(all);
	enter_user_mode();
}
