// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Calls of a chain: the display. */
#include <drm/drm_fourcc.h>
#include <poll.h>
#include <unistd.h>

#include "chain.h"

static int create_dumb(struct chain *chain)
{
	struct drm_mode_create_dumb create = {.width = chain->mode.hdisplay, .height = chain->mode.vdisplay, .bpp = 32};
	int result;

	chain->file = 0;
	if (chain_some(chain, 2))
		create.width = create.height = 64;
	result = chain_do(chain, DRM_IOCTL_MODE_CREATE_DUMB, &create);
	if (result == 0)
		(void)chain_close_object(chain, chain_keep(chain, CHAIN_OBJECT, create.handle));
	return result;
}

static int map_dumb(struct chain *chain)
{
	struct drm_mode_map_dumb arguments;

	chain->file = 0;
	arguments.handle = chain_take(chain, CHAIN_OBJECT);
	return chain_do(chain, DRM_IOCTL_MODE_MAP_DUMB, &arguments);
}

static int add_framebuffer(struct chain *chain)
{
	struct drm_mode_fb_cmd2 add = {.pixel_format = chain_some(chain, 8) ? DRM_FORMAT_XRGB8888 : (uint32_t)chain_odd(chain),
				       .width = chain->mode.hdisplay, .height = chain->mode.vdisplay};
	uint32_t old;
	int result;

	chain->file = 0;
	if (chain_some(chain, 4) == 0)
		add.width = add.height = 64;
	add.handles[0] = chain_take(chain, CHAIN_OBJECT);
	add.pitches[0] = add.width * 4;
	result = chain_do(chain, DRM_IOCTL_MODE_ADDFB2, &add);
	if (result != 0)
		return result;
	old = chain_keep(chain, CHAIN_FRAMEBUFFER, add.fb_id);
	if (old != 0)
		(void)chain_ioctl_plain(chain->files[0], DRM_IOCTL_MODE_RMFB, &old);
	return 0;
}

static int remove_framebuffer(struct chain *chain)
{
	uint32_t number;

	chain->file = 0;
	number = chain_forget(chain, CHAIN_FRAMEBUFFER);
	return chain_ioctl_plain(chain->files[0], DRM_IOCTL_MODE_RMFB, &number);
}

static int set_crtc(struct chain *chain)
{
	struct drm_mode_crtc crtc = {.crtc_id = chain->crtc, .set_connectors_ptr = (uintptr_t)&chain->connector,
				     .count_connectors = 1, .mode_valid = 1, .mode = chain->mode};

	chain->file = 0;
	crtc.fb_id = chain_take(chain, CHAIN_FRAMEBUFFER);
	if (chain_some(chain, 4) == 0)
		return chain_do(chain, DRM_IOCTL_MODE_SETCRTC, &crtc);
	/* As libdrm does. */
	return guest_ioctl(chain->files[0], DRM_IOCTL_MODE_SETCRTC, &crtc);
}

static int page_flip(struct chain *chain)
{
	struct drm_mode_crtc_page_flip flip = {.crtc_id = chain->crtc, .flags = chain_some(chain, 2)};
	struct pollfd poller = {.fd = chain->files[0], .events = POLLIN};
	char events[256];

	chain->file = 0;
	flip.fb_id = chain_take(chain, CHAIN_FRAMEBUFFER);
	/* Others read them too. */
	if (poll(&poller, 1, 0) == 1)
		(void)!read(chain->files[0], events, sizeof(events));
	return chain_do(chain, DRM_IOCTL_MODE_PAGE_FLIP, &flip);
}

static int dirty(struct chain *chain)
{
	struct drm_clip_rect clips[2] = {{0, 0, (uint16_t)chain_odd(chain), (uint16_t)chain_odd(chain)}, {1, 1, 9, 9}};
	struct drm_mode_fb_dirty_cmd arguments = {.num_clips = chain_some(chain, 3), .clips_ptr = (uintptr_t)clips};

	chain->file = 0;
	arguments.fb_id = chain_take(chain, CHAIN_FRAMEBUFFER);
	return chain_do(chain, DRM_IOCTL_MODE_DIRTYFB, &arguments);
}

void chain_open(struct chain *chain)
{
	static struct drm_mode_modeinfo modes[64];
	uint32_t encoders[4];
	struct drm_mode_card_res resources = {.crtc_id_ptr = (uintptr_t)&chain->crtc, .count_crtcs = 1,
					      .connector_id_ptr = (uintptr_t)&chain->connector, .count_connectors = 1};
	struct drm_mode_get_connector connector = {0};

	chain->files[0] = guest_open_primary("patchbay");
	for (uint32_t i = 1; i < CHAIN_FILES; i++)
		chain->files[i] = guest_open();
	chain->vgem = guest_open_primary("vgem");
	CHECK(chain->files[0] >= 0 && chain->files[1] >= 0 && chain->vgem >= 0);
	CHECK_EQ(guest_ioctl(chain->files[0], DRM_IOCTL_MODE_GETRESOURCES, &resources), 0);
	connector.connector_id = chain->connector;
	/* The first call, which has room for nothing, makes the driver look for modes. */
	CHECK_EQ(guest_ioctl(chain->files[0], DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_encoders <= 4);
	connector.modes_ptr = (uintptr_t)modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(chain->files[0], DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	/* The smallest mode: the last one. */
	CHECK(connector.count_modes > 0 && connector.count_modes <= 64);
	chain->mode = modes[connector.count_modes - 1];
}

const struct chain_call chain_displays[] = {
	{"CREATE_DUMB", create_dumb, 8},
	{"MAP_DUMB", map_dumb, 2},
	{"ADDFB2", add_framebuffer, 16},
	{"RMFB", remove_framebuffer, 2},
	{"SETCRTC", set_crtc, 6},
	{"PAGE_FLIP", page_flip, 20},
	{"DIRTYFB", dirty, 2},
	{NULL, NULL, 0},
};
