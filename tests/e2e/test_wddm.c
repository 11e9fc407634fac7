/* SPDX-License-Identifier: MIT */
/* The commands as a WDDM kernel, on the real image: what goes through the miniport's functions gives equal bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

#define FRAMES 6u

/* ---- the demo ---- */

static void draw(struct e2e_output *output, const char *folder, const char *option)
{
	e2e_patchbay(output, "demo", "--frames", "6", "--output", folder, option);
	assert_string_equal(output->err, "");
	assert_int_equal(output->code, 0);
}

static void check_frames(const char *one, const char *other)
{
	for (unsigned frame = 0; frame < FRAMES; frame++) {
		char path[2 * E2E_PATH_BYTES];
		size_t bytes, other_bytes;
		uint8_t *contents, *other_contents;

		snprintf(path, sizeof(path), "%s/frame-%04u.png", one, frame);
		contents = e2e_read_file(path, &bytes);
		snprintf(path, sizeof(path), "%s/frame-%04u.png", other, frame);
		other_contents = e2e_read_file(path, &other_bytes);
		assert_true(bytes > 1000);
		assert_int_equal(bytes, other_bytes);
		assert_memory_equal(contents, other_contents, bytes);
		free(contents);
		free(other_contents);
	}
}

/* Packets are patched, run as rendered, are preempted; one hangs, and the engine is reset. No picture differs. */
static void the_demo_draws_equal_frames_through_the_miniport(void **state)
{
	static struct e2e_output output;
	char direct[E2E_PATH_BYTES], wddm[E2E_PATH_BYTES];
	unsigned submitted, patched, rendered, paging, completed, preemptions, returned, timeouts, aborted;

	(void)state;
	e2e_path(direct, "direct");
	e2e_path(wddm, "wddm");
	draw(&output, direct, NULL);
	draw(&output, wddm, "--wddm");
	assert_int_equal(sscanf(strstr(output.out, ".html\n") + 6,
				"%u packets submitted: %u patched, %u as rendered, %u paging; %u completed\n"
				"%u preemptions, which returned %u packets; %u timeouts, which aborted %u\n",
				&submitted, &patched, &rendered, &paging, &completed, &preemptions, &returned,
				&timeouts, &aborted),
			 9);
	assert_int_equal(submitted, patched + rendered + paging);
	assert_true(submitted >= completed + returned + aborted);
	assert_true(patched > 20 && rendered >= 2 && paging > 20);
	assert_true(preemptions >= 4);
	assert_int_equal(timeouts, 1);
	assert_int_equal(aborted, 1);
	assert_non_null(strstr(output.out, "paging buffers built through a second mapping\n"));
	/* A part of the card's memory file on the Arm board, a file of the kernel's own on the RISC-V one. */
	assert_non_null(strstr(output.out, "system memory: host memory\n"));
	check_frames(direct, wddm);
}

/* ---- the timeline ---- */

#define FIELDS 14u
#define NONE   INT64_MIN

/** A row of numbers of the page: null is NONE, a text is skipped. */
struct row {
	char name[32]; /**< the text */
	int64_t fields[FIELDS];
};

/** Fields of a packet's row and of a call's row, without its name. */
enum { KIND, LANE, FENCE = 4, PATCH = 9, FEED = 11, END = 13 };
enum { AT, CALL_LANE, CALL_FENCE };
#define COMPLETED_KINDS 3 /* render, present, paging */

/* Reads one row. @return behind the row; NULL: there is none */
static const char *read_row(const char *text, struct row *row)
{
	uint32_t count = 0;

	memset(row, 0, sizeof(*row));
	if (*text != '[')
		return NULL;
	for (text++; *text != ']' && count < FIELDS;) {
		char *end;

		if (*text == '"') {
			const size_t length = strcspn(text + 1, "\"");

			assert_true(length < sizeof(row->name));
			memcpy(row->name, text + 1, length);
			text += length + 2;
		} else if (memcmp(text, "null", 4) == 0) {
			row->fields[count++] = NONE;
			text += 4;
		} else {
			row->fields[count++] = strtoll(text, &end, 10);
			assert_ptr_not_equal(end, text);
			text = end;
		}
		text += *text == ',' ? 1 : 0;
	}
	assert_int_equal(*text, ']');
	return text + strspn(text + 1, ",\n") + 1;
}

/* Reads a list of the page's data. @return number of rows */
static size_t read_rows(const char *page, const char *list, struct row *rows, size_t most)
{
	const char *text = strstr(page, list);
	size_t count = 0;

	assert_non_null(text);
	for (text += strlen(list); (text = read_row(text, &rows[count])) != NULL; count++)
		assert_true(count + 1 < most);
	return count;
}

static const struct row *find_call(const struct row *calls, size_t count, const char *name,
				   const struct row *packet)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(calls[i].name, name) == 0 && calls[i].fields[CALL_LANE] == packet->fields[LANE] &&
		    calls[i].fields[CALL_FENCE] == packet->fields[FENCE])
			return &calls[i];
	}
	return NULL;
}

/* @return time of a packet's call */
static int64_t time_of(const struct row *calls, size_t count, const char *name, const struct row *packet)
{
	const struct row *call = find_call(calls, count, name, packet);

	if (call == NULL)
		fail_msg("fence 0x%llx of lane %lld has no call %s", (long long)packet->fields[FENCE],
			 (long long)packet->fields[LANE], name);
	return call != NULL ? call->fields[AT] : NONE;
}

/*
 * What the host does for a packet is before what the card does, and what it learns is behind.
 * @return whether a call has built it: a buffer that was split is built once, which its first part has
 */
static bool check_packet(const struct row *calls, size_t count, const struct row *packet)
{
	const bool paging = packet->fields[KIND] == 2;
	const struct row *built = find_call(calls, count, paging ? "BuildPagingBuffer" : "Render", packet);
	const int64_t submitted = time_of(calls, count, "SubmitCommand", packet);

	assert_true(built == NULL || built->fields[AT] <= submitted);
	assert_true(packet->fields[FEED] == NONE || submitted <= packet->fields[FEED]);
	assert_true(time_of(calls, count, "DMA_COMPLETED", packet) >= packet->fields[END]);
	if (packet->fields[PATCH] != NONE)
		assert_true(time_of(calls, count, "Patch", packet) <= packet->fields[PATCH]);
	return built != NULL;
}

static void check_calls(const char *page)
{
	static struct row packets[1000], calls[10000];
	static const char *const once[] = {"QueryEngineStatus", "QueryDependentEngineGroup", "ResetEngine"};
	const size_t packet_count = read_rows(page, "\"packets\":[\n", packets, 1000);
	const size_t call_count = read_rows(page, "\"calls\":[\n", calls, 10000);
	size_t completed = 0, built = 0;

	for (size_t i = 0; i < packet_count; i++) {
		if (packets[i].fields[KIND] >= COMPLETED_KINDS)
			continue;
		completed++;
		built += check_packet(calls, call_count, &packets[i]) ? 1u : 0u;
	}
	assert_true(completed > 60);
	/* Some were split. */
	assert_true(built < completed && built > completed / 5 * 4);
	for (size_t o = 0; o < sizeof(once) / sizeof(once[0]); o++) {
		size_t count = 0;

		for (size_t i = 0; i < call_count; i++)
			count += strcmp(calls[i].name, once[o]) == 0 ? 1u : 0u;
		assert_int_equal(count, 1);
	}
}

/* Each call stands on the clock of the card's own records, with the fence id of its packet. */
static void ddi_calls_stand_beside_their_packets(void **state)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES], path[2 * E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *page;

	(void)state;
	e2e_path(folder, "wddm");
	draw(&output, folder, "--wddm");
	snprintf(path, sizeof(path), "%s/timeline.html", folder);
	page = e2e_read_file(path, &bytes);
	check_calls((const char *)page);
	free(page);
}

/* Without Patch the first packet whose allocations have moved since Render faults. */
static void the_demo_fails_without_patch(void **state)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES];

	(void)state;
	e2e_path(folder, "pictures");
	e2e_patchbay(&output, "demo", "--frames", "6", "--output", folder, "--wddm", "--no-patches");
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "patchbay demo: frame 0: "));
	assert_non_null(strstr(output.err, "a submission of the context failed"));
	assert_string_equal(e2e_last_line(output.out), "demo: failed");
}

/* ---- the replay ---- */

/* Replays a sample. @return the CRCs, which the caller frees */
static char *replay(const char *sample, bool wddm, const char *seed)
{
	char file[E2E_PATH_BYTES], found[E2E_PATH_BYTES];
	static struct e2e_output output;
	size_t bytes;

	e2e_path(found, "found.tsv");
	assert_true((size_t)snprintf(file, sizeof(file), E2E_DATA "/%s.subm.zst", sample) < sizeof(file));
	e2e_patchbay(&output, "replay", file, "--crc-out", found, wddm ? "--wddm" : "--encoding=wddm", seed);
	assert_string_equal(output.err, "");
	assert_int_equal(output.code, 0);
	if (wddm) {
		unsigned packets, patched, moves, preemptions;

		assert_int_equal(sscanf(strstr(output.out, "as a WDDM kernel: "),
					"as a WDDM kernel: %u packets, %u patched, %u moves, %u preemptions",
					&packets, &patched, &moves, &preemptions),
				 4);
		/* Some ran as they were, without Patch; some were patched again because their objects had moved. */
		assert_true(packets > patched && moves >= 1 && preemptions >= 1);
		/* The Arm board has less host memory than some samples need. */
		if (strcmp(e2e_board(), "mps2_an500") != 0)
			assert_non_null(strstr(output.out, "; in host memory\n"));
	}
	return (char *)e2e_read_file(found, &bytes);
}

/* Moved, preempted, with Patch and without it: each byte is as a separate program worked it out. */
static void samples_replay_right_through_the_miniport(void **state)
{
	static const char *const samples[] = {"bdw", "hsw", "hswvk", "nv40", "nv50", "snb"};

	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		char path[E2E_PATH_BYTES];
		char *found = replay(samples[i], true, NULL);
		char *expected;
		size_t bytes;

		assert_true((size_t)snprintf(path, sizeof(path), E2E_DATA "/%s.expect.tsv", samples[i]) <
			    sizeof(path));
		expected = (char *)e2e_read_file(path, &bytes);
		assert_true(bytes > 0);
		assert_string_equal(found, expected);
		free(found);
		free(expected);
	}
}

static void a_seed_gives_equal_bytes_through_the_miniport(void **state)
{
	char *direct, *wddm, *fixed;

	(void)state;
	direct = replay("snb", false, "--seed=7");
	wddm = replay("snb", true, "--seed=7");
	fixed = replay("snb", true, NULL);
	assert_string_equal(wddm, direct);
	assert_string_not_equal(wddm, fixed);
	free(direct);
	free(wddm);
	free(fixed);
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"demo", "--wddm", "--card", "socket"},
		 2,
		 "admin channel included, which a running card's supervisor has"},
		{{"replay", "--wddm", "--card", "socket", "file"}, 2, "--wddm takes the whole card"},
		{{"replay", "--sim", "--wddm", "--encoding", "compact", "file"},
		 2,
		 "--wddm: a WDDM kernel has no compact or grouped lists"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(the_demo_draws_equal_frames_through_the_miniport),
		e2e_test(ddi_calls_stand_beside_their_packets),
		e2e_test(the_demo_fails_without_patch),
		e2e_test(samples_replay_right_through_the_miniport),
		e2e_test(a_seed_gives_equal_bytes_through_the_miniport),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
