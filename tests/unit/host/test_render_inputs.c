/* SPDX-License-Identifier: MIT */
/* The lists beside the commands, the staging memory, where a call begins, and the statuses. */
#include "tests/unit/host/render_bench.h"

#define OK  PB_RENDER_SUCCESS
#define BAD PB_RENDER_INVALID_PARAMETER

static const uint32_t copy_fill[] = {0x02000006, 1, 8, 2, 16, 4, 0x01000005, 3, 32, 4, 7};

/* All three addresses of copy_fill. */
static const struct pb_patch_location good_locations[] = {
	{1, 0x00ffffff, 1, 8, 4, 4},
	{2, 0, 3, 16, 12, 0},
	{3, 7, 3, 32, 28, 24},
};

struct location_row {
	const char *name;
	enum pb_render_status status;
	uint32_t count;
	struct pb_patch_location locations[4];
};

static const struct location_row location_rows[] = {
	{"source alone", OK, 1, {{1, 0, 1, 8, 4, 0}}},
	{"destination alone", OK, 1, {{2, 0, 3, 16, 12, 0}}},
	{"the last alone", OK, 1, {{3, 0, 3, 32, 28, 28}}},
	{"all", OK, 3, {{1, 0, 1, 8, 4, 0}, {2, 0, 3, 16, 12, 0}, {3, 0, 3, 32, 28, 0}}},
	{"not ascending", BAD, 2, {{2, 0, 3, 16, 12, 0}, {1, 0, 1, 8, 4, 0}}},
	{"twice the same", BAD, 2, {{1, 0, 1, 8, 4, 0}, {1, 0, 1, 8, 4, 0}}},
	{"another index", BAD, 1, {{2, 0, 1, 8, 4, 0}}},
	{"index beyond the list", BAD, 1, {{6, 0, 1, 8, 4, 0}}},
	{"a reserved bit", BAD, 1, {{1, 0x01000000, 1, 8, 4, 0}}},
	{"the highest reserved bit", BAD, 1, {{1, 0x80000000, 1, 8, 4, 0}}},
	{"a write to the source", BAD, 1, {{1, 0, 3, 8, 4, 0}}},
	{"a read of the destination", BAD, 1, {{2, 0, 1, 16, 12, 0}}},
	{"another format", BAD, 1, {{1, 0, 0, 8, 4, 0}}},
	{"another offset", BAD, 1, {{1, 0, 1, 12, 4, 0}}},
	{"at a header", BAD, 1, {{1, 0, 1, 8, 0, 0}}},
	{"at the second word of an address", BAD, 1, {{1, 0, 1, 8, 8, 0}}},
	{"between words", BAD, 1, {{1, 0, 1, 8, 5, 0}}},
	{"at the end", BAD, 1, {{1, 0, 1, 8, 44, 0}}},
	{"far away", BAD, 1, {{1, 0, 1, 8, 0xfffffffc, 0}}},
	{"split behind the patch", BAD, 1, {{1, 0, 1, 8, 4, 5}}},
};

static void test_user_locations(void **state)
{
	struct render_bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(location_rows) / sizeof(location_rows[0]); i++) {
		const struct location_row *row = &location_rows[i];

		for (uint32_t kernel = 0; kernel < 2; kernel++) {
			render_bench_init(&bench);
			render_bench_commands(&bench, copy_fill, 11);
			bench.arguments.user_locations = row->locations;
			bench.arguments.user_location_count = row->count;
			render_expect(row->name,
				      kernel ? pb_render_km(&bench.arguments) : pb_render(&bench.arguments),
				      row->status);
		}
	}
}

/* One thing is changed in a call that is good otherwise. */
struct change_row {
	const char *name;
	enum pb_render_status user;
	enum pb_render_status kernel;
	void (*change)(struct render_bench *bench);
};

static void change_nothing(struct render_bench *bench)
{
	(void)bench;
}

static void unknown_handle(struct render_bench *bench)
{
	bench->list[5].handle = BENCH_READ + 5;
}

static void reserved_flag(struct render_bench *bench)
{
	bench->list[5].flags = 2;
}

static void highest_flag(struct render_bench *bench)
{
	bench->list[0].flags = 0x80000000;
}

static void null_entries(struct render_bench *bench)
{
	bench->list[4] = (struct pb_render_user_allocation){0, PB_RENDER_USER_WRITE};
	bench->list[5] = (struct pb_render_user_allocation){0, 0};
}

static void half_a_word(struct render_bench *bench)
{
	bench->arguments.command_length -= 2;
}

static void no_commands(struct render_bench *bench)
{
	bench->arguments.command = NULL;
	bench->arguments.command_length = 0;
	bench->arguments.user_location_count = 0;
}

static void nothing_at_all(struct render_bench *bench)
{
	no_commands(bench);
	bench->arguments.user_allocations = NULL;
	bench->arguments.user_allocation_count = 0;
	bench->arguments.user_locations = NULL;
	bench->arguments.staging_size = 0;
}

static void null_commands(struct render_bench *bench)
{
	bench->arguments.command = NULL;
}

static void null_list(struct render_bench *bench)
{
	bench->arguments.user_allocations = NULL;
}

static void null_locations(struct render_bench *bench)
{
	bench->arguments.user_locations = NULL;
}

static const void *odd(const void *pointer)
{
	return (const uint8_t *)pointer + 2;
}

static void odd_commands(struct render_bench *bench)
{
	bench->arguments.command = odd(bench->words);
}

static void odd_list(struct render_bench *bench)
{
	bench->arguments.user_allocations = odd(bench->list);
}

static void odd_locations(struct render_bench *bench)
{
	bench->arguments.user_locations = odd(good_locations);
}

static void exact_staging(struct render_bench *bench)
{
	bench->arguments.staging_size = (uint32_t)pb_render_staging_bytes(44, 6, 3);
}

static void short_staging(struct render_bench *bench)
{
	exact_staging(bench);
	bench->arguments.staging_size--;
}

static void staging_for_the_kernel(struct render_bench *bench)
{
	bench->arguments.staging_size = (uint32_t)pb_render_staging_bytes(0, 6, 0);
}

static void short_staging_for_the_kernel(struct render_bench *bench)
{
	staging_for_the_kernel(bench);
	bench->arguments.staging_size--;
}

static void second_command(struct render_bench *bench)
{
	bench->arguments.multipass_offset = 24;
}

static void behind_the_last_command(struct render_bench *bench)
{
	bench->arguments.multipass_offset = 44;
}

static void inside_a_command(struct render_bench *bench)
{
	bench->arguments.multipass_offset = 4;
}

static void between_words(struct render_bench *bench)
{
	bench->arguments.multipass_offset = 23;
}

static void beyond_the_buffer(struct render_bench *bench)
{
	bench->arguments.multipass_offset = 48;
}

#define SAME(status) PB_RENDER_##status, PB_RENDER_##status

static const struct change_row change_rows[] = {
	{"nothing", SAME(SUCCESS), change_nothing},
	{"unknown handle", SAME(INVALID_HANDLE), unknown_handle},
	{"reserved flag", SAME(INVALID_PARAMETER), reserved_flag},
	{"highest flag of the NULL entry", SAME(INVALID_PARAMETER), highest_flag},
	{"NULL entries", SAME(SUCCESS), null_entries},
	{"half a word", SAME(INVALID_USER_BUFFER), half_a_word},
	{"no commands", SAME(SUCCESS), no_commands},
	{"nothing at all", SAME(SUCCESS), nothing_at_all},
	{"commands NULL", SAME(INVALID_USER_BUFFER), null_commands},
	{"allocation list NULL", SAME(INVALID_USER_BUFFER), null_list},
	{"patch list NULL", SAME(INVALID_USER_BUFFER), null_locations},
	{"commands misaligned", SAME(INVALID_USER_BUFFER), odd_commands},
	{"allocation list misaligned", SAME(INVALID_USER_BUFFER), odd_list},
	{"patch list misaligned", SAME(INVALID_USER_BUFFER), odd_locations},
	{"staging as large as it must be", SAME(SUCCESS), exact_staging},
	{"staging a byte short", PB_RENDER_NO_MEMORY, PB_RENDER_SUCCESS, short_staging},
	{"staging of the kernel", PB_RENDER_NO_MEMORY, PB_RENDER_SUCCESS, staging_for_the_kernel},
	{"staging of the kernel a byte short", SAME(NO_MEMORY), short_staging_for_the_kernel},
	{"from the second command", SAME(SUCCESS), second_command},
	{"from the end", SAME(SUCCESS), behind_the_last_command},
	{"from inside a command", SAME(INVALID_PARAMETER), inside_a_command},
	{"from between words", SAME(INVALID_PARAMETER), between_words},
	{"from beyond the buffer", SAME(INVALID_PARAMETER), beyond_the_buffer},
};

static void inputs_may_change_between_passes(void **state)
{
	struct render_bench bench;

	(void)state;
	for (size_t i = 0; i < sizeof(change_rows) / sizeof(change_rows[0]); i++) {
		const struct change_row *row = &change_rows[i];

		for (uint32_t kernel = 0; kernel < 2; kernel++) {
			const enum pb_render_status expected = kernel ? row->kernel : row->user;
			enum pb_render_status status;

			render_bench_init(&bench);
			render_bench_commands(&bench, copy_fill, 11);
			bench.arguments.user_locations = good_locations;
			bench.arguments.user_location_count = 3;
			row->change(&bench);
			status = kernel ? pb_render_km(&bench.arguments) : pb_render(&bench.arguments);
			if (expected == OK)
				render_expect(row->name, status, expected);
			else
				render_expect_nothing(row->name, &bench, status, expected);
		}
	}
}

static void test_staging_bytes(void **state)
{
	(void)state;
	assert_int_equal(pb_render_staging_bytes(0, 0, 0), 0);
	/* No sum of 32-bit counts wraps. */
	assert_true(pb_render_staging_bytes(UINT32_MAX, UINT32_MAX, UINT32_MAX) > UINT64_C(60) << 32);
}

static void test_statuses(void **state)
{
	(void)state;
	assert_string_equal(pb_render_status_name(PB_RENDER_SUCCESS), "SUCCESS");
	assert_string_equal(pb_render_status_name(PB_RENDER_INVALID_HANDLE), "INVALID_HANDLE");
	assert_string_equal(pb_render_status_name((enum pb_render_status)8), "?");
	assert_int_equal(pb_render_ntstatus(PB_RENDER_SUCCESS), 0);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_NO_MEMORY), 0xc0000017);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_INSUFFICIENT_DMA_BUFFER), 0xc01e0001);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_PRIVILEGED_INSTRUCTION), 0xc0000096);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_ILLEGAL_INSTRUCTION), 0xc000001d);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_INVALID_PARAMETER), 0xc000000d);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_INVALID_USER_BUFFER), 0xc00000e8);
	assert_int_equal(pb_render_ntstatus(PB_RENDER_INVALID_HANDLE), 0xc0000008);
	assert_int_equal(pb_render_ntstatus((enum pb_render_status)8), 0xc0000001);
}

UNIT_SUITE(test_render_inputs)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_locations),
		cmocka_unit_test(inputs_may_change_between_passes),
		cmocka_unit_test(test_staging_bytes),
		cmocka_unit_test(test_statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
