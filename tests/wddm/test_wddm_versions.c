/* SPDX-License-Identifier: MIT */
/*
 * The interface versions: arguments end where those of the OS end, and what an older OS does not have is not needed.
 * SubmitCommand gets an argument without a byte behind its last field; the sanitizer finds a read of one.
 */
#include <string.h>

#include "tests/wddm/wddm_world.h"

static struct vm vm;

static const struct {
	const char *name;
	uint32_t version;
	uint32_t paging_node; /**< of an OS that names no node */
} systems[] = {
	{"Vista", 0x1052, 0},
	{"Vista, paging on node 1", 0x1052, 1},
	{"Vista with Service Pack 1", 0x1053, 1},
	{"Windows 7", 0x2005, 0},
	{"Windows 7, paging on node 1", 0x2005, 1},
	{"Windows 8", 0x300e, 1},
	{"WDDM 1.3", 0x4002, 0},
	{"later than the driver", 0x5023, 0},
};

#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

/** Rendering, presents in parts, paging and preemptions under each of them. */
static void every_version_runs_the_same_work(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		vm_start_version(&vm, 100, systems[s].version, systems[s].paging_node);
		vm.hide = true;
		for (uint32_t i = 0; i < 48; i++) {
			const uint32_t number = i % VM_CONTEXTS;
			struct vm_context *context = &vm.contexts[number];

			vm_random_commands(&vm, 5);
			vm_draw(&vm, number);
			if (i % 6 == 5)
				os_preempt(&vm.os, context->shim.node);
			while (vm.os.nodes[context->shim.node].software.count != 0)
				os_step(&vm.os, 10);
			if (vm_can_page(&vm, context))
				vm_move_in_order(&vm, &context->allocations[i % VM_ALLOCATIONS],
						 context->shim.node);
			if (i % 8 == 7) {
				vm_finish(&vm);
				vm_compare(&vm, systems[s].name);
			}
		}
		vm_finish(&vm);
		vm_compare(&vm, systems[s].name);
		assert_true(vm.os.preemptions > 4 && vm.moved > 12);
		assert_int_equal(vm.adapter.error, PB_ERROR_OK);
		vm_stop(&vm);
	}
}

/** A hang before Windows 8: no engine is reset alone. */
static void an_older_os_resets_the_adapter(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		const bool per_engine = systems[s].version >= 0x300e;
		struct os_packet packet;
		struct vm_buffer *buffer;

		vm_start_version(&vm, 100, systems[s].version, systems[s].paging_node);
		vm_node_times(&vm, 0, 60000000, 60000000);
		buffer = vm_buffer(&vm, &vm.contexts[0]);
		vm_random_commands(&vm, 2);
		assert_int_equal(vm_render(&vm, &vm.contexts[0], buffer), PB_STATUS_SUCCESS);
		packet = vm_packet(buffer, 0, 0, buffer->bytes);
		memcpy(buffer->memory.bytes_host, &(const uint32_t){0x30000001}, sizeof(uint32_t));
		vm_queue(&vm, &packet);
		for (uint32_t i = 0; i < 60; i++)
			os_step(&vm.os, 100000);
		vm_alive(&vm, systems[s].name);
		card_equal(systems[s].name, vm.os.engine_resets, per_engine);
		card_equal(systems[s].name, vm.os.adapter_resets, !per_engine);
		card_equal(systems[s].name, vm.os.aborted, 1);
		vm_stop(&vm);
	}
}

/** A paging buffer of an OS that names no node runs on the driver's paging node, else on the named one. */
static void a_paging_buffer_finds_its_node(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		const bool named = systems[s].version >= 0x300e;
		struct pb_dxgkarg_submitcommand submit = {
			.SubmissionFenceId = 7, .Flags = PB_FLAG_PAGING, .NodeOrdinal = 1};
		const uint32_t expected = named ? 1 : systems[s].paging_node;

		vm_start_version(&vm, 100, systems[s].version, systems[s].paging_node);
		assert_int_equal(pb_wddm_submit_command(&vm.adapter, &submit), PB_STATUS_SUCCESS);
		card_equal(systems[s].name, vm.adapter.error, PB_ERROR_OK);
		card_equal(systems[s].name, vm.adapter.nodes[expected].submitted, 1);
		card_equal(systems[s].name, vm.adapter.nodes[1 - expected].submitted, 0);
		vm_stop(&vm);
	}
}

UNIT_SUITE(test_wddm_versions)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_runs_the_same_work),
		cmocka_unit_test(an_older_os_resets_the_adapter),
		cmocka_unit_test(a_paging_buffer_finds_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
