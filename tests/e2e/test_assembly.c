/* SPDX-License-Identifier: MIT */
/* The image with hot loops in assembly: every patched byte of a replay, every picture of the demo. */
#define _GNU_SOURCE
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

static void start_card(struct e2e_card *card)
{
	struct pb_card_options options = e2e_card_options();

	options.image = e2e_image_assembly();
	if (access(options.image, R_OK) != 0)
		print_error("Build it with: cmake -B build/%s-asm -G Ninja -DPB_BOARD=%s -DPB_ASSEMBLY=ON && "
			    "cmake --build build/%s-asm\n",
			    e2e_board(), e2e_board(), e2e_board());
	assert_int_equal(access(options.image, R_OK), 0);
	e2e_path(card->socket, "card");
	options.socket = card->socket;
	options.restarts = 0;
	options.quiet = true;
	assert_int_equal(pb_card_start(&options, &card->pid), 0);
}

static void a_replay_is_right_with_the_assembly_loops(void **state)
{
	static const char *const encodings[] = {"--encoding=wddm", "--encoding=compact"};
	struct e2e_card card;

	(void)state;
	start_card(&card);
	for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
		static struct e2e_output output;

		e2e_patchbay(&output, "replay", "--card", card.socket, encodings[i],
			     E2E_DATA "/nv50.subm.zst");
		assert_string_equal(output.err, "");
		assert_int_equal(output.code, 0);
	}
	e2e_card_stop(&card);
}

/* Addresses of 64 bits for reading: the format that these loops handle. */
static void the_demo_is_right_with_the_assembly_loops(void **state)
{
	char folder[E2E_PATH_BYTES];
	static struct e2e_output output;
	struct e2e_card card;

	(void)state;
	start_card(&card);
	e2e_path(folder, "frames");
	e2e_patchbay(&output, "demo", "--card", card.socket, "--frames", "6", "--output", folder);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	assert_memory_equal(e2e_last_line(output.out), "demo: ok 6 frames, ", 19);
	e2e_card_stop(&card);
}

int main(void)
{
	const struct CMUnitTest tests[] = {e2e_test(a_replay_is_right_with_the_assembly_loops),
					   e2e_test(the_demo_is_right_with_the_assembly_loops)};

	return e2e_run_tests(tests);
}
