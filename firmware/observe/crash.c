/* SPDX-License-Identifier: MIT */
#include "firmware/observe/crash.h"

#include <stddef.h>

#include "firmware/assert.h"
#include "firmware/instance.h"
#include "hal/halt.h"
#include "hal/shared_copy.h"

/** For the records, which have no other way to the firmware. NULL: there is no boot block yet. */
static const struct pb_firmware *dying;

/** The assertion that failed: its caller, and its line; 0: none has. */
static uint32_t asserted_caller;
static uint32_t asserted_line;

void pb_core_crash_of(const struct pb_firmware *firmware)
{
	dying = firmware;
	asserted_line = 0;
}

void pb_core_note(struct pb_firmware *firmware, enum pb_crash_note_kind kind, uint32_t subject,
		  uint32_t value)
{
	struct pb_core_note *note = &firmware->notes.at[firmware->notes.count++ % PB_CRASH_NOTES];

	note->heartbeat = firmware->loop.heartbeat;
	note->what = subject << 16 | (uint32_t)kind;
	note->value = value;
}

static void put_notes(struct pb_crash_record *crash)
{
	pb_shared_write32(&crash->note_count, dying->notes.count);
	for (uint32_t i = 0; i < PB_CRASH_NOTES; i++)
		pb_shared_copy_out(&crash->notes[i], &dying->notes.at[i], sizeof(dying->notes.at[i]));
}

/** From the stack pointer up; if that has run over the end, from the end. */
static void put_stack(struct pb_crash_record *crash, const struct pb_fault *fault)
{
	const uintptr_t bottom = (uintptr_t)fault->stack_bottom, top = (uintptr_t)fault->stack_top;
	const uintptr_t from = fault->stack < bottom ? bottom : fault->stack;
	const uint32_t *words = fault->stack_bottom + (from - bottom) / sizeof(uint32_t);
	uint32_t count = 0;

	for (; from < top && words < fault->stack_top && count < PB_CRASH_STACK_WORDS; count++)
		pb_shared_write32(&crash->stack[count], *words++);
	pb_shared_write32(&crash->stack_bottom, (uint32_t)bottom);
	pb_shared_write32(&crash->stack_top, (uint32_t)top);
	pb_shared_write32(&crash->stack_address, (uint32_t)from & ~3u);
	pb_shared_write32(&crash->stack_words, count);
}

static void put_registers(struct pb_crash_record *crash, const struct pb_fault *fault)
{
	for (uint32_t i = 0; i < PB_CRASH_REGISTERS; i++) {
		const uint64_t value = i < fault->register_count ? fault->registers[i] : 0;

		pb_shared_write32(&crash->registers[i], (uint32_t)value);
		pb_shared_write32(&crash->registers_high[i], (uint32_t)(value >> 32));
	}
	for (uint32_t i = 0; i < 5u; i++)
		pb_shared_write32(&crash->build_id[i], fault->build_id != NULL ? fault->build_id[i] : 0);
}

/** The words from kind to waypoint, which both records have in the same order. */
static void put_reason(uint32_t *to, const struct pb_fatal_record *record)
{
	pb_shared_copy_out(to, &record->kind, sizeof(*record) - offsetof(struct pb_fatal_record, kind));
}

static void put_crash(struct pb_crash_record *crash, const struct pb_fault *fault)
{
	pb_shared_write32(&crash->magic, 0);
	pb_shared_release();
	pb_shared_write32(&crash->bytes, sizeof(*crash));
	pb_shared_write32(&crash->incarnation, dying->boot.incarnation);
	put_reason(&crash->kind, &fault->record);
	pb_shared_write32(&crash->boot_stage, dying->boot.stage);
	pb_shared_write32(&crash->heartbeat, dying->loop.heartbeat);
	pb_shared_write32(&crash->cpu, fault->cpu);
	pb_shared_write32(&crash->more, fault->more);
	put_notes(crash);
	put_registers(crash, fault);
	put_stack(crash, fault);
	pb_shared_release();
	pb_shared_write32(&crash->magic, PB_CRASH_MAGIC);
}

/** An assertion failed before the CPU was made to fault: that is the reason to give. */
static void blame_assertion(struct pb_fatal_record *record)
{
	record->kind = PB_FATAL_ASSERT;
	record->pc = asserted_caller;
	record->lr = 0;
	record->status = asserted_line;
	record->address = 0;
}

void pb_firmware_fatal(struct pb_fault *fault)
{
	struct pb_boot_block *boot;

	if (dying == NULL)
		return;
	boot = dying->boot.block;
	if (asserted_line != 0)
		blame_assertion(&fault->record);
	fault->record.waypoint = pb_shared_read32(&boot->waypoint);
	if (dying->config->crash_offset != 0)
		put_crash(pb_core_at(dying, dying->config->crash_offset), fault);
	put_reason(&boot->fatal.kind, &fault->record);
	pb_shared_release();
	pb_shared_write32(&boot->fatal.valid, 1);
	pb_shared_write32(&boot->boot_stage, PB_BOOT_STAGE_FATAL);
}

_Noreturn void pb_core_assert_failed(uint32_t line)
{
	struct pb_fault fault = {.record = {0}};

	asserted_caller = (uint32_t)(uintptr_t)__builtin_return_address(0);
	asserted_line = line;
	pb_hal_fault();
	pb_firmware_fatal(&fault);
	pb_hal_halt();
}
