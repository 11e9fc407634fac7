/* SPDX-License-Identifier: MIT */
/* The spans of one submission, in instructions: the counter's own cost is measured first and subtracted. */
#include <stddef.h>

#include "hal/shared.h"
#include "patchbay/patchbay.h"
#include "tests/bench/bench_board.h"
#include "tests/bench/bench_card.h"

#define PASSES_TO_STOP 2000u /**< far more instructions than an alarm and its handling take */

uint32_t pb_bench_submit_to_sleep, pb_bench_retire_to_sleep;

/* ---- the counter's own cost: from an interrupt that does nothing to a doorbell that rings nothing ---- */

static uint32_t empty_submit, empty_retire, empty_switch, empty_stop, empty_pass;

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

/** An alarm that is taken as soon as it has rung, and a stop request that asks nothing. Pre: engines and lines are silent. */
static uint32_t alarm_to_stop(void)
{
	const uint32_t *rung = pb_bench_board_alarms();

	bench_card.ringing = true;
	pb_bench_board_alarm_start();
	while (!pb_lines_waiting(rung))
		continue;
	(void)bench_lines_take(NULL);
	bench_engine_stop(NULL, false);
	pb_bench_board_alarm_stop();
	bench_card.ringing = false;
	return pb_bench_board_instructions_milli(bench_card.polled_at, bench_card.stop_rung);
}

static uint32_t between_readings(void)
{
	const uint32_t before = pb_bench_board_counter();
	const uint32_t after = pb_bench_board_counter();

	return pb_bench_board_instructions_milli(before, after);
}

void bench_calibrate(void)
{
	static const struct pb_lines_ops silent_lines_ops = {.raise = raise_nothing, .take = claim_nothing};
	static const struct pb_engine_run_ops silent_run_ops = {.feed = feed_nothing};
	static const struct pb_engine_preempt_ops silent_preempt_ops = {.stop = stop_nothing};
	const struct pb_lines silent = {.ops = &silent_lines_ops};
	const struct pb_engine real_engine = bench_card.board_engine;
	const struct pb_lines *const real_lines = bench_card.board_lines;

	bench_card.board_lines = &silent;
	bench_card.board_engine = (struct pb_engine){.run = &silent_run_ops, .preempt = &silent_preempt_ops};
	pb_bench_board_interrupt_empty();
	bench_lines_raise(NULL, 0);
	empty_retire = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), bench_card.host_rung);
	pb_bench_board_interrupt_empty();
	bench_engine_feed(NULL, NULL, 0);
	empty_submit = pb_bench_board_instructions_milli(pb_bench_board_interrupt(), bench_card.engine_rung);
	bench_card.ticking = true;
	(void)bench_lines_take(NULL);
	bench_engine_stop(NULL, false);
	empty_switch = pb_bench_board_instructions_milli(bench_card.polled_at, bench_card.stop_rung);
	empty_stop = alarm_to_stop();
	empty_pass = between_readings();
	bench_card.engine_waits = false;
	bench_card.board_lines = real_lines;
	bench_card.board_engine = real_engine;
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
	bench_card.board_lines->ops->idle_enter(bench_card.board_lines->context);
	bench_card.held = true;
}

/** Sleeps as the firmware does until an interrupt is pending, and accepts it. */
static void sleep_and_wake(void)
{
	bench_card.board_lines->ops->idle_wait(bench_card.board_lines->context);
	bench_card.held = false;
	bench_card.board_lines->ops->idle_leave(bench_card.board_lines->context);
}

static void require_completed(struct pb_queue *queue)
{
	struct pb_fence fence;

	pb_bench_require(pb_queue_fence(queue, &fence) == PB_ERROR_OK && fence.status == PB_ERROR_OK &&
				 fence.errors == 0 && fence.timeline == queue->timeline,
			 "a submission did not complete");
}

/** Runs the firmware from an accepted interrupt until it is idle. @return the counter then, before anything is computed */
static uint32_t run_until_idle(void)
{
	while (pb_firmware_pass(bench_card.firmware))
		continue;
	return pb_bench_board_counter();
}

static uint32_t since_interrupt(uint32_t counter)
{
	return pb_bench_board_instructions_milli(pb_bench_board_interrupt(), counter);
}

void pb_bench_submit_to(struct pb_queue *queue, const struct pb_descriptor *descriptor, uint32_t *submit,
			uint32_t *retire)
{
	uint32_t idle;

	hold_interrupts();
	pb_bench_require(pb_queue_submit(queue, descriptor) == PB_ERROR_OK, "submit");
	sleep_and_wake(); /* woken by the doorbell */
	idle = run_until_idle();
	*submit = since_interrupt(bench_card.engine_rung) - empty_submit;
	pb_bench_submit_to_sleep = since_interrupt(idle) - empty_submit;
	pb_bench_require(bench_card.engine_waits, "the engine's doorbell was not rung");
	pb_bench_read_outgoing();
	hold_interrupts();
	pb_bench_serve();
	sleep_and_wake(); /* woken by the engine */
	idle = run_until_idle();
	*retire = since_interrupt(bench_card.host_rung) - empty_retire;
	pb_bench_retire_to_sleep = since_interrupt(idle) - empty_retire;
	pb_bench_read_outgoing();
	require_completed(queue);
}

uint32_t pb_bench_doorbell(void)
{
	hold_interrupts();
	pb_bench.channel.link->ops->doorbell(pb_bench.channel.link);
	sleep_and_wake();
	return since_interrupt(run_until_idle()) - empty_submit;
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
		(void)pb_firmware_pass(bench_card.firmware);
		if (!bench_card.stormy)
			pb_bench_read_outgoing();
	}
}

void pb_bench_mute(bool mute)
{
	bench_card.muted = mute;
}

uint32_t pb_bench_stop_delay(void)
{
	uint32_t alarm;

	bench_card.stop_asked = false;
	bench_card.ringing = true;
	bench_card.lines_ops.take = bench_lines_take;
	bench_card.lines.pending = pb_bench_board_alarms();
	pb_bench_board_alarm_start();
	for (uint32_t i = 0; i < PASSES_TO_STOP && !bench_card.stop_asked; i++)
		(void)pb_firmware_pass(bench_card.firmware);
	pb_bench_board_alarm_stop();
	(void)pb_bench_board_alarm_rang(&alarm);
	bench_card.ringing = false;
	bench_card.lines_ops.take = bench_card.board_lines->ops->take;
	bench_card.lines.pending = bench_card.board_lines->pending;
	if (!bench_card.stop_asked)
		return 0;
	return pb_bench_board_instructions_milli(bench_card.polled_at, bench_card.stop_rung) - empty_stop;
}

uint32_t pb_bench_switch(void)
{
	struct pb_engine_registers *registers = bench_registers(0);

	pb_shared_write32(&registers->time,
			  pb_shared_read32(&registers->time) + 2u * PB_QUANTUM_MICROSECONDS);
	bench_card.stop_asked = false;
	bench_card.ticking = true;
	bench_card.lines_ops.take = bench_lines_take;
	(void)pb_firmware_pass(bench_card.firmware);
	bench_card.lines_ops.take = bench_card.board_lines->ops->take;
	pb_bench_require(bench_card.stop_asked, "the timeslice was not over");
	return pb_bench_board_instructions_milli(bench_card.polled_at, bench_card.stop_rung) - empty_switch;
}

void pb_bench_finish(struct pb_queue *queue)
{
	pb_bench_require(pb_queue_wait(queue, queue->timeline, 1, NULL) == PB_ERROR_OK, "wait");
}

uint32_t pb_bench_counted_pass(bool *more)
{
	const uint32_t before = pb_bench_board_counter();
	uint32_t after;

	*more = pb_firmware_pass(bench_card.firmware);
	after = pb_bench_board_counter();
	return pb_bench_board_instructions_milli(before, after) - empty_pass;
}

uint32_t pb_bench_complete(bool all)
{
	uint32_t raised = 0;

	for (uint32_t n = 0; n < bench_card.config.node_count; n++) {
		struct pb_engine_registers *registers = bench_registers(n);
		const uint32_t tail = pb_shared_read32(&registers->tail);
		const uint32_t sequence = pb_shared_read32(&registers->sequence);

		if (tail == sequence)
			continue;
		pb_shared_write32(&registers->sequence, all ? tail : sequence + 1u);
		raised |= 1u << PB_LINE_NODE(n);
	}
	return raised;
}

/* ---- other lines than the board's, while all clients have work for every pass ---- */

void pb_bench_claim_by(uint32_t (*take)(void *context), const uint32_t *pending)
{
	bench_card.stormy = take != NULL;
	bench_card.lines_ops.take = take != NULL ? take : bench_card.board_lines->ops->take;
	bench_card.lines.pending = take != NULL ? pending : bench_card.board_lines->pending;
}

void pb_bench_claim_bare(uint32_t (*take)(void *context), const uint32_t *pending)
{
	pb_bench_claim_by(take, pending);
	bench_card.lines_ops.raise = take != NULL ? bench_card.board_lines->ops->raise : bench_lines_raise;
	bench_card.run_ops.feed = take != NULL ? bench_card.board_engine.run->feed : bench_engine_feed;
}
