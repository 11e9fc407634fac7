// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls of the display of which each allocation fails: test_fail.c. A flip that has failed has no event. */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "failing.h"
#include "guest.h"
#include "tests.h"

#define WIDTH  640
#define HEIGHT 480

struct screen {
	int fd;
	uint32_t connector, crtc, framebuffers[2];
	struct drm_mode_modeinfo mode;
};

static struct drm_mode_fb_cmd2 framebuffer_of(int fd)
{
	struct drm_mode_create_dumb create = {.width = WIDTH, .height = HEIGHT, .bpp = 32};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	return (struct drm_mode_fb_cmd2){.pixel_format = DRM_FORMAT_XRGB8888, .width = WIDTH, .height = HEIGHT,
					 .handles = {create.handle}, .pitches = {create.pitch}};
}

static void find_mode(struct screen *screen)
{
	struct drm_mode_modeinfo modes[64];
	struct drm_mode_get_connector connector = {.connector_id = screen->connector};

	/* The first call looks for modes. */
	CHECK_EQ(guest_ioctl(screen->fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	connector = (struct drm_mode_get_connector){.connector_id = screen->connector, .modes_ptr = (uintptr_t)modes,
						    .count_modes = 64};
	CHECK_EQ(guest_ioctl(screen->fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes <= 64);
	for (uint32_t i = 0; i < connector.count_modes; i++)
		if (modes[i].hdisplay == WIDTH && modes[i].vdisplay == HEIGHT)
			screen->mode = modes[i];
	CHECK_EQ(screen->mode.hdisplay, WIDTH);
}

static struct screen open_screen(void)
{
	struct screen screen = {.fd = guest_open_primary("patchbay")};
	struct drm_mode_card_res resources = {.crtc_id_ptr = (uintptr_t)&screen.crtc, .count_crtcs = 1,
					      .connector_id_ptr = (uintptr_t)&screen.connector, .count_connectors = 1};

	CHECK(screen.fd >= 0);
	CHECK_EQ(guest_ioctl(screen.fd, DRM_IOCTL_MODE_GETRESOURCES, &resources), 0);
	find_mode(&screen);
	for (uint32_t i = 0; i < 2; i++) {
		struct drm_mode_fb_cmd2 add = framebuffer_of(screen.fd);

		CHECK_EQ(guest_ioctl(screen.fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
		screen.framebuffers[i] = add.fb_id;
	}
	return screen;
}

static struct drm_mode_crtc shown(struct screen *screen)
{
	return (struct drm_mode_crtc){.crtc_id = screen->crtc, .fb_id = screen->framebuffers[0],
				      .set_connectors_ptr = (uintptr_t)&screen->connector, .count_connectors = 1,
				      .mode_valid = 1, .mode = screen->mode};
}

static struct screen open_shown(void)
{
	struct screen screen = open_screen();
	struct drm_mode_crtc crtc = shown(&screen);

	CHECK_EQ(guest_ioctl(screen.fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
	return screen;
}

static int call_mode(const struct failing *failing)
{
	struct screen screen = open_screen();
	struct drm_mode_crtc crtc = shown(&screen), now = {.crtc_id = screen.crtc};
	int error = failing_ioctl(failing, screen.fd, DRM_IOCTL_MODE_SETCRTC, &crtc);

	again(error, screen.fd, DRM_IOCTL_MODE_SETCRTC, &crtc);
	CHECK_EQ(guest_ioctl(screen.fd, DRM_IOCTL_MODE_GETCRTC, &now), 0);
	CHECK_EQ(now.fb_id, screen.framebuffers[0]);
	close(screen.fd);
	/* The scan-out is an object, made for the mode. */
	return of_new_file(error);
}

static int call_flip(const struct failing *failing)
{
	struct screen screen = open_shown();
	struct drm_mode_crtc_page_flip flip = {.crtc_id = screen.crtc, .fb_id = screen.framebuffers[1],
					       .flags = DRM_MODE_PAGE_FLIP_EVENT, .user_data = 1};
	struct pollfd poller = {.fd = screen.fd, .events = POLLIN};
	struct drm_event_vblank event;
	int error = failing_ioctl(failing, screen.fd, DRM_IOCTL_MODE_PAGE_FLIP, &flip);

	flip.user_data = 2;
	again(error, screen.fd, DRM_IOCTL_MODE_PAGE_FLIP, &flip);
	CHECK_EQ(guest_fence_wait(poller.fd), 0);
	CHECK_EQ(read(screen.fd, &event, sizeof(event)), sizeof(event));
	CHECK_EQ(event.base.type, DRM_EVENT_FLIP_COMPLETE);
	CHECK_EQ(event.user_data, error != 0 ? 2 : 1);
	CHECK_EQ(poll(&poller, 1, 0), 0);
	close(screen.fd);
	return error;
}

static int call_dirty(const struct failing *failing)
{
	struct screen screen = open_shown();
	struct drm_clip_rect clip = {.x1 = 3, .y1 = 5, .x2 = 77, .y2 = 99};
	struct drm_mode_fb_dirty_cmd dirty = {.fb_id = screen.framebuffers[0], .clips_ptr = (uintptr_t)&clip, .num_clips = 1};
	int error = failing_ioctl(failing, screen.fd, DRM_IOCTL_MODE_DIRTYFB, &dirty);

	again(error, screen.fd, DRM_IOCTL_MODE_DIRTYFB, &dirty);
	close(screen.fd);
	return error;
}

#define PBD_FAIL_TEST(name)                                                                                  \
	void fail_##name(void)                                                                               \
	{                                                                                                    \
		each_allocation(call_##name);                                                                \
	}

PBD_FAIL_DISPLAY(PBD_FAIL_TEST)
