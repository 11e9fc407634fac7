/* SPDX-License-Identifier: MIT */
/*
 * OpenGL programs that were written elsewhere, through the real image: what they print is what they print on
 * virglrenderer's own server. Without a renderer on this machine there is nothing to run.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/e2e.h"
#include "tests/e2e/e2e_board.h"

/* In namespaces with an empty /tmp, and of processes that end with the last line: the server, and a program. */
static const char plain[] = "mount -t tmpfs none /tmp || exit 1\n"
			    "virgl_test_server --use-egl-surfaceless >/dev/null 2>&1 &\n"
			    "until [ -S /tmp/.virgl_test ]; do kill -0 $! || exit 1; sleep 0.05; done\n"
			    "GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 \"$@\"; code=$?\n"
			    "exit $code\n";

/* A program that speaks wrongly: a message that there is not. It reads to the end of its connection. */
static const char wrong[] = "import socket\n"
			    "s = socket.socket(socket.AF_UNIX)\n"
			    "s.connect('/tmp/.virgl_test')\n"
			    "s.sendall(bytes([2, 0, 0, 0, 8, 0, 0, 0, 97, 0, 1, 0, 0, 0, 99, 0, 0, 0]))\n"
			    "print('answer', len(s.recv(1)))\n";

/* The card finds it beside the command. */
static bool has_renderer(void)
{
	char path[2 * E2E_PATH_BYTES] = E2E_PATCHBAY;

	for (int i = 0; i < 2; i++)
		*strrchr(path, '/') = '\0';
	(void)snprintf(path + strlen(path), sizeof(path) - strlen(path), "/qemu/patchbay-renderer");
	return access(path, X_OK) == 0;
}

/* Runs a program on a card of the board under test. */
static void run(struct e2e_output *output, const char *const *program, const char *option)
{
	const char *arguments[E2E_ARGUMENTS] = {"run", "--board", e2e_board(), option};
	size_t count = option != NULL ? 4 : 3;

	arguments[count++] = "--";
	while (*program != NULL && count < E2E_ARGUMENTS - 1)
		arguments[count++] = *program++;
	e2e_collect(e2e_spawn(E2E_PATCHBAY, arguments, NULL), output);
}

static void eglinfo_prints_what_it_prints_on_the_plain_server(void **state)
{
	static struct e2e_output ours, theirs;

	(void)state;
	if (!has_renderer())
		skip();
	run(&ours, E2E_ARGUMENT_LIST("eglinfo", "-B"), NULL);
	e2e_collect(e2e_spawn("/usr/bin/unshare",
			      E2E_ARGUMENT_LIST("-mpf", "--propagation", "private", "bash", "-c", plain,
						"bash", "eglinfo", "-B"),
			      NULL),
		    &theirs);
	assert_int_equal(ours.code, theirs.code);
	assert_string_equal(ours.out, theirs.out);
	assert_string_equal(ours.err, theirs.err);
	assert_non_null(strstr(ours.out, "Surfaceless platform:\nEGL API version: 1.4"));
}

static void the_exit_status_is_the_programs(void **state)
{
	static struct e2e_output output;

	(void)state;
	if (!has_renderer())
		skip();
	run(&output, E2E_ARGUMENT_LIST("sh", "-c", "echo $GALLIUM_DRIVER $LIBGL_ALWAYS_SOFTWARE; exit 7"),
	    NULL);
	assert_int_equal(output.code, 7);
	assert_string_equal(output.out, "virpipe 1\n");
	assert_string_equal(output.err, "");
	run(&output, E2E_ARGUMENT_LIST("sh", "-c", "kill -9 $$"), NULL);
	assert_int_equal(output.code, 128 + 9);
	run(&output, E2E_ARGUMENT_LIST("/no/such/program"), NULL);
	assert_int_equal(output.code, 127);
}

/* It ends with a message, and alone: the program goes on. */
static void a_program_that_breaks_the_protocol(void **state)
{
	static struct e2e_output output;

	(void)state;
	if (!has_renderer())
		skip();
	run(&output, E2E_ARGUMENT_LIST("python3", "-c", wrong), NULL);
	assert_int_equal(output.code, 0);
	assert_string_equal(output.out, "answer 0\n");
	assert_string_equal(output.err,
			    "patchbay run: a: message 99 (unknown) of length 1: unknown message\n");
}

static void a_timeline_is_left(void **state)
{
	static struct e2e_output output;
	char path[E2E_PATH_BYTES], option[E2E_PATH_BYTES + 16];
	size_t bytes;
	uint8_t *page;

	(void)state;
	if (!has_renderer())
		skip();
	e2e_path(path, "timeline.html");
	(void)snprintf(option, sizeof(option), "--timeline=%s", path);
	run(&output, E2E_ARGUMENT_LIST("eglinfo", "-B"), option);
	page = e2e_read_file(path, &bytes);
	assert_true(bytes > 10000);
	assert_non_null(strstr((const char *)page, "<html"));
	free(page);
}

/* In a user namespace that allows no other namespaces: with the right to make mount namespaces, and without it. */
static void without_a_namespace_the_error_names_it(void **state)
{
	static const char *const scripts[] = {
		"echo 0 >/proc/sys/user/max_mnt_namespaces && exec \"$0\" run --card none -- true",
		"echo 0 >/proc/sys/user/max_user_namespaces && "
		"exec setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \"$0\" run --card none -- true",
	};
	static struct e2e_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		e2e_collect(e2e_spawn("/usr/bin/unshare",
				      E2E_ARGUMENT_LIST("-Ur", "sh", "-c", scripts[i], E2E_PATCHBAY), NULL),
			    &output);
		assert_int_equal(output.code, 1);
		assert_non_null(strstr(output.err, "mount namespace for a /tmp of its own: unshare: "));
		assert_non_null(strstr(output.err, "where users may make namespaces"));
	}
}

static void wrong_arguments_are_refused(void **state)
{
	static const struct e2e_refusal cases[] = {
		{{"run"}, 2, "give the program, behind --"},
		{{"run", "--priority", "most", "--", "true"}, 2, "--priority most: give idle, low"},
		{{"run", "--video-memory", "64", "--", "true"}, 2, "--video-memory 64: give MiB as in 64M"},
		{{"run", "--video-memory", "0M", "--", "true"}, 2, "--video-memory 0M: give MiB as in 64M"},
		{{"run", "--board", "none", "--", "true"}, 1, "there is no board none"},
		{{"run", "--weight", "65", "--", "true"}, 2, "--weight 65: give a number from 1 to 64"},
		{{"run", "--hang-limit", "0", "--", "true"}, 2, "--hang-limit 0: give milliseconds from 1"},
		{{"run", "--server", "--card", "x", "--", "true"}, 2, "--server excludes --card and --board"},
		{{"run", "--server=/no", "--", "true"}, 1, "no `patchbay gl` serves at /no"},
		{{"gl"}, 2, "give the card with --card SOCKET"},
		{{"gl", "--card", "x", "--connections", "65"},
		 2,
		 "--connections 65: give a number from 1 to 64"},
	};

	(void)state;
	e2e_check_refusals(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		e2e_test(eglinfo_prints_what_it_prints_on_the_plain_server),
		e2e_test(the_exit_status_is_the_programs),
		e2e_test(a_program_that_breaks_the_protocol),
		e2e_test(a_timeline_is_left),
		e2e_test(without_a_namespace_the_error_names_it),
		e2e_test(wrong_arguments_are_refused),
	};

	return e2e_run_tests(tests);
}
