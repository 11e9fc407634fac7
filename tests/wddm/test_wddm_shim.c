/* SPDX-License-Identifier: MIT */
/*
 * The shim does what the contract requires of a miniport: memory is as the commands define it, and the model
 * of the OS does not stop.
 */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

/** Nothing moved: submitted with and without Patch, on both nodes. */
static void frames_are_right_with_and_without_patch(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 60; i++) {
		vm_random_commands(&vm, 6);
		vm_draw(&vm, i % VM_CONTEXTS);
		if (i % 7 == 6)
			vm_finish(&vm);
	}
	vm_finish(&vm);
	vm_compare(&vm, "frames");
	assert_int_equal(vm.os.completed, 60);
	assert_int_equal(vm.skipped + vm.patched, 60);
	assert_true(vm.skipped > 20 && vm.patched > 5);
	for (uint32_t c = 0; c < VM_CONTEXTS; c++) {
		assert_false(vm.contexts[c].shim.lost);
		vm_context_stop(&vm, c);
	}
	assert_int_equal(pb_wddm_stop(&vm.adapter), PB_ERROR_OK);
	vm_stop(&vm);
}

/** Everything has moved between Render and SubmitCommand, or was not resident at Render. */
static void moved_allocations_are_patched(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 40; i++) {
		struct vm_context *context = &vm.contexts[i % VM_CONTEXTS];
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct os_packet packet;

		if (i % 2 == 0)
			vm_page_out(&vm, &context->allocations[i % VM_ALLOCATIONS]);
		vm_random_commands(&vm, 6);
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		if (i % 2 == 0)
			vm_page_in(&vm, &context->allocations[i % VM_ALLOCATIONS]);
		for (uint32_t a = 0; a < VM_ALLOCATIONS; a++)
			vm_move(&vm, &context->allocations[a]);
		packet = vm_packet(buffer, 0, 0, buffer->bytes);
		vm_queue(&vm, &packet);
		vm_model(&vm, context);
		vm_finish(&vm);
		vm_compare(&vm, "moved");
	}
	assert_int_equal(vm.skipped, 0);
	assert_int_equal(vm.patched, 40);
	vm_stop(&vm);
}

/** Render records it: addresses that were unknown are poison in the buffer, known ones are written. */
static void render_writes_the_addresses_that_it_knows(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;
	struct pb_render_record record;

	(void)state;
	vm_start(&vm, 100);
	vm_page_out(&vm, &context->allocations[1]);
	vm_move(&vm, &context->allocations[0]);
	vm_begin(&vm);
	vm_copy(&vm, 1, 8, 2, 16, 32);
	buffer = vm_buffer(&vm, context);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	memcpy(&record, buffer->private_data, sizeof(record));
	assert_int_equal(record.magic, PB_RENDER_MAGIC);
	assert_int_equal(record.unresolved_count, 1);
	assert_int_equal(record.patch_count, 2);
	assert_int_equal(buffer->patch_count, 2);
	assert_int_equal(buffer->bytes, 24);
	vm_stop(&vm);
}

/** An address outside its segment counts as unknown. */
static const struct {
	uint32_t segment;
	uint64_t address;
	uint32_t unresolved;
} homes[] = {
	{VM_VIDEO, 0, 0},
	{VM_EDGE, VM_EDGE_OS, 0},
	{VM_EDGE, VM_EDGE_OS + VM_EDGE_BYTES - VM_BYTES, 0},
	{VM_EDGE, VM_EDGE_OS + VM_EDGE_BYTES, 1},
	{VM_EDGE, VM_EDGE_OS - VM_BYTES, 1},
	{VM_EDGE - 8, VM_EDGE_OS, 1},
	{PB_WDDM_TRAP_SEGMENT, 0, 1},
	{0, 0, 1},
};

static void an_address_outside_its_segment_is_unknown(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 100);
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 4, 5);
	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct vm_allocation *allocation = &context->allocations[0];
		struct pb_render_record record;

		allocation->segment = homes[i].segment;
		allocation->address = homes[i].address;
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		memcpy(&record, buffer->private_data, sizeof(record));
		assert_int_equal(record.unresolved_count, homes[i].unresolved);
	}
	vm_stop(&vm);
}

/**
 * Two allocations copied back and forth, in four parts: allocations that a part does not name look paged out
 * to Patch.
 */
static void a_split_buffer_is_right(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 0xfffffffe);
	vm.hide = true;
	for (uint32_t i = 0; i < 20; i++) {
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		uint32_t start = 0;

		vm_random_commands(&vm, 8);
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		vm_model(&vm, context);
		for (uint32_t p = 0; p <= buffer->patch_count; p++) {
			const bool last = p == buffer->patch_count;
			const uint32_t end = last ? buffer->bytes : buffer->patches[p].split_offset;
			struct os_packet packet;

			if (end == start || (!last && vm_random(&vm, 3) == 0))
				continue;
			packet = vm_packet(buffer, 0, start, end);
			vm_queue(&vm, &packet);
			start = end;
		}
		vm_move(&vm, &context->allocations[i % VM_ALLOCATIONS]);
		vm_finish(&vm);
		vm_compare(&vm, "split");
	}
	assert_true(vm.os.completed > 40);
	assert_int_equal(vm.leaks, 0);
	vm_stop(&vm);
}

/** All ids around the wrap and around 0, each reported once and in order. */
static void fence_ids_wrap_in_order(void **state)
{
	static const uint32_t first[] = {0, 1, 0xffffffff, 0xfffffff8, 0x7ffffffc};
	static const uint32_t steps[] = {1, 3, 0x40000001};

	(void)state;
	for (uint32_t i = 0; i < 15; i++) {
		struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = 0};

		vm_start(&vm, first[i % 5]);
		vm.os.fence_step = steps[i / 5];
		assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
		for (uint32_t d = 0; d < 12; d++) {
			vm_random_commands(&vm, 2);
			vm_draw(&vm, d % 2);
		}
		os_step(&vm.os, 1);
		if (vm.os.completed == 0) {
			assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
			assert_int_equal(query.CurrentFence, first[i % 5] - 1);
		}
		vm_finish(&vm);
		assert_int_equal(vm.os.completed, 12);
		assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
		assert_int_equal(query.CurrentFence, first[i % 5] + 11 * steps[i / 5]);
		vm_compare(&vm, "fences");
		vm_stop(&vm);
	}
}

/** The first page of segment 1 is address 0. */
static void address_zero_is_valid(void **state)
{
	struct vm_context *context = &vm.contexts[2];
	struct vm_allocation *allocation = &context->allocations[0];

	(void)state;
	vm_start(&vm, 100);
	while (allocation->segment != 1 || allocation->address != 0) {
		for (uint32_t c = 0; c < VM_CONTEXTS * VM_ALLOCATIONS; c++)
			vm_move(&vm, &vm.contexts[c / VM_ALLOCATIONS].allocations[c % VM_ALLOCATIONS]);
	}
	for (uint32_t i = 0; i < 8; i++) {
		vm_begin(&vm);
		vm_fill(&vm, 1, 4 * i, 4, 0x1000 + i);
		vm_draw(&vm, 2);
	}
	vm_finish(&vm);
	vm_compare(&vm, "address 0");
	assert_true(vm.skipped != 0 && vm.patched != 0);
	vm_stop(&vm);
}

/** A packet that is not run, and an empty packet, complete in order. */
static void null_and_empty_packets_complete_in_order(void **state)
{
	static const struct {
		uint32_t flags;
		bool empty;
		bool no_buffer;
	} rows[] = {
		{PB_FLAG_NULL_RENDERING, false, false},
		{PB_FLAG_NULL_RENDERING | PB_FLAG_PRESENT, false, false},
		{0, true, false},
		{0, true, true},
		{PB_FLAG_CONTEXT_SWITCH, true, true},
		{PB_FLAG_NULL_RENDERING | PB_FLAG_CONTEXT_SWITCH, true, true},
		{0xffffff00, true, false},
	};
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 70; i++) {
		const uint32_t r = i % (sizeof(rows) / sizeof(rows[0]));
		struct vm_buffer *buffer;
		struct os_packet packet;

		vm_random_commands(&vm, 3);
		vm_draw(&vm, 0);
		buffer = vm_buffer(&vm, context);
		vm_random_commands(&vm, 3);
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		packet = vm_packet(buffer, rows[r].flags, 0, rows[r].empty ? 0 : buffer->bytes);
		if (rows[r].no_buffer) {
			packet.patch.DmaBufferPhysicalAddress = 0;
			packet.patch.DmaBufferSize = 0;
		}
		vm_queue(&vm, &packet);
		if (i % 5 == 4)
			vm_finish(&vm);
	}
	vm_finish(&vm);
	assert_int_equal(vm.os.completed, 140);
	vm_compare(&vm, "nothing");
	assert_false(context->shim.lost);
	vm_stop(&vm);
}

static void wild_entries(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	/* Allocation 1 is what the range names. */
	world->list[0] = (struct pb_dxgk_allocationlist){(void *)(uintptr_t)8, 0xffffffff, UINT64_MAX};
	world->list[2] = (struct pb_dxgk_allocationlist){(void *)(uintptr_t)1, 1u | 9u << 1, 0x1234};
	world->list[3].Value = 1u | VM_EDGE << 1;
	world->list[3].PhysicalAddress = UINT64_MAX;
	world->list[4].hDeviceSpecificAllocation = (void *)world->list;
	world->list[4].Value = 0xffffffc0;
}

/** Other entries of the list: wild handles, absent segments, reserved bits, addresses outside any segment. */
static void entries_that_no_patch_names_may_hold_anything(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	vm_start(&vm, 100);
	vm.spoil = wild_entries;
	for (uint32_t i = 0; i < 4; i++) {
		vm_move(&vm, &context->allocations[0]);
		vm_begin(&vm);
		vm_fill(&vm, 1, 64 * i, 64, 0x7000 + i);
		vm_draw(&vm, 0);
		vm_move(&vm, &context->allocations[0]);
		vm_finish(&vm);
	}
	assert_int_equal(vm.patched, 4);
	assert_false(context->shim.lost);
	vm_compare(&vm, "wild entries");
	vm_stop(&vm);
}

/** A patch entry of the NULL allocation writes nothing, and is no error. */
static void unbind_entries_write_nothing(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 100);
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 64, 0x12345678);
	vm_model(&vm, context);
	buffer = vm_buffer(&vm, context);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	assert_int_equal(buffer->patch_count, 1);
	/* The entry would hit the address that the entry before it writes. */
	buffer->patches[1] = buffer->patches[0];
	buffer->patches[1].allocation_index = 0;
	buffer->patches[1].allocation_offset = 0xfffffffc;
	buffer->patch_count = 2;
	vm_move(&vm, &context->allocations[0]);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	assert_int_equal(packet.patch.PatchLocationListSubmissionLength, 2);
	vm_queue(&vm, &packet);
	vm_finish(&vm);
	assert_int_equal(vm.patched, 1);
	assert_false(context->shim.lost);
	vm_compare(&vm, "unbind");
	vm_stop(&vm);
}

/** A blit in three dirty rectangles, each a DMA buffer of its own. */
static void a_present_has_a_buffer_for_each_rectangle(void **state)
{
	static const struct pb_rect parts[] = {{4, 10, 6, 20}, {8, 10, 12, 12}, {4, 29, 12, 30}};
	struct vm_context *context = &vm.contexts[1];
	struct pb_dxgk_allocationlist list[3];
	struct pb_dxgkarg_present present = {
		.pAllocationList = list,
		.SrcRect = {1, 2, 9, 22},
		.DstRect = {4, 10, 12, 30},
		.SubRectCnt = 3,
		.pDstSubRects = parts,
		.Flags = PB_DXGK_PRESENT_BLT,
	};

	(void)state;
	vm_start(&vm, 100);
	vm_page_out(&vm, &context->allocations[3]);
	for (uint32_t i = 0; i < 3; i++) {
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct os_packet packet;

		vm_list(&vm, context, buffer->rendered);
		list[0] = buffer->rendered[0];
		list[1] = buffer->rendered[2];
		list[2] = buffer->rendered[4];
		present.pDmaBuffer = buffer->memory.bytes_host;
		present.DmaSize = VM_BUFFER;
		present.pDmaBufferPrivateData = buffer->private_data;
		present.DmaBufferPrivateDataSize = sizeof(buffer->private_data);
		present.pPatchLocationListOut = buffer->patches;
		present.PatchLocationListOutSize = VM_PATCHES;
		assert_int_equal(pb_wddm_present(&context->shim, &present),
				 i < 2 ? PB_STATUS_INSUFFICIENT_DMA_BUFFER : PB_STATUS_SUCCESS);
		assert_int_equal(present.MultipassOffset, i + 1);
		buffer->bytes = (uint32_t)((uint8_t *)present.pDmaBuffer - buffer->memory.bytes_host);
		buffer->patch_count = (uint32_t)(present.pPatchLocationListOut - buffer->patches);
		assert_int_equal(buffer->bytes, 36);
		assert_int_equal(buffer->patch_count, 2);
		/* The list passed to Patch here has all allocations: these two have other indices in it. */
		buffer->patches[0].allocation_index = 2;
		buffer->patches[1].allocation_index = 4;
		packet = vm_packet(buffer, PB_FLAG_PRESENT, 0, buffer->bytes);
		vm_queue(&vm, &packet);
	}
	vm_page_in(&vm, &context->allocations[3]);
	for (uint32_t i = 0; i < 3; i++) {
		for (int32_t y = parts[i].top; y < parts[i].bottom; y++)
			for (int32_t x = parts[i].left; x < parts[i].right; x++)
				context->allocations[3].model[y * 16 + x] =
					context->allocations[1].model[(y - 8) * 16 + x - 3];
	}
	vm_finish(&vm);
	vm_compare(&vm, "present");
	vm_stop(&vm);
}

/** A buffer in many small parts, with MultipassOffset. */
static void a_buffer_is_built_in_many_passes(void **state)
{
	struct vm_context *context = &vm.contexts[2];
	struct pb_dxgkarg_render render = {.pCommand = vm.words};
	uint32_t status;
	uint32_t rounds = 0;

	(void)state;
	vm_start(&vm, 100);
	vm_random_commands(&vm, 20);
	vm_model(&vm, context);
	render.CommandLength = vm.count * 4;
	do {
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct os_packet packet;

		vm_list(&vm, context, buffer->rendered);
		render.pDmaBuffer = buffer->memory.bytes_host;
		render.DmaSize = 100;
		render.pDmaBufferPrivateData = buffer->private_data;
		render.DmaBufferPrivateDataSize = sizeof(buffer->private_data);
		render.pAllocationList = buffer->rendered;
		render.AllocationListSize = VM_LIST;
		render.pPatchLocationListOut = buffer->patches;
		render.PatchLocationListOutSize = 5;
		status = pb_wddm_render(&context->shim, &render);
		buffer->bytes = (uint32_t)((uint8_t *)render.pDmaBuffer - buffer->memory.bytes_host);
		buffer->patch_count = (uint32_t)(render.pPatchLocationListOut - buffer->patches);
		packet = vm_packet(buffer, 0, 0, buffer->bytes);
		vm_queue(&vm, &packet);
		rounds++;
	} while (status == PB_STATUS_INSUFFICIENT_DMA_BUFFER && rounds < 20);
	assert_int_equal(status, PB_STATUS_SUCCESS);
	assert_true(rounds >= 5);
	vm_finish(&vm);
	vm_compare(&vm, "passes");
	vm_stop(&vm);
}

/** Interrupts get lost: QueryCurrentFence reports completions, in order. */
static void lost_interrupts_lose_no_fence(void **state)
{
	(void)state;
	vm_start(&vm, 0);
	vm.deaf = true;
	for (uint32_t i = 0; i < 24; i++) {
		vm_random_commands(&vm, 3);
		vm_draw(&vm, i % VM_CONTEXTS);
	}
	vm_finish(&vm);
	vm_compare(&vm, "lost interrupts");
	assert_int_equal(vm.os.completed, 24);
	assert_int_equal(vm.os.tdr_count, 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_shim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_right_with_and_without_patch),
		cmocka_unit_test(moved_allocations_are_patched),
		cmocka_unit_test(render_writes_the_addresses_that_it_knows),
		cmocka_unit_test(an_address_outside_its_segment_is_unknown),
		cmocka_unit_test(a_split_buffer_is_right),
		cmocka_unit_test(fence_ids_wrap_in_order),
		cmocka_unit_test(address_zero_is_valid),
		cmocka_unit_test(null_and_empty_packets_complete_in_order),
		cmocka_unit_test(entries_that_no_patch_names_may_hold_anything),
		cmocka_unit_test(unbind_entries_write_nothing),
		cmocka_unit_test(a_present_has_a_buffer_for_each_rectangle),
		cmocka_unit_test(a_buffer_is_built_in_many_passes),
		cmocka_unit_test(lost_interrupts_lose_no_fence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
