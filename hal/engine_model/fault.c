/* SPDX-License-Identifier: MIT */
/* What every packet may come to: engine time goes by, or the engine stops with a fault. */
#include "hal/engine_model/internal.h"

#define TOUCHED_PER_MICROSECOND 1024u

void pb_model_charge(struct pb_engine_model *model, uint32_t microseconds)
{
	model->time += microseconds;
	model->progress += microseconds;
	model->budget -= microseconds;
	pb_model_store(&model->registers->time, model->time);
	pb_model_store(&model->registers->progress, model->progress);
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
	pb_model_store(&model->registers->time, model->time);
}

/* The driver polls the code, which is therefore stored last. */
void pb_model_store_fault(struct pb_engine_model *model, enum pb_engine_fault_code code, uint32_t sequence,
			  uint64_t address)
{
	struct pb_engine_registers *registers = model->registers;

	pb_model_store(&registers->fault_sequence, sequence);
	pb_model_store(&registers->fault_address_low, (uint32_t)address);
	pb_model_store(&registers->fault_address_high, (uint32_t)(address >> 32));
	pb_shared_release();
	pb_model_store(&registers->fault_code, (uint32_t)code);
}

enum pb_model_status pb_model_fault(struct pb_engine_model *model, enum pb_engine_fault_code code,
				    uint64_t address)
{
	model->phase = PB_MODEL_STOPPED;
	model->statistics.faults++;
	pb_model_store_fault(model, code, model->sequence, address);
	pb_model_interrupt(model);
	return PB_MODEL_FAULTED;
}

enum pb_model_status pb_model_fault_packet(struct pb_engine_model *model, enum pb_engine_fault_code code)
{
	return pb_model_fault(model, code, model->packet_address);
}
