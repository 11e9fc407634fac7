/* SPDX-License-Identifier: MIT */
/* What a card believes of its renderers' processes: one answer to each request, and nothing else. */
#define _GNU_SOURCE
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "qemu/gl/renderers.h"
#include "tests/unit/patience.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))
#define INDEX    5u

static uint32_t clock_word;
static struct pb_renderers renderers;
static const struct pb_engine_gl_renderers *const ops = &pb_process_renderers;

static void ask(uint32_t index)
{
	static const uint32_t words[2] = {1, 2};
	const struct pb_engine_gl_request request = {.kind = PB_ENGINE_GL_RUN, .words = words, .count = 2};

	ops->begin(&renderers, index, &request);
}

static enum pb_engine_gl_answer await(uint32_t index)
{
	enum pb_engine_gl_answer answer;
	uint32_t used = 0;

	unit_await((answer = ops->poll(&renderers, index, &used)) != PB_ENGINE_GL_WORKS);
	return answer;
}

static void start(const char *how)
{
	setenv("FAKE_RENDERER", how, 1);
	pb_renderers_init(&renderers, FAKE_RENDERER, -1, &clock_word);
}

/* @return whether the process is gone, as far as it was a child */
static bool gone(pid_t pid)
{
	return kill(pid, 0) != 0;
}

static void only_the_one_answer_counts(void **state)
{
	static const struct {
		const char *how;
		enum pb_engine_gl_answer answer;
	} cases[] = {
		{"answers", PB_ENGINE_GL_DONE}, {"refuses", PB_ENGINE_GL_REFUSED},
		{"status", PB_ENGINE_GL_LOST},  {"serial", PB_ENGINE_GL_LOST},
		{"short", PB_ENGINE_GL_LOST},   {"long", PB_ENGINE_GL_LOST},
		{"ends", PB_ENGINE_GL_LOST},
	};

	(void)state;
	for (uint32_t i = 0; i < ARRAY(cases); i++) {
		pid_t pid;

		print_message("[ case     ] %s\n", cases[i].how);
		start(cases[i].how);
		ask(INDEX);
		pid = renderers.renderers[INDEX].pid;
		assert_int_equal(await(INDEX), cases[i].answer);
		assert_int_equal(gone(pid), cases[i].answer == PB_ENGINE_GL_LOST);
		/* Asked again: one that is lost stays lost, until it is ended. */
		ask(INDEX);
		assert_int_equal(await(INDEX), cases[i].answer);
		ops->end(&renderers, INDEX);
		assert_true(gone(pid));
		assert_int_equal(ops->poll(&renderers, INDEX, &(uint32_t){0}), PB_ENGINE_GL_LOST);
		setenv("FAKE_RENDERER", "answers", 1);
		ask(INDEX);
		assert_int_equal(await(INDEX), PB_ENGINE_GL_DONE);
		ops->end(&renderers, INDEX);
	}
}

static bool lost_by_event(uint32_t index)
{
	pb_renderers_event(&renderers, index);
	return renderers.renderers[index].lost;
}

/* What comes between two requests, the end included, is no answer to the next one. */
static void what_was_not_asked_for_ends_a_renderer(void **state)
{
	(void)state;
	start("twice");
	ask(INDEX);
	assert_int_equal(await(INDEX), PB_ENGINE_GL_DONE);
	unit_await(lost_by_event(INDEX));
	ask(INDEX);
	assert_int_equal(await(INDEX), PB_ENGINE_GL_LOST);
	ops->end(&renderers, INDEX);
	/* An event of one that is none, or of no index. */
	pb_renderers_event(&renderers, INDEX);
	pb_renderers_event(&renderers, PB_RENDERERS_MAX);
}

/* One works for ever, one does nothing: neither keeps the third from its answer, and each can be ended. */
static void renderers_that_do_not_answer_can_be_ended(void **state)
{
	uint32_t busy = 0, silent = 0;
	pid_t pids[2];

	(void)state;
	start("busy");
	ask(0);
	setenv("FAKE_RENDERER", "silent", 1);
	ask(1);
	setenv("FAKE_RENDERER", "answers", 1);
	ask(2);
	assert_int_equal(await(2), PB_ENGINE_GL_DONE);
	/* Processor time that the renderer has used, in microseconds. */
	unit_await(ops->poll(&renderers, 0, &busy) != PB_ENGINE_GL_WORKS || busy >= 50000);
	assert_int_equal(ops->poll(&renderers, 0, &busy), PB_ENGINE_GL_WORKS);
	assert_int_equal(ops->poll(&renderers, 1, &silent), PB_ENGINE_GL_WORKS);
	pids[0] = renderers.renderers[0].pid;
	pids[1] = renderers.renderers[1].pid;
	ops->end(&renderers, 0);
	ops->end(&renderers, 1);
	assert_true(gone(pids[0]) && gone(pids[1]));
	ask(2);
	assert_int_equal(await(2), PB_ENGINE_GL_DONE);
	ops->end(&renderers, 2);
}

/* Asks what a renderer has used, so long after the last time. */
static uint32_t used_after(uint32_t microseconds)
{
	uint32_t used = 0;

	clock_word += microseconds;
	assert_int_equal(ops->poll(&renderers, INDEX, &used), PB_ENGINE_GL_WORKS);
	return used;
}

static uint64_t processor_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Asks twice, 10 ms apart. Whether the renderer made progress although it was given no processor between. */
static bool progresses_without_processor(void)
{
	const pid_t pid = renderers.renderers[INDEX].pid;
	const uint64_t worked = processor_ns(pid);
	const uint32_t then = used_after(0);

	return used_after(10000) == then + 1u && worked != 0 && worked == processor_ns(pid);
}

/* On the only processor of the two, this process is in the renderer's way, which makes progress all the same. */
static void a_renderer_without_a_processor_makes_progress(void **state)
{
	cpu_set_t before, one;
	size_t i;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (i = 0; !CPU_ISSET(i, &before); i++)
		continue;
	CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	start("busy");
	ask(INDEX);
	unit_await(progresses_without_processor());
	ops->end(&renderers, INDEX);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

/* The state of a process of one thread, as /proc has it: R runnable, S asleep. */
static char state_of(pid_t pid)
{
	char path[32], state = '?';
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "r");
	assert_non_null(stat);
	assert_int_equal(fscanf(stat, "%*d (%*[^)]) %c", &state), 1);
	fclose(stat);
	return state;
}

/* Whether the renderer has read its request, and waits for the next one. */
static bool sleeps(void)
{
	int unread = -1;

	return ioctl(renderers.renderers[INDEX].socket, SIOCOUTQ, &unread) == 0 && unread == 0 &&
	       state_of(renderers.renderers[INDEX].pid) == 'S';
}

/* Neither a renderer that waits for a request nor one that was stopped at work makes progress. */
static void a_renderer_that_sleeps_makes_no_progress(void **state)
{
	uint32_t used;
	int status;
	pid_t pid;

	(void)state;
	start("busy");
	ask(INDEX);
	pid = renderers.renderers[INDEX].pid;
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	used = used_after(10000);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(used_after(10000), used);
	ops->end(&renderers, INDEX);
	start("silent");
	ask(INDEX);
	unit_await(sleeps());
	used = used_after(10000);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(used_after(10000), used);
	ops->end(&renderers, INDEX);
}

static void a_program_that_is_not_there_is_lost_renderers(void **state)
{
	(void)state;
	pb_renderers_init(&renderers, "/nowhere/renderer", -1, &clock_word);
	ask(INDEX);
	assert_int_equal(await(INDEX), PB_ENGINE_GL_LOST);
	ops->end(&renderers, INDEX);
	assert_false(pb_renderers_check("/nowhere/renderer"));
	assert_false(pb_renderers_check("/bin/false"));
	assert_true(pb_renderers_check("/bin/true"));
}

/* Data goes through the window, as much as the largest transfer has. */
static void data_is_kept_in_the_window(void **state)
{
	static const uint32_t words[2] = {0x11223344, 0x55667788};
	uint32_t back[2] = {0, 0};

	(void)state;
	start("answers");
	ops->put(&renderers, INDEX, PB_GL_TRANSFER_BYTES_MAX - 8u, words, 8);
	ask(INDEX);
	assert_int_equal(await(INDEX), PB_ENGINE_GL_DONE);
	ops->get(&renderers, INDEX, PB_GL_TRANSFER_BYTES_MAX - 8u, back, 8);
	assert_memory_equal(back, words, 8);
	ops->end(&renderers, INDEX);
	/* Without a renderer: zeros. */
	ops->get(&renderers, INDEX, 0, back, 8);
	assert_int_equal(back[0] | back[1], 0);
}

UNIT_SUITE(test_renderers)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_one_answer_counts),
		cmocka_unit_test(what_was_not_asked_for_ends_a_renderer),
		cmocka_unit_test(renderers_that_do_not_answer_can_be_ended),
		cmocka_unit_test(a_renderer_without_a_processor_makes_progress),
		cmocka_unit_test(a_renderer_that_sleeps_makes_no_progress),
		cmocka_unit_test(a_program_that_is_not_there_is_lost_renderers),
		cmocka_unit_test(data_is_kept_in_the_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
