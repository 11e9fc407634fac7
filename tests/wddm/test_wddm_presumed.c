/* SPDX-License-Identifier: MIT */
/*
 * What a buffer presumes: a location is patched unless its allocation is where Render knew it, and was never submitted as
 * lying elsewhere since. Each row says by hand how many patches the card carries out; the words that the buffer draws show
 * that no other was needed.
 */
#include <string.h>

#include "tests/wddm/wddm_world.h"

#define TIMES 4u
#define BYTES 20u /* of one FILL */
#define COLOR 0xf3330000u

static struct vm vm;
static uint32_t
	drawn; /* colors so far: each submission draws another one, so that it shows which one has drawn */

/* ---- a buffer of three FILLs: of allocation 1, of 2, and of 1 again ---- */

static const uint32_t targets[] = {1, 2, 1};
#define FILLS 3u

static struct vm_buffer *render(struct vm_context *context)
{
	struct vm_buffer *buffer = vm_buffer(&vm, context);

	vm_begin(&vm);
	for (uint32_t i = 0; i < FILLS; i++)
		vm_fill(&vm, targets[i], 4 * i, 4, 0);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	assert_int_equal(buffer->bytes, FILLS * BYTES);
	return buffer;
}

/** A packet of some of the FILLs. */
static struct os_packet packet_of(const struct vm_buffer *buffer, uint32_t first, uint32_t behind)
{
	struct os_packet packet = vm_packet(buffer, 0, first * BYTES, behind * BYTES);

	packet.patch.pPatchLocationList = buffer->patches;
	return packet;
}

static void patch(struct vm_context *context, struct os_packet *packet)
{
	vm_list(&vm, context, vm.list);
	packet->patch.pAllocationList = vm.list;
	assert_int_equal(pb_wddm_patch(&vm.adapter, &packet->patch), PB_STATUS_SUCCESS);
	memset(vm.list, 0xee, sizeof(vm.list));
}

static uint64_t patches_so_far(void)
{
	struct pb_fence fence;

	assert_int_equal(pb_queue_fence(&vm.adapter.nodes[0].queue, &fence), PB_ERROR_OK);
	return fence.patches;
}

/** Submits and waits. @return patches that the card has carried out for it */
static uint32_t submit(struct os_packet *packet, uint32_t flags)
{
	const struct pb_dxgkarg_patch *from = &packet->patch;
	const struct pb_dxgkarg_submitcommand arguments = {
		.hContext = from->hContext,
		.DmaBufferPhysicalAddress = from->DmaBufferPhysicalAddress,
		.DmaBufferSize = from->DmaBufferSize,
		.DmaBufferSubmissionStartOffset = from->DmaBufferSubmissionStartOffset,
		.DmaBufferSubmissionEndOffset = from->DmaBufferSubmissionEndOffset,
		.pDmaBufferPrivateData = from->pDmaBufferPrivateData,
		.DmaBufferPrivateDataSize = from->DmaBufferPrivateDataSize,
		.DmaBufferPrivateDataSubmissionEndOffset = from->DmaBufferPrivateDataSubmissionEndOffset,
		.SubmissionFenceId = 100 + drawn,
		.Flags = flags,
	};
	const uint64_t before = patches_so_far();

	assert_int_equal(pb_wddm_submit_command(&vm.adapter, &arguments), PB_STATUS_SUCCESS);
	card_run(&vm.card, 1000);
	/* These submissions bypass the model of the OS. */
	os_break(&vm.os, OS_RULE_FENCE, 0);
	assert_true(pb_wddm_interrupt(&vm.adapter));
	return (uint32_t)(patches_so_far() - before);
}

/** Gives some FILLs a new color, and the models what they draw. */
static void recolor(struct vm_context *context, const struct vm_buffer *buffer, uint32_t first,
		    uint32_t behind)
{
	drawn++;
	for (uint32_t i = first; i < behind; i++) {
		const uint32_t color = COLOR + 16 * drawn + i;

		memcpy(buffer->memory.bytes_host + i * BYTES + 16, &color, sizeof(color));
		context->allocations[targets[i] - 1].model[i] = color;
	}
}

/* ---- what moves between submissions of one buffer ---- */

/** One submission of all FILLs. Bits: 1 for allocation 1, 2 for allocation 2. */
struct step {
	uint32_t moves; /**< these move before it */
	uint32_t back;  /**< these move to where they were at Render */
	bool leave;     /**< Patch is called, SubmitCommand is not */
	uint32_t expected;
};

static const struct {
	const char *name;
	uint32_t absent; /**< paged out at Render */
	struct step steps[TIMES];
	uint32_t count;
} rows[] = {
	{"nothing moves", 0, {{0, 0, false, 0}, {0, 0, false, 0}}, 2},
	{"one moves", 0, {{2, 0, false, 1}}, 1},
	{"one moves that two name", 0, {{1, 0, false, 2}}, 1},
	{"both move", 0, {{3, 0, false, 3}}, 1},
	{"one is absent at Render", 1, {{0, 0, false, 2}, {0, 0, false, 2}}, 2},
	{"both are absent at Render", 3, {{0, 0, false, 3}}, 1},
	{"moves after a submission", 0, {{0, 0, false, 0}, {2, 0, false, 1}, {1, 0, false, 3}}, 3},
	{"stays where it moved to", 0, {{2, 0, false, 1}, {0, 0, false, 1}}, 2},
	{"moves back after a submission", 0, {{1, 0, false, 2}, {0, 1, false, 2}, {0, 0, false, 2}}, 3},
	{"moves back before a submission", 0, {{3, 0, true, 0}, {0, 3, false, 0}, {0, 0, false, 0}}, 3},
	{"the other moves back", 0, {{1, 0, false, 2}, {2, 0, true, 0}, {0, 3, false, 2}}, 3},
};

/** Moves an allocation to another place, or home. The home stays free for it. */
static void move(struct vm_allocation *allocation, const struct vm_allocation *home, bool back)
{
	const uint32_t *old = vm_memory(&vm, allocation);

	if (back) {
		allocation->page = home->page;
		allocation->segment = home->segment;
		allocation->address = home->address;
		memcpy(vm_memory(&vm, allocation), old, VM_BYTES);
	} else {
		vm_move(&vm, allocation);
	}
	vm.used_pages[home->page] = true;
}

static void run_row(uint32_t row)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_allocation homes[2];
	struct os_packet packet;
	struct vm_buffer *buffer;

	memcpy(homes, context->allocations, sizeof(homes));
	for (uint32_t a = 0; a < 2; a++)
		if ((rows[row].absent >> a & 1u) != 0)
			vm_page_out(&vm, &context->allocations[a]);
	buffer = render(context);
	for (uint32_t a = 0; a < 2; a++)
		if ((rows[row].absent >> a & 1u) != 0)
			vm_page_in(&vm, &context->allocations[a]);
	packet = packet_of(buffer, 0, FILLS);
	for (uint32_t s = 0; s < rows[row].count; s++) {
		const struct step *step = &rows[row].steps[s];

		for (uint32_t a = 0; a < 2; a++)
			if (((step->moves | step->back) >> a & 1u) != 0)
				move(&context->allocations[a], &homes[a], (step->back >> a & 1u) != 0);
		patch(context, &packet);
		if (step->leave)
			continue;
		recolor(context, buffer, 0, FILLS);
		card_equal(rows[row].name, submit(&packet, 0), step->expected);
		vm_compare(&vm, rows[row].name);
	}
	assert_false(context->shim.lost);
}

static void only_what_has_moved_is_patched(void **state)
{
	(void)state;
	for (uint32_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		vm_start(&vm, 1);
		run_row(row);
		vm_stop(&vm);
	}
}

/* ---- parts ---- */

/** An allocation that moves between two parts: the second part is patched, also where the allocation has moved back. */
static void what_moved_for_a_part_is_patched_in_the_others(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_allocation home;
	struct vm_buffer *buffer;
	struct os_packet parts[FILLS];

	(void)state;
	vm_start(&vm, 1);
	home = context->allocations[0];
	buffer = render(context);
	for (uint32_t i = 0; i < FILLS; i++) {
		parts[i] = packet_of(buffer, i, i + 1);
		if (i != 1)
			move(&context->allocations[0], &home, i == 2);
		patch(context, &parts[i]);
		recolor(context, buffer, i, i + 1);
		card_equal("part", submit(&parts[i], 0), i == 1 ? 0 : 1);
		vm_compare(&vm, "parts");
	}
	assert_false(context->shim.lost);
	vm_stop(&vm);
}

/* ---- what is not known ---- */

/** One word of a list entry that differs: the location is carried out, or refused. */
static const struct {
	const char *name;
	uint64_t address; /**< added */
	uint32_t value;   /**< flipped */
	bool lost;
} words[] = {
	{"as it was", 0, 0, false},
	{"low word", UINT64_C(0x10000000), 0, true},
	{"high word", UINT64_C(0x100000000), 0, true},
	{"segment", 0, 16u << 1, true},
	{"WriteOperation", 0, PB_DXGK_ALLOCATION_WRITE, true},
	{"reserved bits", 0, 0xffffffc0, false},
};

static void each_word_of_an_entry_counts(void **state)
{
	struct vm_context *context = &vm.contexts[0];

	(void)state;
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct vm_buffer *buffer;
		struct os_packet packet;

		vm_start(&vm, 1);
		buffer = render(context);
		packet = packet_of(buffer, 0, FILLS);
		vm_list(&vm, context, vm.list);
		vm.list[1].PhysicalAddress += words[i].address;
		vm.list[1].Value ^= words[i].value;
		packet.patch.pAllocationList = vm.list;
		assert_int_equal(pb_wddm_patch(&vm.adapter, &packet.patch), PB_STATUS_SUCCESS);
		card_equal(words[i].name, submit(&packet, 0), 0);
		card_equal(words[i].name, context->shim.lost, words[i].lost);
		vm_stop(&vm);
	}
}

/** An allocation that reaches out of its segment is the firmware's to refuse, although Render wrote its address. */
static void an_allocation_behind_its_segment_is_not_presumed(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	context->allocations[0].segment = VM_EDGE;
	context->allocations[0].address = VM_EDGE_OS + VM_EDGE_BYTES - 64;
	packet = packet_of(render(context), 0, FILLS);
	patch(context, &packet);
	assert_int_equal(submit(&packet, 0), 0);
	assert_true(context->shim.lost);
	vm_stop(&vm);
}

/**
 * The OS lists allocations in another order than at Render, and numbers the locations anew: an entry that has the words of
 * another allocation at Render is not taken for it.
 */
static void another_allocation_with_these_words_is_not_presumed(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct pb_dxgk_allocationlist first;
	struct vm_allocation home;
	struct vm_buffer *buffer;
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	home = context->allocations[0];
	buffer = render(context);
	for (uint32_t i = 0; i < FILLS; i++)
		buffer->patches[i].allocation_index = 3 - targets[i];
	packet = packet_of(buffer, 0, FILLS);
	move(&context->allocations[0], &home, false);
	move(&context->allocations[1], &home, true);
	vm_list(&vm, context, vm.list);
	first = vm.list[1];
	vm.list[1] = vm.list[2];
	vm.list[2] = first;
	packet.patch.pAllocationList = vm.list;
	assert_int_equal(pb_wddm_patch(&vm.adapter, &packet.patch), PB_STATUS_SUCCESS);
	recolor(context, buffer, 0, FILLS);
	assert_int_equal(submit(&packet, 0), 3);
	vm_compare(&vm, "another order");
	vm_stop(&vm);
}

/** A submission that is not run was perhaps not patched: what it lists is carried out the next time. */
static void a_submission_that_is_not_run_makes_nothing_known(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	buffer = render(context);
	packet = packet_of(buffer, 0, FILLS);
	vm_move(&vm, &context->allocations[0]);
	patch(context, &packet);
	(void)submit(&packet, PB_FLAG_NULL_RENDERING);
	vm_compare(&vm, "not run");
	recolor(context, buffer, 0, FILLS);
	assert_int_equal(submit(&packet, 0), 2);
	vm_compare(&vm, "run");
	vm_stop(&vm);
}

/** A slot that a command does not use any more is bound to the NULL allocation: that writes nothing, and is left out. */
static void a_slot_that_was_unbound_is_no_patch(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_buffer *buffer;
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	buffer = vm_buffer(&vm, context);
	vm_begin(&vm);
	vm_copy(&vm, 1, 0, 2, 0, 64);
	vm_fill(&vm, 3, 0, 4, 1);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	assert_int_equal(buffer->patch_count, 4);
	assert_int_equal(buffer->patches[2].allocation_index, 0);
	vm_model(&vm, context);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	packet.patch.pPatchLocationList = buffer->patches;
	patch(context, &packet);
	assert_int_equal(submit(&packet, 0), 0);
	vm_compare(&vm, "nothing moved");
	vm_move(&vm, &context->allocations[2]);
	patch(context, &packet);
	assert_int_equal(submit(&packet, 0), 1);
	vm_compare(&vm, "one moved");
	assert_false(context->shim.lost);
	vm_stop(&vm);
}

/** A buffer that is rendered anew presumes what that Render has written: not what Render wrote before. */
static void render_begins_anew(void **state)
{
	struct vm_context *context = &vm.contexts[0];
	struct vm_allocation home;
	struct vm_buffer *buffer;
	struct os_packet packet;

	(void)state;
	vm_start(&vm, 1);
	home = context->allocations[1];
	buffer = render(context);
	vm_page_out(&vm, &context->allocations[1]);
	assert_int_equal(vm_render(&vm, context, buffer), PB_STATUS_SUCCESS);
	/* Back to where it was at the first Render. */
	context->allocations[1] = home;
	vm.used_pages[home.page] = true;
	memcpy(vm_memory(&vm, &home), home.model, VM_BYTES);
	packet = packet_of(buffer, 0, FILLS);
	patch(context, &packet);
	recolor(context, buffer, 0, FILLS);
	assert_int_equal(submit(&packet, 0), 1);
	vm_compare(&vm, "anew");
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_presumed)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_has_moved_is_patched),
		cmocka_unit_test(what_moved_for_a_part_is_patched_in_the_others),
		cmocka_unit_test(each_word_of_an_entry_counts),
		cmocka_unit_test(an_allocation_behind_its_segment_is_not_presumed),
		cmocka_unit_test(another_allocation_with_these_words_is_not_presumed),
		cmocka_unit_test(a_submission_that_is_not_run_makes_nothing_known),
		cmocka_unit_test(a_slot_that_was_unbound_is_no_patch),
		cmocka_unit_test(render_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
