/* SPDX-License-Identifier: MIT */
#include "hal/engine/reference.h"

#include "hal/engine/packets.h"
#include "hal/shared_pair.h"

static struct pb_engine_registers *registers_of(const struct pb_reference_engine *engine)
{
	return engine->registers;
}

static struct pb_engine_slot *slot_of(const struct pb_reference_engine *engine, uint32_t index)
{
	return &engine->ring[index % PB_ENGINE_SLOTS];
}

static inline __attribute__((always_inline)) void ring_doorbell(const struct pb_reference_engine *engine)
{
	engine->lines->ops->raise(engine->lines->context, PB_LINE_NODE(engine->node));
}

static uint32_t restore_offset_of(const struct pb_reference_engine *engine)
{
	return engine->ring_offset + PB_ENGINE_SLOTS * (uint32_t)sizeof(struct pb_engine_slot);
}

static void feed(void *context, const struct pb_engine_submission *submission, uint32_t sequence)
{
	const struct pb_reference_engine *engine = context;
	struct pb_engine_slot *slot = slot_of(engine, sequence - 1u);

	/* The headers are there since the reset. */
	pb_shared_write_pair(&slot->owner, submission->owner, submission->address_low);
	pb_shared_write_pair(&slot->address_high, submission->address_high, submission->bytes);
	pb_shared_write32(&slot->sequence, sequence);
	pb_shared_release();
	pb_shared_write32(&registers_of(engine)->tail, sequence);
	pb_shared_release();
	ring_doorbell(engine);
}

/** Reads what an engine has completed, and its runtime. */
static inline void read_report(const struct pb_engine_registers *registers, struct pb_engine_report *report)
{
	const uint32_t sequence = pb_shared_read32(&registers->sequence);
	const uint32_t time = pb_shared_read32(&registers->time);

	report->sequence = sequence;
	report->time = time;
}

static enum pb_engine_state poll_irregular(struct pb_reference_engine *engine,
					   struct pb_engine_report *report) __attribute__((noinline, cold));

/**
 * Polls an engine that has faulted, or was not seen to have answered the last command: once it has, that is not asked
 * again.
 */
static enum pb_engine_state poll_irregular(struct pb_reference_engine *engine,
					   struct pb_engine_report *report)
{
	uint32_t fault_code;

	engine->asked =
		engine->asked && pb_shared_read32(&registers_of(engine)->command_done) != engine->command;
	/* A fault before the answer is seen with the answer. */
	pb_shared_acquire();
	fault_code = pb_shared_read32(&registers_of(engine)->fault_code);
	/* What completed before the fault is not to be blamed for it. */
	pb_shared_acquire();
	read_report(registers_of(engine), report);
	if (engine->asked)
		return PB_ENGINE_BUSY;
	return fault_code != PB_ENGINE_FAULT_NONE ? PB_ENGINE_FAULTED : PB_ENGINE_READY;
}

static enum pb_engine_state poll(void *context, struct pb_engine_report *report)
{
	struct pb_reference_engine *engine = context;
	const struct pb_engine_registers *registers = registers_of(engine);
	uint32_t irregular = pb_shared_read32(&registers->fault_code);

	pb_shared_acquire(); /* as in poll_irregular() */
	/* One branch for two rare cases. */
	irregular |= engine->asked;
	if (irregular != 0)
		return poll_irregular(engine, report);
	__asm__("" : "+r"(report)); /* in its register: else GCC copies it before the branch */
	read_report(registers, report);
	return PB_ENGINE_READY;
}

static void fault(void *context, struct pb_engine_fault *fault)
{
	const struct pb_engine_registers *registers = registers_of(context);

	fault->sequence = pb_shared_read32(&registers->fault_sequence);
	fault->code = pb_shared_read32(&registers->fault_code);
}

static void write_headers(const struct pb_reference_engine *engine)
{
	for (uint32_t i = 0; i < PB_ENGINE_SLOTS; i++) {
		struct pb_engine_slot *slot = slot_of(engine, i);

		pb_shared_write32(&slot->buffer_header,
				  PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_RING_WORDS));
		pb_shared_write32(&slot->fence_header, PB_PACKET(PB_PACKET_FENCE, PB_PACKET_FENCE_WORDS));
	}
}

/** The ring counts as empty from here on, whatever stands in it. */
static void command(struct pb_reference_engine *engine, uint32_t op)
{
	struct pb_engine_registers *registers = registers_of(engine);

	const uint32_t word = ((engine->command | PB_ENGINE_COMMAND_OP_MASK) + 1u) | op;

	pb_shared_write32(&registers->tail, 0);
	engine->command = word;
	engine->asked = true;
	pb_shared_release();
	pb_shared_write32(&registers->command, word);
	pb_shared_release();
	ring_doorbell(engine);
}

static void stop(void *context, bool inside)
{
	command(context, inside ? PB_ENGINE_COMMAND_STOP_INSIDE : PB_ENGINE_COMMAND_STOP);
}

static void stopped(void *context, struct pb_engine_stop *stop)
{
	const struct pb_engine_registers *registers = registers_of(context);

	stop->sequence = pb_shared_read32(&registers->stop_sequence);
	stop->running = pb_shared_read32(&registers->stop_running);
}

static void save(void *context, uint32_t *words)
{
	const uint32_t *saved = (const uint32_t *)(const void *)&registers_of(context)->save;

	for (uint32_t i = 0; i < PB_SAVE_WORDS; i++)
		pb_shared_write32(&words[i], pb_shared_read32(&saved[i]));
}

/*
 * Prepares the slot that comes next, so that feed() has nothing to do with it.
 * What stays behind there is the progress of another command or sequence.
 */
static void restore(void *context, const uint32_t *words)
{
	const struct pb_reference_engine *engine = context;
	const uint32_t index = pb_shared_read32(&registers_of(engine)->tail);
	struct pb_engine_progress *progress =
		(struct pb_engine_progress *)(void *)(engine->memory->card_memory +
						      restore_offset_of(engine)) +
		index % PB_ENGINE_SLOTS;
	uint32_t *to = (uint32_t *)(void *)progress;

	for (uint32_t i = 0; i < PB_SAVE_WORDS; i++)
		pb_shared_write32(&to[i], pb_shared_read32(&words[i]));
	pb_shared_write32(&progress->command, engine->command);
	pb_shared_write32(&slot_of(engine, index)->resume, index + 1u);
}

static void write_registers(const struct pb_reference_engine *engine)
{
	struct pb_engine_registers *registers = registers_of(engine);

	write_headers(engine);
	pb_shared_write32(&registers->ring_offset, engine->ring_offset);
	pb_shared_write32(&registers->ring_slots, PB_ENGINE_SLOTS);
	pb_shared_write32(&registers->range_offset, engine->memory->range_offset);
	pb_shared_write32(&registers->channels, engine->memory->channels);
	pb_shared_write32(&registers->dummy_offset, engine->memory->dummy_offset);
	pb_shared_write32(&registers->translation_offset, engine->memory->translation_offset);
	pb_shared_write32(&registers->restore_offset, restore_offset_of(engine));
	pb_shared_write32(&registers->cut, 0);
}

static void reset(void *context)
{
	struct pb_reference_engine *engine = context;

	engine->registers = (struct pb_engine_registers *)(void *)(engine->memory->card_memory +
								   engine->registers_offset);
	engine->ring = (struct pb_engine_slot *)(void *)(engine->memory->card_memory + engine->ring_offset);
	/* Another one than the last that it answered, be it an earlier incarnation's. */
	engine->command = pb_shared_read32(&registers_of(engine)->command_done);
	write_registers(engine);
	command(engine, PB_ENGINE_COMMAND_RESET);
}

static void power_cycle(void *context)
{
	struct pb_reference_engine *engine = context;
	struct pb_engine_registers *registers = registers_of(engine);

	/* The force behind this very command: if the engine obeys it meanwhile, nothing is left to force. */
	reset(engine);
	pb_shared_write32(&registers->power, engine->command);
	pb_shared_release();
	ring_doorbell(engine);
}

static bool cut_off(void *context)
{
	pb_shared_write32(&registers_of(context)->cut, 1);
	pb_shared_barrier();
	return true;
}

static uint32_t runtime(void *context, uint32_t *progress)
{
	const struct pb_engine_registers *registers = registers_of(context);

	*progress = pb_shared_read32(&registers->progress);
	return pb_shared_read32(&registers->time);
}

const struct pb_engine_run_ops pb_reference_engine_run_ops = {
	.feed = feed,
	.poll = poll,
	.runtime = runtime,
};

const struct pb_engine_preempt_ops pb_reference_engine_preempt_ops = {
	.stop = stop,
	.stopped = stopped,
	.save = save,
	.restore = restore,
};

const struct pb_engine_recover_ops pb_reference_engine_recover_ops = {
	.fault = fault,
	.reset = reset,
	.power_cycle = power_cycle,
	.cut_off = cut_off,
};
