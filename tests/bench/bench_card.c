/* SPDX-License-Identifier: MIT */
/*
 * The card around the firmware: host, engines and interrupt lines of the bench, and the whole path of one
 * submission.
 */
#include <stddef.h>

#include "boards/board.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "patchbay/patchbay.h"
#include "qemu/mcu/layout.h"
#include "qemu/mcu/lines.h"
#include "qemu/mcu/uart_lines.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"

#define CHANNEL        1u
#define PASSES_TO_STOP 2000u /**< far more instructions than an alarm and its handling take */

static struct pb_firmware_config config;
static struct pb_lines lines;
static struct pb_lines_ops lines_ops;
static const struct pb_lines *board_lines;
static struct pb_engine engines[PB_LIMIT_NODES], board_engine;
static struct pb_engine_run_ops run_ops;
static struct pb_engine_preempt_ops preempt_ops;
static struct pb_firmware *firmware;

static uint32_t engine_rung; /**< counter after the last engine doorbell */
static uint32_t host_rung;   /**< counter after the last host interrupt */
static bool engine_waits;    /**< an engine's doorbell was rung and has not been served */
static uint32_t stop_rung;   /**< counter after the last stop request to an engine */
static bool stop_asked;      /**< there was one */
static bool watching;        /**< alarms ring while the firmware runs */
static bool ringing;         /**< an alarm is this channel's doorbell */
static bool ticking;         /**< the next poll finds a tick */
static bool held;            /**< interrupts wait for sleep_and_wake */
static bool muted;           /**< the host's doorbell is not rung */
static uint32_t polled_at;   /**< counter when the tick was found, or when the alarm rang */
static bool stormy;          /**< no bytes of lines are sent: pb_bench_claim_by() */

struct pb_bench pb_bench;
uint32_t pb_bench_longest_delay, pb_bench_submit_to_sleep, pb_bench_retire_to_sleep;

/* ---- interrupt lines: the board's, with a read of the counter after each raise ---- */

static void lines_raise(void *context_, uint32_t line)
{
	board_lines->ops->raise(context_, line);
	host_rung = pb_bench_board_counter();
}

static uint32_t lines_take(void *context_)
{
	const uint32_t taken = board_lines->ops->take(context_);
	uint32_t alarm;

	if (ticking) {
		ticking = false;
		polled_at = pb_bench_board_counter();
		return taken | 1u << PB_LINE_TICK;
	}
	if (pb_bench_board_alarm_rang(&alarm)) {
		polled_at = alarm;
		if (ringing)
			return taken | 1u << PB_LINE_CHANNEL(CHANNEL);
		const uint32_t delay = pb_bench_board_instructions_milli(alarm, pb_bench_board_counter());

		if (delay > pb_bench_longest_delay)
			pb_bench_longest_delay = delay;
		return taken | 1u << PB_LINE_CHANNEL(CHANNEL + 1u); /* the doorbell of another channel */
	}
	return taken;
}

void pb_bench_watch_alarms(void)
{
	pb_bench_longest_delay = 0;
	watching = true;
	lines_ops.take = lines_take;
	lines.pending = pb_bench_board_alarms();
}

static void wrap_lines(void)
{
	board_lines = config.lines;
	lines_ops = *board_lines->ops;
	lines_ops.raise = lines_raise;
	lines = (struct pb_lines){
		.ops = &lines_ops, .context = board_lines->context, .pending = board_lines->pending};
	config.lines = &lines;
}

/* ---- engines: the board's, with a read of the counter after each doorbell ---- */

static void engine_feed(void *context_, const struct pb_engine_submission *work, uint32_t sequence)
{
	board_engine.run->feed(context_, work, sequence);
	engine_rung = pb_bench_board_counter();
	engine_waits = true;
}

static void engine_stop(void *context_, bool inside)
{
	board_engine.preempt->stop(context_, inside);
	stop_rung = pb_bench_board_counter();
	stop_asked = true;
}

static void wrap_engines(void)
{
	board_engine = config.engines[0];
	run_ops = *board_engine.run;
	run_ops.feed = engine_feed;
	preempt_ops = *board_engine.preempt;
	preempt_ops.stop = engine_stop;
	for (uint32_t n = 0; n < config.node_count; n++) {
		engines[n] = config.engines[n];
		engines[n].run = &run_ops;
		engines[n].preempt = &preempt_ops;
	}
	config.engines = engines;
}

/* ---- the engine side of the card: engines that finish everything at once ---- */

static struct pb_card_line_block *line_block(void)
{
	return (void *)(config.memory + PB_CARD_LINES_OFFSET);
}

/**
 * The byte takes a while through the emulator, by the host's clock. Unless interrupts are held, nothing else
 * runs meanwhile, so all runs are alike.
 */
static void send(uint32_t line)
{
	const uint32_t *taken = &line_block()->to_mcu_taken[line];
	const uint32_t before = pb_shared_read32(taken);

	if (stormy)
		return;
	pb_bench_board_send(line);
	while (!held && pb_shared_read32(taken) == before)
		continue;
}

static void read_outgoing_bytes(void)
{
	struct pb_card_line_block *block = line_block();
	const struct pb_uart_lines *uart = board_lines->context;

	for (uint32_t line = 0; line < PB_CARD_LINES; line++)
		pb_shared_write32(&block->from_mcu_taken[line], uart->sent[line]);
}

static struct pb_engine_registers *registers_of(uint32_t node)
{
	return (void *)(config.memory + PB_CARD_ENGINE_OFFSET + node * PB_CARD_ENGINE_STRIDE);
}

void pb_bench_answer(void)
{
	for (uint32_t n = 0; n < config.node_count; n++) {
		struct pb_engine_registers *registers = registers_of(n);
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
	for (uint32_t n = 0; n < config.node_count; n++) {
		struct pb_engine_registers *registers = registers_of(n);
		const uint32_t tail = pb_shared_read32(&registers->tail);

		if (tail == pb_shared_read32(&registers->sequence))
			continue;
		pb_shared_write32(&registers->sequence, tail);
		send(PB_LINE_NODE(n));
	}
	engine_waits = false;
}

/* No sleep: the caller polls again. */
static void run(void)
{
	uint32_t alarm;

	if (watching)
		pb_bench_board_alarm_start();
	while (pb_firmware_pass(firmware))
		continue;
	pb_bench_board_alarm_stop();
	(void)pb_bench_board_alarm_rang(&alarm); /* after the firmware's last poll: no delay of its own */
	read_outgoing_bytes();
	pb_bench_serve();
}

/* ---- host: the host library, in the same program ---- */

static void link_doorbell(struct pb_link *link)
{
	if (!muted)
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

static struct pb_link host_link = {.ops = &link_ops, .channel = CHANNEL};

void pb_bench_link(struct pb_link *link, uint32_t channel)
{
	*link = host_link;
	link->channel = channel;
}

/* ---- the counter's own cost: from an interrupt that does nothing to a doorbell that rings nothing ---- */

static uint32_t empty_submit, empty_retire, empty_switch;

static void raise_nothing(void *context_, uint32_t line)
{
	(void)context_;
	(void)line;
}

static void feed_nothing(void *context_, const struct pb_engine_submission *work, uint32_t sequence)
{
	(void)context_;
	(void)work;
	(void)sequence;
}

static uint32_t claim_nothing(void *context_)
{
	(void)context_;
	return 0;
}

static void stop_nothing(void *context_, bool inside)
{
	(void)context_;
	(void)inside;
}

static void calibrate(void)
{
	static const struct pb_lines_ops silent_lines_ops = {.raise = raise_nothing, .take = claim_nothing};
	static const struct pb_engine_run_ops silent_run_ops = {.feed = feed_nothing};
	static const struct pb_engine_preempt_ops silent_preempt_ops = {.stop = stop_nothing};
	const struct pb_lines silent = {.ops = &silent_lines_ops};
	const struct pb_engine real_engine = board_engine;
	const struct pb_lines *const real_lines = board_lines;

	board_lines = &silent;
	board_engine = (struct pb_engine){.run = &silent_run_ops, .preempt = &silent_preempt_ops};
	pb_bench_board_interrupt_empty();
	lines_raise(NULL, 0);
	empty_retire = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), host_rung);
	pb_bench_board_interrupt_empty();
	engine_feed(NULL, NULL, 0);
	empty_submit = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), engine_rung);
	ticking = true;
	(void)lines_take(NULL);
	engine_stop(NULL, false);
	empty_switch = pb_bench_board_instructions_milli(polled_at, stop_rung);
	engine_waits = false;
	board_lines = real_lines;
	board_engine = real_engine;
}

static void start_board(void)
{
	config = *pb_board_start();
	wrap_lines();
	wrap_engines();
	host_link.memory = config.memory;
	host_link.memory_bytes = config.memory_bytes + config.trace_bytes;
	pb_bench_board_start();
	calibrate();
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

	if (firmware == NULL) {
		start_board();
		trace_bytes = config.trace_bytes;
	}
	config.trace_bytes = traced ? trace_bytes : 0;
	firmware = pb_firmware_instance();
	pb_firmware_init(firmware, &config);
	attach();
}

struct pb_descriptor pb_bench_descriptor(void)
{
	return (struct pb_descriptor){
		.context = pb_bench.context,
		.fence_id = pb_bench.fence_id++,
		.dma_address_low = (uint32_t)pb_bench.buffer.os_address,
		.dma_size = PB_BENCH_BUFFER_BYTES,
		.dma_end = PB_BENCH_BUFFER_BYTES,
	};
}

/** From here on an interrupt waits for sleep_and_wake, so that none of the bench's own code is counted. */
static void hold_interrupts(void)
{
	board_lines->ops->idle_enter(board_lines->context);
	held = true;
}

/** Sleeps as the firmware does until an interrupt is pending, and accepts it. */
static void sleep_and_wake(void)
{
	board_lines->ops->idle_wait(board_lines->context);
	held = false;
	board_lines->ops->idle_leave(board_lines->context);
}

static void require_completed(struct pb_queue *queue)
{
	struct pb_fence fence;

	pb_bench_require(pb_queue_fence(queue, &fence) == PB_ERROR_OK && fence.status == PB_ERROR_OK &&
				 fence.errors == 0 && fence.timeline == queue->timeline,
			 "a submission did not complete");
}

/** From the interrupt until the firmware is idle. */
static uint32_t whole(void)
{
	return pb_bench_board_instructions_milli(pb_bench_board_interrupt(), pb_bench_board_counter());
}

void pb_bench_submit_to(struct pb_queue *queue, const struct pb_descriptor *descriptor, uint32_t *submit,
			uint32_t *retire)
{
	hold_interrupts();
	pb_bench_require(pb_queue_submit(queue, descriptor) == PB_ERROR_OK, "submit");
	sleep_and_wake(); /* woken by the doorbell */
	while (pb_firmware_pass(firmware))
		continue;
	*submit = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), engine_rung) - empty_submit;
	pb_bench_submit_to_sleep = whole();
	pb_bench_require(engine_waits, "the engine's doorbell was not rung");
	read_outgoing_bytes();
	hold_interrupts();
	pb_bench_serve();
	sleep_and_wake(); /* woken by the engine */
	while (pb_firmware_pass(firmware))
		continue;
	*retire = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), host_rung) - empty_retire;
	pb_bench_retire_to_sleep = whole();
	read_outgoing_bytes();
	require_completed(queue);
}

void pb_bench_submit(const struct pb_descriptor *descriptor, uint32_t *submit, uint32_t *retire)
{
	pb_bench_submit_to(&pb_bench.queue, descriptor, submit, retire);
}

void pb_bench_submit_uncounted(const struct pb_descriptor *descriptor, bool wait)
{
	pb_bench_require(pb_queue_submit(&pb_bench.queue, descriptor) == PB_ERROR_OK, "submit");
	if (!wait)
		return;
	pb_bench_require(pb_queue_wait(&pb_bench.queue, pb_bench.queue.timeline, 1, NULL) == PB_ERROR_OK,
			 "wait");
	require_completed(&pb_bench.queue);
}

void pb_bench_pass(uint32_t passes)
{
	for (uint32_t i = 0; i < passes; i++) {
		(void)pb_firmware_pass(firmware);
		read_outgoing_bytes();
	}
}

void pb_bench_mute(bool mute)
{
	muted = mute;
}

uint32_t pb_bench_stop_delay(void)
{
	uint32_t alarm;

	stop_asked = false;
	ringing = true;
	lines_ops.take = lines_take;
	lines.pending = pb_bench_board_alarms();
	pb_bench_board_alarm_start();
	for (uint32_t i = 0; i < PASSES_TO_STOP && !stop_asked; i++)
		(void)pb_firmware_pass(firmware);
	pb_bench_board_alarm_stop();
	(void)pb_bench_board_alarm_rang(&alarm);
	ringing = false;
	lines_ops.take = board_lines->ops->take;
	lines.pending = board_lines->pending;
	return stop_asked ? pb_bench_board_instructions_milli(polled_at, stop_rung) : 0;
}

uint32_t pb_bench_switch(void)
{
	struct pb_engine_registers *registers = registers_of(0);

	pb_shared_write32(&registers->time,
			  pb_shared_read32(&registers->time) + 2u * PB_QUANTUM_MICROSECONDS);
	stop_asked = false;
	ticking = true;
	lines_ops.take = lines_take;
	(void)pb_firmware_pass(firmware);
	lines_ops.take = board_lines->ops->take;
	pb_bench_require(stop_asked, "the timeslice was not over");
	return pb_bench_board_instructions_milli(polled_at, stop_rung) - empty_switch;
}

void pb_bench_finish(struct pb_queue *queue)
{
	pb_bench_require(pb_queue_wait(queue, queue->timeline, 1, NULL) == PB_ERROR_OK, "wait");
}

/* ---- other lines than the board's, while all clients have work for every pass ---- */

void pb_bench_claim_by(uint32_t (*take)(void *context), const uint32_t *pending)
{
	stormy = take != NULL;
	lines_ops.take = take != NULL ? take : board_lines->ops->take;
	lines.pending = take != NULL ? pending : board_lines->pending;
}
