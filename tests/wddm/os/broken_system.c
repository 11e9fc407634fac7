/* SPDX-License-Identifier: MIT */
/* Drivers that break rules of power states, or take one context for another. */
#include "tests/wddm/os/broken.h"

#define STATE 1000u

static uint32_t sleep_fails(struct os_machine *m, uint32_t device, uint32_t state)
{
	(void)m;
	(void)device;
	return state != PB_DEVICE_POWER_D0 ? PB_STATUS_UNSUCCESSFUL : PB_STATUS_SUCCESS;
}

/** As a driver that may not be asked about a child that it does not know. */
static uint32_t child_fails(struct os_machine *m, uint32_t device, uint32_t state)
{
	return device != PB_DISPLAY_ADAPTER_HW_ID ? PB_STATUS_UNSUCCESSFUL
						  : os_puppet_shim()->set_power_state(m, device, state);
}

/** Takes each interrupt of a shared line for its own. */
static void interrupt_asleep(struct os_machine *m)
{
	const struct pb_dxgkargcb_notify_interrupt_data data = {
		.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		.DmaCompleted = {.SubmissionFenceId = m->os.nodes[0].last_completed},
	};

	if (m->adapter.asleep)
		m->ddi.notify(m, &data);
	os_puppet_shim()->interrupt(m);
}

/** Keeps its state in a page of system memory, which is another one by now. */
static uint32_t saves_its_state(struct os_machine *m, uint32_t device, uint32_t state)
{
	if (device == PB_DISPLAY_ADAPTER_HW_ID && state != PB_DEVICE_POWER_D0)
		m->memory.real[OS_CELL_FRAME][5] ^= STATE;
	return os_puppet_shim()->set_power_state(m, device, state);
}

/* ---- contexts ---- */

/** Takes all contexts of a process for the first one. */
static uint32_t first_context(struct os_machine *m, const struct pb_dxgkarg_submitcommand *submit)
{
	struct os_context *context = os_client_context(m, submit->hContext);
	struct pb_wddm_context own;
	uint32_t status;

	if (context == NULL)
		return os_puppet_shim()->submit_command(m, submit);
	own = context->shim;
	context->shim.node = context->process->contexts[0].shim.node;
	/* Since Windows 8 the OS names the node. */
	if (m->os.version < PB_DXGKDDI_WIN8) {
		status = os_puppet_shim()->submit_command(m, submit);
	} else {
		struct pb_dxgkarg_submitcommand copy = *submit;

		copy.NodeOrdinal = context->shim.node;
		status = os_puppet_shim()->submit_command(m, &copy);
	}
	context->shim.node = own.node;
	return status;
}

const struct os_puppet os_puppets_system[] = {
	{"all contexts on one node", OS_RULE_FENCE, 0x119, 0x1, .ddi = {.submit_command = first_context}},
	{"SetPowerState fails", OS_RULE_POWER_STATUS, 0, 0xf, .ddi = {.set_power_state = sleep_fails}},
	{"SetPowerState of a child fails", OS_RULE_POWER_STATUS, 0, 0xf,
	 .ddi = {.set_power_state = child_fails}},
	{"an interrupt in D3", OS_RULE_POWER_NOTIFY, 0, 0x10, .ddi = {.interrupt = interrupt_asleep}},
	{"system memory changes in D3", OS_RULE_POWER_TOUCHES, 0, 0x11,
	 .ddi = {.set_power_state = saves_its_state}},
};
const uint32_t os_puppets_system_count = sizeof(os_puppets_system) / sizeof(os_puppets_system[0]);
