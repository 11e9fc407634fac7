/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"

static void clear_fault(struct pb_engine_model *model)
{
	pb_model_store_fault(model, PB_ENGINE_FAULT_NONE, 0, 0);
}

/* The slots fed so far are gone, and numbers start anew. */
static void empty_ring(struct pb_engine_model *model)
{
	model->head = 0;
	model->finished = 0;
	model->stop = 0;
	pb_model_store(&model->registers->head, 0);
	pb_model_store(&model->registers->sequence, 0);
}

void pb_model_reset(struct pb_engine_model *model)
{
	if (model->config.gl_ops != NULL)
		model->config.gl_ops->reset(model);
	pb_model_pages_reset(model);
	model->phase = PB_MODEL_WAITING;
	empty_ring(model);
	clear_fault(model);
}

static void answer(struct pb_engine_model *model, uint32_t command)
{
	model->command_done = command;
	pb_shared_release();
	pb_model_store(&model->registers->command_done, command);
	pb_model_interrupt(model);
}

static void carry_out(struct pb_engine_model *model, uint32_t command)
{
	switch (command & PB_ENGINE_COMMAND_OP_MASK) {
	case PB_ENGINE_COMMAND_STOP:
	case PB_ENGINE_COMMAND_STOP_INSIDE:
		if (!model->defects.deaf_to_stop)
			model->stop = command;
		return;
	case PB_ENGINE_COMMAND_RESET:
		if (model->defects.deaf_to_reset)
			return;
		pb_model_reset(model);
		break;
	case PB_ENGINE_COMMAND_CONTINUE:
		if (model->phase != PB_MODEL_STOPPED)
			break;
		clear_fault(model);
		model->phase = PB_MODEL_FENCING;
		break;
	default:
		break;
	}
	answer(model, command);
}

void pb_model_poll_command(struct pb_engine_model *model)
{
	uint32_t power = pb_shared_read32(&model->registers->power);
	uint32_t command;

	/* Whoever sees the force sees the command that it is meant for. */
	pb_shared_acquire();
	command = pb_shared_read32(&model->registers->command);
	model->stop = 0;
	if (command == model->command_done)
		return;
	pb_shared_acquire();
	if (power != command || model->defects.deaf_to_power) {
		carry_out(model, command);
		return;
	}
	pb_model_reset(model);
	pb_model_store(&model->registers->power_done, power);
	answer(model, command);
}

/* Whether a stop may be answered here; the slot that it leaves behind, or 0. */
static bool may_stop(struct pb_engine_model *model, uint32_t *running)
{
	*running = 0;
	switch (model->phase) {
	case PB_MODEL_WAITING:
	case PB_MODEL_STOPPED:
	case PB_MODEL_DROPPED:
		return true;
	case PB_MODEL_RUNNING:
		*running = model->sequence;
		return (model->stop & PB_ENGINE_COMMAND_OP_MASK) == PB_ENGINE_COMMAND_STOP_INSIDE &&
		       pb_model_between_packets(model);
	case PB_MODEL_FENCING:
		break;
	}
	return false;
}

bool pb_model_stop(struct pb_engine_model *model)
{
	uint32_t command = model->stop;
	uint32_t running;

	if (command == 0 || !may_stop(model, &running))
		return false;
	if (model->phase == PB_MODEL_RUNNING)
		pb_model_save(model);
	pb_model_store(&model->registers->stop_sequence, model->finished);
	pb_model_store(&model->registers->stop_running, running);
	/* A fault stands until a reset; its slot is gone. */
	if (model->phase == PB_MODEL_STOPPED || model->phase == PB_MODEL_DROPPED)
		model->phase = PB_MODEL_DROPPED;
	else
		model->phase = PB_MODEL_WAITING;
	empty_ring(model);
	answer(model, command);
	return true;
}
