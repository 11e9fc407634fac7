/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "hal/halt.h"
#include "hal/riscv/riscv.h"
#include "patchbay/abi/image.h"

#define READ_CSR(name)                                                                                       \
	__extension__({                                                                                      \
		uintptr_t value;                                                                             \
		__asm__ volatile("csrr %0, " name : "=r"(value));                                            \
		value;                                                                                       \
	})

/* From linker/sections.ld. */
extern const uint32_t pb_stack_bottom[], pb_stack_top[], pb_image_start[];

static pb_fault_report report_to;

/** x0 to x31, saved by the assembly below; x0 is the pc's. */
static uintptr_t registers[32];

static struct pb_fault found; /* not on a stack that may be short */

void pb_riscv_on_fault(pb_fault_report report)
{
	report_to = report;
}

/** Entered from the assembly below. */
_Noreturn __attribute__((used)) static void fault(void)
{
	const pb_fault_report report = report_to;
	const uintptr_t cause = READ_CSR("mcause");
	registers[0] = READ_CSR("mepc");
	found.record.kind = PB_FATAL_CPU_FAULT;
	found.record.pc = (uint32_t)registers[0];
	found.record.lr = (uint32_t)registers[1];
	/* The top bit distinguishes an interrupt from an exception. */
	found.record.status = (uint32_t)(cause | cause >> (sizeof(cause) * 8u - 32u));
	found.record.address = (uint32_t)READ_CSR("mtval");
	found.record.psr = (uint32_t)READ_CSR("mstatus");
	found.cpu = sizeof(cause) == 4u ? PB_CRASH_CPU_RISCV32 : PB_CRASH_CPU_RISCV64;
	found.registers = registers;
	found.register_count = 32;
	found.stack = registers[2];
	found.stack_bottom = pb_stack_bottom;
	found.stack_top = pb_stack_top;
	found.build_id =
		pb_image_start +
		(PB_IMAGE_HEADER_OFFSET + offsetof(struct pb_image_header, build_id)) / sizeof(uint32_t);
	/* A fault in here is not reported. */
	report_to = NULL;
	if (report != NULL)
		report(&found);
	pb_hal_halt();
}

#if __riscv_xlen == 32
#define SAVE(n) "	sw x" #n ", 4*" #n "(a0)\n"
#else
#define SAVE(n) "	sd x" #n ", 8*" #n "(a0)\n"
#endif

/*
 * A fault may mean that the stack is used up, or leave too little for the
 * handler: then it starts at its top, where nothing is needed any more.
 */
__attribute__((naked, aligned(4))) void pb_riscv_fault(void)
{
	__asm__ volatile(
		"csrw mscratch, a0\n"
		"la a0, %0\n" SAVE(1) SAVE(2) SAVE(3) SAVE(4) SAVE(5) SAVE(6) SAVE(7) SAVE(8) SAVE(9) SAVE(
			11) SAVE(12) SAVE(13) SAVE(14) SAVE(15) SAVE(16) SAVE(17) SAVE(18) SAVE(19) SAVE(20)
			SAVE(21) SAVE(22) SAVE(23) SAVE(24) SAVE(25) SAVE(26) SAVE(27) SAVE(28) SAVE(29) SAVE(
				30)
				SAVE(31) "csrr a1, mscratch\n"
#if __riscv_xlen == 32
					 "sw a1, 40(a0)\n"
#else
					 "sd a1, 80(a0)\n"
#endif
					 "la a0, pb_stack_top\n"
					 "bgtu sp, a0, 1f\n"
					 "la a1, pb_stack_bottom + 128\n" /* what the handler takes, and more */
					 "bgeu sp, a1, 2f\n"
					 "1: mv sp, a0\n"
					 "2: andi sp, sp, -16\n"
					 "j %1" ::"i"(registers),
		"i"(fault));
}
