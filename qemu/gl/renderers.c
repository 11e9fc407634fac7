/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/gl/renderers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "qemu/card_say.h"
#include "qemu/card_watch.h"
#include "qemu/gl/protocol.h"

/* So long on the card's clock a renderer uses no processor before it is asked whether it wants one. */
#define STANDS_US 5000u

/* ---- the process ---- */

/* Mesa's own software renderer, whatever the card's user has set for other programs. */
static void set_environment(void)
{
	static const char *const unwanted[] = {"DISPLAY",
					       "WAYLAND_DISPLAY",
					       "EGL_PLATFORM",
					       "VTEST_SOCKET_NAME",
					       "LIBGL_DRI3_DISABLE",
					       "MESA_LOADER_DRIVER_OVERRIDE",
					       "MESA_GL_VERSION_OVERRIDE",
					       "MESA_GLSL_VERSION_OVERRIDE"};

	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
		unsetenv(unwanted[i]);
	setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
	setenv("GALLIUM_DRIVER", "llvmpipe", 1);
}

/* In the child: leaves it nothing of the card but standard error and its two descriptors. */
static _Noreturn void become(const char *program, const char *argument, pid_t card, int socket, int window)
{
	const struct rlimit no_core = {0, 0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	set_environment();
	/* Out of the way of their new numbers. */
	if (socket >= 0)
		socket = fcntl(socket, F_DUPFD_CLOEXEC, PB_RENDERER_WINDOW + 1);
	if (window >= 0)
		window = fcntl(window, F_DUPFD_CLOEXEC, PB_RENDERER_WINDOW + 1);
	if (getppid() == card && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(null, STDOUT_FILENO) >= 0 && close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0 &&
	    (socket < 0 || (dup2(socket, PB_RENDERER_SOCKET) >= 0 && dup2(window, PB_RENDERER_WINDOW) >= 0)))
		execl(program, program, argument, (char *)NULL);
	_exit(127);
}

static void collect(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		continue;
}

bool pb_renderers_check(const char *program)
{
	const pid_t card = getpid();
	int status = -1;
	pid_t pid;

	if (access(program, X_OK) != 0) {
		pb_card_say("no renderer at %s: %s. It is built where libvirglrenderer-dev is installed",
			    program, strerror(errno));
		return false;
	}
	pid = fork();
	if (pid == 0)
		become(program, "--check", card, -1, -1);
	if (pid > 0)
		collect(pid, &status);
	if (status == 0)
		return true;
	pb_card_say("%s cannot draw on this machine; Debian packages libvirglrenderer1, libegl1 and "
		    "libgl1-mesa-dri "
		    "have what it needs",
		    program);
	return false;
}

/* The program starts while the card goes on: a request waits in its socket. */
static bool spawn(const struct pb_renderers *renderers, struct pb_renderer *renderer, uint32_t index)
{
	const pid_t card = getpid();
	const int window = memfd_create("patchbay-renderer", MFD_CLOEXEC);
	int ends[2] = {-1, -1};

	if (window < 0 || ftruncate(window, PB_RENDERER_WINDOW_BYTES) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		goto failed;
	renderer->socket = ends[0];
	renderer->window =
		mmap(NULL, PB_RENDERER_WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, window, 0);
	if (renderer->window == MAP_FAILED)
		renderer->window = NULL;
	if (renderer->window == NULL || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
	    (renderers->epoll >= 0 &&
	     !pb_card_watch(renderers->epoll, ends[0], EPOLLIN, PB_CARD_WATCH_RENDERER, index)))
		goto failed;
	renderer->pid = fork();
	if (renderer->pid == 0)
		become(renderers->program, NULL, card, ends[1], window);
	close(ends[1]);
	close(window);
	if (renderer->pid > 0)
		return true;
	renderer->pid = 0;
	return false;
failed:
	if (window >= 0)
		close(window);
	if (ends[1] >= 0)
		close(ends[1]);
	return false;
}

/* It may hang in anything, so nothing is asked of it. */
static void drop(struct pb_renderer *renderer)
{
	int status;

	if (renderer->socket >= 0)
		close(renderer->socket);
	if (renderer->window != NULL)
		munmap(renderer->window, PB_RENDERER_WINDOW_BYTES);
	if (renderer->pid > 0 && kill(renderer->pid, SIGKILL) == 0)
		collect(renderer->pid, &status);
	*renderer = (struct pb_renderer){.socket = -1};
}

/* What it had is gone; it counts as lost until the engine ends it. */
static void fail(struct pb_renderer *renderer)
{
	drop(renderer);
	renderer->lost = true;
}

static struct pb_renderer *started(struct pb_renderers *renderers, uint32_t index)
{
	struct pb_renderer *renderer = &renderers->renderers[index];

	if (renderer->pid == 0 && !renderer->lost && !spawn(renderers, renderer, index)) {
		pb_card_say("cannot start a renderer: %s", strerror(errno));
		fail(renderer);
	}
	return renderer;
}

/* ---- what the engine asks for ---- */

static uint32_t now(void *context)
{
	const struct pb_renderers *renderers = context;

	return pb_shared_read32(renderers->clock);
}

static void put(void *context, uint32_t index, uint32_t offset, const uint32_t *words, uint32_t bytes)
{
	struct pb_renderer *renderer = started(context, index);

	if (!renderer->lost)
		memcpy(renderer->window + PB_RENDERER_DATA_OFFSET + offset, words, bytes);
}

static void begin(void *context, uint32_t index, const struct pb_engine_gl_request *request)
{
	struct pb_renderer *renderer = started(context, index);
	struct pb_renderer_request message = {.kind = request->kind,
					      .resource = request->resource,
					      .count = request->count,
					      .bytes = request->bytes};

	if (renderer->lost)
		return;
	message.serial = ++renderer->serial;
	if (request->kind == PB_ENGINE_GL_RUN)
		memcpy(renderer->window, request->words, 4u * (size_t)request->count);
	else if (request->count != 0)
		memcpy(message.words, request->words, 4u * (size_t)request->count);
	renderer->asked = true;
	renderer->answer = PB_ENGINE_GL_WORKS;
	renderer->since = now(context);
	if (send(renderer->socket, &message, sizeof(message), MSG_NOSIGNAL) != (ssize_t)sizeof(message))
		fail(renderer);
}

/* Takes what has come. A renderer that says anything but the one answer is not to be trusted. */
static void receive(struct pb_renderer *renderer)
{
	struct pb_renderer_reply reply;
	const ssize_t got = recv(renderer->socket, &reply, sizeof(reply), MSG_DONTWAIT | MSG_TRUNC);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != (ssize_t)sizeof(reply) || !renderer->asked || reply.serial != renderer->serial ||
	    reply.status > PB_RENDERER_REFUSED) {
		fail(renderer);
		return;
	}
	renderer->asked = false;
	renderer->answer = reply.status == PB_RENDERER_DONE ? PB_ENGINE_GL_DONE : PB_ENGINE_GL_REFUSED;
}

/* Processor time of all threads of a process, in microseconds; 0: there is no process. */
static uint32_t processor_time(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint32_t)((uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u);
}

/* Whether a thread has a processor or waits for one: its state, behind its name in parentheses, is R. */
static bool is_runnable(int tasks, const char *thread)
{
	char path[300], text[256] = "";
	const char *name_end;
	int file;

	snprintf(path, sizeof(path), "%s/stat", thread);
	file = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	if (read(file, text, sizeof(text) - 1u) < 0)
		text[0] = '\0';
	close(file);
	name_end = strrchr(text, ')');
	return name_end != NULL && strncmp(name_end, ") R", 3) == 0;
}

/* Whether a process has a thread that would run if it had a processor. */
static bool wants_processor(pid_t pid)
{
	const struct dirent *thread;
	bool wants = false;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks != NULL && !wants && (thread = readdir(tasks)) != NULL)
		wants = is_runnable(dirfd(tasks), thread->d_name);
	if (tasks != NULL)
		closedir(tasks);
	return wants;
}

/*
 * What a renderer has used: processor time, and a microsecond for each time that it wanted a processor and the machine gave
 * it none. So one that gets no processor does not hang, and one that sleeps or is stopped does.
 */
static uint32_t measure(struct pb_renderer *renderer, uint32_t clock)
{
	const uint32_t worked = processor_time(renderer->pid);

	if (worked != renderer->worked || clock - renderer->since >= STANDS_US) {
		renderer->starved += worked == renderer->worked && wants_processor(renderer->pid) ? 1u : 0u;
		renderer->worked = worked;
		renderer->since = clock;
	}
	return renderer->worked + renderer->starved;
}

static enum pb_engine_gl_answer poll(void *context, uint32_t index, uint32_t *used)
{
	struct pb_renderers *renderers = context;
	struct pb_renderer *renderer = &renderers->renderers[index];

	if (renderer->asked)
		receive(renderer);
	if (renderer->pid == 0)
		return PB_ENGINE_GL_LOST;
	*used = measure(renderer, now(context));
	return renderer->asked ? PB_ENGINE_GL_WORKS : renderer->answer;
}

static void get(void *context, uint32_t index, uint32_t offset, uint32_t *words, uint32_t bytes)
{
	const struct pb_renderers *renderers = context;
	const struct pb_renderer *renderer = &renderers->renderers[index];

	/* One that has ended since its answer leaves zeros. */
	if (renderer->window != NULL)
		memcpy(words, renderer->window + PB_RENDERER_DATA_OFFSET + offset, bytes);
	else
		memset(words, 0, bytes);
}

static void end(void *context, uint32_t index)
{
	struct pb_renderers *renderers = context;

	drop(&renderers->renderers[index]);
}

const struct pb_engine_gl_renderers pb_process_renderers = {
	.put = put, .begin = begin, .poll = poll, .get = get, .end = end, .now = now};

void pb_renderers_init(struct pb_renderers *renderers, const char *program, int epoll, const uint32_t *clock)
{
	renderers->program = program;
	renderers->epoll = epoll;
	renderers->clock = clock;
	for (uint32_t i = 0; i < PB_RENDERERS_MAX; i++)
		renderers->renderers[i] = (struct pb_renderer){.socket = -1};
}

void pb_renderers_event(struct pb_renderers *renderers, uint32_t index)
{
	if (index < PB_RENDERERS_MAX && renderers->renderers[index].pid != 0)
		receive(&renderers->renderers[index]);
}
