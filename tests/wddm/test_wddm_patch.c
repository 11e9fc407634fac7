/* SPDX-License-Identifier: MIT */
/* Patch and SubmitCommand as two calls: their possible orders, and the owner of each list. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

/** A buffer that fills a word of allocation 1, which has moved since Render. */
static struct os_packet fill_moved(struct vm_context *context, uint32_t word, uint32_t fence_id)
{
	struct vm_buffer *buffer = vm_buffer(&vm, context);
	struct os_packet packet;

	vm_begin(&vm);
	vm_fill(&vm, 1, 4 * word, 4, 0xf1110000 + word);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	packet.patch.SubmissionFenceId = fence_id;
	packet.patch.pPatchLocationList = buffer->patches;
	packet.submit.SubmissionFenceId = fence_id;
	packet.submit.hContext = packet.patch.hContext;
	packet.submit.DmaBufferPhysicalAddress = packet.patch.DmaBufferPhysicalAddress;
	packet.submit.DmaBufferSize = packet.patch.DmaBufferSize;
	packet.submit.DmaBufferSubmissionEndOffset = packet.patch.DmaBufferSubmissionEndOffset;
	return packet;
}

static void patch_now(struct vm_context *context, struct os_packet *packet)
{
	vm_list(&vm, context, vm.list);
	packet->patch.pAllocationList = vm.list;
	assert_int_equal(pb_wddm_patch(&vm.adapter, &packet->patch), PB_STATUS_SUCCESS);
	memset(vm.list, 0xee, sizeof(vm.list));
}

static void submit_now(const struct os_packet *packet)
{
	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &packet->submit), PB_STATUS_SUCCESS);
	card_run(&vm.card, 1000);
	/* These submissions bypass the model of the OS. */
	vm.os.bugcheck = 1;
	assert_true(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
}

/** Several buffers are patched before the first is submitted, in another order. */
static void buffers_are_patched_before_earlier_submissions(void **state)
{
	static const uint32_t order[PB_WDDM_PATCHED_MAX] = {2, 0, 3, 1};
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packets[PB_WDDM_PATCHED_MAX];

	(void)state;
	vm_start(&vm, 1);
	for (uint32_t i = 0; i < PB_WDDM_PATCHED_MAX; i++)
		packets[i] = fill_moved(context, i, 10 + i);
	vm_move(&vm, &context->allocations[0]);
	for (uint32_t i = 0; i < PB_WDDM_PATCHED_MAX; i++)
		patch_now(context, &packets[i]);
	for (uint32_t i = 0; i < PB_WDDM_PATCHED_MAX; i++)
		submit_now(&packets[order[i]]);
	for (uint32_t i = 0; i < PB_WDDM_PATCHED_MAX; i++)
		context->allocations[0].model[i] = 0xf1110000 + i;
	vm_compare(&vm, "ahead");
	vm_stop(&vm);
}

/** With one buffer too many the first is forgotten, and runs as it was rendered. The others are kept. */
static void one_buffer_too_many_forgets_the_oldest(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packets[PB_WDDM_PATCHED_MAX + 1];

	(void)state;
	vm_start(&vm, 0xffffffff);
	for (uint32_t i = 0; i <= PB_WDDM_PATCHED_MAX; i++)
		packets[i] = fill_moved(context, i, 10 + i);
	vm_move(&vm, &context->allocations[0]);
	for (uint32_t i = 0; i <= PB_WDDM_PATCHED_MAX; i++)
		patch_now(context, &packets[i]);
	for (uint32_t i = 0; i <= PB_WDDM_PATCHED_MAX; i++)
		submit_now(&packets[i]);
	for (uint32_t i = 0; i <= PB_WDDM_PATCHED_MAX; i++) {
		const uint32_t expected = i == 0 ? context->allocations[0].model[0] : 0xf1110000 + i;

		assert_int_equal(vm_memory(&vm, &context->allocations[0])[i], expected);
	}
	vm_stop(&vm);
}

/** Patch twice for one fence: the last call counts. */
static void the_last_patch_of_a_fence_counts(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 5, 10);
	for (uint32_t i = 0; i < 3 * PB_WDDM_SLOTS; i++) {
		vm_move(&vm, &context->allocations[0]);
		patch_now(context, &packet);
	}
	submit_now(&packet);
	context->allocations[0].model[5] = 0xf1110005;
	vm_compare(&vm, "again");
	vm_stop(&vm);
}

/** Patched, recalled before the submission, patched for a new fence: many times. */
static void a_recalled_patch_is_made_again(void **state)
{
	struct vm_context *context = &vm.contexts[2];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 6, 10);
	for (uint32_t i = 0; i < 3 * PB_WDDM_SLOTS; i++) {
		vm_move(&vm, &context->allocations[0]);
		packet.patch.SubmissionFenceId = 0xfffffff0 + i;
		packet.submit.SubmissionFenceId = 0xfffffff0 + i;
		patch_now(context, &packet);
	}
	submit_now(&packet);
	context->allocations[0].model[6] = 0xf1110006;
	vm_compare(&vm, "in vain");
	vm_stop(&vm);
}

/** One buffer submitted three times with new fences, moved in between. Only then is it freed. */
static void a_buffer_is_submitted_three_times(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 7, 10);
	for (uint32_t i = 0; i < 3; i++) {
		vm_move(&vm, &context->allocations[0]);
		vm_memory(&vm, &context->allocations[0])[7] = 0;
		packet.patch.SubmissionFenceId = packet.submit.SubmissionFenceId = 20 - i;
		patch_now(context, &packet);
		submit_now(&packet);
		context->allocations[0].model[7] = 0xf1110007;
		vm_compare(&vm, "resubmitted");
	}
	vm_stop(&vm);
}

/** Lists of another fence, context, buffer or range do not belong to this submission. */
static void lists_of_another_submission_are_not_used(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct os_packet packet, other;
		uint32_t old;

		vm_start(&vm, 1);
		packet = fill_moved(context, 8, 10);
		other = packet;
		vm_page_out(&vm, &context->allocations[1]);
		if (i == 0)
			other.patch.SubmissionFenceId++;
		if (i == 1)
			other.patch.hContext = &vm.contexts[1].shim;
		if (i == 2)
			other.patch.DmaBufferPhysicalAddress += VM_BUFFER;
		if (i == 3)
			other.patch.DmaBufferSubmissionEndOffset += 4;
		if (i == 4)
			other.patch.DmaBufferSubmissionStartOffset += 4;
		/* It would write to another address. */
		old = context->allocations[0].model[8];
		vm_move(&vm, &context->allocations[0]);
		patch_now(context, &other);
		submit_now(&packet);
		assert_int_equal(vm_memory(&vm, &context->allocations[0])[8], old);
		assert_false(context->shim.lost);
		vm_stop(&vm);
	}
}

/** Patch does nothing for paging buffers, and reads no lists. */
static void patch_ignores_paging_buffers(void **state)
{
	struct pb_dxgkarg_patch patch = {.Flags = PB_FLAG_PAGING, .SubmissionFenceId = 1};

	(void)state;
	vm_start(&vm, 1);
	assert_int_equal(pb_wddm_patch(&vm.adapter, &patch), PB_STATUS_SUCCESS);
	patch.hContext = &vm.contexts[0].shim;
	assert_int_equal(pb_wddm_patch(&vm.adapter, &patch), PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.nodes[0].patches, 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_patch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_patched_before_earlier_submissions),
		cmocka_unit_test(the_last_patch_of_a_fence_counts),
		cmocka_unit_test(one_buffer_too_many_forgets_the_oldest),
		cmocka_unit_test(a_recalled_patch_is_made_again),
		cmocka_unit_test(a_buffer_is_submitted_three_times),
		cmocka_unit_test(lists_of_another_submission_are_not_used),
		cmocka_unit_test(patch_ignores_paging_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
