/* SPDX-License-Identifier: MIT */
/* What Render and Present refuse. A refused call has no effect. */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

/** Command buffers of a process. */
static const struct {
	const char *name;
	uint32_t words[10];
	uint32_t bytes;
	uint32_t status;
} commands[] = {
	{"nothing", {0}, 0, 0},
	{"FILL", {0x01000005, 1, 4, 8, 9}, 20, 0},
	{"FILL to the end", {0x01000005, 4, 4092, 4, 9}, 20, 0},
	{"FILL beyond the end", {0x01000005, 4, 4092, 8, 9}, 20, 0xc000000d},
	{"the NULL allocation", {0x01000005, 0, 0, 8, 9}, 20, 0xc000000d},
	{"no such allocation", {0x01000005, 5, 0, 8, 9}, 20, 0xc000000d},
	{"unknown command", {0x7f000001}, 4, 0xc000001d},
	{"FENCE", {0x21000002, 1}, 8, 0xc0000096},
	{"BUSY", {0x32000002, 5}, 8, 0xc0000096},
	{"cut off", {0x01000005, 1, 0, 8}, 16, 0xc00000e8},
	{"half a word", {0x00000001}, 3, 0xc00000e8},
	{"bad after good", {0x01000005, 1, 0, 8, 9, 0x00000000}, 24, 0xc000000d},
};

static void set_up(struct pb_dxgkarg_render *render, struct vm_buffer *buffer)
{
	*render = vm_render_arguments(&vm, &vm.contexts[0], buffer);
}

static void bad_command_buffers_are_refused(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;

	(void)state;
	vm_start(&vm, 100);
	buffer = vm_buffer(&vm, context);
	for (size_t row = 0; row < sizeof(commands) / sizeof(commands[0]); row++) {
		struct pb_dxgkarg_render render;
		struct pb_dxgkarg_render before;
		uint32_t status;

		set_up(&render, buffer);
		memcpy(vm.words, commands[row].words, sizeof(commands[row].words));
		render.CommandLength = commands[row].bytes;
		before = render;
		status = pb_wddm_render(&context->shim, &render);
		card_equal(commands[row].name, status, commands[row].status);
		if (status != PB_STATUS_SUCCESS)
			assert_memory_equal(&render, &before, sizeof(render));
		else
			assert_int_equal((uint8_t *)render.pDmaBuffer - (uint8_t *)before.pDmaBuffer,
					 commands[row].bytes);
		assert_false(context->shim.lost);
	}
	vm_stop(&vm);
}

/** A patch list of the process that contradicts its commands. */
static void a_contradicting_patch_list_is_refused(void **state)
{
	const struct pb_patch_location good = {
		.allocation_index = 1, .driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE, .patch_offset = 4};
	struct pb_patch_location bad = good;
	struct pb_dxgkarg_render render;

	(void)state;
	vm_start(&vm, 100);
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 8, 9);
	set_up(&render, vm_buffer(&vm, &vm.contexts[0]));
	render.CommandLength = 20;
	render.pPatchLocationListIn = &bad;
	render.PatchLocationListInSize = 1;
	bad.allocation_index = 2;
	assert_int_equal(pb_wddm_render(&vm.contexts[0].shim, &render), 0xc000000d);
	bad = good;
	assert_int_equal(pb_wddm_render(&vm.contexts[0].shim, &render), PB_STATUS_SUCCESS);
	vm_stop(&vm);
}

/** Sizes that the shim itself limits. */
static void sizes_are_limited(void **state)
{
	static struct pb_dxgk_allocationlist long_list[VM_LIST + 1];
	static struct pb_patch_location many[4 * VM_PATCHES];
	struct pb_wddm_context *shim = &vm.contexts[0].shim;
	const uint32_t whole = sizeof(vm.contexts[0].staging);
	struct pb_dxgkarg_render render;

	(void)state;
	vm_start(&vm, 100);
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 8, 9);
	set_up(&render, vm_buffer(&vm, &vm.contexts[0]));
	render.CommandLength = 20;
	render.pAllocationList = long_list;
	render.AllocationListSize = VM_LIST + 1;
	assert_int_equal(pb_wddm_render(shim, &render), 0xc000000d);

	set_up(&render, vm_buffer(&vm, &vm.contexts[0]));
	render.CommandLength = 20;
	shim->staging_size = (uint32_t)pb_wddm_staging_bytes(20, VM_LIST, 0) - 1;
	assert_int_equal(pb_wddm_render(shim, &render), 0xc0000017);
	shim->staging_size = 31;
	assert_int_equal(pb_wddm_render(shim, &render), 0xc0000017);
	shim->staging_size = (uint32_t)pb_wddm_staging_bytes(20, VM_LIST, 0);
	assert_int_equal(pb_wddm_render(shim, &render), PB_STATUS_SUCCESS);
	shim->staging_size = whole;

	/* However long the OS's list is: SubmitCommand has room for VM_PATCHES. */
	vm_begin(&vm);
	for (uint32_t i = 0; i < 40; i++)
		vm_copy(&vm, 1, 0, 2, 0, 4);
	set_up(&render, vm_buffer(&vm, &vm.contexts[0]));
	render.CommandLength = vm.count * 4;
	render.pPatchLocationListOut = many;
	render.PatchLocationListOutSize = 4 * VM_PATCHES;
	assert_int_equal(pb_wddm_render(shim, &render), PB_STATUS_INSUFFICIENT_DMA_BUFFER);
	assert_int_equal(render.pPatchLocationListOut - many, VM_PATCHES);
	assert_int_equal(render.MultipassOffset, VM_PATCHES / 2 * 24);
	vm_stop(&vm);
}

/** Presents that this card does not support, or that do not fit their surfaces. */
static const struct {
	const char *name;
	struct pb_rect source;
	struct pb_rect destination;
	struct pb_rect part;
	uint32_t parts;
	uint32_t multipass_offset;
	uint32_t flags;
	uint32_t status;
} blits[] = {
	{"good", {0, 0, 4, 4}, {1, 1, 5, 5}, {0}, 0, 0, 1, 0},
	{"good, in a part", {0, 0, 4, 4}, {1, 1, 5, 5}, {2, 2, 3, 5}, 1, 0, 1, 0},
	{"nothing", {3, 3, 3, 3}, {1, 1, 1, 1}, {0}, 0, 0, 1, 0},
	{"whole", {0, 0, 16, 64}, {0, 0, 16, 64}, {0}, 0, 0, 1, 0},
	{"wider than its pitch", {0, 0, 17, 4}, {0, 0, 17, 4}, {0}, 0, 0, 1, 0xc000000d},
	{"lower than its memory", {0, 1, 4, 65}, {0, 0, 4, 64}, {0}, 0, 0, 1, 0xc000000d},
	{"flip", {0, 0, 4, 4}, {1, 1, 5, 5}, {0}, 0, 0, 4, 0xc000000d},
	{"stretch", {0, 0, 4, 4}, {1, 1, 6, 5}, {0}, 0, 0, 1, 0xc000000d},
	{"stretch, higher", {0, 0, 4, 4}, {1, 1, 5, 6}, {0}, 0, 0, 1, 0xc000000d},
	{"source left of 0", {-1, 0, 3, 4}, {1, 1, 5, 5}, {0}, 0, 0, 1, 0xc000000d},
	{"source above 0", {0, -1, 4, 3}, {1, 1, 5, 5}, {0}, 0, 0, 1, 0xc000000d},
	{"destination left of 0", {0, 0, 4, 4}, {-1, 1, 3, 5}, {0}, 0, 0, 1, 0xc000000d},
	{"destination above 0", {0, 0, 4, 4}, {1, -1, 5, 3}, {0}, 0, 0, 1, 0xc000000d},
	{"right of left", {4, 0, 0, 4}, {5, 1, 1, 5}, {0}, 0, 0, 1, 0xc000000d},
	{"upside down", {0, 4, 4, 0}, {1, 5, 5, 1}, {0}, 0, 0, 1, 0xc000000d},
	{"part outside", {0, 0, 4, 4}, {1, 1, 5, 5}, {1, 1, 6, 2}, 1, 0, 1, 0xc000000d},
	{"part before", {0, 0, 4, 4}, {1, 1, 5, 5}, {0, 1, 4, 2}, 1, 0, 1, 0xc000000d},
	{"part above", {0, 0, 4, 4}, {1, 1, 5, 5}, {1, 0, 4, 2}, 1, 0, 1, 0xc000000d},
	{"part below", {0, 0, 4, 4}, {1, 1, 5, 5}, {1, 1, 4, 6}, 1, 0, 1, 0xc000000d},
	{"part inside out", {0, 0, 4, 4}, {1, 1, 5, 5}, {3, 1, 2, 2}, 1, 0, 1, 0xc000000d},
	{"part upside down", {0, 0, 4, 4}, {1, 1, 5, 5}, {1, 3, 2, 2}, 1, 0, 1, 0xc000000d},
	{"pass after the last", {0, 0, 4, 4}, {1, 1, 5, 5}, {2, 2, 3, 5}, 1, 1, 1, 0xc000000d},
	{"pass without parts", {0, 0, 4, 4}, {1, 1, 5, 5}, {0}, 0, 1, 1, 0xc000000d},
};

static void bad_presents_are_refused(void **state)
{
	struct pb_dxgk_allocationlist list[3];
	struct vm_buffer *buffer;

	(void)state;
	vm_start(&vm, 100);
	buffer = vm_buffer(&vm, &vm.contexts[0]);
	for (size_t i = 0; i < sizeof(blits) / sizeof(blits[0]); i++) {
		struct pb_dxgkarg_present present = vm_present_arguments(buffer, list);

		present.MultipassOffset = blits[i].multipass_offset;
		present.SrcRect = blits[i].source;
		present.DstRect = blits[i].destination;
		present.SubRectCnt = blits[i].parts;
		present.pDstSubRects = &blits[i].part;
		present.Flags = blits[i].flags;
		vm_list(&vm, &vm.contexts[0], buffer->rendered);
		memcpy(list, buffer->rendered, sizeof(list));
		card_equal(blits[i].name, pb_wddm_present(&vm.contexts[0].shim, &present), blits[i].status);
		card_equal(blits[i].name, (uint8_t *)present.pDmaBuffer - buffer->memory.bytes_host,
			   blits[i].status == 0 ? 36 : 0);
		/* A flip has no buffer at all. */
		present.pDmaBuffer = NULL;
		card_equal(blits[i].name, pb_wddm_present(&vm.contexts[0].shim, &present), 0xc000000d);
	}
	vm_stop(&vm);
}

/** Configurations that pb_wddm_start refuses. */
static void bad_configurations_are_refused(void **state)
{
	static struct pb_wddm_adapter adapter;
	static struct pb_segment small;
	struct pb_wddm_config config;
	const struct pb_wddm_config *good;
	struct pb_wddm_config rows[12];

	(void)state;
	vm_start(&vm, 100);
	good = &vm.adapter.config;
	for (uint32_t r = 0; r < 12; r++)
		rows[r] = *good;
	rows[0].node_count = 0;
	rows[1].node_count = PB_WDDM_NODES + 1;
	rows[2].queue_entries = 24;
	rows[3].queue_entries = 2 * PB_WDDM_PACKETS;
	rows[4].allocations = 0;
	rows[5].allocations = vm.card.channel.card.capabilities[PB_CAPABILITY_ALLOCATIONS_MAX] + 1;
	rows[6].patches = 0;
	rows[7].patches = vm.card.channel.card.capabilities[PB_CAPABILITY_PATCHES_MAX] + 1;
	rows[8].segments[0] = NULL;
	rows[9].segments[PB_WDDM_TRAP_SEGMENT] = &small;
	rows[10].interface_version = PB_DXGKDDI_VISTA - 1;
	rows[11].paging_node = 2;
	for (uint32_t r = 0; r < 12; r++) {
		if (pb_wddm_start(&adapter, &rows[r]) != PB_ERROR_BAD_ARGUMENT)
			fail_msg("configuration %u was accepted", r);
	}
	/* The trap's id is used by the running adapter. */
	config = *good;
	assert_int_equal(pb_wddm_start(&adapter, &config), PB_ERROR_BUSY);
	/* On a failure everything created before is freed. */
	for (uint32_t c = 0; c < VM_CONTEXTS; c++)
		vm_context_stop(&vm, c);
	config.patches = 8192;
	assert_int_equal(pb_wddm_stop(&vm.adapter), PB_ERROR_OK);
	assert_int_equal(pb_wddm_start(&adapter, &config), PB_ERROR_NO_SPACE);
	config.patches = VM_PATCHES;
	assert_int_equal(pb_wddm_start(&adapter, &config), PB_ERROR_OK);
	assert_int_equal(pb_wddm_context_create(&adapter, &vm.contexts[0].shim, 2, NULL, 0),
			 PB_ERROR_BAD_ARGUMENT);
	assert_int_equal(pb_wddm_stop(&adapter), PB_ERROR_OK);
	vm_stop(&vm);
}

/** A context is destroyed when its last packet has ended. */
static void a_context_ends_with_its_last_packet(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	vm_random_commands(&vm, 3);
	vm_draw(&vm, 1);
	os_step(&vm.os, 1);
	assert_int_equal(pb_wddm_context_destroy(&vm.contexts[1].shim), PB_ERROR_BUSY);
	vm_finish(&vm);
	vm_context_stop(&vm, 1);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_refusals)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_command_buffers_are_refused),
		cmocka_unit_test(a_contradicting_patch_list_is_refused),
		cmocka_unit_test(sizes_are_limited),
		cmocka_unit_test(bad_presents_are_refused),
		cmocka_unit_test(bad_configurations_are_refused),
		cmocka_unit_test(a_context_ends_with_its_last_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
