/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "hal/shared.h"
#include "qemu/engine_internal.h"

#define TOUCHED_PER_MICROSECOND 1024u

/* The MCU's half of the register block, read once for each slot. */
struct line0 {
	uint32_t ring_offset;
	uint32_t ring_slots;
	uint32_t tail;
	uint32_t range_offset;
	uint32_t channels;
	uint32_t dummy_offset;
	uint32_t translation_offset;
};

static void write_register(uint32_t *address, uint32_t value)
{
	pb_shared_write32(address, value);
}

static void interrupt(const struct pb_engine_model *model)
{
	model->config.interrupt(model->config.context);
}

void pb_model_charge(struct pb_engine_model *model, uint32_t microseconds)
{
	model->time += microseconds;
	model->progress += microseconds;
	model->budget -= microseconds;
	write_register(&model->registers->time, model->time);
	write_register(&model->registers->progress, model->progress);
}

void pb_model_touch(struct pb_engine_model *model, uint64_t count)
{
	uint64_t touched = model->touched + count;

	model->touched = (uint32_t)(touched % TOUCHED_PER_MICROSECOND);
	pb_model_charge(model, (uint32_t)(touched / TOUCHED_PER_MICROSECOND));
}

void pb_model_stall(struct pb_engine_model *model)
{
	model->time += (uint32_t)model->budget;
	model->budget = 0;
	write_register(&model->registers->time, model->time);
}

/* The code is what the driver looks at, so that it is stored last. */
static void store_fault(struct pb_engine_registers *registers, enum pb_engine_fault_code code,
			uint32_t sequence, uint64_t address)
{
	write_register(&registers->fault_sequence, sequence);
	write_register(&registers->fault_address_low, (uint32_t)address);
	write_register(&registers->fault_address_high, (uint32_t)(address >> 32));
	pb_shared_release();
	write_register(&registers->fault_code, (uint32_t)code);
}

enum pb_model_status pb_model_fault(struct pb_engine_model *model, enum pb_engine_fault_code code,
				    uint64_t address)
{
	model->phase = PB_MODEL_STOPPED;
	model->statistics.faults++;
	store_fault(model->registers, code, model->sequence, address);
	interrupt(model);
	return PB_MODEL_FAULTED;
}

enum pb_model_status pb_model_fault_packet(struct pb_engine_model *model, enum pb_engine_fault_code code)
{
	return pb_model_fault(model, code, model->packet_address);
}

static void clear_fault(struct pb_engine_model *model)
{
	store_fault(model->registers, PB_ENGINE_FAULT_NONE, 0, 0);
}

static void reset(struct pb_engine_model *model)
{
	pb_model_packets_clear(model);
	pb_model_pages_reset(model);
	model->phase = PB_MODEL_WAITING;
	model->head = 0;
	write_register(&model->registers->head, 0);
	write_register(&model->registers->sequence, 0);
	clear_fault(model);
}

static void carry_out_command(struct pb_engine_model *model)
{
	uint32_t command = pb_shared_read32(&model->registers->command);
	uint32_t op = command & PB_ENGINE_COMMAND_OP_MASK;

	if (command == model->command_done)
		return;
	pb_shared_acquire();
	if (op == PB_ENGINE_COMMAND_RESET) {
		reset(model);
	} else if (op == PB_ENGINE_COMMAND_CONTINUE && model->phase == PB_MODEL_STOPPED) {
		clear_fault(model);
		model->phase = PB_MODEL_FENCING;
	}
	model->command_done = command;
	pb_shared_release();
	write_register(&model->registers->command_done, command);
	interrupt(model);
}

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
	};
	pb_shared_acquire();
	if (line->ring_slots == 0 || (line->ring_slots & (line->ring_slots - 1)) != 0)
		return false;
	if (!array_fits(model, line->ring_offset, line->ring_slots, sizeof(struct pb_engine_slot)) ||
	    !array_fits(model, line->range_offset, line->channels,
			PB_ENGINE_RANGES * sizeof(struct pb_engine_range_entry)) ||
	    !array_fits(model, line->translation_offset, 1, sizeof(struct pb_engine_translation)))
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
	if (!slot_is_good(&slot)) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_PACKET);
		return true;
	}
	model->privileged = (slot.owner & PB_ENGINE_OWNER_PRIVILEGED) != 0;
	model->dummy_offset = line.dummy_offset;
	model->translation =
		(struct pb_engine_translation *)(void *)pb_model_words(model, line.translation_offset);
	pb_model_windows_load(model, line.range_offset, line.channels, slot.owner & 0xffu);
	pb_model_enter(model, (uint64_t)slot.address_high << 32 | slot.address_low, slot.bytes);
	return true;
}

static void run_fence(struct pb_engine_model *model)
{
	model->phase = PB_MODEL_WAITING;
	model->head++;
	model->statistics.slots++;
	write_register(&model->registers->head, model->head);
	pb_shared_release();
	write_register(&model->registers->sequence, model->sequence);
	interrupt(model);
}

/* One piece of work; false: there is none. */
static bool run_one(struct pb_engine_model *model)
{
	switch (model->phase) {
	case PB_MODEL_WAITING:
		return start_slot(model);
	case PB_MODEL_RUNNING:
		if (!pb_model_packets_run(model) && model->phase == PB_MODEL_RUNNING)
			model->phase = PB_MODEL_FENCING;
		return true;
	case PB_MODEL_FENCING:
		run_fence(model);
		return true;
	case PB_MODEL_STOPPED:
		break;
	}
	return false;
}

bool pb_engine_model_step(struct pb_engine_model *model, uint32_t microseconds)
{
	struct line0 line;

	carry_out_command(model);
	model->budget = microseconds;
	while (model->budget > 0 && run_one(model))
		continue;
	if (model->phase == PB_MODEL_WAITING)
		return read_line0(model, &line);
	return model->phase != PB_MODEL_STOPPED;
}

struct pb_engine_model *pb_engine_model_create(const struct pb_engine_model_config *config)
{
	struct pb_engine_model *model = calloc(1, sizeof(*model));

	if (model == NULL)
		return NULL;
	model->config = *config;
	model->registers = (struct pb_engine_registers *)(void *)(config->memory + config->registers_offset);
	write_register(&model->registers->command_done, 0);
	write_register(&model->registers->progress, 0);
	write_register(&model->registers->time, 0);
	reset(model);
	return model;
}

void pb_engine_model_destroy(struct pb_engine_model *model)
{
	free(model);
}

void pb_engine_model_statistics(const struct pb_engine_model *model,
				struct pb_engine_model_statistics *statistics)
{
	*statistics = model->statistics;
}
