/* SPDX-License-Identifier: MIT */
/*
 * Captured submissions that are submitted again after moves, with what their patches presume: all bytes are right, and just
 * the relocations of objects that moved are patched.
 */
#include <stdio.h>

#include "tests/unit/replay_card.h"
#include "tests/unit/unit.h"

static void only_what_moved_is_patched(void **state)
{
	static const struct {
		const char *name;
		uint64_t submissions;
		uint64_t relocations;
	} samples[] = {
		{"hsw", 67, 10476}, {"snb", 56, 9252},  {"bdw", 67, 7326},
		{"hswvk", 4, 9163}, {"nv40", 40, 1481}, {"nv50", 20, 920},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(samples) / sizeof(samples[0]); i++) {
		struct pb_replay_summary summary;
		char file[512];
		const struct pb_replay_options options = {
			.file = file,
			.presumed = true,
			.encoding = i % 2 == 0 ? PB_PATCH_ENCODING_WDDM : PB_PATCH_ENCODING_GROUPED,
		};

		(void)snprintf(file, sizeof(file), "%s/%s.subm.zst", PB_TEST_DATA, samples[i / 2].name);
		assert_int_equal(replay_on_card(&options, &summary), PB_REPLAY_OK);
		assert_string_equal(summary.message, "");
		assert_int_equal(summary.submissions, samples[i / 2].submissions);
		assert_int_equal(summary.relocations, samples[i / 2].relocations);
		/* Once nothing moved, once a third of the objects, once all. */
		assert_int_equal(summary.moves, 3 * summary.submissions);
		assert_int_equal(summary.kept + summary.repatched, 3 * summary.relocations);
		assert_true(summary.kept > summary.relocations);
		assert_true(summary.repatched > summary.relocations);
	}
}

UNIT_SUITE(test_replay_again)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_moved_is_patched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
