/* SPDX-License-Identifier: MIT */
/* The copy of card memory that a probe keeps up, against an MCU that changes the memory whenever it runs. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_gdb_memory.h"
#include "tests/unit/host/gdb_stub.h"
#include "tests/unit/unit.h"

#define ADDRESS    0x20010000u
#define PAGE_WORDS 1024u
#define PAGES      8u
#define TAIL_WORDS 16u /* a last page that is short */
#define WORDS      (PAGES * PAGE_WORDS + TAIL_WORDS)

static uint32_t card[WORDS]; /* the MCU's */
static struct gdb_stub stub;
static struct pb_gdb gdb;
static struct pb_gdb_memory memory;
static uint32_t *view; /* the host's */

static void begin(void (*run)(void *context))
{
	int socket;

	assert_int_equal(sysconf(_SC_PAGESIZE), PAGE_WORDS * 4);
	memset(card, 0, sizeof(card));
	stub = (struct gdb_stub){.regions = {{ADDRESS, sizeof(card), (uint8_t *)card}}, .run = run};
	gdb_stub_start(&stub);
	assert_int_equal(pb_gdb_connect(stub.path, &socket), PB_ERROR_OK);
	assert_int_equal(pb_gdb_greet(&gdb, socket, PB_GDB_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_gdb_memory_open(&memory, &gdb, ADDRESS, sizeof(card)), PB_ERROR_OK);
	view = (uint32_t *)(void *)memory.view;
}

static void end(void)
{
	pb_gdb_memory_close(&memory);
	pb_gdb_leave(&gdb);
	close(gdb.wire.socket);
	gdb_stub_end(&stub);
}

static uint32_t get(uint32_t word)
{
	return pb_shared_read32(&view[word]);
}

static void set(uint32_t word, uint32_t value)
{
	pb_shared_write32(&view[word], value);
}

/* They change where a page is touched, behind the compiler's back. */
static const struct pb_gdb_figures *figures(void)
{
	pb_shared_barrier();
	return &memory.figures;
}

/* ---- both directions ---- */

static void only_touched_pages_are_read(void **state)
{
	(void)state;
	begin(NULL);
	for (uint32_t i = 0; i < WORDS; i++)
		card[i] = i * 3u;
	assert_int_equal(figures()->bytes_in, 0);
	assert_int_equal(get(PAGE_WORDS), PAGE_WORDS * 3u);
	assert_int_equal(get(2 * PAGE_WORDS - 1), (2 * PAGE_WORDS - 1) * 3u);
	assert_int_equal(figures()->bytes_in, PAGE_WORDS * 4);
	/* The last page is read as far as there is memory. */
	assert_int_equal(get(WORDS - 1), (WORDS - 1) * 3u);
	assert_int_equal(figures()->bytes_in, (PAGE_WORDS + TAIL_WORDS) * 4);
	assert_int_equal(figures()->bytes_out, 0);
	end();
}

static void only_changed_words_are_written(void **state)
{
	(void)state;
	begin(NULL);
	card[4] = 44;
	set(3, 33);
	set(4, 44); /* what it is already */
	set(5, 55);
	set(6, 66);
	set(WORDS - 1, 77);
	assert_int_equal(pb_gdb_memory_push(&memory), PB_ERROR_OK);
	assert_int_equal(card[3], 33);
	assert_int_equal(card[5], 55);
	assert_int_equal(card[6], 66);
	assert_int_equal(card[WORDS - 1], 77);
	assert_int_equal(figures()->bytes_out, 4 * 4);
	assert_int_equal(stub.writes, 3);
	/* Nothing is written twice; the same word again is. */
	assert_int_equal(pb_gdb_memory_push(&memory), PB_ERROR_OK);
	assert_int_equal(stub.writes, 3);
	set(3, 34);
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	assert_int_equal(card[3], 34);
	set(3, 35);
	end();
	assert_int_equal(card[3], 35);
	assert_true(stub.left);
}

/* The MCU counts in every even word of the second page. */
static void count_even(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < PAGE_WORDS; i += 2)
		card[PAGE_WORDS + i]++;
}

static void neighbouring_words_of_host_and_card_both_survive(void **state)
{
	uint32_t before = 0;

	(void)state;
	begin(count_even);
	for (uint32_t turn = 1; turn < 20; turn++) {
		for (uint32_t i = 1; i < PAGE_WORDS; i += 2)
			set(PAGE_WORDS + i, turn * i);
		assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
		assert_true(get(PAGE_WORDS) > before);
		before = get(PAGE_WORDS);
		for (uint32_t i = 0; i < PAGE_WORDS; i++)
			assert_int_equal(get(PAGE_WORDS + i), i % 2 == 0 ? before : turn * i);
	}
	end();
	/* What the MCU counted was never put back. */
	for (uint32_t i = 0; i < PAGE_WORDS; i++)
		assert_int_equal(card[PAGE_WORDS + i], i % 2 == 0 ? card[PAGE_WORDS] : 19 * i);
}

/* ---- order ---- */

static uint32_t torn; /* times that the MCU saw a put without its entry */

static void check_ring(void *context)
{
	(void)context;
	for (uint32_t i = 0; i < card[0]; i++)
		torn += card[3 * PAGE_WORDS + i] != i + 1;
	card[1] = card[0];
}

static void test_index_with_its_entry(void **state)
{
	(void)state;
	torn = 0;
	begin(check_ring);
	for (uint32_t put = 0; put < 200; put++) {
		set(3 * PAGE_WORDS + put, put + 1);
		set(0, put + 1);
		/* A page that is missing is an exchange as well. */
		if (put % 3 == 0)
			(void)get((2 + put % 5) * PAGE_WORDS);
		else if (put % 3 == 1)
			(void)pb_gdb_memory_push(&memory);
	}
	end();
	assert_int_equal(card[0], 200);
	assert_int_equal(torn, 0);
}

static uint32_t order[2] = {PAGE_WORDS * 5u, PAGE_WORDS * 6u + 7u};

/* An entry, and behind it the index that vouches for it, on different pages. */
static void produce(void *context)
{
	(void)context;
	card[order[0]]++;
	card[order[1]]++;
}

static void words_never_grow_older(void **state)
{
	uint32_t last = 0;

	(void)state;
	begin(produce);
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t index, entry;

		/* Sometimes the entry's page is there already, and older. */
		if (i % 2 == 0)
			(void)get(order[0] + 1);
		if (i % 3 == 0)
			(void)get(PAGE_WORDS * (i % 4));
		index = get(order[1]);
		entry = get(order[0]);
		assert_true(entry >= index);
		assert_true(index >= last);
		last = index;
		if (i % 5 == 0)
			(void)pb_gdb_memory_sync(&memory);
	}
	assert_true(last > 0);
	end();
}

/* One instruction may read one page and write another, however the processor copies. */
static void one_instruction_may_use_two_pages(void **state)
{
	(void)state;
	begin(count_even);
	for (uint32_t i = 0; i < 2 * PAGE_WORDS; i++)
		card[2 * PAGE_WORDS + i] = ~i;
	memmove(view + 4 * PAGE_WORDS + 1, view + 2 * PAGE_WORDS, 2 * PAGE_WORDS * 4);
#if defined(__x86_64__)
	{
		void *to = view + 6 * PAGE_WORDS + 5;
		const void *from = view + 2 * PAGE_WORDS;
		size_t bytes = 2 * PAGE_WORDS * 4 - 64;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
	}
	for (uint32_t i = 0; i < 2 * PAGE_WORDS - 16; i++)
		assert_int_equal(get(6 * PAGE_WORDS + 5 + i), ~i);
#endif
	for (uint32_t i = 0; i < 2 * PAGE_WORDS; i++)
		assert_int_equal(get(4 * PAGE_WORDS + 1 + i), ~i);
#if defined(__x86_64__)
	{
		/* Eight bytes at once, from the end of one page into the next, to two others. */
		void *to = view + 5 * PAGE_WORDS - 1;
		const void *from = view + 3 * PAGE_WORDS - 1;
		size_t count = 1;

		assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
		assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
		__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
		assert_int_equal(get(5 * PAGE_WORDS - 1), ~(PAGE_WORDS - 1));
		assert_int_equal(get(5 * PAGE_WORDS), ~PAGE_WORDS);
	}
#endif
	end();
}

/* ---- cost ---- */

static void polled_pages_come_with_others(void **state)
{
	uint64_t halts;

	(void)state;
	begin(count_even);
	for (uint32_t i = 0; i < 10; i++) {
		halts = figures()->halts;
		assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
		for (uint32_t page = 0; page < 3; page++)
			(void)get(2 * page * PAGE_WORDS);
		/* They are missing one by one, then all at once, then they come along. */
		assert_int_equal(figures()->halts - halts, i == 0 ? 4 : i == 1 ? 2 : 1);
	}
	/* What is not looked at any more is not read any more. */
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	halts = figures()->bytes_in;
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	assert_int_equal(figures()->bytes_in, halts);
	end();
}

/* 9 pages in a row take 4 halts: for 1, 2, 4 and the last 2. */
static void pages_in_a_row_take_few_halts(void **state)
{
	uint64_t halts;

	(void)state;
	begin(count_even);
	halts = figures()->halts;
	for (uint32_t word = 0; word < WORDS; word += 8)
		(void)get(word);
	assert_int_equal(figures()->halts - halts, 4);
	assert_int_equal(figures()->bytes_in, WORDS * 4);
	end();
}

static void nothing_to_move_halts_nothing(void **state)
{
	uint64_t halts;

	(void)state;
	begin(NULL);
	card[0] = 6;
	(void)get(0);
	set(0, 5);
	set(0, 6);
	halts = figures()->halts;
	assert_int_equal(pb_gdb_memory_push(&memory), PB_ERROR_OK);
	assert_int_equal(figures()->halts, halts);
	set(0, 5);
	assert_int_equal(pb_gdb_memory_push(&memory), PB_ERROR_OK);
	assert_int_equal(figures()->halts, halts + 1);
	assert_int_equal(card[0], 5);
	end();
}

static void test_peek(void **state)
{
	uint32_t word = 5;

	(void)state;
	begin(NULL);
	card[9] = 99;
	assert_false(pb_gdb_memory_peek(&memory, 9 * 4, &word));
	(void)get(0);
	assert_true(pb_gdb_memory_peek(&memory, 9 * 4, &word));
	assert_int_equal(word, 99);
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	assert_false(pb_gdb_memory_peek(&memory, 9 * 4, &word));
	end();
}

/* ---- failures ---- */

static void a_stub_that_is_gone_is_no_card(void **state)
{
	(void)state;
	for (uint32_t most = 3; most < 12; most++) {
		begin(NULL);
		stub.answers_most = most;
		for (uint32_t i = 0; i < 10; i++) {
			/* Nothing of this may hang or crash; what is read is what there was. */
			set(i * 800, i);
			(void)get(i * 800);
			(void)pb_gdb_memory_sync(&memory);
		}
		assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_NO_CARD);
		end();
	}
}

static void test_refused(void **state)
{
	(void)state;
	begin(NULL);
	stub.regions[0].bytes = PAGE_WORDS * 4;
	(void)get(0);
	assert_int_equal(pb_gdb_memory_sync(&memory), PB_ERROR_OK);
	(void)get(PAGE_WORDS);
	pb_shared_barrier();
	assert_int_equal(memory.error, PB_ERROR_BAD_RANGE);
	assert_int_equal(pb_gdb_memory_push(&memory), PB_ERROR_BAD_RANGE);
	end();
}

/* ---- SIGSEGV of others ---- */

static sigjmp_buf jump;

static void others_handler(int signal)
{
	siglongjmp(jump, signal);
}

static void faults_elsewhere_are_passed_on(void **state)
{
	const struct sigaction others = {.sa_handler = others_handler};
	struct sigaction before, after;
	uint32_t *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(nothing != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &others, &before), 0);
	begin(NULL);
	(void)get(0);
	if (sigsetjmp(jump, 1) == 0) {
		pb_shared_write32(nothing, 1);
		fail();
	}
	/* It took its place again. */
	assert_int_equal(sigaction(SIGSEGV, NULL, &after), 0);
	assert_true(after.sa_handler == others_handler);
	end();
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	munmap(nothing, 4096);
}

/* Two boards at once, closed in either order. */
static void two_boards_close_in_either_order(void **state)
{
	static struct gdb_stub second_stub;
	static struct pb_gdb second_gdb;
	static struct pb_gdb_memory second;
	static uint32_t second_card[64];
	int socket;

	(void)state;
	begin(NULL);
	card[0] = 1;
	second_card[0] = 2;
	second_stub = (struct gdb_stub){.regions = {{0x100, sizeof(second_card), (uint8_t *)second_card}},
					.binary = true};
	gdb_stub_start(&second_stub);
	assert_int_equal(pb_gdb_connect(second_stub.path, &socket), PB_ERROR_OK);
	assert_int_equal(pb_gdb_greet(&second_gdb, socket, PB_GDB_PATIENCE_US), PB_ERROR_OK);
	assert_int_equal(pb_gdb_memory_open(&second, &second_gdb, 0x100, sizeof(second_card)), PB_ERROR_OK);
	assert_int_equal(get(0), 1);
	assert_int_equal(pb_shared_read32((uint32_t *)(void *)second.view), 2);
	set(1, 0x237d2a24); /* bytes that are escaped, and digits at the other */
	pb_shared_write32((uint32_t *)(void *)second.view + 1, 0x237d2a24);
	end();
	assert_int_equal(card[1], 0x237d2a24);
	pb_shared_write32((uint32_t *)(void *)second.view + 2, 3);
	pb_gdb_memory_close(&second);
	pb_gdb_leave(&second_gdb);
	close(second_gdb.wire.socket);
	gdb_stub_end(&second_stub);
	assert_int_equal(second_card[1], 0x237d2a24);
	assert_int_equal(second_card[2], 3);
}

UNIT_SUITE(test_gdb_memory)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_touched_pages_are_read),
		cmocka_unit_test(only_changed_words_are_written),
		cmocka_unit_test(neighbouring_words_of_host_and_card_both_survive),
		cmocka_unit_test(test_index_with_its_entry),
		cmocka_unit_test(words_never_grow_older),
		cmocka_unit_test(one_instruction_may_use_two_pages),
		cmocka_unit_test(polled_pages_come_with_others),
		cmocka_unit_test(pages_in_a_row_take_few_halts),
		cmocka_unit_test(nothing_to_move_halts_nothing),
		cmocka_unit_test(test_peek),
		cmocka_unit_test(a_stub_that_is_gone_is_no_card),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(faults_elsewhere_are_passed_on),
		cmocka_unit_test(two_boards_close_in_either_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
