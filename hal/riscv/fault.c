/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "hal/halt.h"
#include "hal/riscv/riscv.h"

#define READ_CSR(name)                                                                                       \
	__extension__({                                                                                      \
		uintptr_t value;                                                                             \
		__asm__ volatile("csrr %0, " name : "=r"(value));                                            \
		value;                                                                                       \
	})

static void (*report_to)(const struct pb_fatal_record *record);

void pb_riscv_on_fault(void (*report)(const struct pb_fatal_record *record))
{
	report_to = report;
}

/** Entered from the assembly below. @param ra of what was interrupted */
_Noreturn __attribute__((used)) static void fault(uintptr_t ra)
{
	void (*const report)(const struct pb_fatal_record *) = report_to;
	const uintptr_t cause = READ_CSR("mcause");
	const struct pb_fatal_record record = {
		.kind = PB_FATAL_CPU_FAULT,
		.pc = (uint32_t)READ_CSR("mepc"),
		.lr = (uint32_t)ra,
		/* An interrupt is told from an exception by the top bit. */
		.status = (uint32_t)(cause | cause >> (sizeof(cause) * 8u - 32u)),
		.address = (uint32_t)READ_CSR("mtval"),
		.psr = (uint32_t)READ_CSR("mstatus"),
	};

	/* A fault in here is not told of. */
	report_to = NULL;
	if (report != NULL)
		report(&record);
	pb_hal_halt();
}

/*
 * A fault may mean that the stack is used up, and nothing of it is needed any
 * more: the handler starts at its top.
 */
__attribute__((naked, aligned(4))) void pb_riscv_fault(void)
{
	__asm__ volatile("mv a0, ra\n"
			 "la sp, pb_stack_top\n"
			 "j %0" ::"i"(fault));
}
