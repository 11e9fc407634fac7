/* SPDX-License-Identifier: MIT */
/* The WDDM kernel of the commands, on a simulated card: what it stops at, and how it recovers. */
#include <string.h>

#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "host/tool/wddm_card.h"
#include "host/tool/wddm_memory.h"
#include "patchbay/render.h"
#include "qemu/engine.h"
#include "qemu/sim.h"
#include "tests/unit/unit.h"

#define NODES         2u
#define COPY          1u
#define VIDEO         1u
#define VIDEO_BYTES   0x8000u
#define SYSTEM_BYTES  0x100000u
#define BACKING_BYTES 0x40000u
#define LIST          3u /* two allocations, and the NULL allocation */
#define PATCHES       16u
#define HANG_DELAY_US 50000u

struct world {
	struct pb_sim *sim;
	struct pb_link *link;
	struct pb_channel channel;
	struct pb_segment segments[2];
	struct pb_os os;
	struct pb_vidmm memory;
	struct pb_wddm_context context;
	uint64_t staging[512];
	struct pb_vidmm_buffer buffer;
	struct pb_vidmm_allocation *allocations[2];
};

static struct world world;

static void make_segments(void)
{
	const struct pb_segment_request system = {PB_SEGMENT_SYSTEM, 0x10000000,   0x40000000,
						  SYSTEM_BYTES,      SYSTEM_BYTES, PB_SEGMENT_LINEAR};
	const struct pb_segment_request video = {VIDEO,       0x800000000, 0x180000000,
						 VIDEO_BYTES, VIDEO_BYTES, PB_SEGMENT_LINEAR};

	assert_int_equal(pb_wddm_create_system(&world.segments[0], &world.channel, NULL, &system),
			 PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&world.segments[1], &world.channel, &video), PB_ERROR_OK);
}

/* @param bytes of both allocations */
static void start(uint32_t bytes)
{
	struct pb_wddm_config config = {.channel = &world.channel,
					.segments = {&world.segments[0], &world.segments[1]},
					.interface_version = PB_DXGKDDI_WDDM1_3,
					.node_count = NODES,
					.allocations = LIST,
					.patches = PATCHES};
	struct pb_dxgkarg_createcontext create = {.EngineAffinity = 1};

	memset(&world, 0, sizeof(world));
	world.sim = pb_sim_create();
	assert_non_null(world.sim);
	assert_int_equal(pb_link_open_sim(world.sim, 1, &world.link), PB_ERROR_OK);
	assert_int_equal(pb_wddm_take_card(world.link, NODES), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&world.channel, world.link, 1000000), PB_ERROR_OK);
	make_segments();
	assert_true(pb_os_start(&world.os, &config));
	assert_true(pb_vidmm_start(&world.memory, &world.os, COPY, BACKING_BYTES));
	assert_true(pb_vidmm_buffer_make(&world.memory, &world.buffer, LIST, PATCHES));
	assert_int_equal(pb_wddm_create_context(&world.os.adapter, &world.context, &create, world.staging,
						sizeof(world.staging)),
			 PB_STATUS_SUCCESS);
	for (uint32_t i = 0; i < 2; i++) {
		world.allocations[i] = pb_vidmm_create(&world.memory, bytes, VIDEO, 0);
		assert_non_null(world.allocations[i]);
	}
}

static void stop(void)
{
	if (!world.os.failed)
		assert_int_equal(pb_wddm_context_destroy(&world.context), PB_ERROR_OK);
	pb_os_stop(&world.os);
	pb_vidmm_buffer_free(&world.buffer);
	pb_vidmm_stop(&world.memory);
	if (!world.os.failed)
		assert_int_equal(pb_channel_detach(&world.channel), PB_ERROR_OK);
	world.link->ops->close(world.link);
	pb_sim_destroy(world.sim);
}

/* Renders the commands and queues the packet. */
static void render(const uint32_t *words, uint32_t count)
{
	struct pb_dxgkarg_render render = {
		.pCommand = words,
		.CommandLength = 4 * count,
		.pDmaBuffer = world.buffer.memory.bytes_host,
		.DmaSize = PB_PAGE_BYTES,
		.pDmaBufferPrivateData = world.buffer.private_data,
		.DmaBufferPrivateDataSize = world.buffer.private_size,
		.pAllocationList = world.buffer.list,
		.AllocationListSize = LIST,
		.pPatchLocationListOut = world.buffer.locations,
		.PatchLocationListOutSize = PATCHES,
	};

	for (uint32_t i = 0; i < 2; i++)
		pb_vidmm_list(&world.buffer, i, world.allocations[i], true);
	pb_vidmm_list(&world.buffer, 2, NULL, false);
	assert_int_equal(pb_wddm_render(&world.context, &render), PB_STATUS_SUCCESS);
	world.buffer.dma_end = (uint32_t)((uint8_t *)render.pDmaBuffer - world.buffer.memory.bytes_host);
	world.buffer.private_end =
		(uint32_t)((uint8_t *)render.pDmaBufferPrivateData - (uint8_t *)world.buffer.private_data);
	world.buffer.location_count = (uint32_t)(render.pPatchLocationListOut - world.buffer.locations);
	assert_non_null(pb_vidmm_submit(&world.memory, &world.context, &world.buffer, 0));
}

static void fill(uint32_t value)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0, 0, 4, value};

	render(words, PB_PACKET_FILL_WORDS);
}

static uint32_t first_word(void)
{
	return pb_shared_read32((const void *)pb_vidmm_byte(&world.memory, world.allocations[0], 0));
}

static uint32_t calls_of(enum pb_ddi_function function)
{
	uint32_t count = 0;

	for (size_t i = 0; i < world.os.record.count; i++)
		count += world.os.record.calls[i].function == function ? 1u : 0u;
	return count;
}

static void a_packet_runs_and_its_contents_move_with_it(void **state)
{
	(void)state;
	start(PB_PAGE_BYTES);
	fill(0x11);
	assert_true(pb_os_drain(&world.os));
	assert_non_null(world.allocations[0]->segment);
	assert_int_equal(first_word(), 0x11);
	assert_true(pb_vidmm_evict(&world.memory, world.allocations[0], true));
	assert_null(world.allocations[0]->segment);
	assert_int_equal(first_word(), 0x11);
	fill(0x22);
	assert_true(pb_os_drain(&world.os));
	assert_int_equal(first_word(), 0x22);
	assert_int_equal(world.memory.figures.page_ins, 2);
	stop();
}

/* A driver's own Render begins the private data; what is too small for one patch is refused. */
static void private_data_begins_in_its_room(void **state)
{
	const uint32_t least = (uint32_t)pb_wddm_private_bytes(LIST, 1);
	uint8_t bytes[2048];
	const uint8_t *end;

	(void)state;
	start(PB_PAGE_BYTES);
	memset(bytes, 0xa5, sizeof(bytes));
	assert_null(pb_wddm_private_start(&world.os.adapter, bytes, 0));
	assert_null(pb_wddm_private_start(&world.os.adapter, bytes, least - 1));
	assert_int_equal(bytes[0], 0xa5);
	end = pb_wddm_private_start(&world.os.adapter, bytes, least);
	assert_int_equal(end - bytes, least);
	assert_int_equal(*end, 0xa5);
	/* More room than for the longest list is not used. */
	end = pb_wddm_private_start(&world.os.adapter, bytes, sizeof(bytes));
	assert_int_equal(end - bytes, pb_wddm_private_bytes(LIST, PATCHES));
	stop();
}

static void an_idle_node_is_preempted_at_once(void **state)
{
	(void)state;
	start(PB_PAGE_BYTES);
	fill(1);
	assert_true(pb_os_drain(&world.os));
	assert_true(pb_os_preempt(&world.os, 0));
	assert_int_equal(world.os.figures.preemptions, 1);
	assert_int_equal(world.os.figures.recalled, 0);
	stop();
}

/* What Windows would stop at. */
static void notifications_against_the_rules_stop_the_kernel(void **state)
{
	static const struct {
		struct pb_dxgkargcb_notify_interrupt_data data;
		const char *message;
	} cases[] = {
		{{.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		  .DmaCompleted = {.SubmissionFenceId = 77, .NodeOrdinal = 0}},
		 "bugcheck 0x119, 0x1: node 0 completed fence 0x4d, which is not next"},
		{{.InterruptType = PB_DXGK_INTERRUPT_DMA_COMPLETED,
		  .DmaCompleted = {.SubmissionFenceId = 77, .NodeOrdinal = NODES}},
		 "bugcheck 0x119, 0x8: notification 1 of node 2"},
		{{.InterruptType = PB_DXGK_INTERRUPT_DMA_FAULTED},
		 "bugcheck 0x119, 0x8: notification 4 of node 0"},
		{{.InterruptType = PB_DXGK_INTERRUPT_DMA_PREEMPTED,
		  .DmaPreempted = {.PreemptionFenceId = 5, .NodeOrdinal = 1}},
		 "bugcheck 0x119, 0x1: node 1 answered preemption 0x5, last completed 0x0"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(PB_PAGE_BYTES);
		world.os.adapter.config.callbacks.notify_interrupt(&world.os, &cases[i].data);
		assert_true(world.os.failed);
		assert_string_equal(world.os.message, cases[i].message);
		assert_false(pb_os_step(&world.os));
		assert_false(pb_os_drain(&world.os));
		/* The first failure stays. */
		assert_false(pb_os_fail(&world.os, "another"));
		assert_string_equal(world.os.message, cases[i].message);
		stop();
	}
}

/* ---- lost interrupts ---- */

static const struct pb_link_ops *real_ops;

static enum pb_error deaf_wait(struct pb_link *link, uint64_t timeout_us)
{
	(void)real_ops->wait(link, timeout_us);
	return PB_ERROR_TIMEOUT;
}

static void a_lost_interrupt_is_found_by_asking(void **state)
{
	static struct pb_link_ops deaf;

	(void)state;
	start(PB_PAGE_BYTES);
	real_ops = world.link->ops;
	deaf = *real_ops;
	deaf.wait = deaf_wait;
	world.link->ops = &deaf;
	fill(0x33);
	assert_true(pb_os_drain(&world.os));
	assert_int_equal(first_word(), 0x33);
	assert_true(calls_of(PB_DDI_QUERY_CURRENT_FENCE) >= 2);
	assert_int_equal(calls_of(PB_DDI_INTERRUPT), 0);
	world.link->ops = real_ops;
	stop();
}

/* ---- engines that hang ---- */

/* Memory is not as the OS expects: no engine alone is reset. */
static void a_paging_packet_that_hangs_resets_the_adapter(void **state)
{
	const struct pb_engine_model_defects stuck = {.stuck = true};

	(void)state;
	start(PB_PAGE_BYTES);
	pb_engine_model_set_defects(pb_sim_engine(world.sim, COPY), &stuck);
	world.memory.paging.packet.tdr_delay_us = HANG_DELAY_US;
	fill(0x44);
	assert_false(pb_os_drain(&world.os));
	assert_string_equal(world.os.message, "memory manager: a paging buffer was aborted");
	assert_int_equal(calls_of(PB_DDI_PREEMPT_COMMAND), 1);
	assert_int_equal(calls_of(PB_DDI_RESET_ENGINE), 1);
	assert_int_equal(calls_of(PB_DDI_RESET_FROM_TIMEOUT), 1);
	assert_int_equal(calls_of(PB_DDI_RESTART_FROM_TIMEOUT), 1);
	assert_int_equal(world.os.figures.adapter_resets, 1);
	assert_int_equal(world.os.figures.engine_resets, 0);
	stop();
}

/* The shim reports no fence of dead firmware; the kernel names the reason instead of waiting for a reset. */
static void dead_firmware_is_named(void **state)
{
	struct pb_boot_block *boot;

	(void)state;
	start(PB_PAGE_BYTES);
	fill(0x77);
	assert_true(pb_os_drain(&world.os));
	boot = (struct pb_boot_block *)(void *)(world.link->memory + PB_BOOT_OFFSET);
	pb_shared_write32(&boot->mcu_state, PB_MCU_DEAD);
	fill(0x88);
	assert_false(pb_os_drain(&world.os));
	assert_memory_equal(world.os.message, "the miniport has given up: FIRMWARE_DEAD: ", 42);
	stop();
}

/* ---- too little room ---- */

static void a_command_that_never_fits_is_reported(void **state)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_COPY, PB_PACKET_COPY_WORDS), 0, 0, 1, 0, 4};

	(void)state;
	start(VIDEO_BYTES / 4 * 3);
	render(words, PB_PACKET_COPY_WORDS);
	assert_false(pb_os_drain(&world.os));
	assert_string_equal(world.os.message, "memory manager: one command needs more than fits");
	stop();
}

/* Two commands that do not fit together: the buffer is split. */
static void a_buffer_is_split_where_not_all_fits(void **state)
{
	const uint32_t words[] = {PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 0, 0, 4, 0x55,
				  PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS), 1, 0, 4, 0x66};

	(void)state;
	start(VIDEO_BYTES / 4 * 3);
	render(words, 2 * PB_PACKET_FILL_WORDS);
	assert_true(pb_os_drain(&world.os));
	assert_int_equal(world.memory.figures.splits, 1);
	assert_int_equal(world.memory.figures.evictions, 1);
	assert_int_equal(first_word(), 0x55);
	assert_int_equal(
		pb_shared_read32((const void *)pb_vidmm_byte(&world.memory, world.allocations[1], 0)), 0x66);
	stop();
}

UNIT_SUITE(test_wddm_os)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_runs_and_its_contents_move_with_it),
		cmocka_unit_test(private_data_begins_in_its_room),
		cmocka_unit_test(an_idle_node_is_preempted_at_once),
		cmocka_unit_test(notifications_against_the_rules_stop_the_kernel),
		cmocka_unit_test(a_lost_interrupt_is_found_by_asking),
		cmocka_unit_test(a_paging_packet_that_hangs_resets_the_adapter),
		cmocka_unit_test(dead_firmware_is_named),
		cmocka_unit_test(a_command_that_never_fits_is_reported),
		cmocka_unit_test(a_buffer_is_split_where_not_all_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
