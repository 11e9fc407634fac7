/* SPDX-License-Identifier: MIT */
/* Host memory in files of the clients, which the MCU and the engines map; and files that a card refuses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/engine/packets.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"
#include "tests/e2e/e2e_host.h"

#define MIB     0x100000u
#define FILES   2u
#define CLIENTS 3u /* the last one has no file */
#define ROUNDS  10u

/* The second file is as large as the window that every board must have; it has few real blocks. */
static const uint32_t sizes[FILES] = {MIB, 256u * MIB};

struct scene {
	struct e2e_card card;
	char paths[FILES][E2E_PATH_BYTES];
	uint8_t *files[FILES];
	struct e2e_host hosts[CLIENTS];
};

static void make_file(const char *path, uint64_t bytes)
{
	const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)bytes), 0);
	close(file);
}

static uint8_t *map_file(const char *path, uint32_t bytes)
{
	const int file = open(path, O_RDWR | O_CLOEXEC);
	void *memory;

	assert_true(file >= 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_true(memory != MAP_FAILED);
	close(file);
	return memory;
}

static void start_card(struct scene *scene)
{
	struct pb_card_options options = e2e_card_options();

	e2e_path(scene->card.socket, "card");
	options.socket = scene->card.socket;
	options.restarts = 3;
	options.quiet = true;
	for (uint32_t i = 0; i < FILES; i++) {
		char name[16];

		/* A comma is doubled for QEMU. */
		snprintf(name, sizeof(name), "ram,%u", (unsigned)i);
		e2e_path(scene->paths[i], name);
		make_file(scene->paths[i], sizes[i]);
		scene->files[i] = map_file(scene->paths[i], sizes[i]);
		options.host[options.host_count++] =
			(struct pb_card_host_option){.channel = 1u + i, .path = scene->paths[i]};
	}
	assert_int_equal(pb_card_start(&options, &scene->card.pid), 0);
}

static void open_scene(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	start_card(scene);
	for (uint32_t i = 0; i < FILES; i++) {
		assert_true(
			e2e_host_open_in_host_memory(&scene->hosts[i], scene->card.socket, scene->files[i]));
		assert_int_equal(scene->hosts[i].link->channel, 1u + i);
	}
	assert_true(e2e_host_open(&scene->hosts[FILES], scene->card.socket));
}

static void close_scene(struct scene *scene)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_true(e2e_host_close(&scene->hosts[i]));
	e2e_card_stop(&scene->card);
	for (uint32_t i = 0; i < FILES; i++) {
		munmap(scene->files[i], sizes[i]);
		unlink(scene->paths[i]);
	}
}

static void clients_work_in_their_files(void **state)
{
	static struct scene scene;

	(void)state;
	open_scene(&scene);
	for (uint32_t i = 0; i < FILES; i++) {
		struct e2e_host *host = &scene.hosts[i];
		struct pb_host_grant grant;

		assert_int_equal(pb_host_grant_query(&host->channel, 1u + i, 0, &grant), PB_ERROR_OK);
		assert_int_equal(grant.address, 0);
		assert_int_equal(grant.bytes, sizes[i]);
		/* No part of the card's memory: the rings, which the firmware reads, are in the file. */
		assert_true(grant.offset >= host->link->memory_bytes);
		assert_ptr_equal(host->queues[0].memory.bytes_host, scene.files[i]);
		assert_int_equal(host->channel.card.capabilities[PB_CAPABILITY_HOST_BYTES], 512u * MIB);
	}
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < CLIENTS; i++)
			assert_true(e2e_host_round(&scene.hosts[i], 0x1000u * i + round));
	}
	close_scene(&scene);
}

static enum pb_error name_pages(struct e2e_host *host, uint64_t address, uint32_t bytes)
{
	const struct pb_segment_request request = {2,     0x700000000, 0x700000000,
						   bytes, bytes,       PB_SEGMENT_HOST};
	static uint8_t seen;
	const struct pb_host_pages pages = {.address = address, .memory = &seen};
	struct pb_segment segment;

	return pb_segment_create_host(&segment, &host->channel, &request, &pages);
}

/* The last page of the large file, which the window shows at its end, is within reach; what lies behind is not. */
static void a_client_reaches_its_file_and_no_other(void **state)
{
	static struct scene scene;
	struct e2e_host *host = &scene.hosts[1];
	uint32_t *last;
	struct pb_dma *dma = &host->builders[0];
	struct pb_fence fence;

	(void)state;
	open_scene(&scene);
	last = (uint32_t *)(void *)(scene.files[1] + sizes[1] - PB_PAGE_BYTES);
	assert_int_equal(name_pages(&scene.hosts[0], sizes[0], PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(&scene.hosts[0], 0, sizes[0] + PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(host, sizes[1], PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(&scene.hosts[2], 0, PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_int_equal(name_pages(host, sizes[1] - PB_PAGE_BYTES, PB_PAGE_BYTES), PB_ERROR_OK);
	for (uint32_t behind = 0; behind < 2; behind++) {
		pb_dma_begin(dma);
		pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
		pb_dma_word(dma, behind * PB_PAGE_BYTES);
		pb_dma_word(dma, 7);
		pb_dma_word(dma, PB_PAGE_BYTES);
		pb_dma_word(dma, 0xf111);
		assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
		assert_int_equal(
			pb_queue_wait(&host->queues[0], host->queues[0].timeline, E2E_PATIENCE_US, &fence),
			PB_ERROR_OK);
		assert_int_equal(fence.status, behind == 0 ? PB_ERROR_OK : PB_ERROR_ENGINE_FAULT);
	}
	assert_int_equal(last[0], 0xf111);
	assert_int_equal(last[PB_PAGE_BYTES / 4u - 1u], 0xf111);
	close_scene(&scene);
}

/* Another MCU finds the same files, and its clients have the same grants. */
static void a_restarted_card_has_the_files(void **state)
{
	static struct scene scene;
	struct e2e_host *host = &scene.hosts[0];
	uint64_t start;

	(void)state;
	open_scene(&scene);
	assert_true(e2e_host_round(host, 0x11));
	assert_int_equal(kill(e2e_card_mcu(&scene.card), SIGKILL), 0);
	start = e2e_now();
	while (pb_channel_check(&host->channel, NULL) == PB_ERROR_OK)
		assert_true(e2e_patience(start));
	/* On the links that they have: each keeps its channel. */
	for (uint32_t i = 0; i < FILES; i++) {
		struct pb_link *link = scene.hosts[i].link;

		memset(&scene.hosts[i], 0, sizeof(scene.hosts[i]));
		scene.hosts[i].link = link;
		assert_int_equal(pb_channel_attach(&scene.hosts[i].channel, link, E2E_PATIENCE_US),
				 PB_ERROR_OK);
		assert_true(e2e_host_furnish_in_host_memory(&scene.hosts[i], scene.files[i]));
	}
	scene.hosts[FILES].link->ops->close(scene.hosts[FILES].link);
	assert_true(e2e_host_open(&scene.hosts[FILES], scene.card.socket));
	for (uint32_t i = 0; i < CLIENTS; i++)
		assert_true(e2e_host_round(&scene.hosts[i], 0x22));
	close_scene(&scene);
}

/* The engine's access to a page that is not there any more: the card lives, the client is gone, the others go on. */
static void a_shortened_file_costs_its_client(void **state)
{
	static struct scene scene;
	struct e2e_host *host = &scene.hosts[1], again;
	struct pb_dma *dma = &host->builders[0];
	uint64_t start;
	int status;

	(void)state;
	open_scene(&scene);
	assert_int_equal(name_pages(host, sizes[1] - PB_PAGE_BYTES, PB_PAGE_BYTES), PB_ERROR_OK);
	pb_dma_begin(dma);
	pb_dma_packet(dma, PB_PACKET_FILL, PB_PACKET_FILL_WORDS);
	pb_dma_word(dma, 0);
	pb_dma_word(dma, 7);
	pb_dma_word(dma, PB_PAGE_BYTES);
	pb_dma_word(dma, 0xf111);
	/* The card, which stands still meanwhile, does not notice before there is a submission. */
	assert_int_equal(kill(scene.card.pid, SIGSTOP), 0);
	assert_int_equal(waitpid(scene.card.pid, &status, WUNTRACED), scene.card.pid);
	assert_true(WIFSTOPPED(status));
	/* Rings and buffers, which the MCU reads, are still there. */
	assert_int_equal(truncate(scene.paths[1], (off_t)(sizes[1] / 2u)), 0);
	assert_int_equal(pb_dma_submit(dma, 1), PB_ERROR_OK);
	assert_int_equal(kill(scene.card.pid, SIGCONT), 0);
	start = e2e_now();
	while (host->link->ops->wait(host->link, 1000) != PB_ERROR_NO_CARD)
		assert_true(e2e_patience(start));
	assert_true(e2e_host_round(&scene.hosts[0], 0x33));
	assert_true(e2e_host_round(&scene.hosts[2], 0x33));
	host->link->ops->close(host->link);
	/* Whoever gets the channel has no host memory, and a card like any other. */
	assert_true(e2e_host_open(&again, scene.card.socket));
	assert_int_equal(again.link->channel, 2);
	assert_int_equal(name_pages(&again, 0, PB_PAGE_BYTES), PB_ERROR_NO_PERMISSION);
	assert_true(e2e_host_round(&again, 0x44));
	assert_true(e2e_host_close(&again));
	for (uint32_t i = 0; i < CLIENTS; i += 2)
		assert_true(e2e_host_close(&scene.hosts[i]));
	e2e_card_stop(&scene.card);
	for (uint32_t i = 0; i < FILES; i++) {
		munmap(scene.files[i], sizes[i]);
		unlink(scene.paths[i]);
	}
}

/* The next MCU has memory of the card's own in place of the file, whether the one before died of it or not. */
static void a_lost_file_hinders_no_restart(void **state)
{
	static struct scene scene;
	struct e2e_host *host = &scene.hosts[1];
	uint64_t start;

	(void)state;
	open_scene(&scene);
	assert_int_equal(truncate(scene.paths[1], 0), 0);
	start = e2e_now();
	host->link->ops->doorbell(host->link);
	while (host->link->ops->wait(host->link, 1000) != PB_ERROR_NO_CARD)
		assert_true(e2e_patience(start));
	host->link->ops->close(host->link);
	/* Alive, or dead and started again. */
	for (uint32_t i = 0; i < CLIENTS; i += 2)
		scene.hosts[i].link->ops->close(scene.hosts[i].link);
	assert_true(e2e_host_open(&scene.hosts[0], scene.card.socket));
	assert_true(e2e_host_round(&scene.hosts[0], 0x55));
	assert_true(e2e_host_close(&scene.hosts[0]));
	assert_int_equal(kill(e2e_card_mcu(&scene.card), SIGKILL), 0);
	start = e2e_now();
	do {
		assert_true(e2e_patience(start));
	} while (!e2e_host_open(&scene.hosts[0], scene.card.socket));
	assert_true(e2e_host_round(&scene.hosts[0], 0x66));
	assert_true(e2e_host_close(&scene.hosts[0]));
	e2e_card_stop(&scene.card);
	for (uint32_t i = 0; i < FILES; i++) {
		munmap(scene.files[i], sizes[i]);
		unlink(scene.paths[i]);
	}
}

static void wrong_files_are_refused(void **state)
{
	static const struct {
		const char *name;
		uint64_t bytes;
	} files[] = {
		{"small", MIB / 2u}, {"odd", 3u * MIB}, {"most", 512ull * MIB}, {"large", 1024ull * MIB}};
	static char paths[4][E2E_PATH_BYTES], values[5][4u * E2E_PATH_BYTES + 8u];
	const char *board = e2e_board();

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		e2e_path(paths[i], files[i].name);
		make_file(paths[i], files[i].bytes);
		snprintf(values[i], sizeof(values[i]), "1=%s", paths[i]);
	}
	snprintf(values[4], sizeof(values[4]), "2=%s", paths[2]);
	{
		const struct e2e_refusal cases[] = {
			{{"card", "--board", board, "--host-memory", "1=/no/such/file"},
			 1,
			 "cannot open host memory /no/such/file: No such file"},
			{{"card", "--board", board, "--host-memory", "1=/dev/zero"}, 1, "is no regular file"},
			{{"card", "--board", board, "--host-memory", values[0]}, 1, "is smaller than 1 MiB"},
			{{"card", "--board", board, "--host-memory", values[1]}, 1, "no power of two"},
			{{"card", "--board", board, "--host-memory", values[3]}, 1, "does not fit"},
			{{"card", "--board", board, "--host-memory", values[2], "--host-memory", values[4]},
			 1,
			 "does not fit"},
			{{"card", "--board", "mps2_an500", "--host-memory", values[2]},
			 1,
			 "board mps2_an500 has no window for host memory in files"},
			{{"card", "--host-memory", "0=/tmp"}, 2, "give CHANNEL=FILE"},
			{{"card", "--host-memory", "9=/tmp"}, 2, "give CHANNEL=FILE"},
			{{"card", "--host-memory", "1"}, 2, "give CHANNEL=FILE"},
			{{"card", "--host-memory", "1="}, 2, "give CHANNEL=FILE"},
			{{"card", "--host-memory", "1=/a", "--host-memory", "1=/b"},
			 2,
			 "channel 1 has a file already"},
		};

		e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
	}
	for (uint32_t i = 0; i < 4; i++)
		unlink(paths[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(clients_work_in_their_files),    e2e_test(a_client_reaches_its_file_and_no_other),
		e2e_test(a_restarted_card_has_the_files), e2e_test(a_shortened_file_costs_its_client),
		e2e_test(a_lost_file_hinders_no_restart), e2e_test(wrong_files_are_refused),
	};

	return e2e_run_tests(tests);
}
