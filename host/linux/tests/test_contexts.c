// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Contexts of the firmware: how many files may have one, and when they return. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "tests.h"

/* Stores a value by the file's queue of node 0. @return 0, or the errno of the submission */
static int store(int fd, const struct guest_object *object, uint32_t value)
{
	static struct guest_work work;
	int error;

	guest_work_start(&work, 0);
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, 4, value);
	error = guest_submit(fd, &work);
	if (error == 0) {
		CHECK_EQ(guest_wait(fd, 0, work.args.value, GUEST_PATIENCE), 0);
		CHECK_EQ(guest_query(fd, 0).errors, 0);
		CHECK_EQ(object->words[0], value);
	}
	return error;
}

/*
 * The card has 512 contexts; a ninth of half of them, 28, is kept for each of the eight other channels. The display may
 * have one as well. When none is left, the file that asks learns it, and the others go on.
 */
void a_card_has_contexts_for_hundreds_of_files(void)
{
	enum { MOST = 512 - 8 * 28 };
	static struct { int fd; struct guest_object object; } files[MOST + 1];
	uint32_t count;
	int error = 0;

	for (count = 0; count <= MOST; count++) {
		files[count].fd = guest_open();
		CHECK(files[count].fd >= 0);
		files[count].object = guest_object(files[count].fd, 4096, 0);
		error = store(files[count].fd, &files[count].object, count);
		if (error != 0)
			break;
	}
	CHECK_EQ(error, ENOSPC);
	CHECK(count >= MOST - 2);
	CHECK_EQ(guest_query(files[count].fd, 0).submitted, 0);
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ(store(files[i].fd, &files[i].object, 1000 + i), 0);
	CHECK_EQ(store(files[count].fd, &files[count].object, 1), ENOSPC);
	munmap(files[3].object.words, 4096);
	close(files[3].fd);
	CHECK_EQ(store(files[count].fd, &files[count].object, 2), 0);
	CHECK_EQ(store(files[2].fd, &files[2].object, 3), 0);
}

/* A process that submits until it is killed. */
static pid_t flood(int fd)
{
	static struct guest_work work;
	pid_t child = fork();

	if (child != 0)
		return child;
	for (;;) {
		guest_work_start(&work, 1);
		guest_busy(&work, 20000);
		CHECK_EQ(guest_submit(fd, &work), 0);
	}
}

/* Takes all contexts of the machine but some. The file that is returned has them. */
static int hoard_all_but(uint32_t some)
{
	struct drm_patchbay_queue_create create = {.node = 0};
	struct drm_patchbay_queue last = {0};
	int hoarder = guest_open();

	while (guest_ioctl(hoarder, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create) == 0)
		last.queue = create.queue;
	for (uint32_t i = 0; i < some; i++, last.queue--)
		CHECK_EQ(guest_ioctl(hoarder, DRM_IOCTL_PATCHBAY_QUEUE_DESTROY, &last), 0);
	return hoarder;
}

/* Files that come and go, each with a submission. */
static void files_come_and_go(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		int fd = guest_open();
		struct guest_object object = guest_object(fd, 4096, 0);

		CHECK_EQ(store(fd, &object, i), 0);
		guest_object_free(fd, &object);
		close(fd);
	}
}

static void end_child(pid_t child)
{
	int status;

	CHECK_EQ(kill(child, SIGKILL), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Files come and go through the last contexts that are left, while another file has submissions in flight. */
void contexts_return_while_others_work(void)
{
	int hoarder = hoard_all_but(4), busy = guest_open();
	pid_t child = flood(busy);

	GUEST_UNTIL(guest_query(busy, 1).completed != 0);
	files_come_and_go(60);
	end_child(child);
	CHECK_EQ(guest_query(busy, 1).errors, 0);
	close(hoarder);
}

/* Sets the policy of the kernel's workers that belong to no processor. @return their number */
static uint32_t set_workers(int policy)
{
	const struct sched_param parameters = {0};
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	uint32_t count = 0;

	CHECK(processes != NULL);
	while ((entry = readdir(processes)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = atoi(entry->d_name) > 0 ? fopen(path, "r") : NULL;
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL && strncmp(name, "kworker/u", 9) == 0)
			count += sched_setscheduler(atoi(entry->d_name), policy, &parameters) == 0;
		fclose(file);
	}
	closedir(processes);
	return count;
}

/* As many processes as there are processors that do nothing but run, until they are killed. */
static uint32_t start_spinners(pid_t *children, uint32_t most)
{
	uint32_t count = 0;

	while (count < most && count < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)) {
		children[count] = fork();
		if (children[count] == 0)
			for (;;)
				;
		count++;
	}
	return count;
}

/*
 * A submission that has ended has its queue, and so a context, until a worker of the driver frees it. Here the workers run
 * only when nothing else does, and something else always does: who needs a context waits for them.
 */
void contexts_return_though_the_worker_is_late(void)
{
	int hoarder = hoard_all_but(4);
	pid_t children[8];
	uint32_t count;

	CHECK(set_workers(SCHED_IDLE) > 0);
	count = start_spinners(children, 8);
	files_come_and_go(16);
	CHECK(set_workers(SCHED_OTHER) > 0);
	while (count > 0)
		end_child(children[--count]);
	close(hoarder);
}
