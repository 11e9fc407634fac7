// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Events of a display as read() gives them: IGT's drm_read demands the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kms_checks.h"
#include "kms_display.h"

#define EVENT_BYTES sizeof(struct drm_event_vblank)

static struct display display;

static void show_picture(void)
{
	struct picture picture;

	display = open_display(kms_driver);
	picture = make_picture(&display, 640, 480, 1);
	CHECK_EQ(show(&display, &picture, mode_of(&display, 640, 480)), 0);
}

static void ask_for_event(uint64_t number)
{
	union drm_wait_vblank ask = {.request = {.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_EVENT,
						 .sequence = 1,
						 .signal = number}};

	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_WAIT_VBLANK, &ask), 0);
}

/* Makes `count` events, numbered from 1, and returns when all can be read. */
static void make_events(uint32_t count)
{
	union drm_wait_vblank wait = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 3}};

	for (uint32_t i = 1; i <= count; i++)
		ask_for_event(i);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_WAIT_VBLANK, &wait), 0);
}

static void check_event(const void *bytes, uint64_t number)
{
	struct drm_event_vblank event;

	memcpy(&event, bytes, sizeof(event));
	CHECK_EQ(event.base.type, DRM_EVENT_VBLANK);
	CHECK_EQ(event.base.length, EVENT_BYTES);
	CHECK_EQ(event.user_data, number);
	CHECK_EQ(event.crtc_id, display.crtc);
}

static bool can_be_read(void)
{
	struct pollfd poller = {.fd = display.fd, .events = POLLIN};

	return poll(&poller, 1, 0) == 1;
}

static void never_block(void)
{
	CHECK_EQ(fcntl(display.fd, F_SETFL, O_RDWR | O_NONBLOCK), 0);
}

/* A buffer that is too small for the event gets nothing, and the event stays. */
void events_are_read_whole(void)
{
	uint8_t bytes[1024];

	show_picture();
	for (int round = 0; round < 2; round++) {
		make_events(1);
		CHECK(can_be_read());
		CHECK_EQ(read(display.fd, bytes, 0), 0);
		CHECK_EQ(read(display.fd, bytes, 4), 0);
		CHECK_EQ(read(display.fd, bytes, EVENT_BYTES - 1), 0);
		CHECK(can_be_read());
		CHECK_EQ(read(display.fd, bytes, sizeof(bytes)), EVENT_BYTES);
		check_event(bytes, 1);
		CHECK(!can_be_read());
		never_block();
	}
}

void several_events_are_read_at_once(void)
{
	uint8_t bytes[1024];

	show_picture();
	make_events(7);
	CHECK_EQ(read(display.fd, bytes, EVENT_BYTES * 5 / 2), 2 * EVENT_BYTES);
	check_event(bytes, 1);
	check_event(bytes + EVENT_BYTES, 2);
	CHECK_EQ(read(display.fd, bytes, sizeof(bytes)), 5 * EVENT_BYTES);
	for (uint32_t i = 0; i < 5; i++)
		check_event(bytes + i * EVENT_BYTES, 3 + i);
	CHECK(!can_be_read());
}

/* Events that cannot be copied to the caller stay, also behind others that can. */
void events_stay_when_the_buffer_is_bad(void)
{
	uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *end = pages + 4096;

	CHECK(pages != MAP_FAILED);
	CHECK_EQ(munmap(end, 4096), 0);
	show_picture();
	make_events(2);
	CHECK_EQ(read(display.fd, (void *)-1l, 4096), -1);
	CHECK_EQ(errno, EFAULT);
	CHECK_EQ(read(display.fd, end, 4096), -1);
	CHECK_EQ(errno, EFAULT);
	CHECK_EQ(read(display.fd, end - EVENT_BYTES, 4096), EVENT_BYTES);
	check_event(end - EVENT_BYTES, 1);
	CHECK_EQ(read(display.fd, end - EVENT_BYTES, EVENT_BYTES), EVENT_BYTES);
	check_event(end - EVENT_BYTES, 2);
	never_block();
	CHECK_EQ(read(display.fd, end - EVENT_BYTES, EVENT_BYTES), -1);
	CHECK_EQ(errno, EAGAIN);
}

/* A process that reads with room for `bytes` bytes, and ends with what it got. */
static pid_t start_reader(size_t bytes)
{
	pid_t child = fork();

	if (child == 0) {
		uint8_t room[EVENT_BYTES];

		_exit((int)read(display.fd, room, bytes));
	}
	CHECK(child > 0);
	return child;
}

/* A reader waits; an event wakes all that wait, also those that have no room for it. */
void reads_wait_for_events(void)
{
	enum { READERS = 3 };
	pid_t readers[READERS + 1];
	uint8_t bytes[1024];
	int status;

	show_picture();
	CHECK(!can_be_read());
	for (int i = 0; i < READERS; i++)
		readers[i] = start_reader(4);
	for (int i = 0; i < READERS; i++)
		guest_until_in(readers[i], "drm_read");
	ask_for_event(9);
	for (int i = 0; i < READERS; i++) {
		CHECK_EQ(waitpid(readers[i], &status, 0), readers[i]);
		CHECK_EQ(status, 0);
	}
	CHECK_EQ(read(display.fd, bytes, sizeof(bytes)), EVENT_BYTES);
	check_event(bytes, 9);
	readers[READERS] = start_reader(EVENT_BYTES);
	guest_until_in(readers[READERS], "drm_read");
	ask_for_event(10);
	CHECK_EQ(waitpid(readers[READERS], &status, 0), readers[READERS]);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EVENT_BYTES);
}
