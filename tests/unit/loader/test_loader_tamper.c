/* SPDX-License-Identifier: MIT */
/* A signed image with one bit that is another: each bit of header, signature and code. */
#include <stdio.h>

#include "tests/unit/loader/loader_bench.h"
#include "tests/unit/unit.h"

static void every_bit_of_header_signature_and_code_is_refused_with_a_reason(void **state)
{
	static struct bench bench;
	struct bench_file file;
	uint32_t refused = 0;

	(void)state;
	bench_start(&bench);
	bench_sign(&file, 1, 1);
	bench_place(&bench, 0, &file, true, true);
	assert_int_equal(bench_boot(&bench), 0);
	for (uint32_t bit = 0; bit < 8u * sizeof(file); bit++) {
		uint8_t *byte = bench.model.bytes + pb_slot_image_offset(&bench.model.slots, 0) + bit / 8u;

		*byte ^= (uint8_t)(1u << bit % 8u);
		assert_int_equal(bench_boot(&bench), PB_SLOT_NONE);
		assert_true(bench.reported[0] > PB_LOADER_EMPTY);
		if (bit >= 8u * sizeof(file.header))
			assert_int_equal(bench.reported[0], PB_LOADER_BAD_DIGEST);
		else if (bit >= 8u * PB_SIGNED_BYTES)
			assert_int_equal(bench.reported[0], PB_LOADER_BAD_SIGNATURE);
		*byte ^= (uint8_t)(1u << bit % 8u);
		refused++;
	}
	assert_int_equal(refused, 8u * (160u + 4u * BENCH_IMAGE_WORDS));
	assert_int_equal(bench_boot(&bench), 0);
	bench_stop(&bench);
}

UNIT_SUITE(test_loader_tamper)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bit_of_header_signature_and_code_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
