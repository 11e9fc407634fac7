/* SPDX-License-Identifier: MIT */
/*
 * Instruction counts of the submission path, inside the image and with no host
 * in the loop: this program is host, engine and stopwatch around the very core
 * and drivers that the board ships. Prints "key value" lines; a run in which
 * anything failed ends with an error instead of a figure.
 */
#include <stddef.h>

#include "boards/board.h"
#include "hal/card/layout.h"
#include "hal/card/lines.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "host/patchbay.h"
#include "tests/bench/bench_board.h"

#define REPEATS      2048u
#define LIST_ENTRIES 2048u
#define ALLOCATIONS  200u
#define CHANNEL      1u

static struct pb_firmware_config config;
static struct pb_lines lines;
static struct pb_lines_ops lines_ops;
static const struct pb_lines *board_lines;
static struct pb_engine engines[PB_LIMIT_NODES];
static struct pb_engine_ops engine_ops;
static const struct pb_engine_ops *board_engine_ops;
static struct pb_firmware *firmware;

static uint32_t engine_rung; /**< counter behind the last engine doorbell */
static uint32_t host_rung;   /**< counter behind the last host interrupt */
static bool engine_waits;    /**< an engine was rung and has not been served */

static struct pb_channel channel;
static struct pb_segment system_segment, local_segment;
static struct pb_queue queue;
static struct pb_memory buffer, lists;
static uint32_t context;
static uint32_t fence_id;

static void print_number(uint32_t value)
{
	char text[12];
	size_t at = sizeof(text) - 1u;

	text[at] = '\0';
	do {
		text[--at] = (char)('0' + value % 10u);
		value /= 10u;
	} while (value != 0);
	pb_bench_board_print(&text[at]);
}

static void print_milli(const char *key, uint32_t milli)
{
	pb_bench_board_print(key);
	pb_bench_board_print(" ");
	print_number(milli / 1000u);
	pb_bench_board_print(".");
	print_number(milli / 100u % 10u);
	print_number(milli / 10u % 10u);
	pb_bench_board_print("\n");
}

static void require(bool good, const char *what)
{
	if (good)
		return;
	pb_bench_board_print("bench: failed: ");
	pb_bench_board_print(what);
	pb_bench_board_print("\n");
	pb_bench_board_exit(1);
}

/* ---- lines: the board's, with a look at the counter behind each raise ---- */

static void lines_raise(void *context_, uint32_t line)
{
	board_lines->ops->raise(context_, line);
	host_rung = pb_bench_board_counter();
}

static void wrap_lines(void)
{
	board_lines = config.lines;
	lines_ops = *board_lines->ops;
	lines_ops.raise = lines_raise;
	lines = (struct pb_lines){.ops = &lines_ops, .context = board_lines->context,
				   .pending = board_lines->pending};
	config.lines = &lines;
}

/* ---- engines: the board's, with a look at the counter behind each doorbell ---- */

static void engine_feed(void *context_, const struct pb_engine_work *work, uint32_t sequence)
{
	board_engine_ops->feed(context_, work, sequence);
	engine_rung = pb_bench_board_counter();
	engine_waits = true;
}

static void wrap_engines(void)
{
	board_engine_ops = config.engines[0].ops;
	engine_ops = *board_engine_ops;
	engine_ops.feed = engine_feed;
	for (uint32_t n = 0; n < config.node_count; n++) {
		engines[n] = config.engines[n];
		engines[n].ops = &engine_ops;
	}
	config.engines = engines;
}

/* ---- the card's other side: engines that finish everything at once ---- */

static void take_outgoing_bytes(void)
{
	struct pb_card_line_block *block = (void *)(config.memory + PB_CARD_LINES_OFFSET);

	for (uint32_t line = 0; line < PB_CARD_LINES; line++)
		pb_shared_write32(&block->from_mcu_taken[line],
				  pb_shared_read32(&block->from_mcu_raised[line]));
}

static void serve_engines(void)
{
	for (uint32_t n = 0; n < config.node_count; n++) {
		struct pb_engine_registers *registers =
			(void *)(config.memory + PB_CARD_ENGINE_OFFSET + n * PB_CARD_ENGINE_STRIDE);
		const uint32_t command = pb_shared_read32(&registers->command);
		const uint32_t tail = pb_shared_read32(&registers->tail);

		if (command == pb_shared_read32(&registers->command_done) &&
		    tail == pb_shared_read32(&registers->sequence))
			continue;
		pb_shared_write32(&registers->sequence, tail);
		pb_shared_write32(&registers->command_done, command);
		pb_bench_board_send(PB_LINE_NODE(n));
	}
	engine_waits = false;
}

/** Lets the firmware do what it can, and the engines behind it. Nobody sleeps: whoever waits calls again. */
static void run_firmware(void)
{
	while (pb_firmware_pass(firmware))
		continue;
	take_outgoing_bytes();
	serve_engines();
}

/* ---- host: the host library, in the same program ---- */

static void link_doorbell(struct pb_link *link)
{
	pb_bench_board_send(PB_LINE_CHANNEL(link->channel));
}

static enum pb_error link_wait(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	(void)timeout_us;
	run_firmware();
	return PB_ERROR_OK;
}

static uint64_t link_now(struct pb_link *link)
{
	(void)link;
	return 0; /* nothing times out: whoever runs the bench does that */
}

static void link_close(struct pb_link *link)
{
	(void)link;
}

static const struct pb_link_ops link_ops = {
	.doorbell = link_doorbell,
	.wait = link_wait,
	.now = link_now,
	.close = link_close,
};

static struct pb_link host_link = {.ops = &link_ops, .channel = CHANNEL};

static void boot(void)
{
	config = *pb_board_start();
	wrap_lines();
	wrap_engines();
	host_link.memory = config.memory;
	host_link.memory_bytes = config.memory_bytes;
	pb_bench_board_start();
	firmware = pb_firmware_instance();
	pb_firmware_init(firmware, &config);
}

static void attach(void)
{
	const struct pb_segment_request system = {.os_base = 0x10000000u,
						  .gpu_base = 0x10000000u,
						  .size = 0x200000u,
						  .backing_bytes = 0x200000u};
	const struct pb_segment_request local = {
		.id = 1, .os_base = 0x40000000u, .gpu_base = 0x20000000u, .size = 0x1000000u};

	require(pb_channel_attach(&channel, &host_link, 1) == PB_ERROR_OK, "attach");
	require(pb_segment_create(&system_segment, &channel, &system) == PB_ERROR_OK, "segment 0");
	require(pb_segment_create(&local_segment, &channel, &local) == PB_ERROR_OK, "segment 1");
	require(pb_context_create(&channel, &context) == PB_ERROR_OK, "context");
	require(pb_queue_create(&queue, &channel, &system_segment, 0, 16) == PB_ERROR_OK, "queue");
	require(pb_memory_allocate(&system_segment, 0x40000, PB_PAGE_BYTES, &buffer) == PB_ERROR_OK,
		"buffer");
	require(pb_memory_allocate(&system_segment, 0x40000, PB_PAGE_BYTES, &lists) == PB_ERROR_OK, "lists");
}

/** The address at which the lists put allocation i. */
static uint32_t allocation_address(uint32_t i)
{
	return 0x40000000u + i * 0x10000u;
}

static void write_lists(uint32_t format)
{
	struct pb_allocation *allocations = (void *)lists.bytes_host;
	struct pb_patch_location *patches = (void *)(allocations + ALLOCATIONS);

	for (uint32_t i = 0; i < ALLOCATIONS; i++) {
		allocations[i] = (struct pb_allocation){.address_low = allocation_address(i),
							.size_low = 0x10000u,
							.flags = 1u << PB_ALLOCATION_SEGMENT_SHIFT,
							.id = i};
	}
	for (uint32_t i = 0; i < LIST_ENTRIES; i++) {
		patches[i] = (struct pb_patch_location){.allocation_index = i * 7u % ALLOCATIONS,
							.slot = i % ALLOCATIONS,
							.driver_id = format,
							.allocation_offset = i * 4u,
							.patch_offset = i * 16u};
	}
}

/** Words that the patches must have written, counted independently of the firmware's code. */
static void check_patches(uint32_t count, uint32_t width)
{
	const uint32_t *words = (const void *)buffer.bytes_host;

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t expected = 0x20000000u + i * 7u % ALLOCATIONS * 0x10000u + i * 4u;

		require(words[i * 4u] == expected, "a patched word is wrong");
		require(width == 4u || words[i * 4u + 1u] == 0, "a patched high word is wrong");
	}
}

static struct pb_descriptor describe(uint32_t patches)
{
	const uint64_t list = lists.os_address + ALLOCATIONS * sizeof(struct pb_allocation);

	return (struct pb_descriptor){
		.context = context,
		.fence_id = fence_id++,
		.dma_address_low = (uint32_t)buffer.os_address,
		.dma_size = 0x10000u,
		.dma_end = 0x10000u,
		.allocation_count = patches != 0 ? ALLOCATIONS : 0,
		.allocation_address_low = (uint32_t)lists.os_address,
		.patch_address_low = (uint32_t)list,
		.patch_count = LIST_ENTRIES,
		.patch_length = patches,
	};
}

/** From here on an interrupt waits for sleep_and_wake, so that none of this program's work is counted. */
static void hold_interrupts(void)
{
	board_lines->ops->idle_enter(board_lines->context);
}

/** Sleeps as the firmware does until an interrupt is there, and takes it. */
static void sleep_and_wake(void)
{
	board_lines->ops->idle_wait(board_lines->context);
	board_lines->ops->idle_leave(board_lines->context);
}

/** One submission from doorbell to fence. Gives the two spans, in instructions times 1000. */
static void submit_once(uint32_t patches, uint32_t *submit, uint32_t *retire)
{
	const struct pb_descriptor descriptor = describe(patches);
	struct pb_fence fence;

	hold_interrupts();
	require(pb_queue_submit(&queue, &descriptor) == PB_ERROR_OK, "submit");
	sleep_and_wake(); /* by the doorbell */
	while (pb_firmware_pass(firmware))
		continue;
	*submit = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), engine_rung);
	require(engine_waits, "the engine was not rung");
	take_outgoing_bytes();
	hold_interrupts();
	serve_engines();
	sleep_and_wake(); /* by the engine */
	while (pb_firmware_pass(firmware))
		continue;
	*retire = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), host_rung);
	take_outgoing_bytes();
	require(pb_queue_fence(&queue, &fence) == PB_ERROR_OK && fence.status == PB_ERROR_OK &&
			fence.errors == 0 && fence.timeline == queue.timeline,
		"a submission did not complete");
}

static void measure_empty(void)
{
	uint64_t submit_sum = 0, retire_sum = 0;

	for (uint32_t i = 0; i < REPEATS; i++) {
		uint32_t submit, retire;

		submit_once(0, &submit, &retire);
		submit_sum += submit;
		retire_sum += retire;
	}
	print_milli("submit_instr", (uint32_t)(submit_sum / REPEATS));
	print_milli("retire_instr", (uint32_t)(retire_sum / REPEATS));
}

/** Cost of an entry: a long list against one of half its length, slices and passes included. */
static void measure_patches(const char *key, uint32_t format, uint32_t width)
{
	uint32_t full, half, unused;

	write_lists(format);
	submit_once(LIST_ENTRIES / 2u, &half, &unused);
	check_patches(LIST_ENTRIES / 2u, width);
	submit_once(LIST_ENTRIES, &full, &unused);
	check_patches(LIST_ENTRIES, width);
	print_milli(key, (full - half) / (LIST_ENTRIES / 2u));
}

/** Cost of an allocation, with one patch behind them. */
static void measure_resolve(void)
{
	uint32_t empty, one, unused;

	write_lists(PB_PATCH_FORMAT_ADDRESS32);
	submit_once(0, &empty, &unused);
	submit_once(1, &one, &unused);
	print_milli("resolve_instr_per_allocation", (one - empty) / ALLOCATIONS);
}

int main(void);

int main(void)
{
	boot();
	attach();
	measure_empty();
	measure_resolve();
	measure_patches("patch32_instr_per_entry", PB_PATCH_FORMAT_ADDRESS32, 4);
	measure_patches("patch64_instr_per_entry", PB_PATCH_FORMAT_ADDRESS64, 8);
	measure_patches("sum32_instr_per_entry", PB_PATCH_FORMAT_SUM32, 4);
	measure_patches("sum64_instr_per_entry", PB_PATCH_FORMAT_SUM64_SIGNED, 8);
	pb_bench_board_exit(0);
}
