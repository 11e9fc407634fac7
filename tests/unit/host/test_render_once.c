/* SPDX-License-Identifier: MIT */
/*
 * Each word of user memory is read exactly once in a call: the user's pages
 * cannot be read at all, except through the hook of the stepped build, which
 * counts. And what is read may be different with every call of the hook.
 */
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/host/render_bench.h"
#include "tests/unit/stepped.h"

#define PAGE_WORDS 1024u
/* Places in the user's page, in words. */
#define COMMANDS 0u
#define LIST     512u
#define PATCHES  768u

struct user {
	uint32_t *page; /**< where the user's memory seems to be: no access */
	uint32_t words[PAGE_WORDS];
	uint32_t reads[PAGE_WORDS];
	bool hostile; /**< a word is another one as soon as it has been read */
};

static struct user user;

uint32_t pb_stepped_read32(const uint32_t *address)
{
	const uintptr_t place = ((uintptr_t)address - (uintptr_t)user.page) / sizeof(*address);
	uint32_t word;

	if (place >= PAGE_WORDS)
		return *address;
	word = user.words[place];
	user.reads[place]++;
	if (user.hostile)
		user.words[place] = ~word;
	return word;
}

void pb_stepped_write32(uint32_t *address, uint32_t value)
{
	*address = value;
}

static int open_page(void **state)
{
	void *page = mmap(NULL, PAGE_WORDS * sizeof(uint32_t), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (page == MAP_FAILED)
		return -1;
	user.page = page;
	return 0;
}

static int close_page(void **state)
{
	(void)state;
	return munmap(user.page, PAGE_WORDS * sizeof(uint32_t));
}

static const uint32_t commands[] = {
	0x00000002, 9,                /* 0 */
	0x10000006, 2, 0,  8, 8,  32, /* 8 */
	0x11000006, 1, 0,  8, 8,  32, /* 32 */
	0x12000004, 1, 0,  3,         /* 56 */
	0x02000006, 1, 8,  3, 12, 16, /* 72 */
	0x12000004, 1, 48, 3,         /* 96 */
};
#define COMMAND_WORDS 28u
static const struct pb_patch_location patches[] = {
	{2, 0, 3, 0, 12, 8}, {1, 0, 1, 0, 60, 8}, {3, 0, 3, 12, 84, 72}};
#define PATCH_WORDS 18u
#define LIST_WORDS  (2u * BENCH_LIST)

/** Puts the inputs where only the hook can read them. */
static void give(struct render_bench *bench, bool hostile)
{
	memset(user.reads, 0, sizeof(user.reads));
	memcpy(&user.words[COMMANDS], commands, sizeof(commands));
	memcpy(&user.words[LIST], bench->list, sizeof(bench->list));
	memcpy(&user.words[PATCHES], patches, sizeof(patches));
	user.hostile = hostile;
	bench->arguments.command = &user.page[COMMANDS];
	bench->arguments.command_length = sizeof(commands);
	bench->arguments.user_allocations = (const void *)&user.page[LIST];
	bench->arguments.user_locations = (const void *)&user.page[PATCHES];
	bench->arguments.user_location_count = 3;
}

static void expect_reads(uint32_t from, uint32_t count, uint32_t reads)
{
	for (uint32_t i = from; i < from + count; i++) {
		if (user.reads[i] != reads)
			fail_msg("word %u was read %u times, not %u", i, user.reads[i], reads);
	}
}

static void expect_all_once(void)
{
	expect_reads(COMMANDS, COMMAND_WORDS, 1);
	expect_reads(COMMANDS + COMMAND_WORDS, LIST - COMMAND_WORDS, 0);
	expect_reads(LIST, LIST_WORDS, 1);
	expect_reads(LIST + LIST_WORDS, PATCHES - LIST - LIST_WORDS, 0);
	expect_reads(PATCHES, PATCH_WORDS, 1);
	expect_reads(PATCHES + PATCH_WORDS, PAGE_WORDS - PATCHES - PATCH_WORDS, 0);
}

/* The same words as from quiet memory. */
static void test_once(void **state)
{
	struct render_bench quiet;
	struct render_bench bench;

	(void)state;
	_Static_assert(sizeof(commands) == COMMAND_WORDS * 4, "the table fits");
	render_bench_init(&quiet);
	render_bench_commands(&quiet, commands, COMMAND_WORDS);
	quiet.arguments.user_locations = patches;
	quiet.arguments.user_location_count = 3;
	render_expect("quiet", pb_render(&quiet.arguments), PB_RENDER_SUCCESS);
	for (uint32_t hostile = 0; hostile < 2; hostile++) {
		render_bench_init(&bench);
		give(&bench, hostile != 0);
		render_expect("once", pb_render(&bench.arguments), PB_RENDER_SUCCESS);
		expect_all_once();
		assert_memory_equal(bench.dma, quiet.dma, sizeof(bench.dma));
		assert_memory_equal(bench.locations, quiet.locations, sizeof(bench.locations));
		assert_memory_equal(bench.allocations, quiet.allocations, sizeof(bench.allocations));
		assert_memory_equal(bench.private_data, quiet.private_data, sizeof(bench.private_data));
	}
}

/* A pass that stops in the middle has read everything once, and the next one does so again. */
static void each_pass_reads_every_word_once(void **state)
{
	struct render_bench bench;
	uint32_t passes = 0;
	enum pb_render_status status;

	(void)state;
	render_bench_init(&bench);
	do {
		render_bench_outputs(&bench);
		bench.arguments.output.dma_size = PB_RENDER_DMA_BYTES_MIN;
		give(&bench, true);
		status = pb_render(&bench.arguments);
		expect_all_once();
		passes++;
	} while (status == PB_RENDER_INSUFFICIENT_DMA_BUFFER);
	render_expect("last pass", status, PB_RENDER_SUCCESS);
	assert_int_equal(passes, 3);
}

/* What is refused is not read again either; a call that ends early may leave words unread. */
static void refused_input_is_not_read_again(void **state)
{
	struct render_bench bench;

	(void)state;
	for (uint32_t word = 0; word < COMMAND_WORDS; word++) {
		render_bench_init(&bench);
		give(&bench, true);
		user.words[COMMANDS + word] ^= 0x40000001;
		pb_render(&bench.arguments);
		expect_all_once();
	}
	render_bench_init(&bench);
	give(&bench, true);
	user.words[LIST + 4] = 99;
	render_expect("handle", pb_render(&bench.arguments), PB_RENDER_INVALID_HANDLE);
	expect_reads(COMMANDS, COMMAND_WORDS, 0);
	expect_reads(LIST, 6, 1);
	expect_reads(LIST + 6, LIST_WORDS - 6, 0);
	render_bench_init(&bench);
	give(&bench, true);
	bench.arguments.staging_size = 8;
	render_expect("staging", pb_render(&bench.arguments), PB_RENDER_NO_MEMORY);
	expect_reads(0, PAGE_WORDS, 0);
}

UNIT_SUITE(test_render_once)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_once),
		cmocka_unit_test(each_pass_reads_every_word_once),
		cmocka_unit_test(refused_input_is_not_read_again),
	};

	return cmocka_run_group_tests(tests, open_page, close_page);
}
