/* SPDX-License-Identifier: MIT */
/* The interrupt routine at its own level, and the DPC that does its work. */
#include "tests/wddm/wddm_world.h"

#define FENCE 7u
#define STEPS 1000u

static struct vm vm;

static struct calls {
	uint32_t notified; /* DxgkCbNotifyInterrupt */
	uint32_t fence;    /* of the last one */
	uint32_t queued;   /* DxgkCbQueueDpc */
	uint32_t done;     /* DxgkCbNotifyDpc */
} calls;

static void notify_interrupt(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	struct calls *of = context;

	of->notified++;
	of->fence = data->DmaCompleted.SubmissionFenceId;
}

static void queue_dpc(void *context)
{
	((struct calls *)context)->queued++;
}

static void notify_dpc(void *context)
{
	((struct calls *)context)->done++;
}

static const struct pb_wddm_callbacks callbacks = {
	.notify_interrupt = notify_interrupt,
	.queue_dpc = queue_dpc,
	.notify_dpc = notify_dpc,
	.context = &calls,
};

/** An adapter that is not started has no callback; one that is started asks once, whatever its state. */
static void the_routine_only_asks_for_the_dpc(void **state)
{
	static struct pb_wddm_adapter adapter;

	(void)state;
	calls = (struct calls){0};
	pb_wddm_interrupt_routine(&adapter);
	assert_int_equal(calls.queued, 0);
	adapter.config.callbacks = callbacks;
	adapter.error = PB_ERROR_FIRMWARE_DEAD;
	pb_wddm_interrupt_routine(&adapter);
	assert_int_equal(calls.queued, 1);
	assert_int_equal(calls.notified + calls.done, 0);
}

/** The DPC reports what the card has completed since, and asks for no other DPC. */
static void the_dpc_finds_what_the_interrupt_was_for(void **state)
{
	const struct pb_dxgkarg_submitcommand submit = {.hContext = &vm.contexts[0].shim,
							.SubmissionFenceId = FENCE};

	(void)state;
	calls = (struct calls){0};
	vm_start(&vm, FENCE);
	vm.adapter.config.callbacks = callbacks;
	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
	for (uint32_t i = 0; i < STEPS; i++)
		pb_sim_step(vm.card.sim);
	pb_wddm_interrupt_routine(&vm.adapter);
	assert_int_equal(calls.notified, 0);
	pb_wddm_dpc(&vm.adapter);
	assert_int_equal(calls.notified, 1);
	assert_int_equal(calls.fence, FENCE);
	assert_int_equal(calls.done, 1);
	assert_int_equal(calls.queued, 1);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_interrupt)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_routine_only_asks_for_the_dpc),
		cmocka_unit_test(the_dpc_finds_what_the_interrupt_was_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
