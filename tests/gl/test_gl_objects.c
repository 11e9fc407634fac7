/* SPDX-License-Identifier: MIT */
/* The table of objects, beside a list that holds the same. */
#include <string.h>

#include "hal/gl/objects.h"
#include "tests/unit/unit.h"

#define RECORDS 256u
#define STEPS   20000u

static struct pb_gl_object records[RECORDS];
static struct pb_gl_objects table = {.records = records, .count = RECORDS};
static struct pb_gl_object listed[RECORDS]; /**< handle 0: free */

static struct pb_gl_object *find_listed(uint32_t sub_context, uint32_t handle)
{
	for (uint32_t n = 0; n < RECORDS; n++)
		if (listed[n].handle == handle && listed[n].sub_context == sub_context)
			return &listed[n];
	return NULL;
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void add(const struct pb_gl_object *object)
{
	struct pb_gl_object *record = find_listed(object->sub_context, object->handle);

	if (!pb_gl_objects_add(&table, object))
		fail_msg("full with %u objects", table.used);
	for (uint32_t n = 0; !record && n < RECORDS; n++)
		if (listed[n].handle == 0)
			record = &listed[n];
	*record = *object;
}

static void remove_one(uint32_t sub_context, uint32_t handle)
{
	struct pb_gl_object *record = find_listed(sub_context, handle);

	pb_gl_objects_remove(&table, sub_context, handle);
	if (record)
		memset(record, 0, sizeof(*record));
}

static void remove_all(uint32_t sub_context)
{
	pb_gl_objects_remove_all(&table, sub_context);
	for (uint32_t n = 0; n < RECORDS; n++)
		if (listed[n].sub_context == sub_context)
			memset(&listed[n], 0, sizeof(listed[n]));
}

static void compare(uint32_t sub_context, uint32_t handle)
{
	const struct pb_gl_object *found = pb_gl_objects_find(&table, sub_context, handle);
	const struct pb_gl_object *expected = find_listed(sub_context, handle);

	assert_int_equal(found != NULL, expected != NULL);
	if (found)
		assert_memory_equal(found, expected, sizeof(*found));
}

static void the_table_holds_what_a_list_holds(void **state)
{
	uint32_t seed = 1;

	(void)state;
	pb_gl_objects_start(&table);
	memset(listed, 0, sizeof(listed));
	for (uint32_t step = 0; step < STEPS; step++) {
		const struct pb_gl_object object = {.sub_context = next(&seed) % 3u,
						    .handle = 1u + next(&seed) % 30u,
						    .kind = next(&seed) % 12u,
						    .resource = next(&seed)};
		uint32_t used = 0;

		if (next(&seed) % 2u != 0)
			add(&object);
		else if (next(&seed) % 100u != 0)
			remove_one(object.sub_context, object.handle);
		else
			remove_all(object.sub_context);
		compare(next(&seed) % 3u, 1u + next(&seed) % 30u);
		for (uint32_t n = 0; n < RECORDS; n++)
			used += listed[n].handle != 0 ? 1u : 0;
		assert_int_equal(table.used, used);
	}
}

static void no_object_has_handle_0(void **state)
{
	(void)state;
	pb_gl_objects_start(&table);
	assert_null(pb_gl_objects_find(&table, 0, 0));
	pb_gl_objects_remove(&table, 0, 0);
	assert_int_equal(table.used, 0);
}

/* Handles that follow one another, as a client counts them, are spread over the table. */
static void half_of_the_records_can_be_used(void **state)
{
	static struct pb_gl_object many[32768];
	struct pb_gl_objects large = {.records = many, .count = 32768};

	(void)state;
	for (uint32_t base = 1; base != 0; base <<= 4) {
		pb_gl_objects_start(&large);
		for (uint32_t n = 0; n < 16384; n++) {
			const struct pb_gl_object object = {.sub_context = n % 7u, .handle = base + n};

			if (!pb_gl_objects_add(&large, &object))
				fail_msg("full with %u objects from %u on", large.used, base);
		}
		assert_int_equal(large.used, 16384);
	}
}

static void a_full_table_refuses_one_more_and_keeps_the_others(void **state)
{
	static struct pb_gl_object few[PB_GL_OBJECT_PLACES];
	struct pb_gl_objects small = {.records = few, .count = PB_GL_OBJECT_PLACES};
	struct pb_gl_object object = {.handle = 1};

	(void)state;
	pb_gl_objects_start(&small);
	for (; object.handle <= PB_GL_OBJECT_PLACES; object.handle++)
		assert_true(pb_gl_objects_add(&small, &object));
	assert_false(pb_gl_objects_add(&small, &object));
	object.handle = 5;
	object.resource = 9;
	assert_true(pb_gl_objects_add(&small, &object));
	assert_int_equal(pb_gl_objects_find(&small, 0, 5)->resource, 9);
	pb_gl_objects_remove(&small, 0, 6);
	object.handle = 1000;
	assert_true(pb_gl_objects_add(&small, &object));
	assert_int_equal(small.used, PB_GL_OBJECT_PLACES);
}

UNIT_SUITE(test_gl_objects)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_holds_what_a_list_holds),
		cmocka_unit_test(no_object_has_handle_0),
		cmocka_unit_test(half_of_the_records_can_be_used),
		cmocka_unit_test(a_full_table_refuses_one_more_and_keeps_the_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
