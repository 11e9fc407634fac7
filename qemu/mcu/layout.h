/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Fixed places in the memory of the emulated card, in bytes from its start.
 * Hosts find everything through the boot block and need none of this; it is
 * what the MCU's board table and the card program agree on.
 *
 *   0x00000  boot block, capability table       include/patchbay/abi/boot.h
 *   0x00400  crash record                        include/patchbay/abi/crash.h
 *   0x01000  line words                          qemu/mcu/lines.h
 *   0x02000  register blocks of the engines      hal/engine/registers.h
 *   0x03000  range table of the engines
 *   0x04700  counters of their page tables
 *   0x04780  the unit that clears outer memory
 *   0x04800  rings of the engines, each with the progress of what they go on with
 *   0x06000  channel directory, then the channels' rings
 *   0x1e000  telemetry                           include/patchbay/abi/telemetry.h
 *   0x1f000  dummy page of the engines' apertures
 *   0x20000  pool: backing memory of segments
 *   0xfdf000 the trace, to the end
 *
 * A board may have a part of the memory file for host memory (hal/host_window.h): at its end, in front of which the trace
 * ends then, or behind it. Outer memory, which the MCU does not see, lies behind all of that (hal/outer_memory.h).
 */
#ifndef PB_QEMU_MCU_LAYOUT_H
#define PB_QEMU_MCU_LAYOUT_H

/** Card memory in the MCU's window, and all of it at most. */
#define PB_CARD_MEMORY_BYTES       0x1000000u
#define PB_CARD_MEMORY_BYTES_MAX   0x10000000u
#define PB_CARD_CRASH_OFFSET       0x400u
#define PB_CARD_ENGINE_OFFSET      0x2000u
#define PB_CARD_ENGINE_STRIDE      0x100u
#define PB_CARD_RANGES_OFFSET      0x3000u
#define PB_CARD_TRANSLATION_OFFSET 0x4700u
#define PB_CARD_CLEAR_OFFSET       0x4780u
#define PB_CARD_RINGS_OFFSET       0x4800u
#define PB_CARD_RING_STRIDE        0x600u
#define PB_CARD_CHANNELS_OFFSET    0x6000u
#define PB_CARD_TELEMETRY_OFFSET   0x1e000u
#define PB_CARD_DUMMY_OFFSET       0x1f000u
#define PB_CARD_POOL_OFFSET        0x20000u
/** Host memory, from the start of card memory; the board's definitions may have others. */
#ifndef PB_CARD_HOST_OFFSET
#define PB_CARD_HOST_OFFSET PB_CARD_MEMORY_BYTES
#define PB_CARD_HOST_BYTES  0u
#endif
/** Outer memory, from the start of card memory; the board's definitions may have another. */
#ifndef PB_CARD_OUTER_OFFSET
#define PB_CARD_OUTER_OFFSET PB_CARD_MEMORY_BYTES
#endif
/** What of the memory file is no host memory. */
#if PB_CARD_HOST_OFFSET < PB_CARD_MEMORY_BYTES
#define PB_CARD_OWN_BYTES PB_CARD_HOST_OFFSET
#else
#define PB_CARD_OWN_BYTES PB_CARD_MEMORY_BYTES
#endif
/** The trace, behind what the core uses: 8,192 records. */
#define PB_CARD_TRACE_BYTES  0x21000u
#define PB_CARD_TRACE_OFFSET (PB_CARD_OWN_BYTES - PB_CARD_TRACE_BYTES)
#define PB_CARD_NODES        4u
/** What node n can run: enum pb_node_kind. */
#define PB_CARD_NODE_KIND(n) ((n) % 2u == 0 ? PB_NODE_3D : PB_NODE_COPY)

#endif
