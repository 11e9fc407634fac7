/* SPDX-License-Identifier: MIT */
/* Names and meanings of the numbers in a crash record. */
#include <inttypes.h>
#include <string.h>

#include "host/tool/crash_report.h"
#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/names.h"

/* Bits of the CFSR (Armv7-M and Armv8-M Architecture Reference Manual, B3.2.15), the most specific first. */
static const struct {
	uint32_t bit;
	const char *meaning;
} arm_status[] = {
	{1u << 20, "stack overflow: the stack pointer is below its limit"},
	{1u << 4, "stack overflow into the guard region: no exception frame could be written"},
	{1u << 12, "stack overflow: no exception frame could be written"},
	{1u << 0, "execution from an address that is not executable"},
	{1u << 1, "an access that the MPU forbids"},
	{1u << 8, "execution from an address without memory"},
	{1u << 9, "an access to an address without memory"},
	{1u << 10, "a store to an address without memory"},
	{1u << 16, "an instruction that this CPU does not have"},
	{1u << 17, "a jump to an even address"},
	{1u << 18, "a return from an exception that is not active"},
	{1u << 19, "an instruction of a coprocessor that does not exist"},
	{1u << 24, "an access to a misaligned address"},
	{1u << 25, "a division by 0"},
};

/* Values of mcause (RISC-V Privileged Architecture, table 3.6). */
static const char *const riscv_status[] = {
	"a jump to an odd address",
	"execution from an address that is not executable",
	"an instruction that this CPU does not have",
	"a breakpoint without a debugger",
	"a load from a misaligned address",
	"a load that is forbidden, or from an address without memory",
	"a store to a misaligned address",
	"a store that is forbidden, or to an address without memory",
};

const char *pb_crash_status(const struct pb_crash_record *record)
{
	if (record->kind != PB_FATAL_CPU_FAULT)
		return "";
	if (record->cpu == PB_CRASH_CPU_ARM_M) {
		for (size_t i = 0; i < sizeof(arm_status) / sizeof(arm_status[0]); i++) {
			if ((record->status & arm_status[i].bit) != 0)
				return arm_status[i].meaning;
		}
		return "";
	}
	if (record->cpu != PB_CRASH_CPU_NONE &&
	    record->status < sizeof(riscv_status) / sizeof(riscv_status[0]))
		return riscv_status[record->status];
	return "";
}

const char *pb_crash_register(uint32_t cpu, uint32_t number)
{
	static const char *const arm[] = {"r0", "r1", "r2",  "r3",  "r4",  "r5", "r6", "r7",
					  "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};
	static const char *const riscv[] = {"pc", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
					    "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
					    "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
					    "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

	if (cpu == PB_CRASH_CPU_ARM_M)
		return number < sizeof(arm) / sizeof(arm[0]) ? arm[number] : NULL;
	if (cpu == PB_CRASH_CPU_RISCV32 || cpu == PB_CRASH_CPU_RISCV64)
		return number < sizeof(riscv) / sizeof(riscv[0]) ? riscv[number] : NULL;
	return NULL;
}

static const char *channel_state_name(uint32_t state)
{
	static const char *const names[] = {
		[PB_CHANNEL_CLOSED] = "CLOSED",
		[PB_CHANNEL_OPEN] = "OPEN",
		[PB_CHANNEL_CLOSING] = "CLOSING",
		[PB_CHANNEL_FAULTED] = "FAULTED",
	};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

static void describe(const struct pb_crash_note *note, char *text)
{
	const uint32_t subject = note->what >> 16, kind = note->what & 0xffffu, value = note->value;

	if (kind == PB_CRASH_NOTE_STAGE)
		snprintf(text, PB_CRASH_NOTE_BYTES, "boot stage %s", pb_boot_stage_name(value));
	else if (kind == PB_CRASH_NOTE_CHANNEL)
		snprintf(text, PB_CRASH_NOTE_BYTES, "channel %" PRIu32 " is %s", subject,
			 channel_state_name(value));
	else if (kind == PB_CRASH_NOTE_COMMAND)
		snprintf(text, PB_CRASH_NOTE_BYTES, "channel %" PRIu32 " sent command %s", subject,
			 pb_command_name(value));
	else if (kind == PB_CRASH_NOTE_EVENT)
		snprintf(text, PB_CRASH_NOTE_BYTES, "channel %" PRIu32 " got event %s", subject,
			 pb_event_name(value));
	else if (kind == PB_CRASH_NOTE_ENGINE_RESET)
		snprintf(text, PB_CRASH_NOTE_BYTES, "engine of node %" PRIu32 " reset", subject);
	else if (kind == PB_CRASH_NOTE_ENGINE_CYCLE)
		snprintf(text, PB_CRASH_NOTE_BYTES, "engine of node %" PRIu32 " switched off and on",
			 subject);
	else if (kind == PB_CRASH_NOTE_NODE_DEAD)
		snprintf(text, PB_CRASH_NOTE_BYTES, "node %" PRIu32 " declared dead", subject);
	else
		snprintf(text, PB_CRASH_NOTE_BYTES, "? %" PRIu32 " of %" PRIu32 ": %" PRIu32, kind, subject,
			 value);
}

bool pb_crash_note(const struct pb_crash_record *record, uint32_t index, uint32_t *heartbeat,
		   char text[PB_CRASH_NOTE_BYTES])
{
	const uint32_t kept = record->note_count < PB_CRASH_NOTES ? record->note_count : PB_CRASH_NOTES;
	const struct pb_crash_note *note =
		&record->notes[(record->note_count - kept + index) % PB_CRASH_NOTES];

	if (index >= kept)
		return false;
	*heartbeat = note->heartbeat;
	describe(note, text);
	return true;
}

void pb_crash_build_id(const struct pb_crash_record *record, char text[41])
{
	uint8_t bytes[20];

	memcpy(bytes, record->build_id, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2u * i, 3, "%02x", bytes[i]);
}
