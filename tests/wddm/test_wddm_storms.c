/* SPDX-License-Identifier: MIT */
/*
 * Storms: random packets, preemptions, resets of engines and of the adapter, bad buffers, broken engines,
 * lost interrupts. The OS never stops, every packet ends, and each packet that was not aborted runs exactly
 * once.
 *
 *   unit_wddm --suite storms [FIRST [LIVES]]
 *
 * A life is one card and LIFE_SCHEDULES schedules, and depends only on its number.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/wddm/wddm_world.h"

#define LIFE_SCHEDULES 100u
#define TDR_DELAY_US   4000u
#define HANG_US        2000u /**< timeout after which the firmware detects a hang, before the OS does */
#define PATIENT_US     1000000u
#define ANSWER_US      1000u

/** What is wrong with a packet: its tag. */
enum wrong { RIGHT, WRONG_LIST, WRONG_PACKET, WRONG_HANG, WRONG_FAULT, WRONG_ENDLESS };

static struct vm vm;
static uint32_t first_life;
/** The build sets how many. */
static uint32_t lives = STORM_LIVES;
static uint32_t life;
static uint32_t schedule;
static struct {
	uint32_t completed;
	uint32_t preempted;
	uint32_t preemptions;
	uint32_t engine_resets;
	uint32_t adapter_resets;
	uint32_t aborted;
	uint32_t presents;
} total;

static void first_word(const struct os_packet *packet, uint32_t type, uint32_t words, uint32_t argument)
{
	const uint32_t put[2] = {PB_PACKET(type, words), argument};

	memcpy(packet->patch.pDmaBuffer, put, words * sizeof(uint32_t));
}

static void spoil(struct vm *world, struct os_packet *packet)
{
	switch (packet->tag) {
	case WRONG_LIST:
		packet->skip_patch = false;
		world->patches[packet->patch.PatchLocationListSubmissionStart].allocation_index = VM_LIST;
		break;
	case WRONG_PACKET:
		first_word(packet, 0x7f, 1, 0);
		break;
	case WRONG_HANG:
		first_word(packet, PB_PACKET_HANG, PB_PACKET_HANG_WORDS, 0);
		break;
	case WRONG_FAULT:
		first_word(packet, PB_PACKET_FAULT, PB_PACKET_FAULT_WORDS, 0);
		break;
	case WRONG_ENDLESS: /* it makes progress, and never ends from the OS's view */
		first_word(packet, PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS, 50 * TDR_DELAY_US);
		break;
	default:
		break;
	}
}

static bool one_in(uint32_t count)
{
	return vm_random(&vm, count) == 0;
}

/* ---- packets ---- */

/** A runtime long enough for preemptions and resets to hit. */
static void lengthen(struct vm_buffer *buffer)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 1 + vm_random(&vm, 2000)};

	memcpy(buffer->memory.bytes_host + buffer->bytes, words, sizeof(words));
	buffer->bytes += (uint32_t)sizeof(words);
}

/** A lost context renders no more. */
static bool refused(const struct vm_context *context, struct vm_buffer *buffer, uint32_t status)
{
	if (status == PB_STATUS_SUCCESS)
		return false;
	assert_int_equal(status, PB_STATUS_GPU_EXCEPTION_ON_DEVICE);
	assert_true(context->shim.lost);
	buffer->reserved = false;
	return true;
}

static void draw(struct vm_context *context, struct vm_buffer *buffer)
{
	const uint32_t flags = one_in(8) ? PB_FLAG_NULL_RENDERING : 0;
	struct os_packet packet;

	vm_random_commands(&vm, 1 + vm_random(&vm, 4));
	if (refused(context, buffer, vm_render(&vm, context, buffer)))
		return;
	if (one_in(2))
		lengthen(buffer);
	packet = vm_packet(buffer, flags, 0, buffer->bytes);
	packet.tag = one_in(12) ? 1 + vm_random(&vm, WRONG_ENDLESS) : RIGHT;
	context->tainted = context->tainted || packet.tag != RIGHT;
	vm_queue(&vm, &packet);
	if (flags == 0)
		vm_model(&vm, context);
}

/** Source and destination of presents; allocation index minus 1. */
static void model_present(struct vm_context *context, uint32_t from, uint32_t to,
			  const struct pb_rect *source, const struct pb_rect *destination)
{
	const int32_t pitch = (int32_t)(VM_PITCH / sizeof(uint32_t));

	for (int32_t y = 0; y < source->bottom - source->top; y++)
		for (int32_t x = 0; x < source->right - source->left; x++)
			context->allocations[to]
				.model[(destination->top + y) * pitch + destination->left + x] =
				context->allocations[from]
					.model[(source->top + y) * pitch + source->left + x];
}

static void present(struct vm_context *context, struct vm_buffer *buffer)
{
	const uint32_t from = vm_random(&vm, VM_ALLOCATIONS);
	const uint32_t to = (from + 1 + vm_random(&vm, VM_ALLOCATIONS - 1)) % VM_ALLOCATIONS;
	const int32_t left = (int32_t)vm_random(&vm, 8);
	struct pb_dxgk_allocationlist list[3];
	struct pb_dxgkarg_present arguments = vm_present_arguments(buffer, list);
	struct os_packet packet;

	arguments.SrcRect = (struct pb_rect){left, 3, left + 8, 20};
	arguments.DstRect = (struct pb_rect){8 - left, 40, 16 - left, 57};
	arguments.Flags = PB_DXGK_PRESENT_BLT;
	vm_list(&vm, context, buffer->rendered);
	list[0] = buffer->rendered[0];
	list[1] = buffer->rendered[from + 1];
	list[2] = buffer->rendered[to + 1];
	if (refused(context, buffer, pb_wddm_present(&context->shim, &arguments)))
		return;
	buffer->bytes = (uint32_t)((uint8_t *)arguments.pDmaBuffer - buffer->memory.bytes_host);
	buffer->patch_count = (uint32_t)(arguments.pPatchLocationListOut - buffer->patches);
	/* The list passed to Patch here has all allocations: these two have other indices in it. */
	buffer->patches[0].allocation_index = from + 1;
	buffer->patches[1].allocation_index = to + 1;
	packet = vm_packet(buffer, PB_FLAG_PRESENT, 0, buffer->bytes);
	packet.tag = RIGHT;
	vm_queue(&vm, &packet);
	model_present(context, from, to, &arguments.SrcRect, &arguments.DstRect);
	total.presents++;
}

static void draw_nothing(struct vm_context *context)
{
	const struct os_packet packet = {
		.patch = {.hContext = &context->shim},
		.submit = {.Flags = one_in(2) ? PB_FLAG_CONTEXT_SWITCH : 0,
			   .NodeOrdinal = context->shim.node},
		.skip_patch = one_in(2),
	};

	assert_true(os_queue(&vm.os, &packet));
}

static void submit_something(struct vm_context *context)
{
	struct vm_buffer *buffer = NULL;
	const uint32_t kind = vm_random(&vm, 8);

	if (vm.os.nodes[context->shim.node].software.count > 32)
		return;
	if (kind == 0) {
		draw_nothing(context);
		return;
	}
	if (kind == 1 && vm.os.nodes[context->shim.node].software.count == 0 && vm_can_page(&vm, context)) {
		vm_move_in_order(&vm, &context->allocations[vm_random(&vm, VM_ALLOCATIONS)],
				 context->shim.node);
		return;
	}
	buffer = vm_buffer(&vm, context);
	if (buffer == NULL)
		return;
	if (kind < 4)
		present(context, buffer);
	else
		draw(context, buffer);
}

/* ---- faults ---- */

static void inject_fault(uint32_t node)
{
	struct pb_engine_model_defects defects = {0};

	defects.deaf_to_stop = one_in(4);
	defects.deaf_to_reset = one_in(4);
	defects.stuck = one_in(6);
	defects.lose_interrupt = one_in(3) ? 1 + vm_random(&vm, 5) : 0;
	defects.spurious_every = one_in(4) ? 1 + vm_random(&vm, 9) : 0;
	defects.late = one_in(4) ? 1 + vm_random(&vm, 30) : 0;
	vm_break_engine(&vm, node, &defects);
}

static void mend(void)
{
	const struct pb_engine_model_defects none = {0};

	for (uint32_t n = 0; n < 2; n++) {
		vm_break_engine(&vm, n, &none);
		vm_node_times(&vm, n, HANG_US, ANSWER_US);
	}
	vm.deaf = false;
}

/** A host call that waits for the card consumes interrupts of other events. */
static void set_up(void)
{
	for (uint32_t n = 0; n < 2; n++) {
		vm_node_times(&vm, n, one_in(2) ? HANG_US : PATIENT_US, ANSWER_US);
		if (one_in(4))
			inject_fault(n);
	}
	vm.os.depth = 1 + vm_random(&vm, 4);
	vm.os.fence_step = one_in(2) ? 1 : 1 + vm_random(&vm, 1000);
	vm.os.eager = one_in(2);
	vm.hide = one_in(2);
}

static void one_step(void)
{
	const uint32_t node = vm_random(&vm, 2);

	switch (vm_random(&vm, 20)) {
	case 0:
	case 1:
	case 2:
		os_preempt(&vm.os, node);
		break;
	case 3:
		if (one_in(3))
			os_recover(&vm.os, node);
		break;
	case 4:
		if (one_in(10))
			os_reset_adapter(&vm.os);
		break;
	case 5:
		vm.deaf = one_in(4);
		break;
	case 6:
	case 7:
	case 8:
	case 9:
	case 10:
	case 11:
	case 12:
	case 13:
		submit_something(&vm.contexts[vm_random(&vm, VM_CONTEXTS)]);
		break;
	default:
		os_step(&vm.os, 10 * (1 + vm_random(&vm, 8)));
		break;
	}
	vm_alive(&vm, "storm");
}

static void one_schedule(void)
{
	const uint32_t steps = 10 + vm_random(&vm, 30);

	set_up();
	for (uint32_t i = 0; i < steps; i++)
		one_step();
	mend();
	vm_finish(&vm);
	/* A broken engine hangs in valid packets, too. */
	for (uint32_t c = 0; c < VM_CONTEXTS; c++)
		vm.contexts[c].tainted = vm.contexts[c].tainted || vm.contexts[c].shim.lost;
	assert_int_equal(vm.adapter.error, PB_ERROR_OK);
	assert_int_equal(vm.os.implied, 0);
	assert_int_equal(vm.os.late_answers, 0);
	if (!vm.paging_aborted)
		vm_compare(&vm, "storm");
	vm_repair(&vm);
	vm_finish(&vm);
}

static void live(void)
{
	static const uint32_t first_fences[] = {0, 1, 100, 0xffffff80, 0x7fffff80, 0xfffffff0};

	static const uint32_t versions[] = {PB_DXGKDDI_WDDM1_3, PB_DXGKDDI_WIN7, PB_DXGKDDI_WIN8,
					    PB_DXGKDDI_VISTA};

	vm_start_version(&vm, first_fences[life % 6], versions[life % 4], life / 4 % 2);
	vm.seed = (life + 1) * 0x9e3779b9u;
	vm.spoil = spoil;
	vm.os.tdr_delay = TDR_DELAY_US;
	vm.os.unlimited = true;
	for (schedule = 0; schedule < LIFE_SCHEDULES; schedule++)
		one_schedule();
	total.completed += vm.os.completed;
	total.preempted += vm.os.preempted;
	total.preemptions += vm.os.preemptions;
	total.engine_resets += vm.os.engine_resets;
	total.adapter_resets += vm.os.adapter_resets;
	total.aborted += vm.os.aborted;
	vm_stop(&vm);
}

static void storms_never_stop_the_os(void **state)
{
	(void)state;
	for (life = first_life; life != first_life + lives; life++)
		live();
	/* The runs must contain enough of everything. */
	assert_true(total.completed > 200 * lives && total.preempted > 20 * lives &&
		    total.preemptions > 50 * lives && total.engine_resets > 10 * lives &&
		    total.adapter_resets > lives && total.aborted > 10 * lives &&
		    total.presents > 50 * lives);
}

/** Prints the command that repeats the schedule. */
static int print_totals(void **state)
{
	(void)state;
	if (life != first_life + lives)
		print_error("schedule %" PRIu32 " of this life; again: unit_wddm --suite storms %" PRIu32
			    " 1\n",
			    schedule, life);
	print_message("%" PRIu32 " schedules: %" PRIu32 " packets done, %" PRIu32 " recalled by %" PRIu32
		      " preemptions, %" PRIu32 " aborted by %" PRIu32 " resets of engines and %" PRIu32
		      " of the adapter, %" PRIu32 " presents\n",
		      (life - first_life) * LIFE_SCHEDULES, total.completed, total.preempted,
		      total.preemptions, total.aborted, total.engine_resets, total.adapter_resets,
		      total.presents);
	return 0;
}

UNIT_SUITE(test_wddm_storms)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(storms_never_stop_the_os, print_totals)};

	if (unit_argument(0) != NULL)
		first_life = (uint32_t)strtoul(unit_argument(0), NULL, 10);
	if (unit_argument(1) != NULL)
		lives = (uint32_t)strtoul(unit_argument(1), NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
