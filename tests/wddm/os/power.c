/* SPDX-License-Identifier: MIT */
/*
 * Power states. Before the adapter leaves D0 the OS stops submitting, takes back or lets end what is submitted, and pages
 * out whatever is in a segment; packets that wait stay where they are. Segments lose their contents, system memory keeps
 * them. An interrupt line may be another device's, too: the interrupt routine is called in any state.
 */
#include <string.h>

#include "tests/wddm/os/machine.h"

#define SLEEP_US 60u
/** PowerDeviceD1 to PowerDeviceD3. */
#define LOW_FIRST 2u
#define LOW_COUNT 3u
/** Children of the adapter have numbers of the driver's; these are below. */
#define CHILDREN 8u

/** Whether no node has a packet, or a preemption to answer. */
static bool has_drained(const struct os_model *os)
{
	for (uint32_t n = 0; n < os->node_count; n++) {
		const struct os_queue *software = &os->nodes[n].software;

		if (os->nodes[n].hardware.count != 0 || os->nodes[n].preemption.pending ||
		    (software->count != 0 && os_is_paging(&software->packets[0])))
			return false;
	}
	return true;
}

/** Whether a status is a success, as NT_SUCCESS. */
static bool is_success(uint32_t status)
{
	return status >> 31 == 0;
}

static void set_state(struct os_machine *m, uint32_t device, uint32_t state)
{
	uint32_t status;

	m->quiet = true;
	status = m->ddi.set_power_state(m, device, state);
	m->quiet = false;
	if (!is_success(status))
		os_break(&m->os, OS_RULE_POWER_STATUS, status);
}

/** Pages out all that is in a segment. */
static void evict_all(struct os_machine *m)
{
	for (uint32_t p = 0; p < m->process_count; p++) {
		for (uint32_t a = 0; a < OS_ALLOCATIONS && m->processes[p].alive; a++) {
			(void)os_vidmm_evict(m, &m->processes[p].allocations[a]);
			if (m->free_count > OS_PAGING_BUFFERS)
				continue;
			os_paging_flush(m);
			os_run_until(m, has_drained);
		}
	}
	os_paging_flush(m);
	os_run_until(m, has_drained);
}

/** Outside D0: system memory must stay as it is, and what was in the segments is lost. */
static void sleep(struct os_machine *m)
{
	static uint32_t before[OS_FRAMES][OS_PAGE_WORDS];

	for (uint32_t frame = 0; frame < OS_FRAMES; frame++)
		memcpy(before[frame], m->memory.real[OS_CELL_FRAME + frame], OS_PAGE_BYTES);
	m->asleep = true;
	set_state(m, PB_DISPLAY_ADAPTER_HW_ID, LOW_FIRST + os_below(&m->chance, LOW_COUNT));
	m->os.miniport.run(m, SLEEP_US);
	m->ddi.interrupt(m);
	for (uint32_t frame = 0; frame < OS_FRAMES; frame++) {
		if (memcmp(before[frame], m->memory.real[OS_CELL_FRAME + frame], OS_PAGE_BYTES) != 0)
			os_break(&m->os, OS_RULE_POWER_TOUCHES, OS_CELL_FRAME + frame);
	}
	for (uint32_t cell = 0; cell < OS_CELL_FRAME && !os_has_stopped(&m->os); cell++) {
		os_memory_fill(&m->memory, cell, os_word(&m->chance));
		memcpy(m->memory.real[cell], m->memory.words[cell], OS_PAGE_BYTES);
	}
	m->asleep = false;
	set_state(m, PB_DISPLAY_ADAPTER_HW_ID, PB_DEVICE_POWER_D0);
}

void os_power_cycle(struct os_machine *m)
{
	if (os_one_in(&m->chance, 3))
		os_run_until(m, os_is_idle);
	m->os.suspended = true;
	for (uint32_t n = 0; n < m->os.node_count; n++) {
		if (os_one_in(&m->chance, 2))
			os_preempt(&m->os, n);
	}
	os_run_until(m, has_drained);
	if (m->free_count > OS_PAGING_BUFFERS && !os_has_stopped(&m->os)) {
		evict_all(m);
		os_say(m, "power");
		m->counts.powers++;
		m->counts.suspended += !os_is_idle(&m->os);
		if (!os_has_stopped(&m->os))
			sleep(m);
	}
	m->os.suspended = false;
}

void os_power_child(struct os_machine *m)
{
	set_state(m, os_below(&m->chance, CHILDREN), LOW_FIRST + os_below(&m->chance, LOW_COUNT));
}
