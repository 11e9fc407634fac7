/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A simulated card for the tests of the firmware core: one channel with four
 * segments, a context and a queue on each node, and fixed places in segment 0
 * for buffers and lists, so that tables of cases can name plain addresses.
 */
#ifndef PB_TESTS_UNIT_CARD_FIXTURE_H
#define PB_TESTS_UNIT_CARD_FIXTURE_H

#include "hal/engine/packets.h"
#include "patchbay/patchbay.h"
#include "qemu/sim.h"
#include "tests/unit/unit.h"

/* Segment 0, system memory: backed as a whole. Base and GPU base differ, so that one cannot pass for the other. */
#define CARD_SYSTEM_OS    UINT64_C(0x10000000)
#define CARD_SYSTEM_GPU   UINT64_C(0x40000000)
#define CARD_SYSTEM_BYTES 0x400000u
/* Segment 1: above 4 GiB for the OS and for the engine; the first 64 KiB are backed. */
#define CARD_VIDEO_OS     UINT64_C(0x800000000)
#define CARD_VIDEO_GPU    UINT64_C(0x180000000)
#define CARD_VIDEO_BYTES  0x1000000u
#define CARD_VIDEO_BACKED 0x10000u
/* Segment 2: its GPU addresses cross 4 GiB in the middle. */
#define CARD_EDGE_OS    UINT64_C(0x20000000)
#define CARD_EDGE_GPU   UINT64_C(0xffff0000)
#define CARD_EDGE_BYTES 0x20000u
/* Segment 3: addresses only, from 0. */
#define CARD_WIDE_BYTES UINT64_C(0x10000000000)

/* Places in segment 0, in bytes from its start. Queue pages lie before them. */
#define CARD_DMA         0x100000u /**< DMA buffers, CARD_DMA_STRIDE each */
#define CARD_DMA_STRIDE  0x1000u
#define CARD_ALLOCATIONS 0x200000u
#define CARD_PATCHES     0x240000u

/** The fixture's context: the first one made. */
#define CARD_CONTEXT PB_HANDLE(0, 1)

/** Allocation in a segment, with the flags given. */
#define CARD_SEGMENT(id) ((uint32_t)(id) << PB_ALLOCATION_SEGMENT_SHIFT)

struct card {
	struct pb_sim *sim; /**< NULL: the card is another one, which runs by itself */
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment segments[4];
	struct pb_queue queues[2]; /**< one on each node */
	uint32_t context;
};

/** Fails with the name of a table's row. */
#define card_equal(row, actual, expected)                                                                    \
	card_compare((row), #actual, (uint64_t)(actual), (uint64_t)(expected), __FILE__, __LINE__)
void card_compare(const char *row, const char *what, uint64_t actual, uint64_t expected, const char *file,
		  int line);

/** Simulation and link to channel 1, attached, with nothing made yet. */
void card_attach(struct card *card);
/** The same with segments, context and queues. */
void card_start(struct card *card);
/** Host memory of card_start_host(): each client's part is as large as segment 0. */
#define CARD_HOST_BYTES (8u * CARD_SYSTEM_BYTES)
/** As card_start(), with host memory: segment 0 is the channel's part of it. */
void card_start_host(struct card *card);
/** Outer memory of card_start_outer(): the card has 64 MiB. */
#define CARD_OUTER_BYTES 0x3000000u
/** As card_start(), with outer memory, right behind what the MCU sees. */
void card_start_outer(struct card *card);
/** As card_start(), on a card that is not simulated and whose link has no other user; card_stop() closes it. */
void card_start_on(struct card *card, struct pb_link *link);
void card_stop(struct card *card);
/** Opens another channel of the card's simulation; leave it with card_leave. */
void card_join(const struct card *card, struct pb_channel *channel, uint32_t number);
void card_leave(struct pb_channel *channel);
/** Makes the fixture's segments in a channel. */
void card_make_segments(struct pb_channel *channel, struct pb_segment segments[4]);

/** Another client with the fixture's segments, a context, and a queue on node 0. */
struct card_client {
	struct pb_channel channel;
	struct pb_segment segments[4];
	struct pb_queue queue;
	uint32_t context;
};

/** Makes all of it; card_leave(&client->channel) ends it. */
void card_join_client(const struct card *card, struct card_client *client, uint32_t number);
/** The same with segment 0 in host memory, on a card of card_start_host(). */
void card_join_host_client(const struct card *card, struct card_client *client, uint32_t number);

/** Where the host sees a byte of a segment's backing. */
uint8_t *card_bytes(const struct card *card, uint32_t segment, uint32_t offset);
uint32_t card_word(const struct card *card, uint32_t segment, uint32_t offset);
/** Words of a DMA buffer. */
uint32_t *card_dma(const struct card *card, uint32_t slot);
/** Writes a FILL packet. @return the words behind it */
uint32_t *card_fill(uint32_t *words, uint64_t gpu_address, uint32_t bytes, uint32_t value);
void card_allocation(const struct card *card, uint32_t index, uint64_t os_address, uint64_t size,
		     uint32_t flags);
void card_patch(const struct card *card, uint32_t index, const struct pb_patch_location *patch);

/** A word of a descriptor to be changed. */
struct card_edit {
	uint32_t offset;
	uint32_t value;
	bool used;
};
/** Most that a table's row holds. */
#define CARD_EDITS 4u
#define CARD_SET(field, value)                                                                               \
	{                                                                                                    \
		offsetof(struct pb_descriptor, field), (uint32_t)(value), true                               \
	}
void card_edit(struct pb_descriptor *descriptor, const struct card_edit edits[CARD_EDITS]);

/** A submission of the first bytes of a DMA buffer with the first entries of both lists. */
struct pb_descriptor card_descriptor(const struct card *card, uint32_t slot, uint32_t bytes,
				     uint32_t allocations, uint32_t patches);
/**
 * A submission that stores its fence id into word `slot` of video memory. The
 * address is 0 until it is patched, so that its bytes tell whether it was.
 */
struct pb_descriptor card_mark(const struct card *card, uint32_t slot, uint32_t fence_id);
/** Submits on the queue of a node. A timeline of 0 becomes the next. */
void card_submit(struct card *card, uint32_t node, const struct pb_descriptor *descriptor);
/** Submits with every word as it is. */
void card_submit_exactly(struct card *card, uint32_t node, const struct pb_descriptor *descriptor);
/** Runs until the queue has completed that many; fails after two seconds of the card's time. */
struct pb_fence card_wait_queue(const struct card *card, struct pb_queue *queue, uint32_t completed);
struct pb_fence card_wait(struct card *card, uint32_t node, uint32_t completed);
/** Submits and waits for this and everything before it. */
struct pb_fence card_execute(struct card *card, uint32_t node, const struct pb_descriptor *descriptor);
/** Lets virtual time go by. */
void card_run(const struct card *card, uint64_t microseconds);

/** Expects this event next; its epoch is the channel's, its number is not looked at. */
void card_expect_event(struct pb_channel *channel, const char *row, const struct pb_event *expected);
void card_expect_no_event(struct pb_channel *channel, const char *row);

#endif
