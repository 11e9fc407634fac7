/* SPDX-License-Identifier: MIT */
/* The table of resources: handles, ids, dropped resources, and a random history against a plain array. */
#include <string.h>

#include "host/gl/resources.h"
#include "tests/unit/unit.h"

#define COUNT   16u
#define HANDLES 64u

struct bench {
	struct pb_gl_resource records[COUNT];
	uint32_t chains[COUNT];
	struct pb_gl_resources table;
};

static void start(struct bench *bench)
{
	bench->table =
		(struct pb_gl_resources){.records = bench->records, .count = COUNT, .chains = bench->chains};
	pb_gl_resources_start(&bench->table);
}

static const uint32_t words[PB_GL_TEMPLATE_WORDS] = {2, 67, 8, 64, 32, 1, 1, 0, 0, 0};

static void a_handle_is_used_once_and_an_id_by_one(void **state)
{
	struct bench bench;
	struct pb_gl_resource *first, *second;

	(void)state;
	start(&bench);
	first = pb_gl_resources_add(&bench.table, 7, words);
	assert_non_null(first);
	assert_memory_equal(first->template_words, words, sizeof(words));
	assert_null(pb_gl_resources_add(&bench.table, 7, words));
	assert_null(pb_gl_resources_add(&bench.table, 0, words));
	assert_ptr_equal(pb_gl_resources_find(&bench.table, 7), first);
	assert_null(pb_gl_resources_find(&bench.table, 7 + COUNT));
	assert_null(pb_gl_resources_find(&bench.table, 0));
	assert_null(pb_gl_resources_at(&bench.table, 0));
	assert_null(pb_gl_resources_at(&bench.table, COUNT + 1));
	/* A dropped one keeps its id; its handle is free for another one. */
	pb_gl_resources_drop(&bench.table, first);
	assert_null(pb_gl_resources_find(&bench.table, 7));
	second = pb_gl_resources_add(&bench.table, 7, words);
	assert_true(second != NULL && second->id != first->id);
	assert_ptr_equal(pb_gl_resources_at(&bench.table, first->id), first);
	assert_int_equal(bench.table.dropped, 1);
	pb_gl_resources_remove(&bench.table, first);
	assert_int_equal(bench.table.dropped, 0);
	assert_int_equal(bench.table.used, 1);
}

static void a_full_table_takes_none(void **state)
{
	struct bench bench;

	(void)state;
	start(&bench);
	for (uint32_t i = 1; i <= COUNT; i++)
		assert_non_null(pb_gl_resources_add(&bench.table, i * COUNT, words));
	assert_null(pb_gl_resources_add(&bench.table, 1, words));
	for (uint32_t i = 1; i <= COUNT; i++)
		assert_int_equal(pb_gl_resources_find(&bench.table, i * COUNT)->handle, i * COUNT);
}

/* Handles of one chain come and go; a plain array knows which exist. */
static void a_random_history(void **state)
{
	struct bench bench;
	uint32_t id_of[HANDLES] = {0}, used = 0, seed = 1;

	(void)state;
	start(&bench);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t handle;
		struct pb_gl_resource *found;

		seed = seed * 1664525u + 1013904223u;
		handle = (seed >> 16) % (HANDLES - 1) + 1;
		found = pb_gl_resources_find(&bench.table, handle);
		assert_int_equal(found != NULL ? found->id : 0, id_of[handle]);
		if (found != NULL && (seed >> 8) % 2 != 0) {
			pb_gl_resources_drop(&bench.table, found);
			pb_gl_resources_remove(&bench.table, found);
			id_of[handle] = 0;
			used--;
		} else if (found == NULL) {
			found = pb_gl_resources_add(&bench.table, handle, words);
			assert_int_equal(found != NULL, used < COUNT);
			id_of[handle] = found != NULL ? found->id : 0;
			used += found != NULL ? 1u : 0u;
		}
	}
	assert_int_equal(bench.table.used, used);
}

static void bytes_of_contents(void **state)
{
	static const struct {
		uint32_t words[PB_GL_TEMPLATE_WORDS];
		uint64_t most, bytes;
	} cases[] = {
		{{0, 64, 0, 8, 1, 1, 1, 0, 0, 0}, 1 << 20, 4096},
		{{0, 64, 0, 4097, 1, 1, 1, 0, 0, 0}, 1 << 20, 8192},
		{{2, 67, 0, 64, 64, 1, 1, 0, 0, 0}, 1 << 20, 16384},
		/* 16384 + 4096 + 1024 + ... + 4. */
		{{2, 67, 0, 64, 64, 1, 1, 6, 0, 0}, 1 << 20, 24576},
		{{2, 67, 0, 64, 64, 1, 6, 0, 0, 0}, 1 << 20, 98304},
		{{2, 67, 0, 64, 64, 1, 1, 0, 4, 0}, 1 << 20, 65536},
		{{3, 67, 0, 64, 64, 8, 1, 0, 0, 0}, 1 << 20, 131072},
		{{2, 105, 0, 64, 64, 1, 1, 0, 0, 0}, 1 << 20, 4096},
		/* No more than there is, whatever the numbers are. */
		{{2, 67, 0, 16384, 16384, 1, 1, 0, 0, 0}, 1 << 20, 1 << 20},
		{{2, 67, 0, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0},
		 1 << 20,
		 1 << 20},
		{{2, 67, 0, 0, 0, 0, 0, 0, 0, 0}, 1 << 20, 4096},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (pb_gl_resource_bytes(cases[i].words, cases[i].most) != cases[i].bytes)
			fail_msg("row %zu", i);
	}
}

UNIT_SUITE(test_gl_resources)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handle_is_used_once_and_an_id_by_one),
		cmocka_unit_test(a_full_table_takes_none),
		cmocka_unit_test(a_random_history),
		cmocka_unit_test(bytes_of_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
