/* SPDX-License-Identifier: MIT */
/* Preemption and recovery by the shim, one rule each. Notifications are recorded. */
#include <string.h>

#include "qemu/engine.h"
#include "tests/wddm/wddm_world.h"

#define NOTES    16u
#define BUSY_US  20000u
#define PAGE_ID  7u
#define PACKETS  60u
#define STOP_ID  0xabcdu /**< PreemptionFenceId */
#define ANSWERED 500000u /**< longer than any recovery sequence takes */

static struct vm vm;
static struct pb_dxgkargcb_notify_interrupt_data notes[NOTES];
static uint32_t noted;
static uint32_t submit_from_within; /**< fence id; 0: none */

static struct pb_dxgkarg_submitcommand buffer(uint32_t slot, uint32_t fence_id, const uint32_t *words,
					      uint32_t count, uint32_t flags)
{
	const bool paging = (flags & PB_FLAG_PAGING) != 0;
	/* As BuildPagingBuffer leaves it for packets of so many bytes. */
	const uint32_t record[PB_WDDM_PAGING_RECORD_BYTES / 4] = {0x47505042,
								  count * (uint32_t)sizeof(uint32_t)};
	struct vm_buffer *dma = &vm.buffers[slot];

	dma->context = paging ? NULL : &vm.contexts[0];
	if (paging) {
		memcpy(dma->private_data, record, sizeof(record));
		dma->private_end = sizeof(record);
	} else {
		vm_begin(&vm);
		assert_int_equal(vm_render(&vm, &vm.contexts[0], dma), PB_STATUS_SUCCESS);
	}
	memcpy(dma->memory.bytes_host, words, count * sizeof(uint32_t));
	return (struct pb_dxgkarg_submitcommand){
		.hContext = paging ? NULL : &vm.contexts[0].shim,
		.DmaBufferPhysicalAddress = dma->memory.os_address,
		.DmaBufferSize = VM_BUFFER,
		.DmaBufferSubmissionEndOffset = count * (uint32_t)sizeof(uint32_t),
		.pDmaBufferPrivateData = dma->private_data,
		.DmaBufferPrivateDataSize = sizeof(dma->private_data),
		.DmaBufferPrivateDataSubmissionEndOffset = dma->private_end,
		.SubmissionFenceId = fence_id,
		.Flags = flags,
	};
}

static void submit_busy(uint32_t slot, uint32_t fence_id, uint32_t microseconds, uint32_t flags)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), microseconds};
	const struct pb_dxgkarg_submitcommand submit = buffer(slot, fence_id, words, 2, flags);

	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
}

static void note(void *context, const struct pb_dxgkargcb_notify_interrupt_data *data)
{
	(void)context;
	assert_true(noted < NOTES);
	notes[noted++] = *data;
	if (data->InterruptType == PB_DXGK_INTERRUPT_DMA_PREEMPTED && submit_from_within != 0)
		submit_busy(9, submit_from_within, 10, PB_FLAG_PAGING);
}

static void expect_completed(uint32_t index, uint32_t fence_id)
{
	assert_true(index < noted);
	assert_int_equal(notes[index].InterruptType, PB_DXGK_INTERRUPT_DMA_COMPLETED);
	assert_int_equal(notes[index].DmaCompleted.SubmissionFenceId, fence_id);
	assert_int_equal(notes[index].DmaCompleted.NodeOrdinal, 0);
}

static void expect_preempted(uint32_t index, uint32_t id, uint32_t last_completed)
{
	assert_true(index < noted);
	assert_int_equal(notes[index].InterruptType, PB_DXGK_INTERRUPT_DMA_PREEMPTED);
	assert_int_equal(notes[index].DmaPreempted.PreemptionFenceId, id);
	assert_int_equal(notes[index].DmaPreempted.LastCompletedFenceId, last_completed);
	assert_int_equal(notes[index].DmaPreempted.NodeOrdinal, 0);
}

static void begin(void)
{
	vm_start(&vm, 100);
	os_break(&vm.os, OS_RULE_FENCE, 0); /* these submissions bypass the model */
	vm.adapter.config.callbacks.notify_interrupt = note;
	noted = 0;
	submit_from_within = 0;
}

static void run(uint64_t microseconds)
{
	const uint64_t end = pb_sim_now(vm.card.sim) + microseconds;

	while (pb_sim_now(vm.card.sim) < end) {
		pb_sim_step(vm.card.sim);
		if (pb_sim_interrupt_take(vm.card.sim, vm.card.link->channel))
			(void)pb_wddm_interrupt(&vm.adapter);
	}
}

static void preempt(uint32_t id)
{
	const struct pb_dxgkarg_preemptcommand arguments = {.PreemptionFenceId = id};

	assert_int_equal(pb_wddm_preempt_command(&vm.adapter, &arguments), PB_STATUS_SUCCESS);
}

/** All is finished: the answer comes from within the call, after completions that were not polled yet. */
static void an_idle_node_is_preempted_at_once(void **state)
{
	(void)state;
	begin();
	submit_busy(0, 0xffffffff, 10, 0);
	card_run(&vm.card, 1000);
	assert_int_equal(noted, 0);
	preempt(STOP_ID);
	assert_int_equal(noted, 2);
	expect_completed(0, 0xffffffff);
	expect_preempted(1, STOP_ID, 0xffffffff);
	preempt(0xffffffff); /* preemptions have their own count */
	assert_int_equal(noted, 3);
	expect_preempted(2, 0xffffffff, 0xffffffff);
	vm_stop(&vm);
}

/** The running packet ends and is reported, the rest is recalled. Later packets run after the request. */
static void a_preemption_waits_for_the_running_buffer(void **state)
{
	(void)state;
	begin();
	submit_busy(0, 1, 10, 0);
	submit_busy(1, 2, BUSY_US, 0);
	submit_busy(2, 3, 10, 0);
	submit_busy(3, PAGE_ID, 10, PB_FLAG_PAGING);
	run(1000);
	assert_int_equal(noted, 1);
	preempt(STOP_ID);
	submit_busy(4, 20, 10, 0); /* after the request */
	assert_int_equal(noted, 1);
	submit_from_within = PAGE_ID;
	run(2 * BUSY_US);
	assert_int_equal(noted, 5);
	expect_completed(0, 1);
	expect_completed(1, 2);
	expect_preempted(2, STOP_ID, 2);
	expect_completed(3, 20);
	expect_completed(4, PAGE_ID); /* the id repeats */
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
	vm_stop(&vm);
}

/**
 * The firmware has returned submissions, and its record is not written yet: returned submissions are not
 * complete.
 */
static void a_query_during_a_preemption_reports_nothing_recalled(void **state)
{
	struct pb_preempt_record before, after;
	struct pb_queue_page *page;

	(void)state;
	begin();
	page = (struct pb_queue_page *)(void *)vm.adapter.nodes[0].queue.memory.bytes_host;
	submit_busy(0, 1, 1000, 0);
	submit_busy(1, 2, 1000, 0);
	submit_busy(2, 3, 1000, 0);
	run(100);
	before = page->preempt;
	preempt(STOP_ID);
	card_run(&vm.card, 10000);
	assert_int_equal(page->fence.completed, 3);
	after = page->preempt;
	page->preempt = before;
	assert_true(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(noted, 1);
	expect_completed(0, 1);
	page->preempt = after;
	assert_true(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(noted, 2);
	expect_preempted(1, STOP_ID, 1);
	vm_stop(&vm);
}

/** The next preemption is requested before the reply to the last one was read. */
static void preemptions_follow_each_other(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < 5; i++) {
		const uint32_t before = noted;

		submit_busy(0, 2 * i, 1000, 0);
		submit_busy(1, 2 * i + 1, 1000, 0);
		run(100);
		preempt(STOP_ID + i);
		while (noted == before + 1 || noted == before) {
			card_run(&vm.card, 10);
			(void)pb_wddm_interrupt(&vm.adapter);
		}
		expect_completed(before, 2 * i);
		expect_preempted(before + 1, STOP_ID + i, 2 * i);
	}
	assert_int_equal(noted, 10);
	vm_stop(&vm);
}

static void expect_reset(uint32_t last_aborted)
{
	struct pb_dxgkarg_resetengine reset = {.LastAbortedFenceId = 0};
	const uint32_t before = noted;

	assert_int_equal(pb_wddm_reset_engine(&vm.adapter, &reset), PB_STATUS_SUCCESS);
	assert_int_equal(reset.LastAbortedFenceId, last_aborted);
	run(ANSWERED);
	assert_int_equal(noted, before); /* no notification of earlier packets */
}

/**
 * A buffer that makes progress and never ends, with and without a pending preemption. New packets run
 * afterwards.
 */
static void an_endless_buffer_is_reset(void **state)
{
	(void)state;
	for (uint32_t preempted = 0; preempted < 2; preempted++) {
		begin();
		submit_busy(0, 1, 10, 0);
		submit_busy(1, 2, 100000000, 0);
		submit_busy(2, 3, 10, PB_FLAG_PAGING);
		run(1000);
		if (preempted != 0)
			preempt(STOP_ID);
		run(ANSWERED);
		assert_int_equal(noted, 1);
		expect_reset(2);
		assert_true(vm.contexts[0].shim.lost);
		submit_busy(3, 3, 10, PB_FLAG_PAGING);
		run(1000);
		assert_int_equal(noted, 2);
		expect_completed(1, 3);
		expect_reset(3); /* idle: the last completed */
		vm_stop(&vm);
	}
}

/** Commands in any of which the engine can stop. */
static void fill_busy(uint32_t words[2 * PACKETS])
{
	for (uint32_t i = 0; i < PACKETS; i++) {
		words[2 * i] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[2 * i + 1] = 50;
	}
}

/**
 * A buffer that has begun when a preemption is asked, and that a reset keeps from its end, is aborted at any time: it has
 * changed memory, and must not run again from its beginning.
 */
static void a_buffer_stopped_inside_by_a_preemption_is_aborted(void **state)
{
	uint32_t words[2 * PACKETS];

	(void)state;
	fill_busy(words);
	for (uint32_t wait = 0; wait < 200; wait += 10) {
		struct pb_dxgkarg_submitcommand submit;

		begin();
		submit_busy(0, 1, 10, 0);
		submit = buffer(1, 2, words, 2 * PACKETS, 0);
		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		submit_busy(2, 3, 10, 0);
		run(1000);
		preempt(STOP_ID);
		run(wait);
		assert_int_equal(noted, 1);
		expect_reset(2);
		vm_stop(&vm);
	}
}

/**
 * The card's admin suspends the card, and the engine stops inside the shim's buffer; so the OS sees a timeout. The reset
 * returns the buffer, which has changed memory: it is aborted. One that has not begun may run afterwards.
 */
static void a_buffer_stopped_inside_by_a_suspension_is_aborted(void **state)
{
	uint32_t words[2 * PACKETS];

	(void)state;
	fill_busy(words);
	for (uint32_t begun = 0; begun < 2; begun++) {
		struct pb_dxgkarg_submitcommand submit;

		begin();
		submit_busy(0, 1, 10, 0);
		run(1000);
		submit = buffer(1, 2, words, 2 * PACKETS, 0);
		if (begun == 0)
			assert_int_equal(pb_card_suspend(&vm.admin, 0), PB_ERROR_OK);
		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		submit_busy(2, 3, 10, 0);
		run(1000);
		if (begun != 0)
			assert_int_equal(pb_card_suspend(&vm.admin, PB_STOP_INSIDE | PB_STOP_RECALL),
					 PB_ERROR_OK);
		run(ANSWERED);
		assert_int_equal(noted, 1);
		expect_reset(begun != 0 ? 2 : 1);
		assert_int_equal(vm.contexts[0].shim.lost, begun != 0);
		assert_int_equal(pb_card_resume(&vm.admin), PB_ERROR_OK);
		submit_busy(3, 4, 10, PB_FLAG_PAGING);
		run(1000);
		assert_int_equal(noted, 2);
		expect_completed(1, 4);
		vm_stop(&vm);
	}
}

/** Completions that were not reported count as aborted. The rest may be submitted again. */
static void unreported_completions_count_as_aborted(void **state)
{
	(void)state;
	begin();
	submit_busy(0, 1, 10, 0);
	card_run(&vm.card, 1000);
	expect_reset(1);
	vm_stop(&vm);
}

/**
 * Everything is aborted, and every node reports its last submitted fence. Nothing may be submitted before the
 * restart.
 */
static void a_reset_of_the_adapter_aborts_everything(void **state)
{
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = 0};

	(void)state;
	begin();
	submit_busy(0, 1, 100000000, 0);
	submit_busy(1, 2, 10, 0);
	submit_busy(2, 3, 10, PB_FLAG_PAGING);
	run(1000);
	preempt(STOP_ID);
	assert_int_equal(pb_wddm_reset_from_timeout(&vm.adapter), PB_STATUS_SUCCESS);
	run(ANSWERED);
	assert_int_equal(noted, 0);
	assert_int_equal(pb_wddm_restart_from_timeout(&vm.adapter), PB_STATUS_SUCCESS);
	assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
	assert_int_equal(query.CurrentFence, 3);
	submit_busy(3, 4, 10, PB_FLAG_PAGING);
	run(1000);
	assert_int_equal(noted, 1);
	expect_completed(0, 4);

	assert_int_equal(pb_wddm_reset_from_timeout(&vm.adapter), PB_STATUS_SUCCESS);
	preempt(STOP_ID);
	assert_int_equal(vm.adapter.error, PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_wddm_restart_from_timeout(&vm.adapter), PB_STATUS_UNSUCCESSFUL);
	vm_stop(&vm);
}

/** An engine that does not recover even from a power cycle: both resets report it. */
static void an_engine_that_stays_dead_fails_both_resets(void **state)
{
	const struct pb_engine_model_defects deaf = {
		.deaf_to_stop = true, .deaf_to_reset = true, .deaf_to_power = true};
	struct pb_dxgkarg_resetengine reset = {.NodeOrdinal = 0};
	struct pb_dxgkarg_queryenginestatus status = {.NodeOrdinal = 0};

	(void)state;
	begin();
	vm_break_engine(&vm, 0, &deaf);
	submit_busy(0, 1, 100000000, 0);
	run(1000);
	assert_int_equal(pb_wddm_reset_engine(&vm.adapter, &reset), PB_STATUS_UNSUCCESSFUL);
	assert_int_equal(pb_wddm_query_engine_status(&vm.adapter, &status), PB_STATUS_SUCCESS);
	assert_int_equal(status.EngineStatus, 0);
	assert_int_equal(pb_wddm_reset_from_timeout(&vm.adapter), PB_STATUS_UNSUCCESSFUL);
	vm_stop(&vm);
}

static uint32_t status_of(uint32_t node)
{
	struct pb_dxgkarg_queryenginestatus status = {.NodeOrdinal = node, .EngineStatus = 0xff};

	assert_int_equal(pb_wddm_query_engine_status(&vm.adapter, &status), PB_STATUS_SUCCESS);
	return status.EngineStatus;
}

/** Idle, running, hanging for less and for more than 10 ms; no such node. */
static void a_responsive_engine_is_reported(void **state)
{
	const uint32_t hang[] = {PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS)};
	struct pb_dxgkarg_submitcommand submit;

	(void)state;
	begin();
	vm_node_times(&vm, 0, 1000000, 0);
	assert_int_equal(status_of(0), PB_DXGK_ENGINE_RESPONSIVE);
	assert_int_equal(status_of(2), 0);
	submit = buffer(0, 1, hang, 1, 0);
	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
	run(1000);
	assert_int_equal(status_of(0), PB_DXGK_ENGINE_RESPONSIVE);
	run(5000);
	assert_int_equal(status_of(0), PB_DXGK_ENGINE_RESPONSIVE);
	run(10000);
	assert_int_equal(status_of(0), 0);
	assert_int_equal(status_of(1), PB_DXGK_ENGINE_RESPONSIVE);
	expect_reset(1);
	assert_int_equal(status_of(0), PB_DXGK_ENGINE_RESPONSIVE);
	vm_stop(&vm);
}

static void each_node_is_a_group_of_its_own(void **state)
{
	(void)state;
	begin();
	for (uint32_t n = 0; n < 2; n++) {
		struct pb_dxgkarg_querydependentenginegroup group = {.NodeOrdinal = n};

		assert_int_equal(pb_wddm_query_dependent_engine_group(&vm.adapter, &group),
				 PB_STATUS_SUCCESS);
		assert_int_equal(group.DependentNodeOrdinalMask, 1u << n);
	}
	vm_stop(&vm);
}

/** The OS breaks its own rules: the adapter ends, without an error. */
static void wrong_preemptions_end_the_adapter(void **state)
{
	const struct pb_dxgkarg_preemptcommand nowhere = {.NodeOrdinal = 2};
	struct pb_dxgkarg_resetengine reset = {.NodeOrdinal = 2};

	(void)state;
	begin();
	assert_int_equal(pb_wddm_reset_engine(&vm.adapter, &reset), PB_STATUS_UNSUCCESSFUL);
	assert_int_equal(pb_wddm_preempt_command(&vm.adapter, &nowhere), PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.error, PB_ERROR_BAD_ARGUMENT);
	preempt(STOP_ID);
	assert_int_equal(noted, 0);
	vm_stop(&vm);

	begin();
	submit_busy(0, 1, BUSY_US, 0);
	preempt(STOP_ID);
	preempt(STOP_ID + 1);
	assert_int_equal(vm.adapter.error, PB_ERROR_BAD_ARGUMENT);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_tdr)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_node_is_preempted_at_once),
		cmocka_unit_test(a_preemption_waits_for_the_running_buffer),
		cmocka_unit_test(a_query_during_a_preemption_reports_nothing_recalled),
		cmocka_unit_test(preemptions_follow_each_other),
		cmocka_unit_test(an_endless_buffer_is_reset),
		cmocka_unit_test(a_buffer_stopped_inside_by_a_preemption_is_aborted),
		cmocka_unit_test(a_buffer_stopped_inside_by_a_suspension_is_aborted),
		cmocka_unit_test(unreported_completions_count_as_aborted),
		cmocka_unit_test(a_reset_of_the_adapter_aborts_everything),
		cmocka_unit_test(an_engine_that_stays_dead_fails_both_resets),
		cmocka_unit_test(a_responsive_engine_is_reported),
		cmocka_unit_test(each_node_is_a_group_of_its_own),
		cmocka_unit_test(wrong_preemptions_end_the_adapter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
