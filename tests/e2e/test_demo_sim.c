/* SPDX-License-Identifier: MIT */
/* The demo on a simulated card: the pictures are right, and wrong when nothing is patched. */
#define _GNU_SOURCE
#include <dirent.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/demo.h"
#include "host/tool/scene.h"
#include "patchbay/abi/boot.h"
#include "qemu/sim.h"
#include "tests/unit/unit.h"

/** The files and output of one run. */
struct outcome {
	int code;
	char out[4096];
	char err[4096];
	uint32_t files; /* pictures written, and a timeline */
	uint32_t width; /* of the first picture */
	uint32_t height;
};

/* Redirects a stream of this process to a file. @return the argument of restore() */
static int redirect(FILE *stream, FILE *to)
{
	int saved;

	fflush(stream);
	saved = dup(fileno(stream));
	assert_true(saved >= 0);
	assert_true(dup2(fileno(to), fileno(stream)) >= 0);
	return saved;
}

static void restore(FILE *stream, int saved)
{
	fflush(stream);
	assert_true(dup2(saved, fileno(stream)) >= 0);
	close(saved);
}

static void read_text(FILE *from, char *text, size_t size)
{
	size_t length;

	rewind(from);
	length = fread(text, 1, size - 1, from);
	text[length] = '\0';
	fclose(from);
}

/* Counts the files of a folder and removes them and the folder. */
static uint32_t remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint32_t files = 0;

	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		char file[512];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		assert_int_equal(unlink(file), 0);
		files++;
	}
	closedir(folder);
	assert_int_equal(rmdir(path), 0);
	return files;
}

static uint32_t big_endian(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* Width and height are in the first chunk of every PNG. */
static void read_size(const char *folder, struct outcome *outcome)
{
	uint8_t head[24] = {0};
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/frame-0000.png", folder);
	file = fopen(path, "rb");
	if (file == NULL)
		return;
	assert_int_equal(fread(head, sizeof(head), 1, file), 1);
	fclose(file);
	outcome->width = big_endian(head + 16);
	outcome->height = big_endian(head + 20);
}

static png_bytep read_picture(const char *folder, const char *name, png_image *picture)
{
	char path[512];
	png_bytep pixels;

	memset(picture, 0, sizeof(*picture));
	picture->version = PNG_IMAGE_VERSION;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (png_image_begin_read_from_file(picture, path) == 0)
		return NULL;
	picture->format = PNG_FORMAT_RGB;
	pixels = malloc(PNG_IMAGE_SIZE(*picture));
	assert_non_null(pixels);
	assert_int_not_equal(png_image_finish_read(picture, NULL, pixels, 0, NULL), 0);
	return pixels;
}

/* Each pixel of the sheet is the mean of four of its frame, 8 frames in a row. */
static void check_sheet(const char *folder, uint32_t frames)
{
	png_image sheet, frame;
	png_bytep all = read_picture(folder, "frames.png", &sheet);

	assert_non_null(all);
	for (uint32_t end = 0; end < 2; end++) {
		const uint32_t f = end * (frames - 1u);
		char name[32];
		png_bytep one;

		snprintf(name, sizeof(name), "frame-%04u.png", (unsigned)f);
		one = read_picture(folder, name, &frame);
		assert_non_null(one);
		assert_int_equal(sheet.width, (frames < 8u ? frames : 8u) * (frame.width / 2u));
		assert_int_equal(sheet.height, (frames + 7u) / 8u * (frame.height / 2u));
		for (uint32_t y = 0; y < frame.height / 2u; y++) {
			for (uint32_t x = 0; x < frame.width / 2u * 3u; x++) {
				const png_byte *four = one + 2u * y * frame.width * 3u + x / 3u * 6u + x % 3u;
				const uint32_t down = frame.width * 3u;

				const uint32_t at = (f / 8u * (frame.height / 2u) + y) * sheet.width * 3u +
						    f % 8u * (frame.width / 2u) * 3u + x;

				if (all[at] != (four[0] + four[3] + four[down] + four[down + 3u]) / 4)
					fail_msg("the sheet's byte %u, of frame %u, is 0x%x", at, f, all[at]);
			}
		}
		free(one);
	}
	free(all);
}

/*
 * The trace has as many packets as the last line reports submissions. Those that a WDDM kernel got back before they were
 * patched or fed may lack.
 */
static void check_timeline(const char *folder, const char *out, bool wddm)
{
	const char *line = strstr(out, "demo: ok ");
	unsigned frames, submissions, completed, packets = 0;
	char path[512];
	char *text, *row;
	FILE *file;

	assert_non_null(line);
	assert_int_equal(sscanf(line, "demo: ok %u frames, %u submissions", &frames, &submissions), 2);
	snprintf(path, sizeof(path), "%s/timeline.html", folder);
	file = fopen(path, "r");
	assert_non_null(file);
	text = calloc(1, 1u << 20);
	assert_non_null(text);
	assert_in_range(fread(text, 1, 1u << 20, file), 10000, (1u << 20) - 1u);
	fclose(file);
	row = strstr(text, "\"packets\":[\n");
	assert_non_null(row);
	assert_non_null(strstr(row, "],\"marks\""));
	*strstr(row, "],\"marks\"") = '\0';
	while ((row = strchr(row, '\n')) != NULL && row[1] == '[') {
		packets++;
		row++;
	}
	free(text);
	completed = submissions;
	if (wddm)
		assert_int_equal(sscanf(strstr(out, " paging; "), " paging; %u completed", &completed), 1);
	assert_in_range(packets, completed, submissions);
}

static void run(struct outcome *outcome, struct pb_demo_options options,
		void (*prepare)(struct pb_link *link))
{
	char parent[] = "/tmp/patchbay-demo-XXXXXX";
	char folder[64];
	FILE *out = tmpfile();
	FILE *err = tmpfile();
	struct pb_sim *sim = pb_sim_create();
	int saved_out, saved_err;

	assert_true(out != NULL && err != NULL && sim != NULL && mkdtemp(parent) != NULL);
	assert_int_equal(pb_link_open_sim(sim, 1, &options.link), PB_ERROR_OK);
	if (prepare != NULL)
		prepare(options.link);
	/* Two folders deep: the demo creates missing folders. */
	snprintf(folder, sizeof(folder), "%s/made/here", parent);
	options.output = folder;
	saved_out = redirect(stdout, out);
	saved_err = redirect(stderr, err);
	outcome->code = pb_demo_run(&options);
	restore(stdout, saved_out);
	restore(stderr, saved_err);
	read_text(out, outcome->out, sizeof(outcome->out));
	read_text(err, outcome->err, sizeof(outcome->err));
	read_size(folder, outcome);
	if (outcome->code == 0) {
		check_sheet(folder, options.frames);
		check_timeline(folder, outcome->out, options.wddm);
	}
	outcome->files = remove_folder(folder);
	*strrchr(folder, '/') = '\0';
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(parent), 0);
	options.link->ops->close(options.link);
	pb_sim_destroy(sim);
}

static const char *last_line(char *text)
{
	size_t length = strlen(text);
	char *newline;

	assert_true(length > 0 && text[length - 1] == '\n');
	text[length - 1] = '\0';
	newline = strrchr(text, '\n');
	return newline != NULL ? newline + 1 : text;
}

static void the_whole_demo_is_right(void **state)
{
	static struct outcome outcome;
	unsigned submissions = 0, patches = 0, moves = 0, evictions = 0, page_ins = 0, paged = 0, splits = 0;
	char rest = '\0';
	const char *figures, *line;

	(void)state;
	run(&outcome, (struct pb_demo_options){.frames = PB_SCENE_PERIOD}, NULL);
	assert_string_equal(outcome.err, "");
	assert_int_equal(outcome.code, 0);
	assert_int_equal(outcome.files, 72 + 2);
	figures = strstr(outcome.out, "errors\n");
	assert_non_null(figures);
	for (uint32_t i = 0; i < 3; i++)
		figures = strchr(figures, '\n') + 1;
	assert_int_equal(sscanf(figures, "%u evictions, %u page-ins, %u bytes paged, %u splits\n", &evictions,
				&page_ins, &paged, &splits),
			 4);
	line = last_line(outcome.out);
	assert_int_equal(sscanf(line, "demo: ok 72 frames, %u submissions, %u patches, %u moves%c",
				&submissions, &patches, &moves, &rest),
			 3);
	/* Two clears in each frame. The other submissions draw, with three addresses each. */
	assert_true(patches > 72 * 30);
	assert_int_equal((patches - 72 * 2) % 3, 0);
	/* Each frame pages a screen in and another one out, and rewrites vertices, plasma and scope. */
	assert_true(evictions >= 72 * 4);
	assert_true(page_ins >= evictions);
	assert_int_equal(moves, evictions + page_ins);
	assert_true(paged > 71u * 2 * 320 * 240 * 4);
	assert_true(splits >= 72);
	assert_true(submissions >= 72 * 3 + splits);
}

/* The same scene through the miniport: each frame is compared with the painter's, and memory is audited. */
static void the_whole_demo_is_right_through_the_miniport(void **state)
{
	static struct outcome outcome;
	unsigned submissions = 0, moves = 0, preemptions = 0, timeouts = 0;
	char rest = '\0';

	(void)state;
	run(&outcome, (struct pb_demo_options){.frames = PB_SCENE_PERIOD, .wddm = true}, NULL);
	assert_string_equal(outcome.err, "");
	assert_int_equal(outcome.code, 0);
	assert_int_equal(outcome.files, 72 + 2);
	assert_int_equal(sscanf(last_line(outcome.out),
				"demo: ok 72 frames, %u submissions, %u moves, %u preemptions, %u timeouts%c",
				&submissions, &moves, &preemptions, &timeouts, &rest),
			 4);
	assert_true(submissions >= 72 * 3);
	assert_true(moves >= 72 * 8);
	assert_true(preemptions >= 50);
	assert_int_equal(timeouts, 1);
}

static void a_quiet_demo_prints_only_its_last_line(void **state)
{
	static struct outcome outcome;

	(void)state;
	run(&outcome, (struct pb_demo_options){.frames = 1, .quiet = true}, NULL);
	assert_int_equal(outcome.code, 0);
	assert_string_equal(outcome.err, "");
	assert_ptr_equal(last_line(outcome.out), outcome.out);
	assert_memory_equal(outcome.out, "demo: ok 1 frames, ", 19);
}

static void the_demo_fails_without_patching(void **state)
{
	static struct outcome outcome;

	(void)state;
	run(&outcome, (struct pb_demo_options){.frames = PB_SCENE_PERIOD, .without_patches = true}, NULL);
	assert_int_equal(outcome.code, 1);
	/* The timeline. */
	assert_int_equal(outcome.files, 1);
	assert_non_null(strstr(outcome.err, "patchbay demo: frame 0: 3D node: ENGINE_FAULT: "));
	assert_string_equal(last_line(outcome.out), "demo: failed");
}

/* ---- a card with little memory ---- */

static uint32_t pool_bytes;

/* The card says that it has less. */
static void let_pool_be_small(struct pb_link *link)
{
	const struct pb_boot_block *block = (const void *)link->memory;
	struct pb_capability *table = (void *)(link->memory + block->capability_offset);

	for (uint32_t i = 0; i < block->capability_count; i++) {
		if (table[i].key == PB_CAPABILITY_POOL_BYTES)
			table[i].value = pool_bytes;
		if (table[i].key == PB_CAPABILITY_POOL_BYTES_MIN)
			table[i].value = 0;
	}
}

static void the_demo_fits_itself_to_little_memory(void **state)
{
	static const struct {
		uint32_t pool;
		uint32_t width;
		uint32_t height;
	} cases[] = {
		{0xfe0000, 320, 240}, {0x100000, 160, 120}, {0x22000, 80, 60}, {0x21fff, 40, 30},
		{0xf000, 40, 30},     {0xefff, 20, 15},     {0xa000, 20, 15},
	};
	static struct outcome outcome;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pool_bytes = cases[i].pool;
		run(&outcome, (struct pb_demo_options){.frames = 12}, let_pool_be_small);
		assert_string_equal(outcome.err, "");
		assert_int_equal(outcome.code, 0);
		assert_int_equal(outcome.files, 12 + 2);
		assert_int_equal(outcome.width, cases[i].width);
		assert_int_equal(outcome.height, cases[i].height);
	}
}

static void too_little_memory_is_reported(void **state)
{
	static struct outcome outcome;

	(void)state;
	pool_bytes = 0x9fff;
	run(&outcome, (struct pb_demo_options){.frames = 1}, let_pool_be_small);
	assert_int_equal(outcome.code, 1);
	assert_int_equal(outcome.files, 0);
	assert_string_equal(outcome.err,
			    "patchbay demo: this board's POOL_BYTES = 40959; the smallest pictures, "
			    "20 x 15, need 40960 bytes\n");
}

/* ---- a card whose memory fails ---- */

#define SCREW 0xff969aa0u /* a colour of the PANEL image */

static const struct pb_link_ops *sound_ops;
static uint32_t doorbells;

/* In the middle of the animation one bit of one colour is inverted in all of card memory. */
static void failing_doorbell(struct pb_link *link)
{
	uint32_t *words = (uint32_t *)(void *)link->memory;

	if (++doorbells == 40) {
		for (uint32_t i = 0; i < link->memory_bytes / 4; i++)
			words[i] ^= words[i] == SCREW ? 1u : 0u;
	}
	sound_ops->doorbell(link);
}

static void let_memory_fail(struct pb_link *link)
{
	static struct pb_link_ops failing;

	sound_ops = link->ops;
	failing = *sound_ops;
	failing.doorbell = failing_doorbell;
	doorbells = 0;
	link->ops = &failing;
}

static void one_wrong_bit_is_found(void **state)
{
	static struct outcome outcome;
	unsigned frame = 0, x, y, expected = 0, found = 0;

	(void)state;
	run(&outcome, (struct pb_demo_options){.frames = PB_SCENE_PERIOD}, let_memory_fail);
	assert_int_equal(outcome.code, 1);
	assert_string_equal(last_line(outcome.out), "demo: failed");
	assert_int_equal(sscanf(outcome.err,
				"patchbay demo: frame %u: pixel (%u, %u): expected 0x%x, found 0x%x\n",
				&frame, &x, &y, &expected, &found),
			 5);
	assert_true(frame > 0);
	assert_int_equal(expected, SCREW);
	assert_int_equal(found, SCREW ^ 1u);
	/* Frames 0 to this one, the expected picture of this one, and the timeline. */
	assert_int_equal(outcome.files, frame + 3);
}

UNIT_SUITE(test_demo_sim)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_demo_is_right),
		cmocka_unit_test(the_whole_demo_is_right_through_the_miniport),
		cmocka_unit_test(a_quiet_demo_prints_only_its_last_line),
		cmocka_unit_test(the_demo_fails_without_patching),
		cmocka_unit_test(the_demo_fits_itself_to_little_memory),
		cmocka_unit_test(too_little_memory_is_reported),
		cmocka_unit_test(one_wrong_bit_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
