// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The display shows resources as they are at the renderers. The machine below compares it. */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <string.h>
#include <unistd.h>

#include "gl.h"

static uint32_t pixel(uint32_t x, uint32_t y, uint32_t seed)
{
	return ((x * 3 + seed) & 0xff) << 16 | ((y * 5 + seed * 7) & 0xff) << 8 | ((x ^ y) & 0xff);
}

/* The display's first mode, and what it takes to set it. */
static struct drm_mode_crtc display(int fd, uint32_t *connector_id)
{
	uint32_t crtc_id = 0, encoders[4];
	struct drm_mode_modeinfo modes[64];
	struct drm_mode_card_res ids = {.crtc_id_ptr = (uintptr_t)&crtc_id, .count_crtcs = 1,
					.connector_id_ptr = (uintptr_t)connector_id, .count_connectors = 1};
	struct drm_mode_get_connector connector = {0};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETRESOURCES, &ids), 0);
	connector.connector_id = *connector_id;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes > 0 && connector.count_modes <= 64);
	connector.modes_ptr = (uintptr_t)modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	return (struct drm_mode_crtc){.crtc_id = crtc_id, .set_connectors_ptr = (uintptr_t)connector_id,
				      .count_connectors = 1, .mode_valid = 1, .mode = modes[0]};
}

/* Shows a picture that `painter` has made, which may be another file. */
static void show(int fd, int painter, uint32_t seed)
{
	uint32_t connector_id = 0;
	struct drm_mode_crtc crtc = display(fd, &connector_id);
	struct drm_virtgpu_3d_box box = {.w = crtc.mode.hdisplay, .h = crtc.mode.vdisplay, .d = 1};
	struct drm_mode_fb_cmd2 framebuffer = {.pixel_format = DRM_FORMAT_XRGB8888, .width = box.w, .height = box.h};
	struct gl_resource resource, shown;
	char answer[8] = "";

	CHECK_EQ(gl_try_resource(painter, FORMAT_BGRX, box.w, box.h, &resource), 0);
	shown = painter == fd ? resource : gl_share(painter, &resource, fd);
	for (uint32_t y = 0; y < box.h; y++)
		for (uint32_t x = 0; x < box.w; x++)
			resource.words[y * box.w + x] = pixel(x, y, seed);
	CHECK_EQ(gl_to_host(painter, &resource, box, 0), 0);
	/* The renderer's contents are shown, not what the memory holds now. */
	memset(resource.words, 0, resource.bytes);
	framebuffer.handles[0] = shown.handle;
	framebuffer.pitches[0] = 4 * box.w;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_ADDFB2, &framebuffer), 0);
	crtc.fb_id = framebuffer.fb_id;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
	printf("HOST compare %u %u %u %u 0 0 0 0\n", box.w, box.h, seed, seed);
	fflush(stdout);
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	CHECK_EQ(strncmp(answer, "same", 4), 0);
}

void a_resource_is_shown(void)
{
	int fd = guest_open_primary("virtio_gpu");

	CHECK(fd >= 0);
	show(fd, fd, 9);
}

void a_resource_of_another_file_is_shown(void)
{
	int fd = guest_open_primary("virtio_gpu");

	CHECK(fd >= 0);
	show(fd, gl_open(), 23);
}
