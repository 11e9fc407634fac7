/* SPDX-License-Identifier: MIT */
/* Present: colour fills in sub-rectangles, and what is refused although it fits its surfaces. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

#define REFUSED 0xc000000du
#define COLUMNS 16
#define PARTS   3u

static struct vm vm;

/** A present between two allocations of a context; what it does not use holds anything. */
static struct pb_dxgkarg_present present_of(struct vm_buffer *buffer, struct pb_dxgk_allocationlist list[3],
					    struct vm_context *context, uint32_t from, uint32_t to)
{
	struct pb_dxgkarg_present present;

	memset(&present, 0xa5, sizeof(present));
	vm_list(&vm, context, buffer->rendered);
	list[0] = buffer->rendered[0];
	list[1] = buffer->rendered[from];
	list[2] = buffer->rendered[to];
	present.pDmaBuffer = buffer->memory.bytes_host;
	present.DmaSize = VM_BUFFER;
	present.pDmaBufferPrivateData = buffer->private_data;
	present.DmaBufferPrivateDataSize = sizeof(buffer->private_data);
	present.pAllocationList = list;
	present.pPatchLocationListOut = buffer->patches;
	present.PatchLocationListOutSize = VM_PATCHES;
	present.MultipassOffset = 0;
	present.SubRectCnt = 0;
	return present;
}

static void queue(struct vm_buffer *buffer, const struct pb_dxgkarg_present *present, uint32_t to)
{
	struct os_packet packet;

	buffer->bytes = (uint32_t)((uint8_t *)present->pDmaBuffer - buffer->memory.bytes_host);
	buffer->patch_count = (uint32_t)(present->pPatchLocationListOut - buffer->patches);
	/* The list passed to Patch here has all allocations: the destination has another index in it. */
	for (uint32_t i = 0; i < buffer->patch_count; i++)
		buffer->patches[i].allocation_index = to;
	packet = vm_packet(buffer, PB_FLAG_PRESENT, 0, buffer->bytes);
	vm_queue(&vm, &packet);
}

static void fill_model(struct vm_context *context, uint32_t to, const struct pb_rect *rect, uint32_t color)
{
	for (int32_t y = rect->top; y < rect->bottom; y++)
		for (int32_t x = rect->left; x < rect->right; x++)
			context->allocations[to - 1].model[y * COLUMNS + x] = color;
}

/** One row, one column, a surface, nothing, and rectangles between. */
static const struct pb_rect fills[] = {
	{0, 0, 16, 1}, {15, 0, 16, 64}, {0, 0, 16, 64}, {5, 5, 5, 9},
	{5, 5, 9, 5},  {0, 63, 1, 64},  {3, 7, 12, 40}, {0, 1, 16, 3},
};

/** A fill has no source: entry 1 of the list is NULL. */
static void a_color_fill_reaches_each_pixel(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		struct vm_context *context = &vm.contexts[i % VM_CONTEXTS];
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct pb_dxgk_allocationlist list[3];
		struct pb_dxgkarg_present present = present_of(buffer, list, context, 0, 2);

		present.Flags = PB_DXGK_PRESENT_COLOR_FILL;
		present.DstRect = fills[i];
		present.Color = 0x01020304 + i;
		assert_int_equal(pb_wddm_present(&context->shim, &present), PB_STATUS_SUCCESS);
		fill_model(context, 2, &fills[i], 0x01020304 + i);
		queue(buffer, &present, 2);
		vm_finish(&vm);
		vm_compare(&vm, "fill");
	}
	vm_stop(&vm);
}

static void a_color_fill_has_a_buffer_for_each_rectangle(void **state)
{
	static const struct pb_rect parts[PARTS] = {{1, 1, 4, 9}, {4, 1, 9, 2}, {8, 8, 9, 9}};
	struct vm_context *context = &vm.contexts[2];
	struct pb_dxgk_allocationlist list[3];
	uint32_t offset = 0;

	(void)state;
	vm_start(&vm, 100);
	for (uint32_t i = 0; i < PARTS; i++) {
		struct vm_buffer *buffer = vm_buffer(&vm, context);
		struct pb_dxgkarg_present present = present_of(buffer, list, context, 0, 3);

		present.Flags = PB_DXGK_PRESENT_COLOR_FILL;
		present.DstRect = (struct pb_rect){1, 1, 9, 9};
		present.Color = 7;
		present.SubRectCnt = PARTS;
		present.pDstSubRects = parts;
		present.MultipassOffset = offset;
		/* A buffer with room for a half of it is not used. */
		present.DmaSize = 20;
		if (i == 0) {
			assert_int_equal(pb_wddm_present(&context->shim, &present),
					 PB_STATUS_INSUFFICIENT_DMA_BUFFER);
			assert_int_equal(present.MultipassOffset, 0);
			assert_ptr_equal(present.pDmaBuffer, buffer->memory.bytes_host);
			assert_ptr_equal(present.pDmaBufferPrivateData, buffer->private_data);
		}
		present.DmaSize = VM_BUFFER;
		assert_int_equal(pb_wddm_present(&context->shim, &present),
				 i + 1 < PARTS ? PB_STATUS_INSUFFICIENT_DMA_BUFFER : PB_STATUS_SUCCESS);
		offset = present.MultipassOffset;
		assert_int_equal(offset, i + 1);
		fill_model(context, 3, &parts[i], 7);
		queue(buffer, &present, 3);
	}
	vm_finish(&vm);
	vm_compare(&vm, "parts");
	vm_stop(&vm);
}

/** All of them fit a buffer and their surfaces. */
static const struct {
	const char *name;
	uint32_t flags;
	struct pb_rect source;
	struct pb_rect destination;
	uint32_t from;
	uint32_t to;
	uint32_t status;
} rows[] = {
	{"blit", 0x01, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, 0},
	{"fill", 0x02, {0, 0, 9, 9}, {2, 2, 6, 6}, 1, 2, 0},
	{"neither", 0x00, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"both", 0x03, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"flip", 0x04, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"flip without a wait", 0x08, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"colour key of the source", 0x11, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"colour key of the destination", 0x21, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"linear to sRGB", 0x41, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"rotated", 0x81, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 2, REFUSED},
	{"stretched", 0x01, {0, 0, 4, 4}, {2, 2, 10, 10}, 1, 2, REFUSED},
	{"shrunk", 0x01, {0, 0, 4, 4}, {2, 2, 4, 6}, 1, 2, REFUSED},
	{"blit to NULL", 0x01, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 0, REFUSED},
	{"blit from NULL", 0x01, {0, 0, 4, 4}, {2, 2, 6, 6}, 0, 2, REFUSED},
	{"fill NULL", 0x02, {0, 0, 4, 4}, {2, 2, 6, 6}, 1, 0, REFUSED},
	{"fill right of the surface", 0x02, {0, 0, 4, 4}, {2, 2, 17, 6}, 1, 2, REFUSED},
	{"fill below the surface", 0x02, {0, 0, 4, 4}, {2, 2, 6, 65}, 1, 2, REFUSED},
	{"fill left of 0", 0x02, {0, 0, 4, 4}, {-2, 2, 6, 6}, 1, 2, REFUSED},
	{"a scroll", 0x01, {0, 0, 16, 60}, {0, 4, 16, 64}, 2, 2, REFUSED},
	{"beside itself", 0x01, {0, 0, 4, 4}, {4, 0, 8, 4}, 2, 2, 0},
};

static void what_engines_cannot_do_is_refused(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;

	(void)state;
	vm_start(&vm, 100);
	buffer = vm_buffer(&vm, context);
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		struct pb_dxgk_allocationlist list[3];
		struct pb_dxgkarg_present present =
			present_of(buffer, list, context, rows[r].from, rows[r].to);
		struct pb_dxgkarg_present before;

		present.Flags = rows[r].flags;
		present.SrcRect = rows[r].source;
		present.DstRect = rows[r].destination;
		before = present;
		card_equal(rows[r].name, pb_wddm_present(&context->shim, &present), rows[r].status);
		if (rows[r].status != 0)
			assert_memory_equal(&present, &before, sizeof(present));
		/* Sub-rectangles that are not there. */
		present = before;
		present.SubRectCnt = 1;
		present.pDstSubRects = NULL;
		card_equal(rows[r].name, pb_wddm_present(&context->shim, &present), REFUSED);
	}
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_present)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_color_fill_reaches_each_pixel),
		cmocka_unit_test(a_color_fill_has_a_buffer_for_each_rectangle),
		cmocka_unit_test(what_engines_cannot_do_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
