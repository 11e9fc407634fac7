// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A display and its pictures, through ioctls that all atomic drivers have. */
#include <drm/drm_fourcc.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"
#include "kms_display.h"

struct display open_display(const char *driver)
{
	struct display display = {.fd = guest_open_primary(driver)};
	uint32_t encoders[4], planes[8] = {0};
	struct drm_mode_card_res resources = {
		.crtc_id_ptr = (uintptr_t)&display.crtc,
		.count_crtcs = 1,
		.connector_id_ptr = (uintptr_t)&display.connector,
		.count_connectors = 1,
	};
	struct drm_set_client_cap atomic = {DRM_CLIENT_CAP_ATOMIC, 1};
	struct drm_mode_get_connector connector = {0};
	struct drm_mode_get_plane_res list = {.plane_id_ptr = (uintptr_t)planes, .count_planes = 8};

	CHECK(display.fd >= 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_SET_CLIENT_CAP, &atomic), 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETRESOURCES, &resources), 0);
	connector.connector_id = display.connector;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes > 0 && connector.count_modes <= 64);
	connector.modes_ptr = (uintptr_t)display.modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	display.mode_count = connector.count_modes;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETPLANERESOURCES, &list), 0);
	display.plane = planes[0];
	return display;
}

const struct drm_mode_modeinfo *mode_of(const struct display *display, uint32_t width, uint32_t height)
{
	for (uint32_t i = 0; i < display->mode_count; i++)
		if (display->modes[i].hdisplay == width && display->modes[i].vdisplay == height)
			return &display->modes[i];
	return NULL;
}

struct picture make_picture_of(const struct display *display, int driver, uint32_t width, uint32_t height, uint32_t seed)
{
	struct drm_mode_create_dumb create = {.width = width, .height = height, .bpp = 32};
	struct drm_mode_map_dumb map = {0};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct drm_mode_fb_cmd2 add = {.width = width, .height = height, .pixel_format = DRM_FORMAT_XRGB8888};
	struct picture picture;

	CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	map.handle = prime.handle = create.handle;
	CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	if (driver != display->fd) {
		CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
		CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	}
	add.handles[0] = prime.handle;
	add.pitches[0] = create.pitch;
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
	picture = (struct picture){add.fb_id, prime.handle, width, height, create.pitch, NULL};
	picture.words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, driver, (off_t)map.offset);
	CHECK(picture.words != MAP_FAILED);
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			picture.words[y * create.pitch / 4 + x] = (x * 3 + y * 5 * seed) << 8 ^ (x * y + seed);
	return picture;
}

struct picture make_picture(const struct display *display, uint32_t width, uint32_t height, uint32_t seed)
{
	return make_picture_of(display, display->fd, width, height, seed);
}

int show(const struct display *display, const struct picture *picture, const struct drm_mode_modeinfo *mode)
{
	struct drm_mode_crtc crtc = {
		.crtc_id = display->crtc,
		.fb_id = picture ? picture->framebuffer : 0,
		.set_connectors_ptr = (uintptr_t)&display->connector,
		.count_connectors = picture ? 1 : 0,
		.mode_valid = picture ? 1 : 0,
	};

	if (mode)
		crtc.mode = *mode;
	return guest_ioctl(display->fd, DRM_IOCTL_MODE_SETCRTC, &crtc);
}

int flip(const struct display *display, const struct picture *picture, uint32_t flags)
{
	struct drm_mode_crtc_page_flip args = {
		.crtc_id = display->crtc, .fb_id = picture->framebuffer, .flags = flags};

	return guest_ioctl(display->fd, DRM_IOCTL_MODE_PAGE_FLIP, &args);
}

struct drm_event_vblank next_event(const struct display *display)
{
	struct pollfd poller = {.fd = display->fd, .events = POLLIN};
	struct drm_event_vblank event = {0};

	CHECK_EQ(guest_fence_wait(poller.fd), 0);
	CHECK(read(display->fd, &event, sizeof(event)) > 0);
	return event;
}

/* ---- CRCs ---- */

int crc_open(const struct display *display)
{
	struct stat node;
	char path[128];
	int control, fd;

	CHECK_EQ(fstat(display->fd, &node), 0);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/crtc-0/crc/control", minor(node.st_rdev));
	control = open(path, O_WRONLY);
	CHECK(control >= 0);
	CHECK_EQ(write(control, "auto", 4), 4);
	close(control);
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/crtc-0/crc/data", minor(node.st_rdev));
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	return fd;
}

/* The CRC of the `skip`th frame from now on. */
uint32_t crc_read(int fd, int skip)
{
	char line[64] = "";
	uint32_t frame, crc = 0;

	for (int i = 0; i <= skip; i++) {
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		ssize_t length;

		CHECK_EQ(guest_fence_wait(poller.fd), 0);
		length = read(fd, line, sizeof(line) - 1);
		CHECK(length > 0);
		line[length] = 0;
		CHECK_EQ(sscanf(line, "%x %x", &frame, &crc), 2);
	}
	return crc;
}

uint32_t crc_shown(const struct display *display)
{
	int fd = crc_open(display);
	uint32_t crc = crc_read(fd, 2);

	close(fd);
	return crc;
}

/* ---- atomic ---- */

uint32_t property_of(const struct display *display, uint32_t object, uint32_t type, const char *name)
{
	uint32_t ids[64];
	uint64_t values[64];
	struct drm_mode_obj_get_properties list = {
		.props_ptr = (uintptr_t)ids,
		.prop_values_ptr = (uintptr_t)values,
		.count_props = 64,
		.obj_id = object,
		.obj_type = type,
	};

	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &list), 0);
	for (uint32_t i = 0; i < list.count_props; i++) {
		struct drm_mode_get_property args = {.prop_id = ids[i]};

		CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_GETPROPERTY, &args), 0);
		if (strcmp(args.name, name) == 0)
			return ids[i];
	}
	return 0;
}

int commit(const struct display *display, const struct setting *settings, uint32_t count, uint32_t flags)
{
	uint32_t objects[8], counts[8], properties[8];
	uint64_t values[8];
	struct drm_mode_atomic args = {
		.flags = flags,
		.count_objs = count,
		.objs_ptr = (uintptr_t)objects,
		.count_props_ptr = (uintptr_t)counts,
		.props_ptr = (uintptr_t)properties,
		.prop_values_ptr = (uintptr_t)values,
	};

	CHECK(count <= 8);
	for (uint32_t i = 0; i < count; i++) {
		objects[i] = settings[i].object;
		counts[i] = 1;
		properties[i] = property_of(display, settings[i].object, settings[i].type, settings[i].name);
		CHECK(properties[i] != 0);
		values[i] = settings[i].value;
	}
	return guest_ioctl(display->fd, DRM_IOCTL_MODE_ATOMIC, &args);
}

int set_plane(const struct display *display, const char *name, uint64_t value, uint32_t flags)
{
	const struct setting setting = {display->plane, DRM_MODE_OBJECT_PLANE, name, value};

	return commit(display, &setting, 1, flags);
}
