/* SPDX-License-Identifier: MIT */
/* Failures after Render: SubmitCommand and Patch succeed, and the machine does not stop. */
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/wddm/wddm_world.h"

#define LOST 0xc01e0200u

static struct vm vm;

/* ---- bad submissions ---- */

static void spoil_index(struct vm *world, struct os_packet *packet)
{
	world->patches[packet->patch.PatchLocationListSubmissionStart].allocation_index = VM_LIST;
}

static void spoil_reserved(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->patches[0].slot |= 0x80000000u;
}

static void spoil_format(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->patches[0].driver_id = 127;
}

static void spoil_target(struct vm *world, struct os_packet *packet)
{
	world->patches[0].patch_offset = packet->patch.DmaBufferSubmissionEndOffset - 4;
}

static void spoil_offset(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->patches[0].allocation_offset = VM_BYTES;
}

static void spoil_right(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->list[1].Value &= ~1u;
}

static void spoil_segment(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->list[1].Value = 1u | 9u << 1;
}

static void spoil_address(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->list[1].PhysicalAddress += UINT64_C(0x10000000);
}

/** An allocation that is needed and not resident: the old bytes of the buffer must not be used. */
static void spoil_residency(struct vm *world, struct os_packet *packet)
{
	(void)packet;
	world->list[1].Value = 1;
	world->list[1].PhysicalAddress = 0;
}

static void spoil_count(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.AllocationListSize = VM_LIST + 1;
}

static void spoil_length(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.PatchLocationListSize = VM_PATCHES + 1;
	packet->patch.PatchLocationListSubmissionLength = VM_PATCHES + 1;
}

static void spoil_start(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.PatchLocationListSubmissionStart = packet->patch.PatchLocationListSize + 1;
	packet->patch.PatchLocationListSubmissionLength = 0;
}

static void spoil_end(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.PatchLocationListSubmissionLength = packet->patch.PatchLocationListSize + 1;
}

static void spoil_buffer(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.DmaBufferPhysicalAddress += 64;
}

static void spoil_range(struct vm *world, struct os_packet *packet)
{
	(void)world;
	packet->patch.DmaBufferSubmissionEndOffset = VM_BUFFER + 4;
}

static void put_first_word(const struct os_packet *packet, uint32_t word)
{
	memcpy(packet->patch.pDmaBuffer, &word, sizeof(word));
}

static void spoil_packet(struct vm *world, struct os_packet *packet)
{
	(void)world;
	put_first_word(packet, 0x7f000001);
}

static void spoil_hang(struct vm *world, struct os_packet *packet)
{
	(void)world;
	put_first_word(packet, 0x30000001);
}

static const struct {
	const char *name;
	void (*spoil)(struct vm *vm, struct os_packet *packet);
} spoils[] = {
	{"AllocationIndex", spoil_index},
	{"reserved bits", spoil_reserved},
	{"DriverId", spoil_format},
	{"PatchOffset", spoil_target},
	{"AllocationOffset", spoil_offset},
	{"no WriteOperation", spoil_right},
	{"no such segment", spoil_segment},
	{"outside its segment", spoil_address},
	{"not resident", spoil_residency},
	{"allocation list too long", spoil_count},
	{"patch list too long", spoil_length},
	{"patches start behind the list", spoil_start},
	{"patches end behind the list", spoil_end},
	{"misaligned buffer", spoil_buffer},
	{"range longer than the buffer", spoil_range},
	{"no such packet", spoil_packet},
	{"engine hangs", spoil_hang},
};

static void (*spoil_next)(struct vm *vm, struct os_packet *packet);

/** The packet with the tag 1, which goes through Patch. */
static void spoil_tagged(struct vm *world, struct os_packet *packet)
{
	if (packet->tag != 1)
		return;
	packet->skip_patch = false;
	spoil_next(world, packet);
}

static struct os_packet render_tagged(struct vm_context *context, uint32_t tag)
{
	struct vm_buffer *buffer = vm_buffer(&vm, context);
	struct os_packet packet;

	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	packet.tag = tag;
	return packet;
}

static void expect_lost(struct vm_context *context, const char *row)
{
	struct vm_buffer *buffer = vm_buffer(&vm, context);
	struct pb_dxgkarg_render render = {.pDmaBuffer = buffer->memory.bytes_host};
	struct pb_dxgkarg_present present = {.pDmaBuffer = buffer->memory.bytes_host};

	card_equal(row, vm_render(&vm, context, buffer), LOST);
	card_equal(row, buffer->bytes, 0);
	card_equal(row, pb_wddm_render_km(&context->shim, &render), LOST);
	card_equal(row, pb_wddm_present(&context->shim, &present), LOST);
}

/** Valid packets of another context before and after it, and of its own context after it. */
static void a_bad_submission_loses_only_its_context(void **state)
{
	struct vm_context *guilty = &vm.contexts[0];
	const uint32_t rows = sizeof(spoils) / sizeof(spoils[0]);

	(void)state;
	for (uint32_t i = 0; i < rows; i++) {
		struct os_packet packets[2];

		vm_start(&vm, 0xfffffffe);
		vm.spoil = spoil_tagged;
		spoil_next = spoils[i].spoil;
		vm_begin(&vm);
		vm_fill(&vm, 1, 0, 8, 9);
		vm_fill(&vm, 2, 0, 8, 9);
		packets[0] = render_tagged(guilty, 1);
		packets[1] = render_tagged(guilty, 0);
		/* So that all locations are carried out. */
		vm_move(&vm, &guilty->allocations[0]);
		vm_move(&vm, &guilty->allocations[1]);
		/* The model skips the failed packet. It may have run in part, but only in its own allocations. */
		for (uint32_t a = 0; a < 2; a++)
			for (uint32_t w = 0; w < 2; w++)
				guilty->allocations[a].model[w] = vm_memory(&vm, &guilty->allocations[a])[w];
		vm_random_commands(&vm, 4);
		vm_draw(&vm, 1);
		vm_queue(&vm, &packets[0]);
		vm_draw(&vm, 1);
		vm_queue(&vm, &packets[1]);
		vm_draw(&vm, 2);
		vm_finish(&vm);
		vm_alive(&vm, spoils[i].name);
		card_equal(spoils[i].name, vm.os.completed, 5);
		card_equal(spoils[i].name, vm.os.tdr_count, 0);
		expect_lost(guilty, spoils[i].name);
		vm_compare(&vm, spoils[i].name);
		assert_false(vm.contexts[1].shim.lost);
		assert_false(vm.contexts[2].shim.lost);
		/* A new context replaces the lost one and runs. */
		vm_context_stop(&vm, 0);
		vm_context_start(&vm, 0);
		vm_random_commands(&vm, 4);
		vm_draw(&vm, 0);
		vm_draw(&vm, 1);
		vm_finish(&vm);
		vm_compare(&vm, spoils[i].name);
		vm_stop(&vm);
	}
}

/**
 * More failures than the event ring holds: each context with an outstanding packet is lost, also if its event
 * is dropped.
 */
static void dropped_events_lose_every_outstanding_context(void **state)
{
	struct vm_context *last = &vm.contexts[1];

	(void)state;
	vm_start(&vm, 100);
	vm.os.depth = OS_HARDWARE_MAX;
	vm.spoil = spoil_tagged;
	spoil_next = spoil_index;
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 4, 9);
	vm.deaf = true;
	for (uint32_t i = 0; i < 2 * OS_HARDWARE_MAX; i++) {
		const bool first_half = i < OS_HARDWARE_MAX;
		struct vm_context *context = first_half ? &vm.contexts[2] : &vm.contexts[0];
		struct vm_buffer *buffer = &vm.buffers[i % 2];
		struct os_packet packet;

		if (i == 2 * OS_HARDWARE_MAX - 1)
			context = last;
		buffer = vm_buffer(&vm, context);
		if (buffer == NULL)
			buffer = &vm.buffers[i % 2];
		assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
		packet = vm_packet(buffer, 0, 0, buffer->bytes);
		packet.tag = 1;
		packet.patch.hContext = &context->shim;
		packet.submit.NodeOrdinal = context->shim.node;
		assert_true(os_queue(&vm.os, &packet));
		if (i == OS_HARDWARE_MAX - 1)
			os_step(&vm.os, 100000);
	}
	os_step(&vm.os, 100000);
	assert_int_equal(vm.os.completed, 0);
	assert_true(vm.card.channel.entry->events_dropped != 0);
	assert_false(last->shim.lost);
	vm.deaf = false;
	assert_true(pb_wddm_interrupt(&vm.adapter));
	for (uint32_t c = 0; c < VM_CONTEXTS; c++)
		assert_true(vm.contexts[c].shim.lost);
	vm_alive(&vm, "dropped");
	vm_stop(&vm);
}

/** Two outstanding submissions have equal ids, and both are bad: each event names one of them. */
static void two_submissions_of_one_id_fail_separately(void **state)
{
	(void)state;
	vm_start(&vm, 100);
	os_break(&vm.os, OS_RULE_FENCE, 0); /* these submissions bypass the model */
	vm_begin(&vm);
	vm_fill(&vm, 1, 0, 4, 9);
	for (uint32_t c = 0; c < 2; c++) {
		const struct os_packet packet = render_tagged(&vm.contexts[c], 0);
		const struct pb_dxgkarg_submitcommand submit = {
			.hContext = packet.patch.hContext,
			.SubmissionFenceId = 5,
			.DmaBufferPhysicalAddress = packet.patch.DmaBufferPhysicalAddress + 64,
			.DmaBufferSize = 64,
			.DmaBufferSubmissionEndOffset = 64,
			.pDmaBufferPrivateData = packet.patch.pDmaBufferPrivateData,
			.DmaBufferPrivateDataSize = packet.patch.DmaBufferPrivateDataSize,
			.DmaBufferPrivateDataSubmissionEndOffset =
				packet.patch.DmaBufferPrivateDataSubmissionEndOffset,
		};

		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		assert_false(vm.contexts[c].shim.lost);
	}
	card_run(&vm.card, 10000);
	assert_true(pb_wddm_interrupt(&vm.adapter));
	assert_true(vm.contexts[0].shim.lost);
	assert_true(vm.contexts[1].shim.lost);
	assert_false(vm.contexts[2].shim.lost);
	vm_stop(&vm);
}

/* ---- the firmware ---- */

/** The firmware is dead: calls succeed, Render refuses, no fence comes, and the OS detects it. */
static void dead_firmware_is_detected_by_the_os(void **state)
{
	struct os_packet packet;
	struct pb_dxgkarg_querycurrentfence query = {.NodeOrdinal = 1};

	(void)state;
	vm_start(&vm, 100);
	vm_random_commands(&vm, 3);
	packet = render_tagged(&vm.contexts[0], 0);
	((struct pb_boot_block *)(void *)(vm.card.link->memory + PB_BOOT_OFFSET))->incarnation++;
	vm_queue(&vm, &packet);
	os_step(&vm.os, 1000);
	vm_alive(&vm, "dead");
	assert_int_equal(vm.adapter.error, PB_ERROR_FIRMWARE_DEAD);
	expect_lost(&vm.contexts[1], "dead");
	assert_false(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
	for (uint32_t i = 0; i < 45; i++)
		os_step(&vm.os, 100000);
	assert_int_equal(vm.os.bugcheck, 0x116);
	assert_int_equal(vm.os.stop.rule, OS_RULE_NO_RESET);
	assert_int_equal(vm.os.parameter, PB_STATUS_UNSUCCESSFUL);
	vm_stop(&vm);
}

/** The firmware reports more completions than submissions: the shim trusts nothing from then on. */
static void impossible_completions_end_the_adapter(void **state)
{
	struct pb_queue_page *page;

	(void)state;
	vm_start(&vm, 100);
	vm_random_commands(&vm, 3);
	vm_draw(&vm, 0);
	vm_finish(&vm);
	page = (struct pb_queue_page *)(void *)vm.adapter.nodes[1].queue.memory.bytes_host;
	page->fence.completed = 3;
	assert_false(pb_wddm_interrupt(&vm.adapter));
	assert_int_equal(vm.adapter.error, PB_ERROR_PROTOCOL);
	expect_lost(&vm.contexts[0], "lies");
	vm_alive(&vm, "lies");
	vm_stop(&vm);
}

/* ---- the OS ---- */

/** The OS breaks its own rules: no error, but no false fence either. */
static void calls_against_the_rules_get_no_fence(void **state)
{
	struct pb_dxgkarg_submitcommand submit = {.NodeOrdinal = 2};

	(void)state;
	vm_start(&vm, 100);
	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.error, PB_ERROR_BAD_ARGUMENT);
	vm_stop(&vm);

	vm_start(&vm, 100);
	submit.hContext = &vm.contexts[2].shim;
	for (uint32_t i = 0; i < OS_HARDWARE_MAX; i++) {
		submit.SubmissionFenceId = i;
		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		assert_int_equal(vm.adapter.error, PB_ERROR_OK);
	}
	/* Also if the card has completed all of them: the OS was not notified. */
	card_run(&vm.card, 10000);
	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
	assert_int_equal(vm.adapter.error, PB_ERROR_NO_SPACE);
	vm_stop(&vm);
}

/** Node 2 does not exist, nor does its fence. */
static void a_query_of_an_unknown_node_fails(void **state)
{
	struct pb_dxgkarg_querycurrentfence query = {.CurrentFence = 5, .NodeOrdinal = 2};

	(void)state;
	vm_start(&vm, 100);
	assert_int_equal(pb_wddm_query_current_fence(&vm.adapter, &query), PB_STATUS_SUCCESS);
	assert_int_equal(query.CurrentFence, 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_failures)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_submission_loses_only_its_context),
		cmocka_unit_test(dropped_events_lose_every_outstanding_context),
		cmocka_unit_test(two_submissions_of_one_id_fail_separately),
		cmocka_unit_test(dead_firmware_is_detected_by_the_os),
		cmocka_unit_test(impossible_completions_end_the_adapter),
		cmocka_unit_test(calls_against_the_rules_get_no_fence),
		cmocka_unit_test(a_query_of_an_unknown_node_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
