/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "hal/engine_model/internal.h"

/* The MCU's half of the register block, read once for each slot. */
struct line0 {
	uint32_t ring_offset;
	uint32_t ring_slots;
	uint32_t tail;
	uint32_t range_offset;
	uint32_t channels;
	uint32_t dummy_offset;
	uint32_t translation_offset;
	uint32_t restore_offset;
};

static bool array_fits(const struct pb_engine_model *model, uint32_t offset, uint32_t count, uint32_t bytes)
{
	return (offset & 3u) == 0 && (uint64_t)offset + (uint64_t)count * bytes <= model->config.memory_bytes;
}

/* false: nothing to run, be it that the ring is empty or that a register is nonsense. */
static bool read_line0(const struct pb_engine_model *model, struct line0 *line)
{
	const struct pb_engine_registers *registers = model->registers;

	*line = (struct line0){
		.ring_offset = pb_shared_read32(&registers->ring_offset),
		.ring_slots = pb_shared_read32(&registers->ring_slots),
		.tail = pb_shared_read32(&registers->tail),
		.range_offset = pb_shared_read32(&registers->range_offset),
		.channels = pb_shared_read32(&registers->channels),
		.dummy_offset = pb_shared_read32(&registers->dummy_offset),
		.translation_offset = pb_shared_read32(&registers->translation_offset),
		.restore_offset = pb_shared_read32(&registers->restore_offset),
	};
	pb_shared_acquire();
	if (line->ring_slots == 0 || (line->ring_slots & (line->ring_slots - 1)) != 0)
		return false;
	if (!array_fits(model, line->ring_offset, line->ring_slots, sizeof(struct pb_engine_slot)) ||
	    !array_fits(model, line->range_offset, line->channels,
			PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry)) ||
	    !array_fits(model, line->translation_offset, 1, sizeof(struct pb_engine_translation)) ||
	    !array_fits(model, line->restore_offset, line->ring_slots, sizeof(struct pb_engine_progress)))
		return false;
	return line->tail != model->head && line->tail - model->head <= line->ring_slots;
}

static void read_slot(const struct pb_engine_model *model, const struct line0 *line,
		      struct pb_engine_slot *slot)
{
	uint32_t index = model->head & (line->ring_slots - 1);
	const struct pb_engine_slot *from =
		(const struct pb_engine_slot *)(const void *)(model->config.memory + line->ring_offset) +
		index;

	*slot = (struct pb_engine_slot){
		.buffer_header = pb_shared_read32(&from->buffer_header),
		.owner = pb_shared_read32(&from->owner),
		.address_low = pb_shared_read32(&from->address_low),
		.address_high = pb_shared_read32(&from->address_high),
		.bytes = pb_shared_read32(&from->bytes),
		.fence_header = pb_shared_read32(&from->fence_header),
		.sequence = pb_shared_read32(&from->sequence),
		.resume = pb_shared_read32(&from->resume),
	};
}

static bool slot_is_good(const struct pb_engine_slot *slot)
{
	return slot->buffer_header == PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_RING_WORDS) &&
	       slot->fence_header == PB_PACKET(PB_PACKET_FENCE, PB_PACKET_FENCE_WORDS);
}

/* Enters the slot's buffer, where it goes on or from its start. */
static void enter_slot(struct pb_engine_model *model, const struct line0 *line,
		       const struct pb_engine_slot *slot)
{
	const struct pb_engine_progress *progress =
		(const struct pb_engine_progress *)(const void *)pb_model_words(model, line->restore_offset) +
		(model->head & (line->ring_slots - 1));

	model->privileged = (slot->owner & PB_ENGINE_OWNER_PRIVILEGED) != 0;
	model->owner = slot->owner & PB_ENGINE_OWNER(0xffu, 0xffffu);
	model->dummy_offset = line->dummy_offset;
	model->translation =
		(struct pb_engine_translation *)(void *)pb_model_words(model, line->translation_offset);
	pb_model_windows_load(model, line->range_offset, line->channels, slot->owner & 0xffu);
	if (pb_model_enter(model, (uint64_t)slot->address_high << 32 | slot->address_low, slot->bytes) ==
		    PB_MODEL_DONE &&
	    slot->resume == slot->sequence)
		pb_model_restore(model, progress, slot->bytes);
}

/* false: nothing to run. A slot that faults has been something to run. */
static bool start_slot(struct pb_engine_model *model)
{
	struct pb_engine_slot slot;
	struct line0 line;

	if (!read_line0(model, &line))
		return false;
	read_slot(model, &line, &slot);
	pb_model_packets_clear(model);
	model->sequence = slot.sequence;
	model->phase = PB_MODEL_RUNNING;
	pb_model_charge(model, 1);
	if (slot_is_good(&slot))
		enter_slot(model, &line, &slot);
	else
		pb_model_fault_packet(model, PB_ENGINE_FAULT_PACKET);
	return true;
}

static void run_fence(struct pb_engine_model *model)
{
	model->phase = PB_MODEL_WAITING;
	model->head++;
	model->finished = model->sequence;
	model->statistics.slots++;
	pb_model_store(&model->registers->head, model->head);
	pb_shared_release();
	pb_model_store(&model->registers->sequence, model->sequence);
	pb_model_interrupt(model);
}

static void run_packets(struct pb_engine_model *model)
{
	if (model->defects.stuck)
		pb_model_stall(model);
	else if (!pb_model_packets_run(model) && model->phase == PB_MODEL_RUNNING)
		model->phase = PB_MODEL_FENCING;
}

/* Takes one step: fetches a slot, runs packets or writes a fence. Returns false if there is nothing to run. */
static bool run_one(struct pb_engine_model *model)
{
	switch (model->phase) {
	case PB_MODEL_WAITING:
		return start_slot(model);
	case PB_MODEL_RUNNING:
		run_packets(model);
		return true;
	case PB_MODEL_FENCING:
		run_fence(model);
		return true;
	case PB_MODEL_STOPPED:
	case PB_MODEL_DROPPED:
		break;
	}
	return false;
}

static bool has_more(const struct pb_engine_model *model)
{
	struct line0 line;

	if (model->phase == PB_MODEL_WAITING)
		return read_line0(model, &line);
	return model->phase == PB_MODEL_RUNNING || model->phase == PB_MODEL_FENCING;
}

/* Whether the MCU has cut the engine off. That is not the engine's to obey: no defect changes it. */
static bool is_cut_off(const struct pb_engine_model *model)
{
	return pb_shared_read32(&model->registers->cut) != 0;
}

bool pb_engine_model_step(struct pb_engine_model *model, uint32_t microseconds)
{
	if (is_cut_off(model))
		return false;
	pb_model_defects_step(model);
	pb_model_poll_command(model);
	model->budget = microseconds;
	while (!pb_model_stop(model) && model->budget > 0 && !is_cut_off(model) && run_one(model))
		continue;
	return has_more(model) || model->held != 0;
}

void pb_engine_model_init(struct pb_engine_model *model, const struct pb_engine_model_config *config)
{
	memset(model, 0, sizeof(*model));
	model->config = *config;
	model->registers = (struct pb_engine_registers *)(void *)(config->memory + config->registers_offset);
	pb_model_store(&model->registers->command_done, 0);
	pb_model_store(&model->registers->progress, 0);
	pb_model_store(&model->registers->time, 0);
	pb_model_store(&model->registers->stop_sequence, 0);
	pb_model_store(&model->registers->stop_running, 0);
	pb_model_store(&model->registers->power_done, 0);
	pb_model_reset(model);
}

uint32_t pb_engine_model_time(const struct pb_engine_model *model)
{
	return model->time;
}

void pb_engine_model_statistics(const struct pb_engine_model *model,
				struct pb_engine_model_statistics *statistics)
{
	*statistics = model->statistics;
}
