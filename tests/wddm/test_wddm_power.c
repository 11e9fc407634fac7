/* SPDX-License-Identifier: MIT */
/* SetPowerState: nothing is submitted to a card that sleeps, and it wakes as it was. */
#include "tests/wddm/wddm_world.h"

#define ADAPTER 0xffffffffu

static struct vm vm;

/** DEVICE_POWER_STATE, PowerDeviceD0 to PowerDeviceD3, and what a submission finds behind it. */
static const struct {
	const char *name;
	uint32_t device;
	uint32_t state;
	enum pb_error error;
} states[] = {
	{"D0", ADAPTER, 1, PB_ERROR_OK},           {"D1", ADAPTER, 2, PB_ERROR_BAD_ARGUMENT},
	{"D2", ADAPTER, 3, PB_ERROR_BAD_ARGUMENT}, {"D3", ADAPTER, 4, PB_ERROR_BAD_ARGUMENT},
	{"a child in D3", 0, 4, PB_ERROR_OK},
};

static void a_sleeping_card_gets_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(states) / sizeof(states[0]); i++) {
		const size_t row = i / 2;
		const struct pb_dxgkarg_submitcommand submit = {.hContext = &vm.contexts[0].shim,
								.SubmissionFenceId = 100};
		const struct pb_dxgkarg_preemptcommand preempt = {.PreemptionFenceId = 7};

		vm_start(&vm, 100);
		card_equal(states[row].name,
			   pb_wddm_set_power_state(&vm.adapter, states[row].device, states[row].state),
			   PB_STATUS_SUCCESS);
		if (i % 2 == 0) {
			(void)pb_wddm_submit_command(&vm.adapter, &submit);
		} else {
			vm.os.nodes[0].preemption.pending = true;
			vm.os.nodes[0].preemption.fence_id = 7;
			(void)pb_wddm_preempt_command(&vm.adapter, &preempt);
		}
		card_equal(states[row].name, vm.adapter.error, states[row].error);
		/* A failed adapter may sleep; it does not wake. */
		assert_int_equal(pb_wddm_set_power_state(&vm.adapter, ADAPTER, 4), PB_STATUS_SUCCESS);
		card_equal(states[row].name, pb_wddm_set_power_state(&vm.adapter, ADAPTER, 1),
			   states[row].error == PB_ERROR_OK ? PB_STATUS_SUCCESS : PB_STATUS_UNSUCCESSFUL);
		vm_stop(&vm);
	}
}

/** What is in flight when the power goes ends and is reported; memory and contexts are there when it comes back. */
static void work_goes_on_after_a_sleep(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 24; i++) {
		const uint32_t number = i % VM_CONTEXTS;

		vm_random_commands(&vm, 6);
		vm_draw(&vm, number);
		while (vm.os.nodes[vm.contexts[number].shim.node].software.count != 0)
			os_step(&vm.os, 1);
		assert_int_equal(pb_wddm_set_power_state(&vm.adapter, ADAPTER, 2 + i % 3), PB_STATUS_SUCCESS);
		vm_finish(&vm);
		vm_compare(&vm, "asleep");
		assert_int_equal(pb_wddm_set_power_state(&vm.adapter, ADAPTER, 1), PB_STATUS_SUCCESS);
		vm_move(&vm, &vm.contexts[number].allocations[i % VM_ALLOCATIONS]);
	}
	assert_int_equal(vm.os.completed, 24);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_power)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sleeping_card_gets_nothing),
		cmocka_unit_test(work_goes_on_after_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
