/* SPDX-License-Identifier: MIT */
/* A board at a probe: the real firmware core as its MCU, which stands and runs as a gdb stub says. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/tool/probe.h"
#include "patchbay/abi/image.h"
#include "patchbay/patchbay.h"
#include "qemu/mcu/layout.h"
#include "qemu/sim.h"
#include "tests/unit/host/gdb_stub.h"
#include "tests/unit/host/link_clock.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

#define ADDRESS     0x60000000u
#define SYSTEM_BASE 0x10000000u
#define RUN_US      500u
/* How long a halt takes on the link's clock where a whole patience of the link has to pass. */
#define HALT_US 20000u
/* Time on the link's clock that a caller takes who polls. */
#define POLL_US 1000u

static struct gdb_stub stub;
static struct pb_sim *sim;
static struct pb_link *link_;
static uint8_t code[0x400]; /* of the MCU, where its image is */
static char message[PB_GDB_MESSAGE_BYTES];

static void await_halt(void)
{
	(void)poll(&(struct pollfd){.fd = stub.connection, .events = POLLIN}, 1, -1);
}

/* Between two halts the MCU runs for so long on its own clock, however busy the machine is. */
static void step(void *context)
{
	const uint64_t end = pb_sim_now(context) + RUN_US;

	while (pb_sim_now(context) < end)
		pb_sim_step(context);
	await_halt();
}

static void put_header(uint32_t at)
{
	const struct pb_image_header header = {
		.magic = PB_IMAGE_MAGIC,
		.version = PB_IMAGE_VERSION,
		.load_address = at,
		.card_memory = ADDRESS,
		.card_memory_bytes = PB_CARD_MEMORY_BYTES,
	};

	memcpy(code + PB_IMAGE_HEADER_OFFSET, &header, sizeof(header));
}

static struct gdb_stub board(uint32_t code_address)
{
	return (struct gdb_stub){
		.regions = {{ADDRESS, PB_CARD_MEMORY_BYTES, pb_sim_memory(sim)},
			    {code_address, sizeof(code), code}},
		.run = step,
		.context = sim,
	};
}

static void make_board(void)
{
	sim = pb_sim_create();
	assert_non_null(sim);
	memset(code, 0, sizeof(code));
}

static enum pb_error open_probe(enum pb_probe_needs needs)
{
	return pb_open_probe(&(struct pb_gdb_target){.stub = stub.path}, needs, &link_, message);
}

static void open_board(void)
{
	make_board();
	put_header(0);
	stub = board(0);
	gdb_stub_start(&stub);
	assert_int_equal(open_probe(PB_PROBE_CHANNEL), PB_ERROR_OK);
}

static void close_board(void)
{
	link_->ops->close(link_);
	gdb_stub_end(&stub);
	assert_true(stub.left);
	pb_sim_destroy(sim);
}

/* ---- where card memory is ---- */

static void card_memory_is_found_by_the_image(void **state)
{
	static const uint32_t places[] = {0, 0x08000000, 0x80000000};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		make_board();
		put_header(places[i]);
		stub = board(places[i]);
		gdb_stub_start(&stub);
		assert_int_equal(
			pb_link_open_gdb(&(struct pb_gdb_target){.stub = stub.path}, &link_, message),
			PB_ERROR_OK);
		assert_int_equal(link_->memory_bytes, PB_CARD_MEMORY_BYTES);
		assert_int_equal(link_->channel, 8);
		close_board();
	}
}

static void test_told_where(void **state)
{
	struct pb_gdb_target place = {.address = ADDRESS, .bytes = 0x100000};

	(void)state;
	make_board();
	stub = board(0);
	gdb_stub_start(&stub);
	place.stub = stub.path;
	assert_int_equal(pb_link_open_gdb(&place, &link_, message), PB_ERROR_OK);
	assert_int_equal(link_->memory_bytes, 0x100000);
	close_board();
}

static void check_refused(const struct pb_gdb_target *asked, enum pb_error error, const char *said)
{
	struct pb_gdb_target place = *asked;

	stub = board(0);
	gdb_stub_start(&stub);
	place.stub = stub.path;
	assert_int_equal(pb_link_open_gdb(&place, &link_, message), error);
	assert_null(link_);
	assert_non_null(strstr(message, said));
	gdb_stub_end(&stub);
	/* The target runs again, as before the attach. */
	assert_true(stub.left);
}

static void test_no_image(void **state)
{
	static const struct {
		uint32_t word; /* of the header */
		uint32_t value;
	} cases[] = {
		{0, 0x4d494251}, {1, 2}, {7, ADDRESS + 2}, {8, 0}, {8, 64}, {8, 0x10000004}, {7, 0xfffffff0},
	};

	(void)state;
	make_board();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_header(0);
		memcpy(code + PB_IMAGE_HEADER_OFFSET + 4 * cases[i].word, &cases[i].value, 4);
		check_refused(&(struct pb_gdb_target){0}, PB_ERROR_PROTOCOL, "has no Patchbay image");
	}
	check_refused(&(struct pb_gdb_target){.address = ADDRESS + 1, .bytes = 0x10000},
		      PB_ERROR_BAD_ARGUMENT, "0x10000 bytes at 0x60000001 cannot be card memory");
	pb_sim_destroy(sim);
}

static void no_stub_answers(void **state)
{
	static const struct {
		const char *stub;
		enum pb_error error;
		const char *said;
	} cases[] = {
		{"nowhere", PB_ERROR_BAD_ARGUMENT, "nowhere is no address of a gdb stub"},
		{"/no/such/socket", PB_ERROR_NO_CARD, "no gdb stub answers at /no/such/socket; start the"},
		{"127.0.0.1:1", PB_ERROR_NO_CARD, "no gdb stub answers at 127.0.0.1:1; start the"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			pb_link_open_gdb(&(struct pb_gdb_target){.stub = cases[i].stub}, &link_, message),
			cases[i].error);
		assert_non_null(strstr(message, cases[i].said));
		assert_null(link_);
	}
}

/* A stub that ends after each number of packets: every step of opening fails once. */
static void opening_may_fail_at_every_step(void **state)
{
	(void)state;
	make_board();
	put_header(0);
	for (uint32_t most = 1; most < 8; most++) {
		stub = board(0);
		stub.answers_most = most;
		gdb_stub_start(&stub);
		assert_int_equal(open_probe(PB_PROBE_CHANNEL), PB_ERROR_NO_CARD);
		assert_non_null(strstr(message, stub.path));
		gdb_stub_end(&stub);
	}
	pb_sim_destroy(sim);
}

static void test_place(void **state)
{
	static const struct {
		const char *text;
		bool good;
		const char *stub;
		uint32_t address;
		uint32_t bytes;
	} cases[] = {
		{"localhost:3333", true, "localhost:3333", 0, 0},
		{"/run/stub,0x20000000,32768", true, "/run/stub", 0x20000000, 32768},
		{"a:1,4294967295,0x10", true, "a:1", UINT32_MAX, 16},
		{"", false, "", 0, 0},
		{",1,2", false, "", 0, 0},
		{"a:1,", false, "", 0, 0},
		{"a:1,5", false, "", 0, 0},
		{"a:1,5,", false, "", 0, 0},
		{"a:1,5,0", false, "", 0, 0},
		{"a:1,5,6,7", false, "", 0, 0},
		{"a:1,-5,6", false, "", 0, 0},
		{"a:1,5,4294967296", false, "", 0, 0},
		{"a:1,five,6", false, "", 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = strdup(cases[i].text);
		struct pb_gdb_target place;

		assert_int_equal(pb_gdb_target_parse(text, &place), cases[i].good);
		if (cases[i].good) {
			assert_string_equal(place.stub, cases[i].stub);
			assert_int_equal(place.address, cases[i].address);
			assert_int_equal(place.bytes, cases[i].bytes);
		}
		free(text);
	}
}

/* ---- work ---- */

struct bench {
	struct pb_channel channel;
	struct pb_segment system;
	struct pb_queue queue;
	struct pb_memory buffer;
	uint32_t context;
};

static void open_bench(struct bench *bench)
{
	const struct pb_segment_request request = {
		.os_base = SYSTEM_BASE, .gpu_base = SYSTEM_BASE, .size = 0x10000, .backing_bytes = 0x10000};

	assert_int_equal(pb_channel_attach(&bench->channel, link_, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_segment_create(&bench->system, &bench->channel, &request), PB_ERROR_OK);
	assert_int_equal(pb_context_create(&bench->channel, &bench->context), PB_ERROR_OK);
	assert_int_equal(pb_queue_create(&bench->queue, &bench->channel, &bench->system, 0, 4), PB_ERROR_OK);
	assert_int_equal(pb_memory_allocate(&bench->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &bench->buffer),
			 PB_ERROR_OK);
}

static struct pb_descriptor empty_work(const struct bench *bench, uint32_t fence_id)
{
	return (struct pb_descriptor){
		.context = bench->context,
		.fence_id = fence_id,
		.dma_address_low = (uint32_t)bench->buffer.os_address,
		.dma_address_high = (uint32_t)(bench->buffer.os_address >> 32),
		.dma_size = bench->buffer.bytes,
	};
}

static void test_submissions(void **state)
{
	struct bench bench;
	struct pb_fence fence;

	(void)state;
	open_board();
	open_bench(&bench);
	/* More than the ring holds: it comes round. */
	for (uint32_t i = 1; i <= 10; i++) {
		const struct pb_descriptor work = empty_work(&bench, 100 + i);

		assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
		assert_int_equal(pb_queue_wait(&bench.queue, i, UNIT_PATIENCE_US, &fence), PB_ERROR_OK);
		assert_int_equal(fence.fence_id, 100 + i);
		assert_int_equal(fence.errors, 0);
	}
	assert_int_equal(pb_channel_detach(&bench.channel), PB_ERROR_OK);
	close_board();
}

/* A caller who polls takes time, or nothing would grow old. */
static bool poll_again(void)
{
	link_clock_pass(POLL_US);
	return true;
}

static bool completed_by_poll(struct bench *bench)
{
	uint32_t completed;

	assert_int_equal(pb_queue_completed(&bench->queue, &completed), PB_ERROR_OK);
	return poll_again() && completed != 0;
}

/* Callers that poll and never wait see what came, each by its own function. */
static void polling_callers_see_what_came(void **state)
{
	struct pb_descriptor work;
	struct pb_event event;
	struct bench bench;
	uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0};
	uint32_t tag;

	(void)state;
	open_board();
	open_bench(&bench);
	work = empty_work(&bench, 1);
	assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	unit_await(completed_by_poll(&bench));
	/* Refused, so that there is an event. */
	work.context = 0;
	assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	unit_await(poll_again() && pb_channel_event(&bench.channel, &event));
	assert_int_equal(event.type, PB_EVENT_SUBMISSION_FAILED);
	assert_int_equal(pb_channel_begin(&bench.channel, PB_COMMAND_PING, arguments, &tag), PB_ERROR_OK);
	unit_await(poll_again() && pb_channel_finish(&bench.channel, tag, NULL) == PB_ERROR_OK);
	assert_int_equal(pb_channel_detach(&bench.channel), PB_ERROR_OK);
	close_board();
}

/* A host that ended badly left its channel open, full of work: the next one gets it empty, with all privileges. */
static void the_next_host_finds_an_empty_channel(void **state)
{
	struct bench bench;
	uint32_t results[PB_REPLY_RESULTS];
	const uint32_t about[PB_COMMAND_ARGUMENTS] = {PB_QUERY_CHANNEL, 8};

	(void)state;
	open_board();
	open_bench(&bench);
	link_->ops->close(link_);
	gdb_stub_end(&stub);
	stub = board(0);
	gdb_stub_start(&stub);
	assert_int_equal(open_probe(PB_PROBE_CHANNEL), PB_ERROR_OK);
	assert_int_equal(link_->channel, 8);
	assert_int_equal(pb_channel_attach(&bench.channel, link_, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&bench.channel, PB_COMMAND_QUERY, about, results), PB_ERROR_OK);
	assert_int_equal(results[0], PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY);
	assert_int_equal(results[2], PB_PRIORITY_REALTIME);
	/* Queues, contexts, segments. */
	for (uint32_t i = 3; i < 6; i++)
		assert_int_equal(results[i], 0);
	close_board();
}

/* Takes away what the card's admin gave our channel; the admin then leaves, or stays and does nothing. */
static void take_privileges(bool leave)
{
	const uint32_t about[PB_COMMAND_ARGUMENTS] = {8};
	struct pb_channel admin;
	struct pb_link *link;

	assert_int_equal(pb_link_open_sim(sim, PB_CHANNEL_ADMIN, &link), PB_ERROR_OK);
	assert_int_equal(pb_channel_attach(&admin, link, UNIT_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_channel_command(&admin, PB_COMMAND_CHANNEL_CLOSE, about, NULL), PB_ERROR_OK);
	if (leave)
		assert_int_equal(pb_channel_detach(&admin), PB_ERROR_OK);
	link->ops->close(link);
}

static void test_is_its_own_admin(void **state)
{
	const uint32_t about[PB_COMMAND_ARGUMENTS] = {PB_QUERY_CHANNEL, 8};

	(void)state;
	for (uint32_t leave = 0; leave < 2; leave++) {
		uint32_t results[PB_REPLY_RESULTS];
		struct pb_channel channel;

		make_board();
		take_privileges(leave != 0);
		put_header(0);
		stub = board(0);
		gdb_stub_start(&stub);
		assert_int_equal(open_probe(PB_PROBE_CHANNEL), PB_ERROR_OK);
		assert_int_equal(link_->channel, 8);
		assert_int_equal(pb_channel_attach(&channel, link_, UNIT_PATIENCE_US), PB_ERROR_OK);
		assert_int_equal(pb_channel_command(&channel, PB_COMMAND_QUERY, about, results), PB_ERROR_OK);
		assert_int_equal(results[0], PB_PRIVILEGE_PAGING | PB_PRIVILEGE_QUERY);
		assert_int_equal(results[2], PB_PRIORITY_REALTIME);
		close_board();
	}
}

/* ---- observers ---- */

/* Reading a board attaches nothing and writes nothing; asking attaches the admin's channel, unless that is taken. */
static void an_observer_leaves_the_channels_alone(void **state)
{
	static const struct {
		enum pb_probe_needs needs;
		bool admin; /* attached */
		uint32_t channel;
	} rows[] = {
		{PB_PROBE_READ, true, 8}, {PB_PROBE_ASK, false, PB_CHANNEL_ADMIN}, {PB_PROBE_ASK, true, 8}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct pb_channel_entry *client;
		struct pb_channel_status status;
		struct pb_channel channel;
		uint32_t before;

		make_board();
		take_privileges(!rows[i].admin);
		put_header(0);
		stub = board(0);
		gdb_stub_start(&stub);
		client = (const void *)(pb_sim_memory(sim) + PB_CARD_CHANNELS_OFFSET + 8 * sizeof(*client));
		before = client->attach_request;
		assert_int_equal(open_probe(rows[i].needs), PB_ERROR_OK);
		assert_int_equal(link_->channel, rows[i].channel);
		if (rows[i].needs == PB_PROBE_ASK) {
			assert_int_equal(pb_channel_attach(&channel, link_, UNIT_PATIENCE_US), PB_ERROR_OK);
			assert_int_equal(pb_channel_query(&channel, &status), PB_ERROR_OK);
		}
		assert_true((pb_link_gdb_figures(link_).bytes_out == 0) == (rows[i].needs == PB_PROBE_READ));
		assert_true((client->attach_request == before) == (i != 2));
		close_board();
	}
}

/* ---- a board that fails ---- */

static void stand_still(void *context)
{
	(void)context;
	await_halt();
	link_clock_pass(HALT_US);
}

static void a_heart_that_stops_is_dead_firmware(void **state)
{
	struct bench bench;
	struct pb_descriptor work;

	(void)state;
	open_board();
	open_bench(&bench);
	stub.run = stand_still;
	work = empty_work(&bench, 1);
	assert_int_equal(pb_queue_submit(&bench.queue, &work), PB_ERROR_OK);
	assert_int_equal(pb_queue_wait(&bench.queue, 1, UNIT_PATIENCE_US, NULL), PB_ERROR_FIRMWARE_DEAD);
	close_board();
}

static void test_probe_unplugged(void **state)
{
	struct bench bench;
	struct pb_descriptor work;

	(void)state;
	open_board();
	open_bench(&bench);
	work = empty_work(&bench, 1);
	shutdown(stub.connection, SHUT_RDWR);
	(void)pb_queue_submit(&bench.queue, &work);
	assert_int_equal(pb_queue_wait(&bench.queue, 1, UNIT_PATIENCE_US, NULL), PB_ERROR_NO_CARD);
	link_->ops->close(link_);
	gdb_stub_end(&stub);
	pb_sim_destroy(sim);
}

static void test_does_not_boot(void **state)
{
	(void)state;
	make_board();
	put_header(0);
	memset(pb_sim_memory(sim), 0, sizeof(struct pb_boot_block));
	stub = board(0);
	stub.run = stand_still;
	gdb_stub_start(&stub);
	assert_int_equal(open_probe(PB_PROBE_CHANNEL), PB_ERROR_FIRMWARE_DEAD);
	assert_non_null(
		strstr(message, "does not finish its boot: no boot block at 0x60000000; debug it with gdb"));
	gdb_stub_end(&stub);
	pb_sim_destroy(sim);
}

UNIT_SUITE(test_link_gdb)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(card_memory_is_found_by_the_image),
		cmocka_unit_test(test_told_where),
		cmocka_unit_test(test_no_image),
		cmocka_unit_test(no_stub_answers),
		cmocka_unit_test(opening_may_fail_at_every_step),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_submissions),
		cmocka_unit_test(polling_callers_see_what_came),
		cmocka_unit_test(the_next_host_finds_an_empty_channel),
		cmocka_unit_test(test_is_its_own_admin),
		cmocka_unit_test(an_observer_leaves_the_channels_alone),
		cmocka_unit_test(a_heart_that_stops_is_dead_firmware),
		cmocka_unit_test(test_probe_unplugged),
		cmocka_unit_test(test_does_not_boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
