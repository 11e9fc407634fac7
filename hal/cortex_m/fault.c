/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "hal/cortex_m/cortex_m.h"
#include "hal/halt.h"
#include "hal/mmio.h"

#define CONFIGURABLE_FAULT_STATUS   0xe000ed28u
#define MEMORY_FAULT_ADDRESS        0xe000ed34u
#define BUS_FAULT_ADDRESS           0xe000ed38u
#define STATUS_MEMORY_ADDRESS_VALID (1u << 7)
#define STATUS_BUS_ADDRESS_VALID    (1u << 15)
/** The exception frame was not written: the stack pointer itself is bad. */
#define STATUS_STACKING_FAILED (1u << 4 | 1u << 12)
/** Armv8-M: the stack pointer would have gone below its limit. */
#define STATUS_STACK_LIMIT (1u << 20)

/** What the core pushes on an exception. */
struct frame {
	uint32_t r0, r1, r2, r3, r12, lr, pc, psr;
};

static void (*report_to)(const struct pb_fatal_record *record);

void pb_cortex_m_on_fault(void (*report)(const struct pb_fatal_record *record))
{
	report_to = report;
}

static uint32_t fault_address(uint32_t status)
{
	if ((status & STATUS_MEMORY_ADDRESS_VALID) != 0)
		return pb_mmio_read32(MEMORY_FAULT_ADDRESS);
	return (status & STATUS_BUS_ADDRESS_VALID) != 0 ? pb_mmio_read32(BUS_FAULT_ADDRESS) : 0;
}

extern uint32_t pb_stack_bottom[];

static bool frame_written(const struct frame *frame, uint32_t status)
{
	if ((status & STATUS_STACKING_FAILED) != 0)
		return false;
	/* If there was no room for the frame either, the pointer stands at the limit. */
	return (status & STATUS_STACK_LIMIT) == 0 || (const void *)frame != pb_stack_bottom;
}

/** Entered from the assembly below, with the frame of what was interrupted. */
_Noreturn __attribute__((used)) static void fault(const struct frame *frame)
{
	struct pb_fatal_record record = {.kind = PB_FATAL_CPU_FAULT};

	record.status = pb_mmio_read32(CONFIGURABLE_FAULT_STATUS);
	record.address = fault_address(record.status);
	if (frame_written(frame, record.status)) {
		record.pc = frame->pc;
		record.lr = frame->lr;
		record.psr = frame->psr;
	}
	if (report_to != NULL)
		report_to(&record);
	pb_hal_halt();
}

/*
 * A fault may mean that the stack is used up, or leave too little for the
 * handler: it goes on at its top, with the frame's address in r0. What was there
 * is not needed any more.
 */
__attribute__((naked)) void pb_cortex_m_fault(void)
{
	__asm__ volatile("mov r0, sp\n"
			 "ldr r1, =pb_stack_top\n"
			 "cmp r0, r1\n"
			 "sub r1, r1, #64\n" /* keeps the frame of an almost empty stack */
			 "itt hi\n"
			 "movhi r0, r1\n"
			 "movhi sp, r1\n"
			 "ldr r2, =pb_stack_bottom + 128\n"
			 "cmp r0, r2\n"
			 "it lo\n"
			 "movlo sp, r1\n"
			 "b fault\n");
}
