/* SPDX-License-Identifier: MIT */
/* BuildPagingBuffer, and the execution of paging buffers. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

static uint32_t *system_page(uint32_t page)
{
	return (uint32_t *)(void *)(vm.away.bytes_host + page * VM_BYTES);
}

/* ---- the words of each operation, written by hand ---- */

/** So many pages that their bytes, in a number as wide as their count, are 0. */
#define FAR_PAGES ((size_t)1 << (8 * sizeof(size_t) - 12))

/** Frames of segment 0, which the engines see from 0x40000000 on. */
static const struct vm_mdl list = {.frames = {0x10300, 0x10301, 0x10305}};
/** A page past the end of segment 0. */
static const struct vm_mdl bad_list = {.frames = {0x10300, 0x10400, 0x10305}};
/** A page before segment 0. */
static const struct vm_mdl low_list = {.frames = {0xffff}};
static const struct pb_wddm_allocation object = {.size = 0x1806};

static const struct {
	const char *name;
	struct pb_dxgkarg_buildpagingbuffer build;
	uint32_t count;
	uint32_t words[16];
} operations[] = {
	{"page out, two runs",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER,
	  .Transfer = {.TransferSize = 0x3000,
		       .Source = {VM_VIDEO, {VM_VIDEO_OS + 0x3000}},
		       .Destination = {.pMdl = &list.mdl}}},
	 12,
	 {0x02000006, 0x80003000, 1, 0x40300000, 0, 0x2000, 0x02000006, 0x80005000, 1, 0x40305000, 0,
	  0x1000}},
	{"page in, offsets of both sides",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER,
	  .Transfer = {.TransferOffset = 0x1000,
		       .TransferSize = 0x1000,
		       .Source = {.pMdl = &list.mdl},
		       .Destination = {VM_EDGE, {VM_EDGE_OS + 0x2000}},
		       .MdlOffset = 2}},
	 6,
	 {0x02000006, 0x40305000, 0, 0xfffe3000, 0, 0x1000}},
	{"from segment to segment",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER,
	  .Transfer = {.TransferSize = 8,
		       .Source = {VM_VIDEO, {VM_VIDEO_OS}},
		       .Destination = {VM_EDGE, {VM_EDGE_OS + 4}}}},
	 6,
	 {0x02000006, 0x80000000, 1, 0xfffe0004, 0, 8}},
	{"lost in a reset",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER, .Transfer = {.Source = {9, {1}}}},
	 0,
	 {0}},
	{"fill",
	 {.Operation = PB_DXGK_OPERATION_FILL,
	  .Fill = {.FillSize = 12, .FillPattern = 0xabcd, .Destination = {VM_VIDEO, VM_VIDEO_OS + 0x3000}}},
	 5,
	 {0x01000005, 0x80003000, 1, 12, 0xabcd}},
	{"discard: whole words",
	 {.Operation = PB_DXGK_OPERATION_DISCARD_CONTENT,
	  .DiscardContent = {(void *)(uintptr_t)&object, 0, 1, VM_VIDEO_OS + 0x3000}},
	 4,
	 {0x04000004, 0x80003000, 1, 0x1804}},
	{"read", {.Operation = PB_DXGK_OPERATION_READ_PHYSICAL}, 0, {0}},
	{"write", {.Operation = PB_DXGK_OPERATION_WRITE_PHYSICAL}, 0, {0}},
	{"resource of a context", {.Operation = PB_DXGK_OPERATION_INIT_CONTEXT_RESOURCE}, 0, {0}},
	{"unmap",
	 {.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
	  .UnmapApertureSegment = {NULL, NULL, VM_APERTURE, 3, 2, 0}},
	 4,
	 {0x06000004, 0x00003000, 7, 2}},
};

static void start_build(struct pb_dxgkarg_buildpagingbuffer *build, uint32_t room)
{
	build->pDmaBuffer = vm.aliases[0];
	build->DmaSize = room;
	build->pDmaBufferPrivateData = vm.buffers[0].private_data;
	build->DmaBufferPrivateDataSize = sizeof(vm.buffers[0].private_data);
}

static void each_operation_has_the_right_words(void **state)
{
	static struct pb_segment aperture;

	(void)state;
	vm_start_with_aperture(&vm, &aperture);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct pb_dxgkarg_buildpagingbuffer build = operations[i].build;

		start_build(&build, VM_BUFFER + 3);
		card_equal(operations[i].name, pb_wddm_build_paging_buffer(&vm.adapter, &build), 0);
		card_equal(operations[i].name, vm.adapter.error, PB_ERROR_OK);
		card_equal(operations[i].name, (uint8_t *)build.pDmaBuffer - vm.aliases[0],
			   4 * operations[i].count);
		card_equal(operations[i].name,
			   (uint8_t *)build.pDmaBufferPrivateData - (uint8_t *)vm.buffers[0].private_data,
			   operations[i].count != 0 ? PB_WDDM_PAGING_RECORD_BYTES : 0);
		for (uint32_t w = 0; w < operations[i].count; w++)
			card_equal(operations[i].name, ((const uint32_t *)(const void *)vm.aliases[0])[w],
				   operations[i].words[w]);
	}
	vm_stop(&vm);
}

/** Operations that this card does not support: no error is returned, and no fence comes any more. */
static const struct {
	const char *name;
	struct pb_dxgkarg_buildpagingbuffer build;
} impossible[] = {
	{"special lock", {.Operation = PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER}},
	{"no such operation", {.Operation = 8}},
	{"half a word",
	 {.Operation = PB_DXGK_OPERATION_FILL,
	  .Fill = {.FillSize = 6, .Destination = {VM_VIDEO, VM_VIDEO_OS}}}},
	{"no such segment",
	 {.Operation = PB_DXGK_OPERATION_FILL, .Fill = {.FillSize = 8, .Destination = {7, 0}}}},
	{"segment 32",
	 {.Operation = PB_DXGK_OPERATION_FILL, .Fill = {.FillSize = 8, .Destination = {32, 0}}}},
	{"segment 0",
	 {.Operation = PB_DXGK_OPERATION_FILL, .Fill = {.FillSize = 8, .Destination = {0, CARD_SYSTEM_OS}}}},
	{"before its segment",
	 {.Operation = PB_DXGK_OPERATION_FILL,
	  .Fill = {.FillSize = 8, .Destination = {VM_EDGE, VM_EDGE_OS - 8}}}},
	{"past its segment",
	 {.Operation = PB_DXGK_OPERATION_FILL,
	  .Fill = {.FillSize = 8, .Destination = {VM_EDGE, VM_EDGE_OS + 0x1fffc}}}},
	{"longer than any",
	 {.Operation = PB_DXGK_OPERATION_FILL,
	  .Fill = {.FillSize = SIZE_MAX - 3, .Destination = {VM_EDGE, VM_EDGE_OS}}}},
	{"source not in its segment",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER,
	  .Transfer = {.TransferSize = 8, .Source = {VM_EDGE, {0}}, .Destination = {.pMdl = &list.mdl}}}},
	{"discard in no segment",
	 {.Operation = PB_DXGK_OPERATION_DISCARD_CONTENT, .DiscardContent = {NULL, 0, 9, 0}}},
	{"map into no segment",
	 {.Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT,
	  .MapApertureSegment = {NULL, NULL, 9, 0, 1, &list.mdl, 0, 0}}},
	{"map a page past the end of system memory",
	 {.Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT,
	  .MapApertureSegment = {NULL, NULL, VM_APERTURE, 0, 3, &bad_list.mdl, 0, 0}}},
	{"copy from a page before system memory",
	 {.Operation = PB_DXGK_OPERATION_TRANSFER,
	  .Transfer = {.TransferSize = 8,
		       .Source = {.pMdl = &low_list.mdl},
		       .Destination = {VM_VIDEO, {VM_VIDEO_OS}}}}},
	{"unmap past the aperture",
	 {.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
	  .UnmapApertureSegment = {NULL, NULL, VM_APERTURE, 15, 2, 0}}},
	{"unmap far away",
	 {.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
	  .UnmapApertureSegment = {NULL, NULL, VM_APERTURE, FAR_PAGES, 1, 0}}},
	{"unmap very much",
	 {.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
	  .UnmapApertureSegment = {NULL, NULL, VM_APERTURE, 0, FAR_PAGES, 0}}},
};

static void impossible_operations_get_no_fence(void **state)
{
	static struct pb_segment aperture;

	(void)state;
	vm_start_with_aperture(&vm, &aperture);
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		struct pb_dxgkarg_buildpagingbuffer build = impossible[i].build;

		vm.adapter.error = PB_ERROR_OK;
		start_build(&build, VM_BUFFER);
		card_equal(impossible[i].name, pb_wddm_build_paging_buffer(&vm.adapter, &build), 0);
		card_equal(impossible[i].name, vm.adapter.error, PB_ERROR_BAD_ARGUMENT);
	}
	/* The first error is the one that is kept. */
	vm.adapter.error = PB_ERROR_FIRMWARE_DEAD;
	assert_int_equal(
		pb_wddm_build_paging_buffer(&vm.adapter,
					    &(struct pb_dxgkarg_buildpagingbuffer){
						    .pDmaBuffer = vm.buffers[0].memory.bytes_host,
						    .Operation = PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER}),
		PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.error, PB_ERROR_FIRMWARE_DEAD);
	vm_stop(&vm);
}

/* ---- execution ---- */

/** Paged out in order, while earlier packets run; paged in elsewhere, from tiny buffers. */
static void paging_runs_in_order_with_packets(void **state)
{
	(void)state;
	vm_start(&vm, 0xffffffff);
	for (uint32_t i = 0; i < 24; i++) {
		const uint32_t number = i % VM_CONTEXTS;
		struct vm_context *context = &vm.contexts[number];

		vm_random_commands(&vm, 6);
		vm_draw(&vm, number);
		while (vm.os.nodes[context->shim.node].software.count != 0)
			os_step(&vm.os, 10);
		vm_move_in_order(&vm, &context->allocations[i % VM_ALLOCATIONS], context->shim.node);
		vm_random_commands(&vm, 6);
		vm_draw(&vm, number);
		if (i % 5 == 4) {
			vm_finish(&vm);
			vm_compare(&vm, "paging");
		}
	}
	vm_finish(&vm);
	vm_compare(&vm, "paging");
	assert_int_equal(vm.os.completed, 24 * (2 + 3));
	vm_stop(&vm);
}

/** An operation that does not fit one buffer: pages of system memory in random order. */
static void an_operation_spans_many_buffers(void **state)
{
	static struct vm_mdl scattered;
	struct pb_dxgkarg_buildpagingbuffer build = {
		.Operation = PB_DXGK_OPERATION_TRANSFER,
		.Transfer = {.TransferSize = VM_HOME_PAGES / 2 * VM_BYTES,
			     .Source = {VM_VIDEO, {VM_VIDEO_OS}},
			     .Destination = {.pMdl = &scattered.mdl}},
	};

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < VM_HOME_PAGES / 2; i++)
		scattered.frames[i] = vm.away_frames[i * 7 % (VM_HOME_PAGES / 2)];
	assert_int_equal(vm_page(&vm, 1, build, 100), 8);
	vm_finish(&vm);
	for (uint32_t i = 0; i < VM_HOME_PAGES / 2; i++)
		assert_memory_equal(system_page(i * 7 % (VM_HOME_PAGES / 2)),
				    vm.card.link->memory + vm.segments[1].memory_offset + i * VM_BYTES,
				    VM_BYTES);
	vm_stop(&vm);
}

/** Access through an aperture: mapped, written, unmapped. */
static void an_aperture_is_mapped_and_unmapped_in_order(void **state)
{
	static struct pb_segment aperture;
	static struct vm_mdl away;
	struct pb_dxgkarg_buildpagingbuffer build = {
		.Operation = PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT,
		.MapApertureSegment = {NULL, NULL, VM_APERTURE, 4, 3, &away.mdl, 0, 2},
	};

	(void)state;
	vm_start_with_aperture(&vm, &aperture);
	memcpy(away.frames, vm.away_frames, sizeof(away.frames));
	memset(system_page(0), 0, 6u * VM_BYTES);
	assert_int_equal(vm_page(&vm, 0, build, 64), 1);
	build = (struct pb_dxgkarg_buildpagingbuffer){
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 8,
			 .FillPattern = 0x77,
			 .Destination = {VM_APERTURE, VM_APERTURE_OS + 0x5ffc}},
	};
	(void)vm_page(&vm, 0, build, 64);
	build = (struct pb_dxgkarg_buildpagingbuffer){
		.Operation = PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT,
		.UnmapApertureSegment = {NULL, NULL, VM_APERTURE, 4, 3, 0},
	};
	(void)vm_page(&vm, 0, build, 64);
	vm_finish(&vm);
	/* Pages 4, 5, 6 of the aperture were pages 2, 3, 4 of the list. */
	assert_int_equal(system_page(3)[VM_BYTES / 4 - 1], 0x77);
	assert_int_equal(system_page(4)[0], 0x77);
	assert_int_equal(system_page(4)[1], 0);
	assert_int_equal(system_page(2)[VM_BYTES / 4 - 1], 0);
	vm_stop(&vm);
}

/** Ids that repeat, lower than the last ones, as after a preemption. */
static void paging_ids_may_repeat(void **state)
{
	struct pb_dxgkarg_buildpagingbuffer build = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 4, .Destination = {VM_VIDEO, VM_VIDEO_OS}},
	};

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 6; i++) {
		(void)vm_page(&vm, 0, build, 64);
		vm.os.nodes[0].software.packets[0].has_fence = true;
		vm.os.nodes[0].software.packets[0].fence_id = 40 + i % 2;
		vm_random_commands(&vm, 2);
		vm_draw(&vm, 0);
		vm_finish(&vm);
	}
	assert_int_equal(vm.os.completed, 12);
	vm_stop(&vm);
}

/** Zero bytes, with random flags and contexts. */
static void an_empty_paging_buffer_completes(void **state)
{
	const uint32_t flags[] = {PB_FLAG_PAGING, PB_FLAG_PAGING | PB_FLAG_CONTEXT_SWITCH};

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < 12; i++) {
		const struct os_packet packet = {
			.patch = {.hContext = i % 3 == 2 ? &vm.contexts[1].shim : NULL,
				  .Flags = PB_FLAG_PAGING},
			.submit = {.Flags = flags[i % 2]},
		};

		vm_random_commands(&vm, 3);
		vm_draw(&vm, 0);
		assert_true(os_queue(&vm.os, &packet));
	}
	vm_finish(&vm);
	vm_compare(&vm, "empty");
	assert_int_equal(vm.os.completed, 24);
	vm_stop(&vm);
}

/** A context that a paging buffer comes with only names the node: the buffer runs, even if the context is lost. */
static void a_paging_buffer_may_come_with_a_context(void **state)
{
	struct pb_dxgkarg_buildpagingbuffer build = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 4, .Destination = {VM_VIDEO, VM_VIDEO_OS}},
	};
	struct vm_context *context = &vm.contexts[2];
	uint32_t *memory;

	(void)state;
	vm_start(&vm, 100);
	vm_page_out(&vm, &context->allocations[0]);
	memory = vm_memory(&vm, &(struct vm_allocation){.segment = VM_VIDEO});
	context->shim.lost = true;
	for (uint32_t i = 0; i < 4; i++) {
		struct os_packet *packet = &vm.os.nodes[1].software.packets[0];

		build.Fill.FillPattern = 0x600 + i;
		(void)vm_page(&vm, 1, build, 64);
		packet->patch.hContext = &context->shim;
		packet->skip_patch = i % 2 != 0;
		vm_finish(&vm);
		assert_int_equal(memory[0], 0x600 + i);
	}
	assert_int_equal(vm.os.completed, 4);
	assert_int_equal(vm.adapter.nodes[1].submitted, 4);
	vm_stop(&vm);
}

/**
 * A bad paging buffer is never reported as complete, nor is anything after it. The OS detects a hang. As a
 * paging buffer is aborted, it resets the adapter.
 */
static void a_bad_paging_buffer_resets_the_adapter(void **state)
{
	struct pb_dxgkarg_buildpagingbuffer build = {
		.Operation = PB_DXGK_OPERATION_FILL,
		.Fill = {.FillSize = 4, .Destination = {VM_VIDEO, VM_VIDEO_OS}},
	};
	/* An unknown packet, and one that hangs with packets in flight behind it. */
	static const uint32_t nonsense[] = {0x7f000001, 0x30000001};

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		vm_start(&vm, 100);
		vm_random_commands(&vm, 3);
		vm_draw(&vm, 0);
		(void)vm_page(&vm, 0, build, 64);
		memcpy(vm.os.nodes[0].software.packets[1].patch.pDmaBuffer, &nonsense[i],
		       sizeof(nonsense[i]));
		vm_draw(&vm, 1);
		vm_draw(&vm, 2);
		for (uint32_t step = 0; step < 15; step++)
			os_step(&vm.os, 100000);
		vm_alive(&vm, "bad paging");
		assert_int_equal(vm.os.completed, 2);
		assert_int_equal(vm.os.nodes[0].hardware.count, 2);
		assert_false(vm.contexts[1].shim.lost);
		for (uint32_t step = 0; step < 30; step++)
			os_step(&vm.os, 100000);
		vm_alive(&vm, "bad paging, reset");
		assert_int_equal(vm.os.tdr_count, 1);
		assert_int_equal(vm.os.adapter_resets, 1);
		assert_int_equal(vm.os.aborted, 2);
		/* The halt has ended too. */
		assert_true(vm.paging_aborted);
		vm_repair(&vm);
		for (uint32_t c = 0; c < VM_CONTEXTS; c++) {
			vm_random_commands(&vm, 3);
			vm_draw(&vm, c);
		}
		vm_finish(&vm);
		vm_compare(&vm, "bad paging, over");
		assert_int_equal(vm.os.completed, 5);
		assert_int_equal(vm.os.tdr_count, 1);
		vm_stop(&vm);
	}
}

UNIT_SUITE(test_wddm_paging)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_operation_has_the_right_words),
		cmocka_unit_test(impossible_operations_get_no_fence),
		cmocka_unit_test(paging_runs_in_order_with_packets),
		cmocka_unit_test(an_operation_spans_many_buffers),
		cmocka_unit_test(an_aperture_is_mapped_and_unmapped_in_order),
		cmocka_unit_test(paging_ids_may_repeat),
		cmocka_unit_test(an_empty_paging_buffer_completes),
		cmocka_unit_test(a_paging_buffer_may_come_with_a_context),
		cmocka_unit_test(a_bad_paging_buffer_resets_the_adapter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
