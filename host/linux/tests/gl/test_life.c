// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The device, the firmware and the card end while files draw. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gl.h"

/* Draws until it cannot, and counts. */
static _Noreturn void draw_on(volatile uint32_t *drawn)
{
	int fd = gl_open();

	for (int i = 0; gl_clear(fd, i & 1, i & 2, i & 4) == 0; i++)
		++*drawn;
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
		volatile uint32_t *drawn[3];
		pid_t children[3];

		for (int i = 0; i < 3; i++) {
			drawn[i] = guest_shared_word();
			children[i] = fork();
			if (children[i] == 0)
				draw_on(drawn[i]);
		}
		for (int i = 0; i < 3; i++)
			GUEST_UNTIL(*drawn[i] != 0);
		snprintf(path, sizeof(path), "%sunbind", driver);
		gl_write_to(path, device);
		for (int i = 0; i < 3; i++)
			CHECK_EQ(waitpid(children[i], NULL, 0), children[i]);
		snprintf(path, sizeof(path), "%sbind", driver);
		gl_write_to(path, device);
		CHECK_EQ(gl_clear(gl_open(), true, false, true), 0);
	}
}

/* A file is lost with the firmware; a new one draws when the firmware is back. */
void files_draw_when_the_firmware_is_back(void)
{
	int fd = gl_open(), idle = gl_open(), other = gl_open();
	struct drm_virtgpu_execbuffer args = {0};

	CHECK_EQ(gl_clear(fd, true, false, true), 0);
	CHECK_EQ(gl_clear(idle, true, false, true), 0);
	CHECK_EQ(gl_draw_without_end(gl_open(), &args), 0);
	guest_ask_host("kill-mcu");
	GUEST_UNTIL(gl_clear(fd, true, true, true) != 0);
	GUEST_UNTIL(close(other) == 0 && gl_clear(other = gl_open(), false, true, true) == 0);
	CHECK_EQ(guest_fence_wait(args.fence_fd), 0);
	CHECK(guest_fence_status(args.fence_fd) < 0);
	CHECK_EQ(gl_clear(fd, true, true, true), EIO);
	CHECK_EQ(gl_clear(idle, true, true, true), EIO);
	CHECK_EQ(gl_clear(other, true, true, true), 0);
}

void what_is_drawn_ends_with_the_card(void)
{
	int fd = gl_open();

	CHECK_EQ(gl_clear(fd, true, false, true), 0);
	/* Nothing else says that the card is gone. */
	gl_write_to("/sys/module/patchbay/parameters/card_timeout_ms", "1200");
	guest_ask_host("kill-card");
	GUEST_UNTIL(gl_clear(fd, true, true, true) != 0);
}
