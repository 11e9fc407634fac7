/* SPDX-License-Identifier: MIT */
/* The card around the firmware: host, engines and interrupt lines of the bench. */
#include "tests/bench/bench_card.h"

#include <stddef.h>

#include "hal/shared.h"
#include "patchbay/patchbay.h"
#include "qemu/mcu/layout.h"
#include "qemu/mcu/lines.h"
#include "qemu/mcu/uart_lines.h"
#include "tests/bench/bench_board.h"

struct bench_card bench_card;
struct pb_bench pb_bench;
uint32_t pb_bench_longest_delay;

/* ---- interrupt lines: the board's, with a read of the counter after each raise ---- */

void bench_lines_raise(void *context_, uint32_t line)
{
	bench_card.board_lines->ops->raise(context_, line);
	bench_card.host_rung = pb_bench_board_counter();
}

uint32_t bench_lines_take(void *context_)
{
	const uint32_t taken = bench_card.board_lines->ops->take(context_);
	uint32_t alarm;

	if (bench_card.ticking) {
		bench_card.ticking = false;
		bench_card.polled_at = pb_bench_board_counter();
		return taken | 1u << PB_LINE_TICK;
	}
	if (pb_bench_board_alarm_rang(&alarm)) {
		bench_card.polled_at = alarm;
		if (bench_card.ringing)
			return taken | 1u << PB_LINE_CHANNEL(BENCH_CHANNEL);
		const uint32_t delay = pb_bench_board_instructions_milli(alarm, pb_bench_board_counter());

		if (delay > pb_bench_longest_delay)
			pb_bench_longest_delay = delay;
		return taken |
		       1u << PB_LINE_CHANNEL(BENCH_CHANNEL + 1u); /* the doorbell of another channel */
	}
	return taken;
}

void pb_bench_watch_alarms(void)
{
	pb_bench_longest_delay = 0;
	bench_card.watching = true;
	bench_card.lines_ops.take = bench_lines_take;
	bench_card.lines.pending = pb_bench_board_alarms();
}

static void wrap_lines(void)
{
	bench_card.board_lines = bench_card.config.lines;
	bench_card.lines_ops = *bench_card.board_lines->ops;
	bench_card.lines_ops.raise = bench_lines_raise;
	bench_card.lines = (struct pb_lines){.ops = &bench_card.lines_ops,
					     .context = bench_card.board_lines->context,
					     .pending = bench_card.board_lines->pending};
	bench_card.config.lines = &bench_card.lines;
}

/* ---- engines: the board's, with a read of the counter after each doorbell ---- */

void bench_engine_feed(void *context_, const struct pb_engine_submission *work, uint32_t sequence)
{
	bench_card.board_engine.run->feed(context_, work, sequence);
	bench_card.engine_rung = pb_bench_board_counter();
	bench_card.engine_waits = true;
}

void bench_engine_stop(void *context_, bool inside)
{
	bench_card.board_engine.preempt->stop(context_, inside);
	bench_card.stop_rung = pb_bench_board_counter();
	bench_card.stop_asked = true;
}

static void wrap_engines(void)
{
	bench_card.board_engine = bench_card.config.engines[0];
	bench_card.run_ops = *bench_card.board_engine.run;
	bench_card.run_ops.feed = bench_engine_feed;
	bench_card.preempt_ops = *bench_card.board_engine.preempt;
	bench_card.preempt_ops.stop = bench_engine_stop;
	for (uint32_t n = 0; n < bench_card.config.node_count; n++) {
		bench_card.engines[n] = bench_card.config.engines[n];
		bench_card.engines[n].run = &bench_card.run_ops;
		bench_card.engines[n].preempt = &bench_card.preempt_ops;
	}
	bench_card.config.engines = bench_card.engines;
}

/* ---- the engine side of the card: engines that finish everything at once ---- */

static struct pb_card_line_block *line_block(void)
{
	return (void *)(bench_card.config.memory + PB_CARD_LINES_OFFSET);
}

/**
 * The byte takes a while through the emulator, by the host's clock. Unless interrupts are held, nothing else
 * runs meanwhile, so all runs are alike.
 */
static void send(uint32_t line)
{
	const uint32_t *taken = &line_block()->to_mcu_taken[line];
	const uint32_t before = pb_shared_read32(taken);

	if (bench_card.stormy)
		return;
	pb_bench_board_send(line);
	while (!bench_card.held && pb_shared_read32(taken) == before)
		continue;
}

void pb_bench_read_outgoing(void)
{
	struct pb_card_line_block *block = line_block();
	const struct pb_uart_lines *uart = bench_card.board_lines->context;

	for (uint32_t line = 0; line < PB_CARD_LINES; line++) {
		uint32_t bytes = uart->sent[line] - pb_shared_read32(&block->from_mcu_taken[line]);

		for (; bytes != 0; bytes--)
			pb_bench_board_receive();
		pb_shared_write32(&block->from_mcu_taken[line], uart->sent[line]);
	}
}

struct pb_engine_registers *bench_registers(uint32_t node)
{
	return (void *)(bench_card.config.memory + PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE);
}

void pb_bench_answer(void)
{
	for (uint32_t n = 0; n < bench_card.config.node_count; n++) {
		struct pb_engine_registers *registers = bench_registers(n);
		const uint32_t command = pb_shared_read32(&registers->command);

		if (command == pb_shared_read32(&registers->command_done))
			continue;
		pb_shared_write32(&registers->stop_sequence, pb_shared_read32(&registers->sequence));
		pb_shared_write32(&registers->stop_running, 0);
		pb_shared_write32(&registers->sequence, 0);
		pb_shared_write32(&registers->command_done, command);
		send(PB_LINE_NODE(n));
	}
}

void pb_bench_serve(void)
{
	pb_bench_answer();
	for (uint32_t n = 0; n < bench_card.config.node_count; n++) {
		struct pb_engine_registers *registers = bench_registers(n);
		const uint32_t tail = pb_shared_read32(&registers->tail);

		if (tail == pb_shared_read32(&registers->sequence))
			continue;
		pb_shared_write32(&registers->sequence, tail);
		send(PB_LINE_NODE(n));
	}
	bench_card.engine_waits = false;
}

/* No sleep: the caller polls again. */
static void run(void)
{
	uint32_t alarm;

	if (bench_card.watching)
		pb_bench_board_alarm_start();
	while (pb_firmware_pass(bench_card.firmware))
		continue;
	pb_bench_board_alarm_stop();
	(void)pb_bench_board_alarm_rang(&alarm); /* after the firmware's last poll: no delay of its own */
	pb_bench_read_outgoing();
	pb_bench_serve();
}

/* ---- host: the host library, in the same program ---- */

static void link_doorbell(struct pb_link *link)
{
	if (!bench_card.muted)
		send(PB_LINE_CHANNEL(link->channel));
}

static enum pb_error link_wait(struct pb_link *link, uint64_t timeout_us)
{
	(void)link;
	(void)timeout_us;
	run();
	return PB_ERROR_OK;
}

static uint64_t link_now(struct pb_link *link)
{
	(void)link;
	return 0; /* no timeout here: scripts/bench has one */
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

static struct pb_link host_link = {.ops = &link_ops, .channel = BENCH_CHANNEL};

void pb_bench_link(struct pb_link *link, uint32_t channel)
{
	*link = host_link;
	link->channel = channel;
}

static void start_board(void)
{
	bench_card.config = *pb_board_start();
	wrap_lines();
	wrap_engines();
	host_link.memory = bench_card.config.memory;
	host_link.memory_bytes = bench_card.config.memory_bytes + bench_card.config.trace_bytes;
	pb_bench_board_start();
	bench_calibrate();
}

static void attach(void)
{
	const struct pb_segment_request system = {.os_base = 0x10000000u,
						  .gpu_base = 0x10000000u,
						  .size = 0x600000u,
						  .backing_bytes = 0x600000u};
	const struct pb_segment_request local = {
		.id = 1, .os_base = PB_BENCH_LOCAL_OS, .gpu_base = PB_BENCH_LOCAL_GPU, .size = 0x1000000u};
	struct pb_bench *bench = &pb_bench;
	enum pb_error error = pb_channel_attach(&bench->channel, &host_link, 1);

	pb_bench_require(error == PB_ERROR_OK, "attach");
	error = pb_segment_create(&bench->system_segment, &bench->channel, &system);
	pb_bench_require(error == PB_ERROR_OK, "segment 0");
	error = pb_segment_create(&bench->local_segment, &bench->channel, &local);
	pb_bench_require(error == PB_ERROR_OK, "segment 1");
	error = pb_context_create(&bench->channel, &bench->context);
	pb_bench_require(error == PB_ERROR_OK, "context");
	error = pb_queue_create(&bench->queue, &bench->channel, &bench->system_segment, 0, 256);
	pb_bench_require(error == PB_ERROR_OK, "queue");
	error = pb_memory_allocate(&bench->system_segment, PB_BENCH_BUFFER_BYTES, PB_PAGE_BYTES,
				   &bench->buffer);
	pb_bench_require(error == PB_ERROR_OK, "buffer");
	error = pb_memory_allocate(&bench->system_segment, PB_BENCH_LISTS_BYTES, PB_PAGE_BYTES,
				   &bench->lists);
	pb_bench_require(error == PB_ERROR_OK, "lists");
}

void pb_bench_boot(bool traced)
{
	static uint32_t trace_bytes;

	if (bench_card.firmware == NULL) {
		start_board();
		trace_bytes = bench_card.config.trace_bytes;
	}
	bench_card.config.trace_bytes = traced ? trace_bytes : 0;
	bench_card.firmware = pb_firmware_instance();
	pb_firmware_init(bench_card.firmware, &bench_card.config);
	attach();
}
