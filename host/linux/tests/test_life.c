// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device, its firmware and its card come and go while they are in use. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "hal/engine/packets.h"
#include "patchbay/abi/errors.h"
#include "tests.h"

#define DRIVER "/sys/bus/pci/drivers/patchbay/"
#define MODULE "insmod /lib/modules/patchbay.ko unsafe=1 fbdev=0"
#define CARD_TIMEOUT "/sys/module/patchbay/parameters/card_timeout_ms"

static void run(const char *command)
{
	CHECK_EQ(system(command), 0);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Name of the device on its bus. */
static void bus_name(char name[32])
{
	FILE *pipe = popen("basename $(ls -d " DRIVER "0000:*)", "r");

	CHECK(pipe != NULL && fgets(name, 32, pipe) != NULL);
	pclose(pipe);
	name[strcspn(name, "\n")] = '\0';
}

/* A submission on a device that was opened just now does what it should. */
static void works(void)
{
	static struct guest_work work;
	int fd = -1;
	struct guest_object object;

	GUEST_UNTIL((fd = guest_open()) >= 0);
	object = guest_object(fd, 8192, 0);
	for (uint32_t node = 0; node < 2; node++) {
		guest_work_start(&work, node);
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 8192, 0x51 + node);
		guest_do(fd, &work);
		CHECK_EQ(object.words[2047], 0x51 + node);
	}
	guest_object_free(fd, &object);
	close(fd);
}

/* An error that says that the device is not there any more. */
static bool is_gone(int error)
{
	return error == ENODEV || error == EIO;
}

/* Set when processes that load the device have done enough; each counts its rounds. */
static volatile uint32_t *enough;

/*
 * Submits without a pause until the device goes, or until it is enough. What completes is right.
 * @return true: the device went
 */
static bool load(volatile uint32_t *rounds)
{
	static struct guest_work work;
	struct guest_object object;
	int fd = guest_open();

	CHECK(fd >= 0);
	object = guest_object(fd, 65536, 0);
	for (uint32_t i = 0; *enough == 0; *rounds = ++i) {
		int error;

		guest_work_start(&work, i % 2);
		work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 65536, i);
		error = guest_submit(fd, &work);
		if (error != 0) {
			CHECK(is_gone(error));
			return true;
		}
		CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
		error = guest_fence_status(work.args.out_fence_fd);
		close(work.args.out_fence_fd);
		if (error < 0) {
			CHECK(is_gone(-error));
			return true;
		}
		CHECK_EQ(object.words[16383], i);
	}
	return false;
}

/* The device went between a fence and the look at its result. */
static void on_lost_mapping(int number)
{
	(void)number;
	_exit(2);
}

/* Starts processes that load the device, and waits until each has done so many rounds. */
static void start_load(pid_t *children, int count, uint32_t rounds)
{
	volatile uint32_t *done[8];

	fflush(stdout);
	enough = guest_shared_word();
	for (int i = 0; i < count; i++) {
		done[i] = guest_shared_word();
		children[i] = fork();
		if (children[i] == 0) {
			signal(SIGBUS, on_lost_mapping);
			_exit(load(done[i]) ? 2 : 0);
		}
	}
	for (int i = 0; i < count; i++)
		GUEST_UNTIL(*done[i] >= rounds);
}

static void end_load(const pid_t *children, int count, int expected)
{
	for (int i = 0; i < count; i++) {
		int status;

		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK(WIFEXITED(status));
		CHECK_EQ(WEXITSTATUS(status), expected);
	}
}

/* ---- by the guest alone ---- */

/* Unloads the module. The last fences are freed when each processor has been elsewhere; they keep the code. */
static void unload(void)
{
	GUEST_UNTIL(system("rmmod patchbay 2>/dev/null") == 0);
	CHECK(system("test -d /sys/module/patchbay") != 0);
}

void the_module_loads_again(void)
{
	for (int i = 0; i < 3; i++) {
		unload();
		CHECK(guest_open() < 0);
		run(MODULE);
		works();
	}
}

void the_device_unbinds_under_load(void)
{
	pid_t children[3];
	char name[32];

	bus_name(name);
	for (int i = 0; i < 3; i++) {
		start_load(children, 3, 1 + 7 * (uint32_t)i);
		write_to(DRIVER "unbind", name);
		end_load(children, 3, 2);
		write_to(DRIVER "bind", name);
		works();
	}
}

void the_device_is_removed_and_found_again(void)
{
	char name[32], path[96];
	pid_t children[2];

	bus_name(name);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", name);
	start_load(children, 2, 5);
	write_to(path, "1");
	end_load(children, 2, 2);
	CHECK(guest_open() < 0);
	write_to("/sys/bus/pci/rescan", "1");
	works();
}

/* A fence that waits for another driver ends with an error, can be asked, and keeps the code that answers. */
void fences_outlive_the_device(void)
{
	static struct guest_work work;
	struct guest_foreign foreign = guest_foreign();
	int fd = guest_open(), fence;
	char name[32];

	bus_name(name);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	guest_command(&work, PB_PACKET_NOP, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	fence = work.args.out_fence_fd;
	write_to(DRIVER "unbind", name);
	CHECK_EQ(guest_fence_wait(fence), 0);
	CHECK_EQ(guest_fence_status(fence), -ENODEV);
	CHECK_EQ(guest_submit(fd, &work), ENODEV);
	close(fd);
	guest_foreign_signal(&foreign);
	CHECK(system("rmmod patchbay 2>/dev/null") != 0);
	CHECK_EQ(guest_fence_status(fence), -ENODEV);
	close(fence);
	unload();
	run(MODULE);
	works();
}

static sigjmp_buf back;

static void on_bus_error(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

void mappings_end_with_the_device(void)
{
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);
	volatile bool faulted = false;
	char name[32];

	bus_name(name);
	object.words[0] = 1;
	signal(SIGBUS, on_bus_error);
	write_to(DRIVER "unbind", name);
	if (sigsetjmp(back, 1) == 0)
		object.words[0] = 2;
	else
		faulted = true;
	CHECK(faulted);
	close(fd);
	write_to(DRIVER "bind", name);
	works();
}

/* ---- with the machine below ---- */

/* The firmware's processor is killed; the card starts it again. Queues and objects are told, and made anew. */
void the_firmware_dies_and_returns(void)
{
	static struct guest_work work;
	int fd = guest_open(), error = 0;
	struct guest_object object = guest_object(fd, 4096, 0);
	struct drm_patchbay_info before, after;
	const int64_t end = guest_now_ns() + GUEST_PATIENCE / 2;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &before), 0);
	guest_ask_host("kill-mcu");
	do {
		CHECK(guest_now_ns() < end);
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 4096, 1);
		error = guest_submit(fd, &work);
		if (error == 0) {
			CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
			error = -guest_fence_status(work.args.out_fence_fd);
			close(work.args.out_fence_fd);
		}
	} while (error == -1);
	/* The driver is told: it does not wait until the card's clock has stood still for too long. */
	CHECK(is_gone(error));
	CHECK(guest_now_ns() < end);
	CHECK_EQ(guest_query(fd, 0).flags & PATCHBAY_QUEUE_CARD_LOST, PATCHBAY_QUEUE_CARD_LOST);
	GUEST_UNTIL(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &after) == 0 && after.restarts != before.restarts);
	CHECK_EQ(guest_submit(fd, &work), EIO);
	CHECK_EQ(guest_info(fd, object.handle).flags, PATCHBAY_GEM_LOST);
	CHECK_EQ(guest_info(fd, object.handle).flags, 0);
	CHECK_EQ(object.words[5], 0);
	CHECK_EQ(guest_clear(fd, 0), 0);
	guest_work_start(&work, 0);
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4096, 8);
	guest_do(fd, &work);
	CHECK_EQ(object.words[1023], 8);
	CHECK_EQ(guest_query(fd, 0).flags, 0);
	works();
}

/* Nothing says that the card is gone; its clock stands, for longer than it usually may. */
void a_card_that_is_gone_ends_all_fences(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open(), error;
	struct guest_object object = guest_object(fd, 4096, 0);
	struct guest_foreign foreign = guest_foreign();
	const int64_t end = guest_now_ns() + GUEST_PATIENCE;
	int blocked;

	guest_work_start(&work, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	guest_command(&work, PB_PACKET_NOP, 0, NULL);
	CHECK_EQ(guest_submit(other, &work), 0);
	blocked = work.args.out_fence_fd;
	write_to(CARD_TIMEOUT, "1200");
	guest_ask_host("kill-card");
	do {
		CHECK(guest_now_ns() < end);
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_FENCE_OUT;
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 4096, 1);
		error = -guest_submit(fd, &work);
		if (error == 0) {
			CHECK_EQ(guest_fence_wait(work.args.out_fence_fd), 0);
			error = guest_fence_status(work.args.out_fence_fd);
			close(work.args.out_fence_fd);
		}
	} while (error == 1);
	CHECK_EQ(error, -ENODEV);
	CHECK_EQ(guest_fence_wait(blocked), 0);
	CHECK_EQ(guest_fence_status(blocked), -ENODEV);
	CHECK_EQ(guest_submit(fd, &work), ENODEV);
	/* Nothing of the device answers, and yet it can be left. */
	guest_object_free(fd, &object);
	close(fd);
	close(other);
	close(blocked);
	unload();
}

/* For two machines on one card: both load it, with eviction; this one until the machine below has ended the other one. */
void load_runs_for_a_while(void)
{
	pid_t children[2];

	start_load(children, 2, 1);
	guest_await_host("loads");
	four_processes_share_the_card();
	*enough = 1;
	end_load(children, 2, 0);
}
