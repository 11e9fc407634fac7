/* SPDX-License-Identifier: MIT */
/* A card whose 3D nodes draw with virglrenderer: what addresses mean there, and what a renderer's trouble costs. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "hal/shared.h"
#include "patchbay/format.h"
#include "patchbay/query.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_gl.h"

#define RED   0xffff0000u
#define GREEN 0xff00ff00u
#define BLUE  0xff0000ffu
/* Pages of the video segment that nothing else uses. */
#define PAGE_A  8u
#define PAGE_B  9u
#define PAGE_C  10u
#define SURFACE 11u

static bool possible;

static int setup(void **state)
{
	const int failed = e2e_setup(state);

	possible = failed == 0 && e2e_gl_possible();
	return failed;
}

/* Skips the test where there is no renderer. */
#define NEEDS_RENDERER()                                                                                     \
	do {                                                                                                 \
		(void)state;                                                                                 \
		if (!possible)                                                                               \
			skip();                                                                              \
	} while (0)

/* A context with a picture at page A, which is its framebuffer. */
static void open_drawing(struct e2e_gl *gl, struct e2e_host *host)
{
	e2e_gl_open(gl, host);
	assert_int_equal(e2e_gl_bind(gl, 1, PAGE_A, &e2e_gl_picture), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(gl, SURFACE, PAGE_A), PB_ERROR_OK);
}

static void check_red(struct e2e_gl *gl, uint32_t page)
{
	assert_int_equal(e2e_gl_read(gl, page), PB_ERROR_OK);
	assert_true(e2e_gl_is(gl, RED));
}

static void a_picture_is_drawn_and_read_at_its_address(void **state)
{
	static struct e2e_host host;
	struct e2e_gl gl;
	struct e2e_card card;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&gl, &host);
	assert_int_equal(e2e_gl_clear(&gl, true, false, false), PB_ERROR_OK);
	check_red(&gl, PAGE_A);
	assert_int_equal(e2e_gl_clear(&gl, false, true, false), PB_ERROR_OK);
	assert_int_equal(e2e_gl_read(&gl, PAGE_A), PB_ERROR_OK);
	assert_true(e2e_gl_is(&gl, GREEN));
	/* The reference engine's packets are still there. */
	assert_true(e2e_host_round(&host, 0x47000001));
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* The word that names the picture is left to the firmware: poison, until its page is patched. */
static void the_firmware_patches_the_page(void **state)
{
	static struct e2e_host host;
	const struct pb_patch_format format = {.source = PB_FORMAT_ADDRESS,
					       .bound = PB_FORMAT_INSIDE,
					       .flags = PB_FORMAT_FITS | PB_FORMAT_WRITE,
					       .align = 4,
					       .shift_right = 12,
					       .mask = PB_FORMAT_ONES};
	struct pb_memory place;
	struct e2e_card card;
	struct e2e_gl gl;
	uint32_t page;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	assert_int_equal(pb_format_set(&host.channel, PB_FORMAT_OWN, &format, NULL), PB_ERROR_OK);
	e2e_gl_open(&gl, &host);
	assert_int_equal(pb_memory_allocate(&host.video, PB_PAGE_BYTES, PB_PAGE_BYTES, &place), PB_ERROR_OK);
	page = place.offset / PB_PAGE_BYTES;
	assert_int_equal(e2e_gl_bind(&gl, 1, page, &e2e_gl_picture), PB_ERROR_OK);
	pb_dma_begin(&gl.builder);
	pb_dma_packet(&gl.builder, PB_PACKET_GL, 11);
	pb_dma_word(&gl.builder, E2E_GL_CREATE_SURFACE);
	pb_dma_word(&gl.builder, SURFACE);
	pb_dma_patch(&gl.builder, &place, PB_FORMAT_OWN, true);
	pb_dma_word(&gl.builder, E2E_GL_FORMAT);
	pb_dma_word(&gl.builder, 0);
	pb_dma_word(&gl.builder, 0);
	pb_dma_word(&gl.builder, E2E_GL_SET_FRAMEBUFFER);
	pb_dma_word(&gl.builder, 1);
	pb_dma_word(&gl.builder, 0);
	pb_dma_word(&gl.builder, SURFACE);
	assert_int_equal(e2e_gl_finish(&gl), PB_ERROR_OK);
	assert_int_equal(e2e_gl_clear(&gl, true, false, false), PB_ERROR_OK);
	check_red(&gl, page);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* The set that Mesa asks for begins with its version; what lies behind the bytes asked for stays. */
static void capabilities_are_stored_at_an_address(void **state)
{
	static struct e2e_host host;
	const uint32_t *words;
	struct e2e_card card;
	struct e2e_gl gl;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	e2e_gl_open(&gl, &host);
	memset(gl.pixels.bytes_host, 0x5a, E2E_GL_BYTES);
	pb_dma_begin(&gl.builder);
	pb_dma_packet(&gl.builder, PB_PACKET_GL_CAPS, PB_PACKET_GL_CAPS_WORDS);
	pb_dma_word(&gl.builder, 2);
	pb_dma_word(&gl.builder, 2);
	pb_dma_address(&gl.builder, &gl.pixels, 0, true);
	pb_dma_word(&gl.builder, 512);
	assert_int_equal(e2e_gl_finish(&gl), PB_ERROR_OK);
	words = (const uint32_t *)(const void *)gl.pixels.bytes_host;
	assert_int_equal(pb_shared_read32(&words[0]), 2);
	assert_int_equal(pb_shared_read32(&words[128]), 0x5a5a5a5a);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Appends a FILL of the first word of the host's target: the buffer that ran last leaves its value. */
static void add_mark(struct e2e_gl *gl, uint32_t value)
{
	pb_dma_packet(&gl->builder, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_address(&gl->builder, &gl->host->targets[0], 0, true);
	pb_dma_word(&gl->builder, 4);
	pb_dma_word(&gl->builder, value);
}

/* Waits for a status of the node, which `what` reads. */
static void await_node(struct e2e_host *host, bool (*what)(const struct pb_node_status *now, uint32_t value),
		       uint32_t value)
{
	const uint64_t start = e2e_now();
	struct pb_node_status now;

	do {
		assert_true(e2e_patience(start));
		assert_int_equal(pb_node_query(&host->channel, 0, &now), PB_ERROR_OK);
	} while (!what(&now, value));
}

static bool runs_queue(const struct pb_node_status *now, uint32_t handle)
{
	return now->head == handle;
}

static bool was_stopped(const struct pb_node_status *now, uint32_t stops)
{
	return now->stops != stops;
}

/*
 * A buffer of one context is stopped between two packets for an urgent one, and goes on behind it. Its renderer is stopped
 * meanwhile, in its first packet, so that the urgent one comes in time.
 */
static void an_urgent_context_goes_between_two_packets(void **state)
{
	static struct e2e_host host;
	struct pb_node_status before, after;
	struct e2e_gl slow, urgent;
	struct e2e_card card;
	struct pb_fence fence;
	pid_t pid;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	e2e_gl_open(&slow, &host);
	assert_int_equal(e2e_gl_bind(&slow, 1, PAGE_B, &e2e_gl_picture), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(&slow, SURFACE, PAGE_B), PB_ERROR_OK);
	assert_int_equal(e2e_gl_renderers(&card, &pid, 1), 1);
	e2e_gl_open_with(&urgent, &host, PB_PRIORITY_REALTIME);
	assert_int_equal(e2e_gl_bind(&urgent, 1, PAGE_A, &e2e_gl_picture), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(&urgent, SURFACE, PAGE_A), PB_ERROR_OK);
	assert_int_equal(pb_node_query(&host.channel, 0, &before), PB_ERROR_OK);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	pb_dma_begin(&slow.builder);
	e2e_gl_add_clear(&slow, true, false, false);
	e2e_gl_add_clear(&slow, false, false, true);
	add_mark(&slow, 1);
	assert_int_equal(pb_dma_submit(&slow.builder, 3), PB_ERROR_OK);
	await_node(&host, runs_queue, slow.queue.handle);
	pb_dma_begin(&urgent.builder);
	e2e_gl_add_clear(&urgent, true, false, false);
	add_mark(&urgent, 2);
	assert_int_equal(pb_dma_submit(&urgent.builder, 4), PB_ERROR_OK);
	await_node(&host, was_stopped, before.stops);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(pb_dma_wait(&urgent.builder, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(pb_dma_wait(&slow.builder, E2E_PATIENCE_US, &fence), PB_ERROR_OK);
	assert_int_equal(pb_node_query(&host.channel, 0, &after), PB_ERROR_OK);
	assert_int_equal(after.resets, before.resets);
	/* The end of the buffer ran behind the urgent one. */
	assert_int_equal(pb_shared_read32((uint32_t *)(void *)host.targets[0].bytes_host), 1);
	check_red(&urgent, PAGE_A);
	/* The last clear was blue. */
	assert_int_equal(e2e_gl_read(&slow, PAGE_B), PB_ERROR_OK);
	assert_true(e2e_gl_is(&slow, BLUE));
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Evicted, a picture keeps what was drawn; it stands elsewhere later. Then there is nothing at its old place. */
static void a_moved_picture_keeps_its_contents(void **state)
{
	static struct e2e_host host;
	struct e2e_gl gl;
	struct e2e_card card;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&gl, &host);
	assert_int_equal(e2e_gl_clear(&gl, true, false, false), PB_ERROR_OK);
	assert_int_equal(e2e_gl_unbind(&gl, 1, 0), PB_ERROR_OK);
	/* Another one stands there meanwhile. */
	assert_int_equal(e2e_gl_bind(&gl, 2, PAGE_A, &e2e_gl_picture), PB_ERROR_OK);
	assert_int_equal(e2e_gl_bind(&gl, 1, PAGE_C, &e2e_gl_picture), PB_ERROR_OK);
	check_red(&gl, PAGE_C);
	/* The framebuffer moved with it: nothing names it in a clear. */
	assert_int_equal(e2e_gl_clear(&gl, false, false, true), PB_ERROR_OK);
	assert_int_equal(e2e_gl_read(&gl, PAGE_C), PB_ERROR_OK);
	assert_true(e2e_gl_is(&gl, BLUE));
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Each fault in a context of its own: the page where nothing is, a framebuffer that was evicted. */
static void an_address_without_a_resource_is_a_page_fault(void **state)
{
	static struct e2e_host host;
	struct e2e_gl good, wrong, evicted;
	struct e2e_card card;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&good, &host);
	e2e_gl_open(&wrong, &host);
	assert_int_equal(e2e_gl_bind(&wrong, 1, PAGE_B, &e2e_gl_picture), PB_ERROR_OK);
	/* That is another context's page. */
	assert_int_equal(e2e_gl_draw_to(&wrong, SURFACE, PAGE_A), PB_ERROR_ENGINE_FAULT);
	open_drawing(&evicted, &host);
	assert_int_equal(e2e_gl_clear(&evicted, true, true, true), PB_ERROR_OK);
	assert_int_equal(e2e_gl_unbind(&evicted, 1, 0), PB_ERROR_OK);
	assert_int_equal(e2e_gl_clear(&evicted, true, true, true), PB_ERROR_ENGINE_FAULT);
	assert_int_equal(e2e_gl_clear(&good, true, false, false), PB_ERROR_OK);
	check_red(&good, PAGE_A);
	/* What is lost stays lost. */
	assert_int_not_equal(e2e_gl_clear(&wrong, true, false, false), PB_ERROR_OK);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Two contexts of one host, each with its process; the one that is killed takes nothing with it. */
static void a_killed_renderer_costs_its_context(void **state)
{
	static struct e2e_host host;
	struct e2e_gl first, second;
	struct e2e_card card;
	pid_t before, pids[4];

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&first, &host);
	assert_int_equal(e2e_gl_renderers(&card, &before, 1), 1);
	open_drawing(&second, &host);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 2);
	assert_int_equal(e2e_gl_clear(&second, true, false, false), PB_ERROR_OK);
	assert_int_equal(kill(before, SIGKILL), 0);
	assert_int_equal(e2e_gl_clear(&first, true, true, true), PB_ERROR_ENGINE_FAULT);
	check_red(&second, PAGE_A);
	/* Its pages can be paged out, and the queue that pages goes on. */
	assert_int_equal(e2e_gl_unbind(&first, 1, 1), PB_ERROR_OK);
	assert_int_equal(e2e_gl_unbind(&second, 1, 0), PB_ERROR_OK);
	assert_int_equal(e2e_gl_bind(&second, 1, PAGE_C, &e2e_gl_picture), PB_ERROR_OK);
	check_red(&second, PAGE_C);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 1);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* A renderer that is stopped uses no processor: that is a hang, after the node's limit. */
static void a_frozen_renderer_is_reset(void **state)
{
	static struct e2e_host host;
	struct e2e_gl first, second;
	struct e2e_card card;
	pid_t pid, left[4];

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&first, &host);
	assert_int_equal(e2e_gl_renderers(&card, &pid, 1), 1);
	open_drawing(&second, &host);
	pb_queue_set_limits(&first.queue, 50000, 50000);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(e2e_gl_clear(&first, true, true, true), PB_ERROR_ENGINE_HANG);
	assert_int_equal(e2e_gl_renderers(&card, left, 4), 1);
	assert_int_not_equal(left[0], pid);
	assert_int_equal(e2e_gl_clear(&second, true, false, false), PB_ERROR_OK);
	check_red(&second, PAGE_A);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

static void a_shader_without_end_is_reset_and_no_other_context_is(void **state)
{
	static const struct e2e_gl_shape large = {2, 1, 2, 4096, 4096};
	static struct e2e_host host;
	struct e2e_gl endless, good;
	struct e2e_card card;
	struct pb_fence fence;
	pid_t pids[4];

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&good, &host);
	assert_int_equal(e2e_gl_clear(&good, true, false, false), PB_ERROR_OK);
	e2e_gl_open(&endless, &host);
	assert_int_equal(e2e_gl_bind(&endless, 1, PAGE_B, &large), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(&endless, SURFACE, PAGE_B), PB_ERROR_OK);
	pb_queue_set_limits(&endless.queue, 100000, 100000);
	e2e_gl_draw_without_end(&endless);
	/* Behind it, on the same node. */
	check_red(&good, PAGE_A);
	assert_int_equal(pb_dma_wait(&endless.builder, E2E_PATIENCE_US, &fence), PB_ERROR_ENGINE_HANG);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 1);
	assert_int_equal(e2e_gl_clear(&good, false, true, false), PB_ERROR_OK);
	assert_int_not_equal(e2e_gl_clear(&endless, true, false, false), PB_ERROR_OK);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Nothing else is to run: after two seconds of processor time it makes no progress, and its queue's limit counts. */
static void a_shader_without_end_hangs_alone(void **state)
{
	static const struct e2e_gl_shape large = {2, 1, 2, 4096, 4096};
	static struct e2e_host host;
	struct e2e_gl endless;
	struct e2e_card card;
	struct pb_fence fence;
	pid_t pids[4];

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&host, card.socket));
	e2e_gl_open(&endless, &host);
	assert_int_equal(e2e_gl_bind(&endless, 1, PAGE_B, &large), PB_ERROR_OK);
	assert_int_equal(e2e_gl_draw_to(&endless, SURFACE, PAGE_B), PB_ERROR_OK);
	pb_queue_set_limits(&endless.queue, 100000, 100000);
	e2e_gl_draw_without_end(&endless);
	assert_int_equal(pb_dma_wait(&endless.builder, E2E_PATIENCE_US, &fence), PB_ERROR_ENGINE_HANG);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 0);
	assert_true(e2e_host_close(&host));
	e2e_card_stop(&card);
}

/* Two hosts: each has a channel of its own. The one that leaves takes its renderers along. */
static void a_host_that_leaves_leaves_no_renderer(void **state)
{
	static struct e2e_host hosts[2];
	struct e2e_gl first, second;
	struct e2e_card card;
	uint64_t start;
	pid_t pids[4];

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 0);
	assert_true(e2e_host_open(&hosts[0], card.socket) && e2e_host_open(&hosts[1], card.socket));
	open_drawing(&first, &hosts[0]);
	open_drawing(&second, &hosts[1]);
	assert_int_equal(e2e_gl_clear(&second, true, false, false), PB_ERROR_OK);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 2);
	assert_true(e2e_host_close(&hosts[0]));
	start = e2e_now();
	while (e2e_gl_renderers(&card, pids, 4) != 1)
		assert_true(e2e_patience(start));
	check_red(&second, PAGE_A);
	assert_true(e2e_host_close(&hosts[1]));
	e2e_card_stop(&card);
}

/* The MCU dies while a renderer works; the next one finds engines without contexts. */
static void a_dead_mcu_leaves_no_renderer(void **state)
{
	static struct e2e_host host;
	struct e2e_gl gl;
	struct e2e_card card;
	uint64_t start;
	pid_t pids[4], children[8];
	size_t count;

	NEEDS_RENDERER();
	e2e_gl_card_start(&card, 1);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&gl, &host);
	assert_int_equal(e2e_gl_renderers(&card, pids, 4), 1);
	count = e2e_children(card.pid, children, 8);
	for (size_t i = 0; i < count; i++)
		assert_true(children[i] == pids[0] || kill(children[i], SIGKILL) == 0);
	start = e2e_now();
	while (e2e_gl_renderers(&card, pids, 4) != 0)
		assert_true(e2e_patience(start));
	host.link->ops->close(host.link);
	e2e_card_stop(&card);
}

/* Whether a process runs; one that has ended and was not collected does not. */
static bool runs(pid_t pid)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return readlink(path, target, sizeof(target)) > 0;
}

/* A card that is killed cannot end its renderers: they end themselves. */
static void a_killed_card_leaves_no_renderer(void **state)
{
	static struct e2e_host host;
	char directory[E2E_PATH_BYTES], observe[E2E_PATH_BYTES + 16];
	struct e2e_output output;
	struct e2e_card card;
	struct e2e_gl gl;
	uint64_t start;
	pid_t pid;

	NEEDS_RENDERER();
	e2e_path(directory, "files");
	assert_int_equal(mkdir(directory, 0700), 0);
	e2e_gl_card_start_in(&card, 0, directory);
	assert_true(e2e_host_open(&host, card.socket));
	open_drawing(&gl, &host);
	assert_int_equal(e2e_gl_renderers(&card, &pid, 1), 1);
	assert_int_equal(kill(card.pid, SIGKILL), 0);
	start = e2e_now();
	while (runs(pid))
		assert_true(e2e_patience(start));
	/* The MCU ends with the card, too; both are this process's to wait for. */
	while (e2e_children(getpid(), &pid, 1) != 0)
		assert_true(e2e_patience(start));
	host.link->ops->close(host.link);
	snprintf(observe, sizeof(observe), "%s.observe", card.socket);
	e2e_collect(e2e_spawn("/bin/rm", E2E_ARGUMENT_LIST("-r", directory, card.socket, observe), NULL),
		    &output);
	assert_int_equal(output.code, 0);
}

int main(void)
{
#define gl_test(function) cmocka_unit_test_setup_teardown(function, setup, e2e_teardown)
	const struct CMUnitTest tests[] = {
		gl_test(a_picture_is_drawn_and_read_at_its_address),
		gl_test(the_firmware_patches_the_page),
		gl_test(capabilities_are_stored_at_an_address),
		gl_test(an_urgent_context_goes_between_two_packets),
		gl_test(a_moved_picture_keeps_its_contents),
		gl_test(an_address_without_a_resource_is_a_page_fault),
		gl_test(a_killed_renderer_costs_its_context),
		gl_test(a_frozen_renderer_is_reset),
		gl_test(a_shader_without_end_is_reset_and_no_other_context_is),
		gl_test(a_shader_without_end_hangs_alone),
		gl_test(a_host_that_leaves_leaves_no_renderer),
		gl_test(a_dead_mcu_leaves_no_renderer),
		gl_test(a_killed_card_leaves_no_renderer),
	};

	return e2e_run_tests(tests);
}
