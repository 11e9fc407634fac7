/* SPDX-License-Identifier: MIT */
/* A long random run: the OS never stops, and memory is as the commands define it. */
#include "tests/wddm/wddm_world.h"

#define STEPS 20000u

static struct vm vm;
static uint32_t bad_packets;

/** Damages some packets after Render has accepted them. */
static void spoil(struct vm *world, struct os_packet *packet)
{
	if (packet->tag != 1)
		return;
	packet->skip_patch = false;
	world->patches[packet->patch.PatchLocationListSubmissionStart].allocation_index = VM_LIST;
	bad_packets++;
}

/** A context with a failed packet: its model is not valid any more. */
static void start_again(uint32_t number)
{
	struct vm_context *context = &vm.contexts[number];

	vm_finish(&vm);
	assert_true(context->shim.lost);
	vm_context_stop(&vm, number);
	vm_context_start(&vm, number);
}

/** Submits a buffer as one packet, or in parts. */
static void queue_buffer(struct vm_buffer *buffer, uint32_t flags, uint32_t tag)
{
	const bool split = vm_random(&vm, 3) == 0;
	uint32_t start = 0;

	for (uint32_t p = 0; p <= buffer->patch_count; p++) {
		const bool last = p == buffer->patch_count;
		const uint32_t end = last ? buffer->bytes : buffer->patches[p].split_offset;
		struct os_packet packet;

		if (!last && (!split || end == start))
			continue;
		packet = vm_packet(buffer, flags, start, end);
		/* Only a packet with patches can have a bad one. */
		packet.tag = packet.patch.PatchLocationListSubmissionLength != 0 ? tag : 0;
		vm_queue(&vm, &packet);
		start = end;
	}
}

static bool has_room(void)
{
	uint32_t free_buffers = 0;

	for (uint32_t b = 0; b < VM_BUFFERS; b++)
		free_buffers += !vm.buffers[b].reserved && vm.buffers[b].parts == 0;
	return free_buffers > 8 && vm.os.nodes[0].software.count < 64 && vm.os.nodes[1].software.count < 64;
}

static void draw(uint32_t number)
{
	static const uint32_t flags[] = {0, 0, 0, PB_FLAG_REDIRECTED_PRESENT, PB_FLAG_NULL_RENDERING};
	struct vm_context *context = &vm.contexts[number];
	struct vm_buffer *buffer = vm_buffer(&vm, context);
	const uint32_t flag = flags[vm_random(&vm, 5)];
	const bool bad = vm_random(&vm, 60) == 0;

	vm_random_commands(&vm, 1 + vm_random(&vm, 6));
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	queue_buffer(buffer, flag, bad);
	if (bad) {
		context->tainted = true;
		start_again(number);
	} else if ((flag & PB_FLAG_NULL_RENDERING) == 0) {
		vm_model(&vm, context);
	}
}

/** An empty packet: a dropped buffer, or a switch from a context. */
static void draw_nothing(uint32_t number)
{
	const struct os_packet packet = {
		.patch = {.hContext = &vm.contexts[number].shim},
		.submit = {.Flags = vm_random(&vm, 2) != 0 ? PB_FLAG_CONTEXT_SWITCH : 0,
			   .NodeOrdinal = vm.contexts[number].shim.node},
		.skip_patch = vm_random(&vm, 2) != 0,
	};

	assert_true(os_queue(&vm.os, &packet));
}

static void one_step(void)
{
	const uint32_t number = vm_random(&vm, VM_CONTEXTS);
	struct vm_context *context = &vm.contexts[number];
	struct vm_allocation *allocation = &context->allocations[vm_random(&vm, VM_ALLOCATIONS)];
	const uint32_t node = context->shim.node;

	switch (has_room() ? vm_random(&vm, 16) : 15) {
	case 0:
	case 1:
	case 2:
		draw(number);
		break;
	case 3:
		draw_nothing(number);
		break;
	case 4:
		if (vm.os.nodes[node].software.count == 0 && vm_can_page(&vm, context))
			vm_move_in_order(&vm, allocation, node);
		break;
	case 5:
		if (context->outstanding == 0 && vm.os.nodes[node].hardware.count == 0 &&
		    vm.os.nodes[node].software.count == 0)
			vm_move(&vm, allocation);
		break;
	case 6:
		vm.deaf = vm_random(&vm, 50) == 0;
		break;
	case 7:
		vm.hide = vm_random(&vm, 2) == 0;
		break;
	default:
		os_step(&vm.os, 10 * (1 + vm_random(&vm, 20)));
		break;
	}
	vm_alive(&vm, "random");
}

static void live(uint32_t seed, uint32_t first_fence, uint32_t version)
{
	bad_packets = 0;
	vm_start_version(&vm, first_fence, version, 0);
	vm.seed = seed;
	vm.spoil = spoil;
	for (uint32_t i = 0; i < STEPS / 4; i++) {
		one_step();
		if (i % 250 == 249) {
			vm_finish(&vm);
			vm_compare(&vm, "random");
		}
	}
	vm.deaf = false;
	vm_finish(&vm);
	vm_compare(&vm, "random");
	assert_int_equal(vm.os.bugcheck, 0);
	assert_int_equal(vm.os.tdr_count, 0);
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
	/* The run must contain enough of everything. */
	assert_true(bad_packets > 3 && vm.moved > 50 && vm.skipped > 50 && vm.patched > 300);
	assert_true(vm.os.completed > 800);
	vm_stop(&vm);
}

static void random_runs_keep_memory_right(void **state)
{
	(void)state;
	live(1, 0, PB_DXGKDDI_WDDM1_3);
	live(0x1234567, 0xffffff80, PB_DXGKDDI_VISTA);
	live(0x89abcdef, 0x7fffff80, PB_DXGKDDI_WIN8);
	live(0xfedcba98, 100, PB_DXGKDDI_WIN7);
}

UNIT_SUITE(test_wddm_random)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_runs_keep_memory_right)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
