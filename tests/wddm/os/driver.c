/* SPDX-License-Identifier: MIT */
/* The driver: the shim's functions, and what the OS does around a call of them. */
#include <stdio.h>
#include <string.h>

#include "tests/wddm/os/machine.h"

/* ---- the functions ---- */

static uint32_t render(struct os_machine *m, struct pb_wddm_context *context,
		       struct pb_dxgkarg_render *arguments)
{
	(void)m;
	return pb_wddm_render(context, arguments);
}

static uint32_t render_km(struct os_machine *m, struct pb_wddm_context *context,
			  struct pb_dxgkarg_render *arguments)
{
	(void)m;
	return pb_wddm_render_km(context, arguments);
}

static uint32_t present(struct os_machine *m, struct pb_wddm_context *context,
			struct pb_dxgkarg_present *arguments)
{
	(void)m;
	return pb_wddm_present(context, arguments);
}

static uint32_t build_paging_buffer(struct os_machine *m, struct pb_dxgkarg_buildpagingbuffer *build)
{
	return pb_wddm_build_paging_buffer(&m->adapter, build);
}

static uint32_t patch(struct os_machine *m, const struct pb_dxgkarg_patch *arguments)
{
	return pb_wddm_patch(&m->adapter, arguments);
}

static uint32_t submit_command(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	return pb_wddm_submit_command(&m->adapter, submit);
}

static uint32_t preempt_command(struct os_machine *m, const struct pb_dxgkarg_preemptcommand *preempt)
{
	return pb_wddm_preempt_command(&m->adapter, preempt);
}

static uint32_t query_current_fence(struct os_machine *m, struct pb_dxgkarg_querycurrentfence *query)
{
	return pb_wddm_query_current_fence(&m->adapter, query);
}

static uint32_t query_dependent_engine_group(struct os_machine *m,
					     struct pb_dxgkarg_querydependentenginegroup *group)
{
	return pb_wddm_query_dependent_engine_group(&m->adapter, group);
}

static uint32_t query_engine_status(struct os_machine *m, struct pb_dxgkarg_queryenginestatus *status)
{
	return pb_wddm_query_engine_status(&m->adapter, status);
}

static uint32_t reset_engine(struct os_machine *m, struct pb_dxgkarg_resetengine *reset)
{
	return pb_wddm_reset_engine(&m->adapter, reset);
}

static uint32_t reset_from_timeout(struct os_machine *m)
{
	return pb_wddm_reset_from_timeout(&m->adapter);
}

static uint32_t restart_from_timeout(struct os_machine *m)
{
	return pb_wddm_restart_from_timeout(&m->adapter);
}

static void caps(struct os_machine *m, struct pb_dxgk_drivercaps *drivercaps)
{
	const struct pb_dxgkarg_queryadapterinfo query = {.Type = PB_DXGK_QUERY_DRIVERCAPS,
							  .pOutputData = drivercaps,
							  .OutputDataSize = sizeof(*drivercaps)};

	(void)pb_wddm_query_adapter_info(&m->adapter, &query);
}

static uint32_t collect_dbg_info(struct os_machine *m, const struct pb_dxgkarg_collectdbginfo *collect)
{
	return pb_wddm_collect_dbg_info(&m->adapter, collect);
}

static uint32_t set_power_state(struct os_machine *m, uint32_t device, uint32_t state)
{
	return pb_wddm_set_power_state(&m->adapter, device, state);
}

static void interrupt(struct os_machine *m)
{
	(void)pb_wddm_interrupt(&m->adapter);
}

static void dpc(struct os_machine *m)
{
	pb_wddm_dpc(&m->adapter);
}

static void notify(struct os_machine *m, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	if (m->asleep)
		os_break(&m->os, OS_RULE_POWER_NOTIFY, data->InterruptType);
	os_notify_interrupt(&m->os, data);
}

void os_driver(struct os_ddi *ddi)
{
	*ddi = (struct os_ddi){
		.render = render,
		.render_km = render_km,
		.present = present,
		.build_paging_buffer = build_paging_buffer,
		.patch = patch,
		.submit_command = submit_command,
		.preempt_command = preempt_command,
		.query_current_fence = query_current_fence,
		.query_dependent_engine_group = query_dependent_engine_group,
		.query_engine_status = query_engine_status,
		.reset_engine = reset_engine,
		.reset_from_timeout = reset_from_timeout,
		.restart_from_timeout = restart_from_timeout,
		.collect_dbg_info = collect_dbg_info,
		.set_power_state = set_power_state,
		.caps = caps,
		.interrupt = interrupt,
		.dpc = dpc,
		.notify = notify,
	};
}

/* ---- around a call ---- */

/** Nothing is mapped between two calls. */
static uint32_t check_map(struct os_machine *m, uint32_t status)
{
	const void *stray = os_map_stray(&m->map);

	if (stray != NULL)
		os_break(&m->os, OS_RULE_MAPPING, (uintptr_t)stray);
	return status;
}

/** Patch sees the buffer at an address of its own, and may change the submitted bytes only. */
static uint32_t call_patch(void *machine, const struct pb_dxgkarg_patch *arguments)
{
	struct os_machine *m = machine;
	struct pb_dxgkarg_patch copy = *arguments;
	struct os_window *window = NULL;
	uint32_t status;

	for (uint32_t b = 0; b < OS_BUFFERS; b++) {
		if (m->buffers[b].private_data == arguments->pDmaBufferPrivateData)
			window = os_map_open(&m->map, m->buffers[b].memory.bytes_host);
	}
	copy.pDmaBuffer = window != NULL ? window->bytes : NULL;
	m->quiet = true;
	status = m->ddi.patch(m, &copy);
	m->quiet = false;
	if (window != NULL) {
		if (!os_map_untouched(window, 0, arguments->DmaBufferSubmissionStartOffset) ||
		    !os_map_untouched(window, arguments->DmaBufferSubmissionEndOffset,
				      OS_MAP_BYTES + OS_MAP_GUARD))
			os_break(&m->os, OS_RULE_PATCH_RANGE, arguments->DmaBufferSubmissionStartOffset);
		os_map_close(window);
	}
	/* The lists belong to the OS again. */
	os_garbage(&m->chance, m->list, sizeof(m->list));
	os_garbage(&m->chance, m->patches, sizeof(m->patches));
	return check_map(m, status);
}

static uint32_t call_submit_command(void *machine, const struct pb_dxgkarg_submitcommand *submit)
{
	struct os_machine *m = machine;

	return check_map(m, m->ddi.submit_command(m, submit));
}

static uint32_t call_preempt_command(void *machine, const struct pb_dxgkarg_preemptcommand *preempt)
{
	struct os_machine *m = machine;
	struct pb_dxgkarg_preemptcommand copy = *preempt;

	os_say(m, "preempt node %u", preempt->NodeOrdinal);
	os_garbage(&m->chance, &copy.EngineOrdinal, sizeof(copy.EngineOrdinal));
	return m->ddi.preempt_command(m, &copy);
}

static uint32_t call_query_current_fence(void *machine, struct pb_dxgkarg_querycurrentfence *query)
{
	struct os_machine *m = machine;

	os_garbage(&m->chance, &query->EngineOrdinal, sizeof(query->EngineOrdinal));
	return m->ddi.query_current_fence(m, query);
}

static uint32_t call_query_dependent_engine_group(void *machine,
						  struct pb_dxgkarg_querydependentenginegroup *group)
{
	struct os_machine *m = machine;

	return m->ddi.query_dependent_engine_group(m, group);
}

static uint32_t call_query_engine_status(void *machine, struct pb_dxgkarg_queryenginestatus *status)
{
	struct os_machine *m = machine;

	return m->ddi.query_engine_status(m, status);
}

static uint32_t call_reset_engine(void *machine, struct pb_dxgkarg_resetengine *reset)
{
	struct os_machine *m = machine;

	os_say(m, "reset node %u", reset->NodeOrdinal);
	os_garbage(&m->chance, &reset->LastAbortedFenceId, sizeof(reset->LastAbortedFenceId));
	return m->ddi.reset_engine(m, reset);
}

static uint32_t call_reset_from_timeout(void *machine)
{
	struct os_machine *m = machine;

	os_say(m, "reset the adapter");
	return m->ddi.reset_from_timeout(m);
}

static uint32_t call_restart_from_timeout(void *machine)
{
	struct os_machine *m = machine;

	return m->ddi.restart_from_timeout(m);
}

static uint32_t call_cancel_command(void *machine, const struct pb_dxgkarg_submitcommand *packet)
{
	struct os_machine *m = machine;

	return m->ddi.cancel_command(m, packet);
}

static void call_dpc(void *machine)
{
	struct os_machine *m = machine;

	m->ddi.dpc(m);
}

static void run(void *machine, uint64_t microseconds)
{
	struct os_machine *m = machine;
	const uint64_t end = pb_sim_now(m->sim) + microseconds;

	while (pb_sim_now(m->sim) < end) {
		pb_sim_step(m->sim);
		if (pb_sim_interrupt_take(m->sim, m->channel.link->channel) && !m->deaf)
			m->ddi.interrupt(m);
	}
}

static uint64_t now(void *machine)
{
	const struct os_machine *m = machine;

	return pb_sim_now(m->sim);
}

void os_driver_miniport(struct os_machine *m, struct os_miniport *miniport)
{
	*miniport = (struct os_miniport){
		.patch = call_patch,
		.submit_command = call_submit_command,
		.query_current_fence = call_query_current_fence,
		.preempt_command = call_preempt_command,
		.query_dependent_engine_group = call_query_dependent_engine_group,
		.query_engine_status = call_query_engine_status,
		.reset_engine = call_reset_engine,
		.reset_from_timeout = call_reset_from_timeout,
		.restart_from_timeout = call_restart_from_timeout,
		.cancel_command = m->ddi.cancel_command != NULL ? call_cancel_command : NULL,
		.dpc = call_dpc,
		.run = run,
		.now = now,
		.context = m,
	};
}
