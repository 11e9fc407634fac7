/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A small card memory around one engine model. Memory offset o is at GPU
 * address BENCH_GPU + o for channel 1, unless a range below says otherwise.
 */
#ifndef PB_TESTS_UNIT_ENGINE_BENCH_H
#define PB_TESTS_UNIT_ENGINE_BENCH_H

#include "hal/engine.h"
#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "qemu/engine.h"

#define BENCH_BYTES       0x1e000u
#define BENCH_REGISTERS   0x100u
#define BENCH_RANGES      0x200u /**< 3 channels; channel 0 has no range */
#define BENCH_CHANNELS    3u
#define BENCH_ROW_BYTES   0x200u /**< of the range table */
#define BENCH_RING        0xa00u
#define BENCH_SLOTS       4u
#define BENCH_TRANSLATION 0xb00u
#define BENCH_OTHER_NODE  0xc00u /**< registers of a second engine, where a test has one */
#define BENCH_OTHER_RING  0xd00u
#define BENCH_RESTORE     0xe00u /**< progress of the slots, of both engines */
#define BENCH_GPU         UINT64_C(0x100000000)

/* Channel 1 */
#define BENCH_RANGE0       0x1000u  /**< range 0: here, 0xf000 bytes */
#define BENCH_BUFFER       0x1000u  /**< where bench_submit puts buffers */
#define BENCH_DATA         0x3000u  /**< free for tests, to the end of range 0 */
#define BENCH_RANGE1       0x10000u /**< range 1: adjoins range 0, 0x4000 bytes */
#define BENCH_RANGE1_END   0x14000u
#define BENCH_RANGE2       0x14000u /**< range 2: at GPU address BENCH_RANGE2_GPU */
#define BENCH_RANGE2_GPU   UINT64_C(0x2000)
#define BENCH_RANGE2_BYTES 0x1000u
#define BENCH_APERTURE     UINT64_C(0x700000000) /**< range 4: an aperture, nothing is mapped in it */
#define BENCH_PAGES        80u                   /**< its size */
/* Channel 2: one range, at the addresses where channel 1 has its first */
#define BENCH_OTHER       0x18000u
#define BENCH_OTHER_BYTES 0x1000u
/* No channel's */
#define BENCH_DUMMY 0x1c000u
#define BENCH_TABLE 0x1d000u /**< page table of the aperture */

struct bench {
	uint8_t *memory;
	uint32_t ring; /**< its offset */
	struct pb_engine_registers *registers;
	struct pb_engine_model *model;
	uint32_t fed;        /**< slots since the last reset or stop */
	uint32_t interrupts; /**< raised so far */
	/** Called in the interrupt; may be NULL. */
	void (*on_interrupt)(struct bench *bench);
};

/** Two words of a packet, from the place in memory, in the aperture, or from an address. */
#define AT(offset)       ADDRESS(BENCH_GPU + (offset))
#define IN(offset)       ADDRESS(BENCH_APERTURE + (offset))
#define ADDRESS(address) (uint32_t)((uint64_t)(address)&UINT32_MAX), (uint32_t)((uint64_t)(address) >> 32)

/* One packet's words. */
#define NOP(words)                      PB_PACKET(PB_PACKET_NOP, words)
#define FILL(to, bytes, value)          PB_PACKET(PB_PACKET_FILL, 5), to, bytes, value
#define COPY(from, to, bytes)           PB_PACKET(PB_PACKET_COPY, 6), from, to, bytes
#define DISCARD(at, bytes)              PB_PACKET(PB_PACKET_DISCARD, 4), at, bytes
#define MAP(to, pages, array)           PB_PACKET(PB_PACKET_MAP_APERTURE, 6), to, pages, array
#define UNMAP(at, pages)                PB_PACKET(PB_PACKET_UNMAP_APERTURE, 4), at, pages
#define INDIRECT(buffer, bytes)         PB_PACKET(PB_PACKET_INDIRECT, 4), buffer, bytes
#define HANG                            PB_PACKET(PB_PACKET_HANG, 1)
#define FAULT                           PB_PACKET(PB_PACKET_FAULT, 1)
#define BUSY(microseconds)              PB_PACKET(PB_PACKET_BUSY, 2), microseconds
#define TARGET(at, w, h, pitch)         PB_PACKET(PB_PACKET_TARGET, 6), at, w, h, pitch
#define TEXTURE(at, w, h, pitch)        PB_PACKET(PB_PACKET_TEXTURE, 6), at, w, h, pitch
#define DRAW(vertices, count)           PB_PACKET(PB_PACKET_DRAW, 4), vertices, count
#define RECT(from, fp, to, tp, b, rows) PB_PACKET(PB_PACKET_COPY_RECT, 9), from, fp, to, tp, b, rows

void bench_start(struct bench *bench, uint32_t kind);
/** A second engine on the memory of the first; stop it before that one. */
void bench_start_other(struct bench *other, const struct bench *first, uint32_t kind);
void bench_stop_other(struct bench *other);
void bench_stop(struct bench *bench);
/** The word at an offset of memory. */
uint32_t *bench_at(const struct bench *bench, uint32_t offset);
struct pb_engine_range_entry *bench_range(const struct bench *bench, uint32_t channel, uint32_t index);
/** Stores the word of the aperture's page table as it says that a page lies at an offset of memory. */
void bench_map(const struct bench *bench, uint32_t page, uint32_t offset);

/*
 * A scattered aperture: its first pages lie in all ranges of channel 1, in no
 * order. Offsets are bytes of it; from BENCH_LINEAR on they are of memory.
 */
#define BENCH_MAPPED 0x8000u /**< so many bytes are mapped; the page behind them is not */
#define BENCH_ISLAND 0x9000u /**< one page more, none behind it */
#define BENCH_LINEAR 0x100000u
#define BENCH_OF(offset)                                                                                     \
	ADDRESS((offset) >= BENCH_LINEAR ? BENCH_GPU + (offset)-BENCH_LINEAR : BENCH_APERTURE + (offset))
/** Maps it. Memory from 0xc000 to 0xefff is free, and BENCH_DATA up to 0x3fff. */
void bench_scatter(const struct bench *bench);
/** Where the byte at such an offset lies in memory. */
uint32_t bench_place(uint32_t offset);
/** Stores words at such an offset. */
void bench_store_in(const struct bench *bench, uint32_t offset, const uint32_t *words, size_t count);
/** The same in a copy of the memory: one value, for so many bytes. */
void bench_expect_fill(uint8_t *memory, uint32_t offset, uint32_t bytes, uint32_t value);

/** Copies the memory. */
void bench_keep(const struct bench *bench, uint8_t copy[BENCH_BYTES]);
/** All from BENCH_DATA on, but for the dummy page, is as in this copy. */
void bench_expect_memory(const struct bench *bench, const uint8_t expected[BENCH_BYTES]);

/** The slot that the next feed uses. */
struct pb_engine_slot *bench_next_slot(const struct bench *bench);
/** Feeds one slot; its sequence is the number of slots fed. */
void bench_feed(struct bench *bench, uint32_t owner, uint64_t address, uint32_t bytes);
/** Stores words at an offset of memory. */
void bench_store(const struct bench *bench, uint32_t offset, const uint32_t *words, size_t count);
/** Steps until there is nothing to run; fails the test if that takes too long. */
void bench_run(struct bench *bench);
/** Work of channel 1 that may run paging packets. */
#define BENCH_PAGING (1u | PB_ENGINE_OWNER_PRIVILEGED)
/** A buffer at BENCH_BUFFER for this owner, fed and run. */
void bench_submit_as(struct bench *bench, uint32_t owner, const uint32_t *words, size_t count);
#define SUBMIT_PAGING(bench, ...)                                                                            \
	bench_submit_as(bench, BENCH_PAGING, (const uint32_t[]){__VA_ARGS__},                                \
			sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
/** The same for channel 1, not privileged. */
void bench_submit(struct bench *bench, const uint32_t *words, size_t count);
#define SUBMIT(bench, ...)                                                                                   \
	bench_submit(bench, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
#define STORE(bench, offset, ...)                                                                            \
	bench_store(bench, offset, (const uint32_t[]){__VA_ARGS__},                                          \
		    sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
/** Asks for a command and steps once, for no time. */
void bench_command(struct bench *bench, uint32_t op);
/** Asks for RESET, STOP or STOP_INSIDE as the MCU does it: the ring counts as empty. Steps nothing. */
void bench_ask(struct bench *bench, uint32_t op);
/** The next slot to be fed goes on from there. */
void bench_resume(const struct bench *bench, const struct pb_engine_progress *progress);
/** The last command is answered, and says so. */
void bench_expect_stop(const struct bench *bench, uint32_t sequence, uint32_t running);
/** RESET as the MCU does it. */
void bench_reset(struct bench *bench);
/** The engine is stopped by this fault in the slot fed last. */
void bench_expect_fault(const struct bench *bench, uint32_t code, uint64_t address);
/** The engine has run everything that was fed. */
void bench_expect_done(const struct bench *bench);

/** A fixed sequence of numbers from a seed that is not 0. */
uint32_t bench_random(uint32_t *seed);

#endif
