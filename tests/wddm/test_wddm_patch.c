/* SPDX-License-Identifier: MIT */
/* Patch and SubmitCommand as two calls: their possible orders, and the owner of each list. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

/** Buffers that are patched before the first of them is submitted. */
#define AHEAD 24u
/** Calls of Patch for one buffer. */
#define TIMES 200u

static struct vm vm;

/** What SubmitCommand gets of a packet. */
static void describe(struct os_packet *packet)
{
	const struct pb_dxgkarg_patch *patch = &packet->patch;

	packet->submit = (struct pb_dxgkarg_submitcommand){
		.hContext = patch->hContext,
		.DmaBufferPhysicalAddress = patch->DmaBufferPhysicalAddress,
		.DmaBufferSize = patch->DmaBufferSize,
		.DmaBufferSubmissionStartOffset = patch->DmaBufferSubmissionStartOffset,
		.DmaBufferSubmissionEndOffset = patch->DmaBufferSubmissionEndOffset,
		.pDmaBufferPrivateData = patch->pDmaBufferPrivateData,
		.DmaBufferPrivateDataSize = patch->DmaBufferPrivateDataSize,
		.DmaBufferPrivateDataSubmissionEndOffset = patch->DmaBufferPrivateDataSubmissionEndOffset,
		.SubmissionFenceId = patch->SubmissionFenceId,
	};
}

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
	describe(&packet);
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
	os_break(&vm.os, OS_RULE_FENCE, 0);
	assert_true(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
}

/** Many buffers are patched before the first is submitted, in another order: no lists are forgotten. */
static void buffers_are_patched_before_earlier_submissions(void **state)
{
	static struct os_packet packets[AHEAD];
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 1);
	for (uint32_t i = 0; i < AHEAD; i++)
		packets[i] = fill_moved(context, i, 10 + i);
	vm_move(&vm, &context->allocations[0]);
	for (uint32_t i = 0; i < AHEAD; i++)
		patch_now(context, &packets[i]);
	for (uint32_t i = 0; i < AHEAD; i++)
		submit_now(&packets[i * 7 % AHEAD]);
	for (uint32_t i = 0; i < AHEAD; i++)
		context->allocations[0].model[i] = 0xf1110000 + i;
	vm_compare(&vm, "ahead");
	assert_false(context->shim.lost);
	vm_stop(&vm);
}

/** Fails unless a word of allocation 1 is what fill_moved() has drawn there. */
static void expect_filled(struct vm_context *context, uint32_t word, const char *row)
{
	context->allocations[0].model[word] = 0xf1110000 + word;
	vm_compare(&vm, row);
}

/** Patches one buffer many times, moved in between, for the fences from one on; then it is submitted. */
static void patch_many_times(struct vm_context *context, uint32_t word, uint32_t fence_id, uint32_t step)
{
	struct os_packet packet;

	vm_start(&vm, 1);
	packet = fill_moved(context, word, fence_id);
	for (uint32_t i = 0; i < TIMES; i++) {
		vm_move(&vm, &context->allocations[0]);
		packet.patch.SubmissionFenceId = packet.submit.SubmissionFenceId = fence_id + i * step;
		patch_now(context, &packet);
	}
	submit_now(&packet);
	expect_filled(context, word, "many times");
	vm_stop(&vm);
}

/** Patch twice for one fence: the last call counts. */
static void the_last_patch_of_a_fence_counts(void **state)
{
	(void)state;
	patch_many_times(&vm.contexts[0], 5, 10, 0);
}

/** Patched, recalled before the submission, patched for a new fence: many times. */
static void a_recalled_patch_is_made_again(void **state)
{
	(void)state;
	patch_many_times(&vm.contexts[2], 6, 0xfffffff0, 1);
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
		expect_filled(context, 7, "resubmitted");
	}
	vm_stop(&vm);
}

/** The OS need not call Patch again if nothing has moved: the last lists of the range count, whatever the fence id. */
static void lists_are_kept_for_the_next_submission(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 7, 10);
	vm_move(&vm, &context->allocations[0]);
	patch_now(context, &packet);
	for (uint32_t i = 0; i < 3; i++) {
		vm_memory(&vm, &context->allocations[0])[7] = 0;
		packet.submit.SubmissionFenceId = 30 - i;
		/* What Render wrote: as if the firmware had returned the submission before it was patched. */
		memset((uint8_t *)packet.patch.pDmaBuffer + 4, 0, 8);
		submit_now(&packet);
		expect_filled(context, 7, "kept");
	}
	vm_stop(&vm);
}

/** One word of a range that Patch and SubmitCommand got differently: it does not run with addresses of another. */
static const struct {
	const char *name;
	uint32_t start;
	uint32_t end;
	uint32_t context;
} others[] = {
	{"longer", 0, 24, 0},
	{"shorter", 0, 16, 0},
	{"later", 4, 20, 0},
	{"of another context", 0, 20, 1},
};

static void lists_of_another_submission_are_not_used(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct os_packet packet, other;
		uint32_t old;

		vm_start(&vm, 1);
		packet = fill_moved(context, 8, 10);
		assert_int_equal(packet.patch.DmaBufferSubmissionEndOffset, 20);
		other = packet;
		other.patch.DmaBufferSubmissionStartOffset = others[i].start;
		other.patch.DmaBufferSubmissionEndOffset = others[i].end;
		other.patch.hContext = &vm.contexts[others[i].context].shim;
		old = context->allocations[0].model[8];
		vm_move(&vm, &context->allocations[0]);
		patch_now(context, &other);
		submit_now(&packet);
		card_equal(others[i].name, vm_memory(&vm, &context->allocations[0])[8], old);
		card_equal(others[i].name, context->shim.lost, true);
		vm_compare(&vm, others[i].name);
		vm_stop(&vm);
	}
}

/** A packet of one of the three FILLs of a buffer. */
static struct os_packet part_of(const struct vm_buffer *buffer, uint32_t part)
{
	struct os_packet packet = vm_packet(buffer, 0, 20 * part, 20 * part + 20);

	packet.patch.SubmissionFenceId = 10 + part;
	packet.patch.pPatchLocationList = buffer->patches;
	describe(&packet);
	return packet;
}

static struct vm_buffer *three_fills(struct vm_context *context)
{
	struct vm_buffer *buffer = vm_buffer(&vm, context);

	vm_begin(&vm);
	for (uint32_t i = 0; i < 3; i++)
		vm_fill(&vm, 1 + i, 0, 4, 0xf2220000 + i);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	return buffer;
}

/** Parts of a buffer, each patched and submitted in turn; the last one needs no patch. */
static void parts_are_patched_in_turn(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet parts[3];
	struct vm_buffer *buffer;

	(void)state;
	vm_start(&vm, 1);
	buffer = three_fills(context);
	vm_move(&vm, &context->allocations[0]);
	vm_move(&vm, &context->allocations[1]);
	for (uint32_t i = 0; i < 3; i++) {
		parts[i] = part_of(buffer, i);
		if (i < 2)
			patch_now(context, &parts[i]);
		submit_now(&parts[i]);
		context->allocations[i].model[0] = 0xf2220000 + i;
	}
	vm_compare(&vm, "parts");
	assert_false(context->shim.lost);
	vm_stop(&vm);
}

/** Lists that another part's have replaced: the part does not run with its old addresses. */
static void a_part_without_its_lists_does_not_run(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet parts[2];
	struct vm_buffer *buffer;

	(void)state;
	vm_start(&vm, 1);
	buffer = three_fills(context);
	vm_move(&vm, &context->allocations[0]);
	vm_move(&vm, &context->allocations[1]);
	for (uint32_t i = 0; i < 2; i++) {
		parts[i] = part_of(buffer, i);
		patch_now(context, &parts[i]);
	}
	submit_now(&parts[1]);
	context->allocations[1].model[0] = 0xf2220001;
	assert_false(context->shim.lost);
	submit_now(&parts[0]);
	assert_true(context->shim.lost);
	vm_compare(&vm, "replaced");
	vm_stop(&vm);
}

/** A copy, then a fill: the source is unbound where the fill begins. Without that entry the model finds a leak. */
static void each_part_unbinds_what_it_does_not_use(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	for (uint32_t leaky = 0; leaky < 2; leaky++) {
		struct vm_buffer *buffer;
		struct os_packet parts[2];

		vm_start(&vm, 100);
		vm_begin(&vm);
		vm_copy(&vm, 1, 0, 2, 0, 64);
		vm_fill(&vm, 3, 0, 64, 7);
		vm_model(&vm, context);
		buffer = vm_buffer(&vm, context);
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		assert_int_equal(buffer->patch_count, 4);
		assert_int_equal(buffer->patches[2].allocation_index, 0);
		assert_int_equal(buffer->patches[2].slot, buffer->patches[0].slot);
		assert_int_equal(buffer->patches[2].split_offset, 24);
		assert_int_equal(buffer->patches[2].patch_offset, 24);
		if (leaky != 0) {
			buffer->patches[2] = buffer->patches[3];
			buffer->patch_count--;
		}
		parts[0] = vm_packet(buffer, 0, 0, 24);
		parts[1] = vm_packet(buffer, 0, 24, buffer->bytes);
		vm_queue(&vm, &parts[0]);
		vm_queue(&vm, &parts[1]);
		assert_int_equal(vm.leaks, leaky);
		vm_move(&vm, &context->allocations[2]);
		vm_finish(&vm);
		vm_compare(&vm, "unbound");
		assert_false(context->shim.lost);
		vm_stop(&vm);
	}
}

/** Private data as Render and Patch do not leave it: nothing runs, and the context is lost. */
static void bad_private_data_is_found(void **state)
{
	const uint32_t head = (uint32_t)sizeof(struct pb_render_record) / 4;
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	for (uint32_t i = 0; i < PB_WDDM_BLOCK_HEAD_BYTES / 4 - 2 + 5; i++) {
		struct pb_dxgkarg_submitcommand *submit;
		struct os_packet packet;

		vm_start(&vm, 1);
		packet = fill_moved(context, 9, 10);
		submit = &packet.submit;
		vm_move(&vm, &context->allocations[0]);
		patch_now(context, &packet);
		if (i == 0)
			submit->pDmaBufferPrivateData = NULL;
		else if (i == 1)
			submit->DmaBufferPrivateDataSubmissionEndOffset =
				submit->DmaBufferPrivateDataSize + 4;
		else if (i == 2)
			submit->DmaBufferPrivateDataSubmissionStartOffset = VM_PRIVATE;
		else if (i == 3)
			submit->DmaBufferPrivateDataSubmissionEndOffset -= 4;
		else if (i == 4)
			submit->DmaBufferPrivateDataSubmissionEndOffset = 99;
		else
			((uint32_t *)submit->pDmaBufferPrivateData)[head + i - 5] ^= 0x10u;
		submit_now(&packet);
		assert_true(context->shim.lost);
		vm_compare(&vm, "bad private data");
		vm_stop(&vm);
	}
}

/** Patch of a buffer that has no private data: no error, and the submission does not run. */
static void patch_without_private_data_is_no_error(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 9, 10);
	packet.patch.pDmaBufferPrivateData = NULL;
	packet.patch.DmaBufferPrivateDataSize = 0;
	packet.patch.DmaBufferPrivateDataSubmissionEndOffset = 0;
	describe(&packet);
	vm_move(&vm, &context->allocations[0]);
	patch_now(context, &packet);
	submit_now(&packet);
	assert_true(context->shim.lost);
	vm_compare(&vm, "no private data");
	vm_stop(&vm);
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
	vm_stop(&vm);
}

static uint32_t acquired;

static void count(struct pb_lock *lock)
{
	(void)lock;
	acquired++;
}

static void leave_lock(struct pb_lock *lock)
{
	(void)lock;
}

/** Patch may be pageable code: it never holds a spinlock, under which no page fault can be served. */
static void patch_takes_no_lock(void **state)
{
	static struct pb_lock lock = {.acquire = count, .release = leave_lock};
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	packet = fill_moved(context, 3, 10);
	vm.adapter.config.lock = &lock;
	acquired = 0;
	patch_now(context, &packet);
	assert_int_equal(acquired, 0);
	submit_now(&packet);
	assert_true(acquired != 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_patch)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_are_patched_before_earlier_submissions),
		cmocka_unit_test(the_last_patch_of_a_fence_counts),
		cmocka_unit_test(a_recalled_patch_is_made_again),
		cmocka_unit_test(a_buffer_is_submitted_three_times),
		cmocka_unit_test(lists_are_kept_for_the_next_submission),
		cmocka_unit_test(lists_of_another_submission_are_not_used),
		cmocka_unit_test(parts_are_patched_in_turn),
		cmocka_unit_test(a_part_without_its_lists_does_not_run),
		cmocka_unit_test(each_part_unbinds_what_it_does_not_use),
		cmocka_unit_test(bad_private_data_is_found),
		cmocka_unit_test(patch_without_private_data_is_no_error),
		cmocka_unit_test(patch_ignores_paging_buffers),
		cmocka_unit_test(patch_takes_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
