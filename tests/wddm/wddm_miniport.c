/* SPDX-License-Identifier: MIT */
/* The shim as the miniport under the model of the OS. */
#include <string.h>

#include "qemu/engine.h"
#include "tests/wddm/wddm_world.h"

#define BAD_LIST_WORD 0xeeeeeeeeu
#define ENDED         0x7e /**< contents of a mapping that has ended */

static uint32_t patch(void *context, const struct pb_dxgkarg_patch *arguments)
{
	struct vm *vm = context;
	const uint32_t status = pb_wddm_patch(&vm->adapter, arguments);

	vm->patched++;
	/* The lists belong to the OS again. */
	memset(vm->list, BAD_LIST_WORD & 0xff, sizeof(vm->list));
	memset(vm->patches, BAD_LIST_WORD & 0xff, sizeof(vm->patches));
	return status;
}

static uint32_t submit_command(void *context, const struct pb_dxgkarg_submitcommand *submit)
{
	struct vm *vm = context;
	const struct vm_buffer *buffer = vm_buffer_of(vm, submit->pDmaBufferPrivateData);

	/* The alias of these bytes of a paging buffer was the same memory; the mapping has ended, maybe before. */
	if (buffer != NULL && buffer->context == NULL) {
		const uint32_t start = submit->DmaBufferSubmissionStartOffset;
		const uint32_t bytes = submit->DmaBufferSubmissionEndOffset - start;
		uint8_t *alias = vm->aliases[buffer - vm->buffers] + start;

		if (bytes != 0 && alias[0] != ENDED)
			memcpy(buffer->memory.bytes_host + start, alias, bytes);
		memset(alias, ENDED, bytes);
	}
	return pb_wddm_submit_command(&vm->adapter, submit);
}

static uint32_t preempt_command(void *context, const struct pb_dxgkarg_preemptcommand *preempt)
{
	struct vm *vm = context;

	return pb_wddm_preempt_command(&vm->adapter, preempt);
}

static uint32_t query_dependent_engine_group(void *context,
					     struct pb_dxgkarg_querydependentenginegroup *group)
{
	const struct vm *vm = context;

	return pb_wddm_query_dependent_engine_group(&vm->adapter, group);
}

static uint32_t query_engine_status(void *context, struct pb_dxgkarg_queryenginestatus *status)
{
	struct vm *vm = context;

	return pb_wddm_query_engine_status(&vm->adapter, status);
}

static uint32_t reset_engine(void *context, struct pb_dxgkarg_resetengine *reset)
{
	struct vm *vm = context;

	return pb_wddm_reset_engine(&vm->adapter, reset);
}

static uint32_t reset_from_timeout(void *context)
{
	struct vm *vm = context;

	return pb_wddm_reset_from_timeout(&vm->adapter);
}

static uint32_t restart_from_timeout(void *context)
{
	struct vm *vm = context;

	return pb_wddm_restart_from_timeout(&vm->adapter);
}

static uint32_t query_current_fence(void *context, struct pb_dxgkarg_querycurrentfence *query)
{
	struct vm *vm = context;

	return pb_wddm_query_current_fence(&vm->adapter, query);
}

static void dpc(void *context)
{
	struct vm *vm = context;

	pb_wddm_dpc(&vm->adapter);
}

static void run(void *context, uint64_t microseconds)
{
	struct vm *vm = context;
	const uint64_t end = pb_sim_now(vm->card.sim) + microseconds;

	while (pb_sim_now(vm->card.sim) < end) {
		pb_sim_step(vm->card.sim);
		if (pb_sim_interrupt_take(vm->card.sim, vm->card.link->channel) && !vm->deaf)
			(void)pb_wddm_interrupt(&vm->adapter);
	}
}

static uint64_t now(void *context)
{
	const struct vm *vm = context;

	return pb_sim_now(vm->card.sim);
}

void vm_miniport(struct vm *vm, struct os_miniport *miniport)
{
	*miniport = (struct os_miniport){
		.patch = patch,
		.submit_command = submit_command,
		.query_current_fence = query_current_fence,
		.preempt_command = preempt_command,
		.query_dependent_engine_group = query_dependent_engine_group,
		.query_engine_status = query_engine_status,
		.reset_engine = reset_engine,
		.reset_from_timeout = reset_from_timeout,
		.restart_from_timeout = restart_from_timeout,
		.dpc = dpc,
		.run = run,
		.now = now,
		.context = vm,
	};
}

/* ---- planted faults ---- */

void vm_node_times(struct vm *vm, uint32_t node, uint32_t hang_us, uint32_t answer_us)
{
	const struct pb_node_request request = {
		.mode = PB_NODE_HOST_ORDERED, .hang_us = hang_us, .answer_us = answer_us};

	assert_int_equal(pb_node_set(&vm->admin, node, &request), PB_ERROR_OK);
}

void vm_break_engine(const struct vm *vm, uint32_t node, const struct pb_engine_model_defects *defects)
{
	pb_engine_model_set_defects(pb_sim_engine(vm->card.sim, node), defects);
}
