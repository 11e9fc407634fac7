/* SPDX-License-Identifier: MIT */
/* Commands that share one card, commands whose card dies, and messages of the command line. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/shared.h"
#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_host.h"
#include "tests/unit/subm_writer.h"

#define HSWVK E2E_DATA "/hswvk.subm.zst"
#define BDW   E2E_DATA "/bdw.subm.zst"

/* ---- commands that run beside each other, each with its own output ---- */

struct command {
	struct e2e_process process;
	const char *name; /* prefix of its output files: NAME.out, NAME.err */
	const char *const *arguments;
};

static void command_path(const struct command *command, const char *end, char path[E2E_PATH_BYTES])
{
	char name[64];

	assert_true(snprintf(name, sizeof(name), "%s.%s", command->name, end) < (int)sizeof(name));
	e2e_path(path, name);
}

static bool redirect(const struct command *command, const char *end, int to)
{
	char path[E2E_PATH_BYTES];
	int fd;

	command_path(command, end, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return fd >= 0 && dup2(fd, to) >= 0;
}

static int command_body(struct e2e_process *self, void *argument)
{
	const struct command *command = argument;
	char *argv[E2E_ARGUMENTS + 2] = {NULL};

	(void)self;
	argv[0] = strdup(E2E_PATCHBAY);
	for (size_t i = 0; i < E2E_ARGUMENTS && command->arguments[i] != NULL; i++)
		argv[i + 1] = strdup(command->arguments[i]);
	if (redirect(command, "out", STDOUT_FILENO) && redirect(command, "err", STDERR_FILENO))
		execv(argv[0], argv);
	return 127;
}

static void command_start(struct command *command, const char *name, const char *const *arguments)
{
	command->name = name;
	command->arguments = arguments;
	e2e_process_start(&command->process, command_body, command);
}

static void command_read(const struct command *command, const char *end, char *text, size_t room)
{
	char path[E2E_PATH_BYTES];
	size_t bytes;
	uint8_t *data;

	command_path(command, end, path);
	data = e2e_read_file(path, &bytes);
	assert_true(bytes < room);
	memcpy(text, data, bytes + 1);
	free(data);
}

static void command_end(struct command *command, struct e2e_output *output)
{
	int status = e2e_process_end(&command->process);

	output->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	command_read(command, "out", output->out, sizeof(output->out));
	command_read(command, "err", output->err, sizeof(output->err));
}

/* The command succeeded, printed nothing on standard error, and its last line starts like this. */
static void check_succeeded(struct e2e_output *output, const char *start)
{
	const char *last;

	assert_string_equal(output->err, "");
	assert_int_equal(output->code, 0);
	last = e2e_last_line(output->out);
	if (strncmp(last, start, strlen(start)) != 0)
		print_error("last line: %s\n", last);
	assert_memory_equal(last, start, strlen(start));
}

static void command_check(struct command *command, const char *start)
{
	static struct e2e_output output;

	command_end(command, &output);
	check_succeeded(&output, start);
}

static void command_signal(const struct command *command, int number)
{
	assert_int_equal(kill(command->process.pid, number), 0);
}

static bool ended(const struct command *command)
{
	siginfo_t info = {.si_pid = 0};

	assert_int_equal(waitid(P_PID, (id_t)command->process.pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid != 0;
}

/* ---- commands that run ---- */

static void demo_start(struct command *command, const char *socket, const char *folder, const char *frames)
{
	static const char *arguments[E2E_ARGUMENTS];
	const char *const used[E2E_ARGUMENTS] = {"demo", "--card",   socket, "--frames",
						 frames, "--output", folder};

	memcpy(arguments, used, sizeof(arguments));
	command_start(command, "demo", arguments);
}

/* Waits for its first picture: it has its memory, and more frames follow. */
static void await_picture(const char *folder)
{
	const uint64_t start = e2e_now();
	char path[E2E_PATH_BYTES + 32];

	snprintf(path, sizeof(path), "%s/frame-0000.png", folder);
	while (access(path, R_OK) != 0)
		assert_true(e2e_patience(start));
}

/* Channels that are open, and whose clients have submitted. */
static size_t busy_channels(const struct e2e_host *host)
{
	const struct pb_card_info *card = &host->channel.card;
	const struct pb_channel_entry *entries =
		(const void *)(host->link->memory + card->channel_directory_offset);
	size_t count = 0;

	for (uint32_t i = 0; i < card->channel_count; i++)
		count += pb_shared_read32(&entries[i].state) == PB_CHANNEL_OPEN &&
					 pb_shared_read32(&entries[i].kick_get) != 0
				 ? 1u
				 : 0u;
	return count;
}

/* Waits until more channels than before have put something, and its command runs. If it has ended, the test is only easier. */
static void await_progress(const struct command *command, const struct e2e_host *observer, size_t channels)
{
	const uint64_t start = e2e_now();

	while (busy_channels(observer) <= channels && !ended(command))
		assert_true(e2e_patience(start));
}

/* ---- the tests ---- */

static void a_second_replay_runs_beside_the_first(void **state)
{
	static struct e2e_output output;
	struct command first;
	struct e2e_host observer;
	struct e2e_card card;
	size_t channels;

	(void)state;
	e2e_card_start(&card, 0);
	assert_true(e2e_host_attach(&observer, card.socket));
	channels = busy_channels(&observer);
	command_start(&first, "first", E2E_ARGUMENT_LIST("replay", HSWVK, "--card", card.socket));
	await_progress(&first, &observer, channels);
	/* It keeps what it has while another command runs from start to end. */
	command_signal(&first, SIGSTOP);
	e2e_patchbay(&output, "replay", HSWVK, "--card", card.socket);
	command_signal(&first, SIGCONT);
	check_succeeded(&output, "replay: ok " HSWVK ": 4 submissions, 9163 relocations, 1546008 bytes");
	command_check(&first, "replay: ok " HSWVK ": 4 submissions, 9163 relocations, 1546008 bytes");
	assert_true(e2e_host_close(&observer));
	e2e_card_stop(&card);
}

/* Neither waits for the other. */
static void two_replays_run_at_once(void **state)
{
	struct command first, second;
	struct e2e_card card;

	(void)state;
	e2e_card_start(&card, 0);
	command_start(&first, "first", E2E_ARGUMENT_LIST("replay", BDW, "--card", card.socket));
	command_start(&second, "second",
		      E2E_ARGUMENT_LIST("replay", BDW, "--seed", "3", "--card", card.socket));
	command_check(&first, "replay: ok " BDW ": 67 submissions, 7326 relocations, 826176 bytes");
	command_check(&second, "replay: ok " BDW ": 67 submissions, 7326 relocations, 826176 bytes");
	e2e_card_stop(&card);
}

static void a_demo_runs_beside_a_replay(void **state)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES];
	struct command demo;
	struct e2e_card card;

	(void)state;
	e2e_path(folder, "pictures");
	e2e_card_start(&card, 0);
	demo_start(&demo, card.socket, folder, "12");
	await_picture(folder);
	command_signal(&demo, SIGSTOP);
	e2e_patchbay(&output, "replay", HSWVK, "--card", card.socket);
	command_signal(&demo, SIGCONT);
	check_succeeded(&output, "replay: ok ");
	/* Both at once. */
	e2e_patchbay(&output, "replay", BDW, "--card", card.socket);
	check_succeeded(&output, "replay: ok ");
	command_check(&demo, "demo: ok 12 frames, ");
	e2e_card_stop(&card);
}

/* Another client has all memory that it can have: both commands report it. */
static void commands_report_a_full_card(void **state)
{
	static struct e2e_output output;
	struct pb_segment_request request = {.id = 1, .gpu_base = 1u << 30};
	struct pb_segment_request own = {.id = 2, .gpu_base = 1ull << 32};
	char folder[E2E_PATH_BYTES];
	struct pb_segment all, rest;
	struct e2e_host host;
	struct e2e_card card;

	(void)state;
	e2e_path(folder, "pictures");
	e2e_card_start(&card, 0);
	assert_true(e2e_host_attach(&host, card.socket));
	/* But for what is kept for each other channel: less than either command needs. */
	request.backing_bytes = pb_card_pool_most(&host.channel.card);
	request.size = request.backing_bytes;
	assert_int_equal(pb_segment_create(&all, &host.channel, &request), PB_ERROR_OK);
	own.backing_bytes = host.channel.card.capabilities[PB_CAPABILITY_POOL_BYTES_MIN];
	own.size = own.backing_bytes;
	assert_int_equal(pb_segment_create(&rest, &host.channel, &own), PB_ERROR_OK);
	e2e_patchbay(&output, "replay", HSWVK, "--card", card.socket);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "NO_SPACE: "));
	assert_non_null(strstr(output.err, "other clients hold too much of the card's POOL_BYTES"));
	e2e_patchbay(&output, "demo", "--output", folder, "--card", card.socket);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, "segment: NO_SPACE: "));
	assert_non_null(strstr(output.err, "other clients hold too much of the card's POOL_BYTES"));
	assert_true(e2e_host_close(&host));
	e2e_patchbay(&output, "replay", HSWVK, "--card", card.socket);
	check_succeeded(&output, "replay: ok ");
	e2e_card_stop(&card);
}

static void check_death(struct command *command, const char *where)
{
	static struct e2e_output output;

	command_end(command, &output);
	if (strstr(output.err, where) == NULL)
		print_error("said: %s\n", output.err);
	assert_int_equal(output.code, 1);
	assert_non_null(strstr(output.err, where));
	assert_non_null(strstr(output.err, ": FIRMWARE_DEAD: the firmware stopped, or was restarted"));
	assert_non_null(strstr(output.err, "; it died at stage RUNNING, waypoint "));
}

/* A file that takes minutes to replay. */
static void write_long_file(char path[SUBM_PATH_BYTES])
{
	const uint32_t count = 50000;
	struct subm_writer writer = {0};

	subm_file_header(&writer, 32, count);
	for (uint32_t i = 0; i < count; i++) {
		subm_begin(&writer, 1, 0, 0);
		subm_object(&writer, 1, 4096, 0);
		subm_end(&writer);
	}
	subm_save(&writer, writer.used, true, path);
	subm_free(&writer);
}

/* Both commands run so long that the death comes in between. */
static void commands_report_the_death_of_the_firmware(void **state)
{
	struct command demo, replay;
	char folder[E2E_PATH_BYTES], file[SUBM_PATH_BYTES];
	struct e2e_host observer;
	struct e2e_card card;
	size_t channels;

	(void)state;
	e2e_path(folder, "pictures");
	write_long_file(file);
	e2e_card_start(&card, 0);
	assert_true(e2e_host_attach(&observer, card.socket));
	demo_start(&demo, card.socket, folder, "9999");
	await_picture(folder);
	channels = busy_channels(&observer);
	command_start(&replay, "replay", E2E_ARGUMENT_LIST("replay", file, "--card", card.socket));
	await_progress(&replay, &observer, channels);
	assert_int_equal(kill(e2e_card_mcu(&card), SIGKILL), 0);
	check_death(&demo, "patchbay demo: frame ");
	check_death(&replay, "replay: ");
	assert_int_equal(unlink(file), 0);
	observer.link->ops->close(observer.link);
	e2e_card_stop(&card);
}

/* A bad file is refused before any card or emulator starts. */
static void a_bad_file_is_refused_before_a_card_starts(void **state)
{
	static struct e2e_output output;
	char path[E2E_PATH_BYTES];

	(void)state;
	e2e_path(path, "words");
	e2e_write_file(path, "no submissions here, only some words", 36);
	e2e_collect(e2e_spawn(E2E_PATCHBAY, E2E_ARGUMENT_LIST("replay", path), "/nonexistent"), &output);
	assert_int_equal(output.code, 2);
	assert_non_null(strstr(output.err, "not a SUBM file"));
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"info", "--sim", "--card", "x"}, 2, "exclude each other"},
		{{"info", "--card", "x", "--board", "mps2_an500"}, 2, "exclude each other"},
		{{"demo", "--sim", "--board", "mps2_an500"}, 2, "exclude each other"},
		{{"demo", "--board", "mps2_an500", "--sim"}, 2, "exclude each other"},
		{{"replay", "x", "--board", "mps2_an500", "--sim"}, 2, "exclude each other"},
		{{"replay", "x", "--card", "x", "--card", "y"}, 2, "exclude each other"},
		{{"replay", "--board", "none", "x"}, 2, "there is no board none"},
		{{"replay", "x", "--sim", "--seed", " -1"}, 2, "--seed  -1: give a number"},
		{{"replay", "x", "--sim", "--seed", " 1"}, 2, "--seed  1: give a number"},
		{{"replay", "x", "--sim", "--seed", "+1"}, 2, "--seed +1: give a number"},
		{{"replay", "x", "--sim", "--seed", ""}, 2, ": give a number from 0 to 2^64 - 1"},
		{{"replay", "x", "--sim", "--seed", "18446744073709551616"},
		 2,
		 ": give a number from 0 to 2^64 - 1"},
		{{"help", "none"}, 2, "unknown command none"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

static void every_command_has_help(void **state)
{
	static const char *const commands[] = {"demo", "replay", "info", "card"};
	static struct e2e_output output, other;

	(void)state;
	e2e_patchbay(&output, "--help");
	e2e_patchbay(&other, "-h");
	assert_int_equal(other.code, 0);
	assert_string_equal(other.out, output.out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		e2e_patchbay(&output, commands[i], "--help");
		assert_non_null(strstr(output.out, "Exit code: 0 "));
		e2e_patchbay(&other, "help", commands[i]);
		assert_int_equal(other.code, 0);
		assert_string_equal(other.out, output.out);
	}
	e2e_patchbay(&output, "--version");
	assert_int_equal(output.code, 0);
	assert_string_equal(output.out, "patchbay " PB_VERSION ", interface 1.3\n");
}

static void the_demo_prints_where_its_pictures_are(void **state)
{
	static struct e2e_output output;
	char folder[E2E_PATH_BYTES], lines[3 * E2E_PATH_BYTES + 128];

	(void)state;
	e2e_path(folder, "pictures");
	snprintf(lines, sizeof(lines),
		 "pictures: %s/frame-NNNN.png, all of them: %s/frames.png\ntimeline: %s/timeline.html\n",
		 folder, folder, folder);
	e2e_patchbay(&output, "demo", "--sim", "--frames", "1", "--output", folder);
	assert_memory_equal(output.out, lines, strlen(lines));
	e2e_patchbay(&output, "demo", "--sim", "--frames", "1", "--output", folder, "--quiet");
	assert_null(strstr(output.out, folder));
	check_succeeded(&output, "demo: ok 1 frames, ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(a_second_replay_runs_beside_the_first),
		e2e_test(two_replays_run_at_once),
		e2e_test(a_demo_runs_beside_a_replay),
		e2e_test(commands_report_a_full_card),
		e2e_test(commands_report_the_death_of_the_firmware),
		e2e_test(a_bad_file_is_refused_before_a_card_starts),
		e2e_test(wrong_arguments_are_refused),
		e2e_test(every_command_has_help),
		e2e_test(the_demo_prints_where_its_pictures_are),
	};

	return e2e_run_tests(tests);
}
