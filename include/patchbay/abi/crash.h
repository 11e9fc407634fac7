/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the firmware writes when it dies, beside the fatal record of the boot
 * block: registers, a slice of the stack, and its last actions. The boot block
 * holds its offset. A restart keeps it; the next crash overwrites it. `patchbay crash` reads it.
 */
#ifndef PB_FIRMWARE_ABI_CRASH_H
#define PB_FIRMWARE_ABI_CRASH_H

#include "patchbay/abi/base.h"

/** "PBCR", little-endian; cleared first and stored last, so that the record is complete where it stands. */
#define PB_CRASH_MAGIC 0x52434250u
/** Words of the stack, from the stack pointer up. */
#define PB_CRASH_STACK_WORDS 128u
/** The last notes that the record keeps. */
#define PB_CRASH_NOTES 16u
/** Room for registers. */
#define PB_CRASH_REGISTERS 32u

/* X(NAME, number, meaning) */
#define PB_CRASH_CPUS(X)                                                                                     \
	X(NONE, 0, "not known: the program runs on a host")                                                  \
	X(ARM_M, 1, "Arm M-profile: r0 to r15; psr is xPSR, status CFSR, more HFSR")                         \
	X(RISCV32, 2, "RV32: pc, x1 to x31; psr is mstatus, status mcause")                                  \
	X(RISCV64, 3, "RV64: pc, x1 to x31 in 64 bits; psr is mstatus, status mcause")

/** Which CPU's registers they are. */
enum pb_crash_cpu {
#define PB_CRASH_CPU_ENUM(name, number, meaning) PB_CRASH_CPU_##name = (number),
	PB_CRASH_CPUS(PB_CRASH_CPU_ENUM)
#undef PB_CRASH_CPU_ENUM
};

/* X(NAME, number, meaning of subject and value) */
#define PB_CRASH_NOTE_KINDS(X)                                                                               \
	X(NONE, 0, "nothing")                                                                                \
	X(STAGE, 1, "boot stage; value: enum pb_boot_stage")                                                 \
	X(CHANNEL, 2, "a channel changed its state; subject: the channel, value: enum pb_channel_state")     \
	X(COMMAND, 3, "a control command was read; subject: its channel, value: enum pb_command_code")       \
	X(EVENT, 4, "an event was put; subject: its channel, value: enum pb_event_type")                     \
	X(ENGINE_RESET, 5, "an engine was asked to reset; subject: its node")                                \
	X(ENGINE_CYCLE, 6, "an engine was power-cycled; subject: its node")                                  \
	X(NODE_DEAD, 7, "a node was given up; subject: the node")

/** What was noted, and what subject and value are. */
enum pb_crash_note_kind {
#define PB_CRASH_NOTE_ENUM(name, number, meaning) PB_CRASH_NOTE_##name = (number),
	PB_CRASH_NOTE_KINDS(PB_CRASH_NOTE_ENUM)
#undef PB_CRASH_NOTE_ENUM
};

/**
 * One thing the firmware did, written by the firmware. Only rare actions are noted, so that submissions
 * cost nothing: these show in waypoint and heartbeat.
 *
 *   what:  31        16 15        0
 *         +------------+-----------+
 *         |  subject   |   kind    |   enum pb_crash_note_kind
 *         +------------+-----------+
 */
struct pb_crash_note {
	uint32_t heartbeat; /**< of that moment */
	uint32_t what;      /**< see above */
	uint32_t value;     /**< the meaning depends on the kind; else 0 */
	uint32_t reserved;
};
PB_SIZE(pb_crash_note, 16);
PB_AT(pb_crash_note, heartbeat, 0);
PB_AT(pb_crash_note, what, 4);
PB_AT(pb_crash_note, value, 8);
PB_AT(pb_crash_note, reserved, 12);

/** Written by the firmware when it dies, magic last. */
struct pb_crash_record {
	uint32_t magic;         /**< PB_CRASH_MAGIC when the rest is complete */
	uint32_t bytes;         /**< sizeof(struct pb_crash_record) of the firmware that wrote it */
	uint32_t incarnation;   /**< of the firmware that died */
	uint32_t kind;          /**< enum pb_fatal_kind; from here to psr as in struct pb_fatal_record */
	uint32_t pc;            /**< program counter */
	uint32_t lr;            /**< link register */
	uint32_t status;        /**< CPU fault status; the source line for an assertion */
	uint32_t address;       /**< faulting address, if the CPU knows it, else 0 */
	uint32_t psr;           /**< processor status */
	uint32_t waypoint;      /**< enum pb_waypoint */
	uint32_t boot_stage;    /**< enum pb_boot_stage before it died */
	uint32_t heartbeat;     /**< passes of the main loop since boot, modulo 2^32 */
	uint32_t cpu;           /**< enum pb_crash_cpu */
	uint32_t more;          /**< status that this CPU has beside: Arm HFSR, else 0 */
	uint32_t stack_bottom;  /**< lowest address of the stack */
	uint32_t stack_top;     /**< the first above it */
	uint32_t stack_address; /**< of the first word in `stack` */
	uint32_t stack_words;   /**< in `stack`, 0 if the stack pointer was not in the stack's range */
	uint32_t note_count;    /**< notes since boot, modulo 2^32; the last PB_CRASH_NOTES are here */
	uint32_t build_id[5];   /**< of the image, as in its header; zeros: not known */
	uint32_t reserved[8];
	/** As of enum pb_crash_cpu; RISC-V has its pc for x0. Zeros: not known, as if cpu were NONE. */
	uint32_t registers[PB_CRASH_REGISTERS];
	uint32_t registers_high[PB_CRASH_REGISTERS]; /**< bits 63 to 32 of RV64, else 0 */
	struct pb_crash_note notes[PB_CRASH_NOTES];  /**< note number n stands at n modulo PB_CRASH_NOTES */
	uint32_t stack[PB_CRASH_STACK_WORDS];        /**< from the stack pointer up */
};
PB_SIZE(pb_crash_record, 1152);
PB_AT(pb_crash_record, magic, 0);
PB_AT(pb_crash_record, bytes, 4);
PB_AT(pb_crash_record, incarnation, 8);
PB_AT(pb_crash_record, kind, 12);
PB_AT(pb_crash_record, pc, 16);
PB_AT(pb_crash_record, lr, 20);
PB_AT(pb_crash_record, status, 24);
PB_AT(pb_crash_record, address, 28);
PB_AT(pb_crash_record, psr, 32);
PB_AT(pb_crash_record, waypoint, 36);
PB_AT(pb_crash_record, boot_stage, 40);
PB_AT(pb_crash_record, heartbeat, 44);
PB_AT(pb_crash_record, cpu, 48);
PB_AT(pb_crash_record, more, 52);
PB_AT(pb_crash_record, stack_bottom, 56);
PB_AT(pb_crash_record, stack_top, 60);
PB_AT(pb_crash_record, stack_address, 64);
PB_AT(pb_crash_record, stack_words, 68);
PB_AT(pb_crash_record, note_count, 72);
PB_AT(pb_crash_record, build_id, 76);
PB_AT(pb_crash_record, reserved, 96);
PB_AT(pb_crash_record, registers, 128);
PB_AT(pb_crash_record, registers_high, 256);
PB_AT(pb_crash_record, notes, 384);
PB_AT(pb_crash_record, stack, 640);

#endif
