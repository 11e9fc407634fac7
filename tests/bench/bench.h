/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of the bench: a card and its host around the firmware (bench_card.c), the spans of one submission
 * (bench_spans.c), and the measurements (the other bench_*.c).
 */
#ifndef PB_TESTS_BENCH_BENCH_H
#define PB_TESTS_BENCH_BENCH_H

#include "patchbay/patchbay.h"

/** The host's side. Segment 0 is backed. Segment 1 has addresses only. */
struct pb_bench {
	struct pb_channel channel;
	struct pb_segment system_segment, local_segment;
	struct pb_queue queue;
	struct pb_memory buffer, lists;
	uint32_t context;
	uint32_t fence_id;
};

#define PB_BENCH_BUFFER_BYTES 0x40000u
#define PB_BENCH_LISTS_BYTES  0x110000u
/** Addresses of segment 1, for lists and for the engine. */
#define PB_BENCH_LOCAL_OS  0x40000000u
#define PB_BENCH_LOCAL_GPU 0x20000000u

extern struct pb_bench pb_bench;

/** Boots the firmware and attaches to it. @param traced with the default trace; else without a trace */
void pb_bench_boot(bool traced);
/** Runs one submission from doorbell to fence, and measures the two spans, in instructions times 1000. */
void pb_bench_submit(const struct pb_descriptor *descriptor, uint32_t *submit, uint32_t *retire);
/**
 * The last submission's spans until the firmware was idle, in instructions times 1000: from the doorbell's interrupt, and
 * from the engine's. Net of the counter's own cost.
 */
extern uint32_t pb_bench_submit_to_sleep, pb_bench_retire_to_sleep;
/** As pb_bench_submit(), in another queue. */
void pb_bench_submit_to(struct pb_queue *queue, const struct pb_descriptor *descriptor, uint32_t *submit,
			uint32_t *retire);
/** Rings the doorbell of the bench's client. @return instructions times 1000 until the firmware is idle again */
uint32_t pb_bench_doorbell(void);
/** As pb_bench_submit(), without a read of the counter. @param wait until it completes */
void pb_bench_submit_uncounted(const struct pb_descriptor *descriptor, bool wait);
/** A descriptor of the whole buffer, without lists. */
struct pb_descriptor pb_bench_descriptor(void);
/**
 * From here on alarms ring while the firmware runs. Not before, because they cost the main loop some
 * instructions.
 */
void pb_bench_watch_alarms(void);
/**
 * Longest time from an alarm (bench_board.h) to the firmware's next poll of its interrupts, in instructions
 * times 1000.
 */
extern uint32_t pb_bench_longest_delay;

/** Ends the bench with an error unless `good`. */
void pb_bench_require(bool good, const char *what);
/** Prints "key value". */
void pb_bench_print_milli(const char *key, uint32_t milli);

/** Runs at most so many passes of the firmware. Engines answer nothing and finish nothing meanwhile. */
void pb_bench_pass(uint32_t passes);
/** Acknowledges the lines that the firmware has raised, and reads their bytes, so that no transmitter fills up. */
void pb_bench_read_outgoing(void);
/** While muted, the host's doorbells do not ring. */
void pb_bench_mute(bool muted);
/**
 * Rings a doorbell at an arbitrary moment. @return time to the request that an engine stop, in instructions
 * times 1000; 0: there was none
 */
uint32_t pb_bench_stop_delay(void);
/**
 * A tick after the engine has run for long. @return time from its poll to the stop request, in instructions
 * times 1000; 0: none
 */
uint32_t pb_bench_switch(void);
/** Engines answer requests, and finish nothing. */
void pb_bench_answer(void);
/** Engines finish what they have been fed. */
void pb_bench_serve(void);
/** Engines finish everything, until the queue is empty. */
void pb_bench_finish(struct pb_queue *queue);

/** Makes the link of another channel, whose segments and queues are its own. Its waits run the firmware. */
void pb_bench_link(struct pb_link *link, uint32_t channel);
/**
 * Has the firmware claim its lines by another function than the board's. No bytes of lines are sent meanwhile, and
 * pb_bench_pass() leaves it to the caller to read those that the firmware sends.
 * @param take NULL: the board's again @param pending word that the firmware checks between two slices
 */
void pb_bench_claim_by(uint32_t (*take)(void *context), const uint32_t *pending);

/** As pb_bench_claim_by(), without the readings of the counter in the operations of lines and engines. */
void pb_bench_claim_bare(uint32_t (*take)(void *context), const uint32_t *pending);
/**
 * Runs one pass of the firmware. @param more whether there is more to do
 * @return its instructions times 1000, net of the counter's own
 */
uint32_t pb_bench_counted_pass(bool *more);
/** Engines complete one submission each, or all that they were fed. @return their lines, which are not raised */
uint32_t pb_bench_complete(bool all);

/** Queues that are created together: queue i is one of node i modulo `nodes`. */
struct pb_bench_queues {
	struct pb_channel *channel;
	const struct pb_memory *pages; /**< pb_bench_queue_bytes() for each */
	uint32_t entries, nodes, priority;
};
/** Returns what a queue of so many entries takes of card memory. */
uint32_t pb_bench_queue_bytes(uint32_t entries);
/** Creates queues, whose pages lie one behind another. */
void pb_bench_queues_create(struct pb_queue *queues, uint32_t count, const struct pb_bench_queues *request);
/** Destroys queues of pb_bench_queues_create(). Their pages stay allocated. */
void pb_bench_queues_destroy(struct pb_queue *queues, uint32_t count);

/** Sums over a number of submissions, in instructions times 1000. */
struct pb_bench_spans {
	uint64_t submit, retire, submit_to_sleep, retire_to_sleep;
};
/** Submissions without lists, one after another. */
struct pb_bench_spans pb_bench_empty(void);
/** Prints "key value" of one sum, for one submission. */
void pb_bench_print_span(const char *key, uint64_t sum);
/** The cost of scheduling. */
void pb_bench_schedule(void);
/**
 * From here on `pb_bench` is another client, whose buffer, lists and queue lie in host memory: one run of pages.
 * @return false: the board has too little host memory, and nothing has changed
 */
bool pb_bench_host_begin(void);
/** `pb_bench` is the bench's own client again. Pre: pb_bench_host_begin() was true, and all submissions are complete. */
void pb_bench_host_end(void);
/** The cost of a patch entry and of an allocation, by kind of list. */
void pb_bench_patches(void);
/**
 * What a submission costs while every ring is full: where the engines complete one at a time, and where they complete all
 * that they were fed. @param key_of_one NULL: not the former. Boots the firmware.
 */
void pb_bench_saturated(const char *key_of_one, const char *key_of_all);
/** A store to the first word begins a span for tests/bench/probe.c, one to the second ends it. */
extern uint32_t pb_bench_mark[2];
/** Patches lists of several kinds in marked spans: half of the entries, then all. Prints the name of each kind before. */
void pb_bench_patches_marked(void);
/** What short and unchanged lists cost, and a rescan beside many queues. */
void pb_bench_fixed(void);
/** The longest time between two polls of the interrupts. */
void pb_bench_delays(void);
/** The most expensive pass that eight hostile clients cause. Pre: the bench's own channel is detached. */
void pb_bench_clients(void);

#endif
