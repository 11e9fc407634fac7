/* SPDX-License-Identifier: MIT */
/* What the examples have in common: a host with two segments, and DMA buffers of one or two packets with their lists. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "patchbay/engine/packets.h"
#include "patchbay/patchbay.h"

#define EXAMPLE_PATIENCE_US 20000000u
#define EXAMPLE_VIDEO_OS    0x80000000u  /**< of video memory, as lists name it */
#define EXAMPLE_VIDEO_GPU   0x540000000u /**< as the engine sees it */
#define EXAMPLE_VIDEO_BYTES 0x40000u

/** A host of a card. */
struct example {
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment system; /**< segment 0: queues, DMA buffers, lists */
	struct pb_segment video;  /**< segment 1: what engines work on */
	uint32_t context;
};

/** A DMA buffer that is being built, and its lists. */
struct example_buffer {
	struct pb_memory buffer, allocations, locations;
	uint32_t words;         /**< of the DMA buffer */
	uint32_t count;         /**< patch locations, each with an allocation of its own */
	struct pb_memory waits; /**< array of struct pb_wait */
	uint32_t wait_count;
};

/** Prints the error, if it is one, and ends the program. */
void check(enum pb_error error);
/** Prints the text and ends the program, unless the condition holds. */
void require(int condition, const char *text);
/** Connects to the card that is the program's argument, a socket or a device, attaches, and makes segments and a context. */
void example_open(struct example *example, int argc, char **argv);
/** Detaches and leaves. */
void example_close(struct example *example);
/** Allocates video memory. */
struct pb_memory example_allocate(struct example *example, uint32_t bytes);

/** Allocates an empty buffer. */
void example_begin(struct example_buffer *buffer, struct example *example);
/** Appends a word. */
void example_word(struct example_buffer *buffer, uint32_t word);
/** Appends `words` words that the firmware patches with the address of `memory`, in a format. */
void example_address(struct example_buffer *buffer, const struct pb_memory *memory, uint32_t format,
		     uint32_t words);
/** Appends a FILL of `memory`. */
void example_fill(struct example_buffer *buffer, const struct pb_memory *memory, uint32_t value);
/** Describes the buffer for a submission. */
struct pb_descriptor example_describe(const struct example_buffer *buffer, const struct example *example);
/** Waits for the queue's last submission, which must not have failed. */
void example_wait(struct pb_queue *queue);
/** Returns a word of memory that an engine has written. */
uint32_t example_read(const struct pb_memory *memory, uint32_t index);

#endif
