/* SPDX-License-Identifier: MIT */
/* Preemptions that the firmware refuses, as no stop request is free: the shim asks again, and the OS sees no difference. */
#include <string.h>

#include "tests/unit/card_queues.h"
#include "tests/wddm/wddm_world.h"

/** Stop requests that another client can have: 16, less one that each of 8 other channels is guaranteed. */
#define STOPS       8u
#define PATIENCE_US 1000000u
/** The other client's segment 0, and where its wait list is there. */
#define BYTES 0x10000u
#define WAITS 0xf000u

static struct vm vm;
static struct pb_channel hoarder;
static struct pb_segment memory;
static struct pb_queue queues[STOPS + 1u];

/** Another client drains queues that wait for ever: it has all stop requests that it can get. */
static void hoard(void)
{
	const struct pb_segment_request system = {.os_base = CARD_SYSTEM_OS,
						  .gpu_base = CARD_SYSTEM_GPU,
						  .size = BYTES,
						  .backing_bytes = BYTES};
	struct pb_descriptor descriptor = {
		.wait_address_low = (uint32_t)CARD_SYSTEM_OS + WAITS, .wait_count = 1, .fence_id = 1};
	struct pb_wait *wait;

	card_join(&vm.card, &hoarder, 2);
	assert_int_equal(pb_segment_create(&memory, &hoarder, &system), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&hoarder, &descriptor.context), PB_ERROR_OK);
	for (uint32_t i = 0; i <= STOPS; i++)
		assert_int_equal(
			card_queue_open(&queues[i], &hoarder, &memory,
					&(struct card_queue_request){.place = i, .node = 3, .level = 2}),
			PB_ERROR_OK);
	wait = (void *)(vm.card.link->memory + memory.memory_offset + WAITS);
	*wait = (struct pb_wait){.queue = queues[STOPS].handle, .timeline_low = 1};
	for (uint32_t i = 0; i < STOPS; i++) {
		uint32_t tag;

		card_queue_submit(&queues[i], &descriptor);
		assert_int_equal(pb_queue_suspend_begin(&queues[i], 0, &tag), PB_ERROR_OK);
		card_run(&vm.card, 1000);
	}
}

/** A packet that runs for a while on the context's node. */
static void queue_long(uint32_t context)
{
	struct vm_buffer *buffer = vm_buffer(&vm, &vm.contexts[context]);
	const uint32_t words[] = {PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS), 500};
	struct os_packet packet;

	assert_non_null(buffer);
	vm_begin(&vm);
	assert_int_equal(vm_render(&vm, &vm.contexts[context], buffer), PB_STATUS_SUCCESS);
	memcpy(buffer->memory.bytes_host + buffer->bytes, words, sizeof(words));
	buffer->bytes += (uint32_t)sizeof(words);
	packet = vm_packet(buffer, 0, 0, buffer->bytes);
	vm_queue(&vm, &packet);
}

/** Both nodes run packets and are preempted at once. With one stop request for both, the second has to be asked again. */
static void a_refused_preemption_is_asked_for_again(void **state)
{
	static const struct {
		const char *name;
		bool hoards; /* another client has all but the guaranteed one; else the admin has set a limit of one */
	} cases[] = {{"a limit of one", false}, {"a hoarder", true}};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		vm_start(&vm, 1);
		vm.seed = 5;
		if (cases[i].hoards)
			hoard();
		else
			assert_int_equal(pb_quota_set(&vm.admin, 1, PB_RESOURCE_STOPS, 1), PB_ERROR_OK);
		for (uint32_t p = 0; p < 4u; p++) {
			queue_long(0);
			queue_long(2);
		}
		os_step(&vm.os, 50);
		os_preempt(&vm.os, 0);
		os_preempt(&vm.os, 1);
		for (uint32_t t = 0; t < PATIENCE_US && vm.os.preemptions != 2u; t += 50u)
			os_step(&vm.os, 50);
		card_equal(cases[i].name, vm.os.preemptions, 2);
		vm_finish(&vm);
		vm_alive(&vm, cases[i].name);
		card_equal(cases[i].name, vm.os.completed, 8);
		card_equal(cases[i].name, vm.os.late_answers, 0);
		if (cases[i].hoards)
			card_leave(&hoarder);
		vm_stop(&vm);
	}
}

UNIT_SUITE(test_wddm_stops)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_preemption_is_asked_for_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
