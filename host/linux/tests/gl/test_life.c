// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device, the firmware and the card end while files draw. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gl.h"

/* Draws until it cannot. */
static _Noreturn void draw_on(void)
{
	int fd = gl_open();

	for (int i = 0; gl_clear(fd, i & 1, i & 2, i & 4) == 0; i++)
		;
	_exit(0);
}

void the_device_unbinds_while_files_draw(void)
{
	static const char driver[] = "/sys/bus/pci/drivers/patchbay/";
	char path[64], device[16] = "";
	DIR *folder = opendir(driver);
	const struct dirent *entry;

	CHECK(folder != NULL);
	while ((entry = readdir(folder)) != NULL)
		if (strncmp(entry->d_name, "0000:", 5) == 0)
			snprintf(device, sizeof(device), "%.15s", entry->d_name);
	closedir(folder);
	for (int round = 0; round < 2; round++) {
		pid_t children[3];
		int64_t end;

		for (int i = 0; i < 3; i++) {
			children[i] = fork();
			if (children[i] == 0)
				draw_on();
		}
		guest_sleep_ms(300);
		snprintf(path, sizeof(path), "%sunbind", driver);
		gl_write_to(path, device);
		end = guest_now_ns() + 10 * GUEST_SECOND;
		for (int i = 0; i < 3; i++) {
			CHECK_EQ(waitpid(children[i], NULL, 0), children[i]);
			CHECK(guest_now_ns() < end);
		}
		snprintf(path, sizeof(path), "%sbind", driver);
		gl_write_to(path, device);
		CHECK_EQ(gl_clear(gl_open(), true, false, true), 0);
	}
}

/* A file is lost with the firmware; a new one draws when the firmware is back. */
void files_draw_when_the_firmware_is_back(void)
{
	const int64_t end = guest_now_ns() + 40 * GUEST_SECOND;
	int fd = gl_open(), idle = gl_open(), other = -1;
	struct drm_virtgpu_execbuffer args = {0};

	CHECK_EQ(gl_clear(fd, true, false, true), 0);
	CHECK_EQ(gl_clear(idle, true, false, true), 0);
	CHECK_EQ(gl_draw_without_end(gl_open(), &args), 0);
	printf("HOST kill-mcu\n");
	fflush(stdout);
	while (gl_clear(fd, true, true, true) == 0)
		CHECK(guest_now_ns() < end);
	do {
		CHECK(guest_now_ns() < end);
		if (other >= 0)
			close(other);
		guest_sleep_ms(50);
		other = gl_open();
	} while (gl_clear(other, false, true, true) != 0);
	CHECK_EQ(guest_fence_wait(args.fence_fd, 10000), 0);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(gl_clear(fd, true, true, true), EIO);
	CHECK_EQ(gl_clear(idle, true, true, true), EIO);
	CHECK_EQ(gl_clear(other, true, true, true), 0);
}

void what_is_drawn_ends_with_the_card(void)
{
	int fd = gl_open();
	int64_t end;

	CHECK_EQ(gl_clear(fd, true, false, true), 0);
	printf("HOST kill-card\n");
	fflush(stdout);
	end = guest_now_ns() + 30 * GUEST_SECOND;
	while (gl_clear(fd, true, true, true) == 0)
		CHECK(guest_now_ns() < end);
	CHECK(guest_now_ns() < end);
}
