/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>

#include "hal/cortex_m/cortex_m.h"
#include "hal/halt.h"
#include "hal/mmio.h"
#include "patchbay/abi/image.h"

#define CONFIGURABLE_FAULT_STATUS   0xe000ed28u
#define HARD_FAULT_STATUS           0xe000ed2cu
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

/** Bit of the stacked xPSR: the stack pointer was moved by a word to be a multiple of 8. */
#define PSR_ALIGNED (1u << 9)

static pb_fault_report report_to;

void pb_cortex_m_on_fault(pb_fault_report report)
{
	report_to = report;
}

static uint32_t fault_address(uint32_t status)
{
	if ((status & STATUS_MEMORY_ADDRESS_VALID) != 0)
		return pb_mmio_read32(MEMORY_FAULT_ADDRESS);
	return (status & STATUS_BUS_ADDRESS_VALID) != 0 ? pb_mmio_read32(BUS_FAULT_ADDRESS) : 0;
}

extern const uint32_t pb_stack_bottom[], pb_stack_top[], pb_image_start[];

/** r0 to r15. Those that no exception pushes are saved below, first of all. */
static uintptr_t registers[16];

static struct pb_fault found; /* not on a stack that may be short */

static bool frame_written(const struct frame *frame, uint32_t status)
{
	if ((status & STATUS_STACKING_FAILED) != 0)
		return false;
	/* If there was no room for the frame either, the pointer stands at the limit. */
	return (status & STATUS_STACK_LIMIT) == 0 || (const void *)frame != pb_stack_bottom;
}

static void take_frame(const struct frame *frame, struct pb_fatal_record *record)
{
	const uintptr_t pushed[] = {frame->r0, frame->r1, frame->r2, frame->r3};

	for (uint32_t i = 0; i < 4u; i++)
		registers[i] = pushed[i];
	registers[12] = frame->r12;
	registers[13] = (uintptr_t)(frame + 1) + ((frame->psr & PSR_ALIGNED) != 0 ? 4u : 0);
	registers[14] = frame->lr;
	registers[15] = frame->pc;
	record->pc = frame->pc;
	record->lr = frame->lr;
	record->psr = frame->psr;
}

/** Entered from the assembly below, with the frame of what was interrupted. */
_Noreturn __attribute__((used)) static void fault(const struct frame *frame)
{
	const uint32_t status = pb_mmio_read32(CONFIGURABLE_FAULT_STATUS);

	found.record.kind = PB_FATAL_CPU_FAULT;
	found.record.status = status;
	found.record.address = fault_address(status);
	found.cpu = PB_CRASH_CPU_ARM_M;
	found.more = pb_mmio_read32(HARD_FAULT_STATUS);
	found.registers = registers;
	found.register_count = 16;
	found.stack_bottom = pb_stack_bottom;
	found.stack_top = pb_stack_top;
	found.build_id =
		pb_image_start +
		(PB_IMAGE_HEADER_OFFSET + offsetof(struct pb_image_header, build_id)) / sizeof(uint32_t);
	registers[13] = (uintptr_t)frame;
	if (frame_written(frame, status))
		take_frame(frame, &found.record);
	found.stack = registers[13];
	if (report_to != NULL)
		report_to(&found);
	pb_hal_halt();
}

/*
 * A fault may mean that the stack is used up, or leave too little for the
 * handler: it goes on at its top, with the frame's address in r0. What was there
 * is not needed any more.
 */
__attribute__((naked)) void pb_cortex_m_fault(void)
{
	__asm__ volatile("ldr r1, =%c0\n"
			 "add r1, r1, #16\n"
			 "stmia r1, {r4-r11}\n"
			 "mov r0, sp\n"
			 "ldr r1, =pb_stack_top\n"
			 "cmp r0, r1\n"
			 "sub r1, r1, #64\n" /* keeps the frame of an almost empty stack */
			 "itt hi\n"
			 "movhi r0, r1\n"
			 "movhi sp, r1\n"
			 "ldr r2, =pb_stack_bottom + 128\n" /* what the handler takes, and more */
			 "cmp r0, r2\n"
			 "it lo\n"
			 "movlo sp, r1\n"
			 "b fault\n" ::"i"(registers));
}
