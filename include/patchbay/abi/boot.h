/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a host finds at offset 0 of card memory, with no command: whether the
 * firmware lives, how far it came, what it can do and where everything else is.
 */
#ifndef PB_FIRMWARE_ABI_BOOT_H
#define PB_FIRMWARE_ABI_BOOT_H

#include "patchbay/abi/base.h"

/** "PBAY", little-endian. Stored last: where it stands, the block is complete. */
#define PB_BOOT_MAGIC 0x59414250u
/** Where the boot block lies in card memory, in bytes. */
#define PB_BOOT_OFFSET 0u

/* X(NAME, number, meaning): the order in which a boot goes through them. */
#define PB_BOOT_STAGES(X)                                                                                    \
	X(NONE, 0, "the firmware has not run")                                                               \
	X(STARTED, 1, "C code runs, private memory is set up")                                               \
	X(ENGINES_RESET, 2, "each engine has answered a reset, or its node is DEAD")                         \
	X(RINGS_CLEARED, 3, "channels are closed, rings are empty")                                          \
	X(RUNNING, 4, "the main loop runs; channels may attach")                                             \
	X(FATAL, 5, "stopped; the fatal record holds the reason")

/** How far a boot has come. */
enum pb_boot_stage {
#define PB_BOOT_STAGE_ENUM(name, number, meaning) PB_BOOT_STAGE_##name = (number),
	PB_BOOT_STAGES(PB_BOOT_STAGE_ENUM)
#undef PB_BOOT_STAGE_ENUM
};

/* X(NAME, number, meaning): the step the main loop entered last. */
#define PB_WAYPOINTS(X)                                                                                      \
	X(NONE, 0, "outside the main loop")                                                                  \
	X(IDLE, 1, "waiting for an interrupt")                                                               \
	X(DOORBELL, 2, "reading a channel's words and its kick ring")                                        \
	X(CONTROL, 3, "carrying out a control command")                                                      \
	X(ADMIT, 4, "copying and checking a descriptor")                                                     \
	X(RESOLVE, 5, "resolving an allocation list")                                                        \
	X(PATCH, 6, "patching")                                                                              \
	X(FEED, 7, "feeding an engine's ring")                                                               \
	X(RETIRE, 8, "retiring completed submissions")                                                       \
	X(TICK, 9, "polling every channel")                                                                  \
	X(RESET, 10, "resetting an engine")                                                                  \
	X(STOP, 11, "recalling submissions from an engine")                                                  \
	X(WAIT, 12, "waking queues that waited for another")

/** The step that the main loop entered last. */
enum pb_waypoint {
#define PB_WAYPOINT_ENUM(name, number, meaning) PB_WAYPOINT_##name = (number),
	PB_WAYPOINTS(PB_WAYPOINT_ENUM)
#undef PB_WAYPOINT_ENUM
};

/**
 * Why the firmware died. Written once, by the firmware, `valid` last. For
 * BAD_IMAGE, pc is the address of the image's first byte, address that of its
 * header, and status the CRC-32 that was computed. For UNPROTECTED, status is the number of regions that the CPU
 * has, and address the number needed. For CACHED_MEMORY, address is the CPU's address of card memory. For REFUSED, which
 * the loader writes, status holds loader_reasons of the boot block, 8 bits a slot from bit 0.
 *
 *   status   Arm: CFSR           RISC-V: mcause
 *   address  Arm: BFAR or MMFAR  RISC-V: mtval
 *   psr      Arm: xPSR           RISC-V: mstatus
 */
struct pb_fatal_record {
	uint32_t valid;    /**< 1 when the rest is complete */
	uint32_t kind;     /**< enum pb_fatal_kind */
	uint32_t pc;       /**< program counter of the fault or of the failed assertion's caller */
	uint32_t lr;       /**< link register there */
	uint32_t status;   /**< CPU fault status; the source line for an assertion */
	uint32_t address;  /**< faulting address, if the CPU knows it, else 0 */
	uint32_t psr;      /**< processor status */
	uint32_t waypoint; /**< enum pb_waypoint at that moment */
};
PB_SIZE(pb_fatal_record, 32);
PB_AT(pb_fatal_record, valid, 0);
PB_AT(pb_fatal_record, kind, 4);
PB_AT(pb_fatal_record, pc, 8);
PB_AT(pb_fatal_record, lr, 12);
PB_AT(pb_fatal_record, status, 16);
PB_AT(pb_fatal_record, address, 20);
PB_AT(pb_fatal_record, psr, 24);
PB_AT(pb_fatal_record, waypoint, 28);

/* X(NAME, number, meaning) */
#define PB_FATAL_KINDS(X)                                                                                    \
	X(NONE, 0, "no record")                                                                              \
	X(ASSERT, 1, "the firmware found its own state broken")                                              \
	X(CPU_FAULT, 2, "the CPU took a fault")                                                              \
	X(BAD_IMAGE, 3, "the image is damaged: its CRC is wrong")                                            \
	X(UNPROTECTED, 4, "the CPU has fewer regions for memory protection than the image needs")            \
	X(CACHED_MEMORY, 5, "the CPU may cache card memory, which other processors access")                  \
	X(REFUSED, 6, "the loader found no image that may run: docs/boot.md")

/** Kinds of death. */
enum pb_fatal_kind {
#define PB_FATAL_ENUM(name, number, meaning) PB_FATAL_##name = (number),
	PB_FATAL_KINDS(PB_FATAL_ENUM)
#undef PB_FATAL_ENUM
};

/* X(NAME, number, meaning) */
#define PB_MCU_STATES(X)                                                                                     \
	X(UNKNOWN, 0, "no supervisor: judge by boot stage and heartbeat alone")                              \
	X(RUNNING, 1, "it runs, as far as the supervisor knows")                                             \
	X(DEAD, 2, "it stopped and is not restarted")                                                        \
	X(RESTARTING, 3, "it is being started or restarted; hosts wait")

/** State of the MCU as the card's supervisor sees it; the firmware cannot write its own death. */
enum pb_mcu_state {
#define PB_MCU_ENUM(name, number, meaning) PB_MCU_##name = (number),
	PB_MCU_STATES(PB_MCU_ENUM)
#undef PB_MCU_ENUM
};

/**
 * Microseconds of the card's clock without a pass of the main loop after which the firmware counts as dead: the
 * tick of 5 ms, a round of the supervisor's loop, and time for proofs that the emulator has run the MCU.
 */
#define PB_HEARTBEAT_US 8000u

/**
 * The boot block. Offsets are bytes from the start of card memory.
 * The firmware writes the first four lines, the card's supervisor the fifth.
 */
struct pb_boot_block {
	/* line 0: written once at boot by the firmware, magic last */
	uint32_t magic;                    /**< PB_BOOT_MAGIC */
	uint32_t abi_version;              /**< PB_ABI_VERSION of the firmware */
	uint32_t block_bytes;              /**< sizeof(struct pb_boot_block) of the firmware */
	uint32_t memory_bytes;             /**< card memory in the MCU's window, from offset 0 */
	uint32_t capability_offset;        /**< array of struct pb_capability */
	uint32_t capability_count;         /**< its entries */
	uint32_t channel_directory_offset; /**< array of struct pb_channel_entry */
	uint32_t channel_count;            /**< its entries; entry 0 is the admin channel */
	char build[32];                    /**< version and board, zero-terminated ASCII */

	/* line 1: written by the firmware while it runs */
	uint32_t boot_stage; /**< enum pb_boot_stage */
	uint32_t waypoint;   /**< enum pb_waypoint */
	uint32_t heartbeat; /**< passes of the main loop since boot, modulo 2^32; moves at least every tick */
	uint32_t incarnation; /**< counts boots since the memory was cleared; never 0 once running */
	/**
	 * struct pb_trace_ring, in bytes from the start of card memory; 0: there is none. Firmware without a trace
	 * changes neither this word nor the trace that earlier firmware left.
	 */
	uint32_t trace_offset;
	uint32_t line1_reserved[11];

	/* line 2: written by the firmware once, at death; cleared by the next incarnation */
	struct pb_fatal_record fatal; /**< why the firmware died; valid is 0 while it lives */
	uint32_t line2_reserved[8];

	/* line 3: written once at boot by the firmware; the loader's words by the loader, before the firmware starts */
	uint32_t crash_offset;     /**< where struct pb_crash_record is (patchbay/abi/crash.h); 0: nowhere */
	uint32_t crash_bytes;      /**< room for it there */
	uint32_t telemetry_offset; /**< where struct pb_telemetry is (patchbay/abi/telemetry.h); 0: nowhere */
	uint32_t loader_slot; /**< slot that the loader started, from 1; 0: no loader, or it started none */
	uint32_t loader_reasons[2]; /**< enum pb_loader_reason (patchbay/abi/update.h) of each slot */
	uint32_t line3_reserved[10];

	/* line 4: written by the card's supervisor, not by the firmware */
	uint32_t mcu_state;      /**< enum pb_mcu_state */
	uint32_t mcu_deaths;     /**< MCU stops since the card started */
	uint32_t dead_stage;     /**< boot_stage at the last death */
	uint32_t dead_waypoint;  /**< waypoint at the last death */
	uint32_t dead_heartbeat; /**< heartbeat at the last death */
	/**
	 * The card's clock in microseconds, modulo 2^32: it stands still while the engines or the MCU get no time
	 * to run, so that a busy emulator makes nothing late.
	 */
	uint32_t clock;
	uint32_t heartbeat_clock; /**< clock at the last check that saw the heartbeat move */
	uint32_t line4_reserved[9];
};
PB_SIZE(pb_boot_block, 320);
PB_AT(pb_boot_block, magic, 0);
PB_AT(pb_boot_block, abi_version, 4);
PB_AT(pb_boot_block, block_bytes, 8);
PB_AT(pb_boot_block, memory_bytes, 12);
PB_AT(pb_boot_block, capability_offset, 16);
PB_AT(pb_boot_block, capability_count, 20);
PB_AT(pb_boot_block, channel_directory_offset, 24);
PB_AT(pb_boot_block, channel_count, 28);
PB_AT(pb_boot_block, build, 32);
PB_AT(pb_boot_block, boot_stage, 64);
PB_AT(pb_boot_block, waypoint, 68);
PB_AT(pb_boot_block, heartbeat, 72);
PB_AT(pb_boot_block, incarnation, 76);
PB_AT(pb_boot_block, trace_offset, 80);
PB_AT(pb_boot_block, line1_reserved, 84);
PB_AT(pb_boot_block, fatal, 128);
PB_AT(pb_boot_block, line2_reserved, 160);
PB_AT(pb_boot_block, crash_offset, 192);
PB_AT(pb_boot_block, crash_bytes, 196);
PB_AT(pb_boot_block, telemetry_offset, 200);
PB_AT(pb_boot_block, loader_slot, 204);
PB_AT(pb_boot_block, loader_reasons, 208);
PB_AT(pb_boot_block, line3_reserved, 216);
PB_AT(pb_boot_block, mcu_state, 256);
PB_AT(pb_boot_block, mcu_deaths, 260);
PB_AT(pb_boot_block, dead_stage, 264);
PB_AT(pb_boot_block, dead_waypoint, 268);
PB_AT(pb_boot_block, dead_heartbeat, 272);
PB_AT(pb_boot_block, clock, 276);
PB_AT(pb_boot_block, heartbeat_clock, 280);
PB_AT(pb_boot_block, line4_reserved, 284);

/** One thing the firmware can do, written by the firmware at boot. A reader skips keys that it does not know. */
struct pb_capability {
	uint32_t key;   /**< enum pb_capability_key */
	uint32_t value; /**< the meaning depends on the key */
};
PB_SIZE(pb_capability, 8);
PB_AT(pb_capability, key, 0);
PB_AT(pb_capability, value, 4);

/* X(NAME, key, meaning of the value) */
#define PB_CAPABILITIES(X)                                                                                   \
	X(NODES, 1, "nodes, numbered from 0")                                                                \
	X(NODE_KINDS, 2, "4 bits a node from bit 0: 1 3D, 2 copy")                                           \
	X(CLIENTS, 3, "host clients at once, beside the admin channel")                                      \
	X(QUEUES, 4, "queues, all channels together")                                                        \
	X(CONTEXTS, 5, "contexts, all channels together")                                                    \
	X(SEGMENTS, 6, "segments of a channel, segment 0 included")                                          \
	X(ALLOCATIONS_MAX, 7, "allocation-list entries in one submission")                                   \
	X(PATCHES_MAX, 8, "patch locations in one submission")                                               \
	X(BUFFER_BYTES_MAX, 9, "bytes in one DMA buffer")                                                    \
	X(RING_ENTRIES_MIN, 10, "descriptors in a submission ring, at least")                                \
	X(RING_ENTRIES_MAX, 11, "descriptors in a submission ring, at most")                                 \
	X(IN_FLIGHT, 12, "submissions fed to a node and not yet retired")                                    \
	X(WAITS_MAX, 13, "waits of a submission")                                                            \
	X(PRIORITIES, 14, "priorities of queues")                                                            \
	X(TICK_MICROSECONDS, 15, "longest delay by a lost doorbell")                                         \
	X(POOL_OFFSET, 16, "where backing memory for segments starts")                                       \
	X(POOL_BYTES, 17, "backing memory for segments, all channels together")                              \
	X(SEGMENT_KINDS, 18, "bit 0 linear, bit 1 aperture, bit 2 host memory, bit 3 outer")                 \
	X(PATCH_ENCODINGS, 19,                                                                               \
	  "bit 0 the 24-byte patch location, bit 1 compact, bit 2 grouped, bit 16 PB_PATCH_PRESUMED")        \
	X(FORMATS, 20, "built-in patch formats, numbered from 0")                                            \
	X(FORMATS_OWN, 21, "a channel's own patch formats, numbered from 128")                               \
	X(SEGMENTS_TOTAL, 22, "segments of all channels together")                                           \
	X(APERTURE_PAGES, 23, "pages of an aperture segment, at most")                                       \
	X(PREEMPTION, 24, "bit 0 between two buffers, bit 1 inside one")                                     \
	X(QUANTUM_MICROSECONDS, 25, "engine time of a timeslice, unless the queue asks for another")         \
	X(HANG_MICROSECONDS, 26, "engine time without progress that counts as a hang, unless NODE_SET")      \
	X(QUEUES_MIN, 27, "queues that each channel is guaranteed")                                          \
	X(CONTEXTS_MIN, 28, "contexts that each channel is guaranteed")                                      \
	X(SEGMENTS_MIN, 29, "segments that each channel is guaranteed")                                      \
	X(FORMATS_MIN, 30, "own patch formats that each channel is guaranteed")                              \
	X(POOL_BYTES_MIN, 31, "backing memory that each channel is guaranteed, in one piece")                \
	X(STOPS_MIN, 32, "stop requests that each channel is guaranteed at once")                            \
	X(WAKES_MIN, 33, "waiting queues that are checked for each channel in one slice, at least")          \
	X(HOST_BYTES, 34, "host memory that the card reaches; 0: none")                                      \
	X(WINDOW_BYTES, 35, "card memory that the MCU sees, from offset 0: lists and buffers lie there")     \
	X(OUTER_OFFSET, 36, "where card memory lies that engines and hosts see, and the MCU does not")       \
	X(OUTER_BYTES, 37, "how much of that there is, beside WINDOW_BYTES; 0: none")

/** The meaning of a capability's value. */
enum pb_capability_key {
#define PB_CAPABILITY_ENUM(name, key, meaning) PB_CAPABILITY_##name = (key),
	PB_CAPABILITIES(PB_CAPABILITY_ENUM)
#undef PB_CAPABILITY_ENUM
};

/** What a node's engine can do: the values of the capability NODE_KINDS. */
enum pb_node_kind {
	PB_NODE_3D = 1,   /**< draws and copies */
	PB_NODE_COPY = 2, /**< copies and fills */
};

#endif
