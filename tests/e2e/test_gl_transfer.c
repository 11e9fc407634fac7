/* SPDX-License-Identifier: MIT */
/*
 * GL_TRANSFER between a renderer's picture and memory of each kind: the card's in the MCU's window, the card's outside of
 * it, and the host's. All addresses are patched by the firmware; a wrong one costs its context and no other.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/engine/gl_packets.h"
#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "patchbay/format.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_gl.h"

#define MIB         0x100000u
#define CARD_BYTES  (64u * MIB)
#define OUTER_BYTES (16u * MIB)
#define HOST_BYTES  0x10000u
#define UNTOUCHED   0x5au
/* A page of the video segment that nothing else uses, and one where nothing stands. */
#define PAGE_A     8u
#define PAGE_EMPTY 9u

/* Kinds of memory. */
enum { VIDEO, OUTER, HOST, KINDS };

struct scene {
	struct e2e_card card;
	struct e2e_host host;
	struct pb_segment more[KINDS];     /* not of VIDEO: that is the host's own */
	struct pb_memory pieces[2][KINDS]; /* source and target, not at the start of their segments */
	struct pb_memory place;            /* where the picture stands */
	struct e2e_gl gl;
};

static bool possible;

static int setup(void **state)
{
	const int failed = e2e_setup(state);

	possible = failed == 0 && e2e_gl_possible();
	return failed;
}

/* Host memory in a file, on a board that takes it so; NULL: it is a part of card memory. */
static uint8_t *host_file(struct pb_card_options *options, char *path)
{
	uint8_t *memory;
	int file;

	if (pb_machine_find(e2e_board())->window_bytes == 0)
		return NULL;
	e2e_path(path, "ram");
	file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, MIB), 0);
	memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_true(memory != MAP_FAILED);
	close(file);
	options->host[options->host_count++] = (struct pb_card_host_option){.channel = 1, .path = path};
	return memory;
}

/* The addresses of a byte that the host names and that the engine uses differ in each of them. */
static void make_segments(struct scene *scene, uint8_t *host_memory)
{
	static const struct pb_segment_request outer = {2,           0x3000000000, 0x5000000000,
							OUTER_BYTES, OUTER_BYTES,  PB_SEGMENT_OUTER};
	static const struct pb_segment_request host = {3,          0x4000000000, 0x6000000000,
						       HOST_BYTES, HOST_BYTES,   PB_SEGMENT_HOST};
	const struct pb_host_pages pages = {.memory = host_memory};
	struct pb_channel *channel = &scene->host.channel;

	assert_int_equal(pb_segment_create(&scene->more[OUTER], channel, &outer), PB_ERROR_OK);
	assert_int_equal(pb_segment_create_host(&scene->more[HOST], channel, &host, &pages), PB_ERROR_OK);
}

static void make_pieces(struct scene *scene)
{
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		struct pb_segment *segment = kind == VIDEO ? &scene->host.video : &scene->more[kind];
		struct pb_memory unused;

		assert_int_equal(pb_memory_allocate(segment, PB_PAGE_BYTES, PB_PAGE_BYTES, &unused),
				 PB_ERROR_OK);
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(
				pb_memory_allocate(segment, 2u * E2E_GL_BYTES, 64, &scene->pieces[i][kind]),
				PB_ERROR_OK);
	}
}

static void open_scene(struct scene *scene)
{
	static const struct pb_patch_format page = {.source = PB_FORMAT_ADDRESS,
						    .bound = PB_FORMAT_INSIDE,
						    .flags = PB_FORMAT_FITS | PB_FORMAT_WRITE,
						    .align = 4,
						    .shift_right = 12,
						    .mask = PB_FORMAT_ONES};
	struct pb_card_options options = e2e_gl_card_options(&scene->card);
	char path[E2E_PATH_BYTES];
	uint8_t *host_memory = host_file(&options, path);

	options.memory_bytes = CARD_BYTES;
	assert_int_equal(pb_card_start(&options, &scene->card.pid), 0);
	assert_true(e2e_host_open(&scene->host, scene->card.socket));
	assert_int_equal(pb_format_set(&scene->host.channel, PB_FORMAT_OWN, &page, NULL), PB_ERROR_OK);
	make_segments(scene, host_memory);
	make_pieces(scene);
	e2e_gl_open(&scene->gl, &scene->host);
	assert_int_equal(pb_memory_allocate(&scene->host.video, PB_PAGE_BYTES, PB_PAGE_BYTES, &scene->place),
			 PB_ERROR_OK);
	assert_int_equal(e2e_gl_bind(&scene->gl, 1, scene->place.offset / PB_PAGE_BYTES, &e2e_gl_picture),
			 PB_ERROR_OK);
}

static void close_scene(struct scene *scene)
{
	assert_true(e2e_host_close(&scene->host));
	e2e_card_stop(&scene->card);
}

/* What stands behind the resource's page: the whole picture, rows tight. */
static void add_box(struct pb_dma *dma)
{
	for (uint32_t i = 0; i < 4; i++)
		pb_dma_word(dma, 0);
	pb_dma_word(dma, E2E_GL_WIDTH);
	pb_dma_word(dma, E2E_GL_HEIGHT);
	pb_dma_word(dma, 1);
	pb_dma_word(dma, E2E_GL_WIDTH * 4u);
	pb_dma_word(dma, 0);
}

/* Behind the first bytes of the memory, so that the offset counts, too. */
static enum pb_error transfer(struct scene *scene, uint32_t flags, const struct pb_memory *memory)
{
	struct pb_dma *dma = &scene->gl.builder;

	pb_dma_begin(dma);
	pb_dma_packet(dma, PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS);
	pb_dma_word(dma, flags);
	pb_dma_address(dma, memory, E2E_GL_BYTES / 2u, flags != PB_GL_TRANSFER_TO_RESOURCE);
	pb_dma_word(dma, E2E_GL_BYTES);
	pb_dma_patch(dma, &scene->place, PB_FORMAT_OWN, true);
	add_box(dma);
	return e2e_gl_finish(&scene->gl);
}

/* A word of a picture, which no other place, and no other round, has. */
static uint32_t word_of(uint32_t round, uint32_t index)
{
	return (round * 0x1000u + index + 1u) * 2654435761u;
}

static uint32_t *words_of(const struct pb_memory *memory)
{
	return (uint32_t *)(void *)memory->bytes_host;
}

static void check_target(const struct pb_memory *target, uint32_t round)
{
	for (uint32_t i = 0; i < 2u * E2E_GL_BYTES / 4u; i++) {
		const uint32_t index = i - E2E_GL_BYTES / 8u;
		const uint32_t expected =
			index < E2E_GL_BYTES / 4u ? word_of(round, index) : UNTOUCHED * 0x01010101u;

		assert_int_equal(pb_shared_read32(&words_of(target)[i]), expected);
	}
}

static void from_each_memory_to_each_other(void **state)
{
	static struct scene scene;

	(void)state;
	if (!possible)
		skip();
	open_scene(&scene);
	for (uint32_t round = 0; round < KINDS * KINDS; round++) {
		const struct pb_memory *source = &scene.pieces[0][round / KINDS];
		const struct pb_memory *target = &scene.pieces[1][round % KINDS];

		memset(source->bytes_host, 0, 2u * E2E_GL_BYTES);
		memset(target->bytes_host, UNTOUCHED, 2u * E2E_GL_BYTES);
		for (uint32_t i = 0; i < E2E_GL_BYTES / 4u; i++)
			pb_shared_write32(&words_of(source)[E2E_GL_BYTES / 8u + i], word_of(round, i));
		assert_int_equal(transfer(&scene, PB_GL_TRANSFER_TO_RESOURCE, source), PB_ERROR_OK);
		assert_int_equal(transfer(&scene, 0, target), PB_ERROR_OK);
		check_target(target, round);
	}
	close_scene(&scene);
}

/* Addresses that no patch has written. */
static const struct {
	const char *name;
	uint64_t address;
	uint32_t page; /* of the video segment */
	uint32_t code;
} wrong[] = {
	{"nowhere", 0x123456000, PAGE_A, PB_ENGINE_FAULT_ADDRESS},
	{"behind_outer_memory", 0x5000000000 + OUTER_BYTES, PAGE_A, PB_ENGINE_FAULT_ADDRESS},
	{"across_the_end_of_host_memory", 0x6000000000 + HOST_BYTES - 4, PAGE_A, PB_ENGINE_FAULT_ADDRESS},
	{"where_the_host_sees_it", 0x4000000000, PAGE_A, PB_ENGINE_FAULT_ADDRESS},
	{"no_picture", 0x6000000000, PAGE_EMPTY, PB_ENGINE_FAULT_PAGE},
};

/* A fault of this code is what the firmware reports of the queue first. */
static void expect_event(struct scene *scene, const struct pb_queue *queue, uint32_t code)
{
	struct pb_event event;

	assert_true(pb_channel_event(&scene->host.channel, &event));
	assert_int_equal(event.type, PB_EVENT_ENGINE_FAULT);
	assert_int_equal(event.queue, queue->handle);
	assert_int_equal(event.detail, code);
	while (pb_channel_event(&scene->host.channel, &event))
		assert_int_equal(event.queue, queue->handle);
}

static void try_wrong(struct scene *scene, struct e2e_gl *gl, uint32_t flags, uint32_t row)
{
	struct pb_dma *dma = &gl->builder;

	pb_dma_begin(dma);
	pb_dma_packet(dma, PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS);
	pb_dma_word(dma, flags);
	pb_dma_word(dma, (uint32_t)wrong[row].address);
	pb_dma_word(dma, (uint32_t)(wrong[row].address >> 32));
	pb_dma_word(dma, E2E_GL_BYTES);
	pb_dma_word(dma, e2e_gl_page(gl, wrong[row].page));
	add_box(dma);
	assert_int_equal(e2e_gl_finish(gl), PB_ERROR_ENGINE_FAULT);
	expect_event(scene, &gl->queue, wrong[row].code);
}

static void a_wrong_address_costs_its_context_alone(void **state)
{
	static struct scene scene;
	static struct e2e_gl bad;

	(void)state;
	if (!possible)
		skip();
	open_scene(&scene);
	e2e_gl_open(&bad, &scene.host);
	for (uint32_t i = 0; i < 2u * sizeof(wrong) / sizeof(wrong[0]); i++) {
		pid_t pids[4];

		print_message("[ case     ] %s\n", wrong[i / 2u].name);
		assert_int_equal(e2e_gl_bind(&bad, 1, PAGE_A, &e2e_gl_picture), PB_ERROR_OK);
		assert_int_equal(e2e_gl_renderers(&scene.card, pids, 4), 2);
		try_wrong(&scene, &bad, i % 2u, i / 2u);
		assert_int_equal(e2e_gl_renderers(&scene.card, pids, 4), 1);
		assert_int_equal(transfer(&scene, i % 2u, &scene.pieces[1][HOST]), PB_ERROR_OK);
		/* Its owner is forgotten, and its context may work again. */
		assert_int_equal(
			e2e_gl_paging(&bad,
				      (const uint32_t[]){PB_PACKET(PB_PACKET_GL_END, PB_PACKET_GL_END_WORDS),
							 bad.owner},
				      PB_PACKET_GL_END_WORDS),
			PB_ERROR_OK);
		assert_int_equal(pb_context_clear(&scene.host.channel, bad.context), PB_ERROR_OK);
	}
	close_scene(&scene);
}

int main(void)
{
#define gl_test(function) cmocka_unit_test_setup_teardown(function, setup, e2e_teardown)
	const struct CMUnitTest tests[] = {
		gl_test(from_each_memory_to_each_other),
		gl_test(a_wrong_address_costs_its_context_alone),
	};

	return e2e_run_tests(tests);
}
