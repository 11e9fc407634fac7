// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-kms DRIVER: what any atomic driver of a display must do, through ioctls that all have. It runs on vkms and on the
 * card in one kernel: what holds on vkms must hold on the card. Pictures are compared by the CRCs that a driver
 * computes of what it shows.
 */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"

static const char *driver;

struct display {
	int fd;
	uint32_t connector, crtc, plane;
	uint32_t mode_count;
	struct drm_mode_modeinfo modes[64];
};

struct picture {
	uint32_t framebuffer, handle, width, height, pitch;
	uint32_t *words;
};

static struct display open_display(void)
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

static const struct drm_mode_modeinfo *mode_of(const struct display *display, uint32_t width, uint32_t height)
{
	for (uint32_t i = 0; i < display->mode_count; i++)
		if (display->modes[i].hdisplay == width && display->modes[i].vdisplay == height)
			return &display->modes[i];
	return NULL;
}

static struct picture make_picture(const struct display *display, uint32_t width, uint32_t height, uint32_t seed)
{
	struct drm_mode_create_dumb create = {.width = width, .height = height, .bpp = 32};
	struct drm_mode_map_dumb map = {0};
	struct drm_mode_fb_cmd2 add = {.width = width, .height = height, .pixel_format = DRM_FORMAT_XRGB8888};
	struct picture picture;

	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	add.handles[0] = create.handle;
	add.pitches[0] = create.pitch;
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
	map.handle = create.handle;
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	picture = (struct picture){add.fb_id, create.handle, width, height, create.pitch, NULL};
	picture.words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, display->fd, (off_t)map.offset);
	CHECK(picture.words != MAP_FAILED);
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			picture.words[y * create.pitch / 4 + x] = (x * 3 + y * 5 * seed) << 8 ^ (x * y + seed);
	return picture;
}

static int show(const struct display *display, const struct picture *picture, const struct drm_mode_modeinfo *mode)
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

static int flip(const struct display *display, const struct picture *picture, uint32_t flags)
{
	struct drm_mode_crtc_page_flip args = {
		.crtc_id = display->crtc, .fb_id = picture->framebuffer, .flags = flags};

	return guest_ioctl(display->fd, DRM_IOCTL_MODE_PAGE_FLIP, &args);
}

static struct drm_event_vblank next_event(const struct display *display)
{
	struct pollfd poller = {.fd = display->fd, .events = POLLIN};
	struct drm_event_vblank event = {0};

	CHECK_EQ(poll(&poller, 1, 20000), 1);
	CHECK(read(display->fd, &event, sizeof(event)) > 0);
	return event;
}

/* ---- CRCs ---- */

static int crc_open(const struct display *display)
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
static uint32_t crc_read(int fd, int skip)
{
	char line[64] = "";
	uint32_t frame, crc = 0;

	for (int i = 0; i <= skip; i++) {
		struct pollfd poller = {.fd = fd, .events = POLLIN};
		ssize_t length;

		CHECK_EQ(poll(&poller, 1, 20000), 1);
		length = read(fd, line, sizeof(line) - 1);
		CHECK(length > 0);
		line[length] = 0;
		CHECK_EQ(sscanf(line, "%x %x", &frame, &crc), 2);
	}
	return crc;
}

static uint32_t crc_shown(const struct display *display)
{
	int fd = crc_open(display);
	uint32_t crc = crc_read(fd, 2);

	close(fd);
	return crc;
}

/* ---- atomic ---- */

static uint32_t property(const struct display *display, uint32_t object, uint32_t type, const char *name)
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

/* Sets one property of the plane. */
static int set_plane(const struct display *display, const char *name, uint64_t value, uint32_t flags)
{
	uint32_t object = display->plane, count = 1;
	uint32_t id = property(display, object, DRM_MODE_OBJECT_PLANE, name);
	struct drm_mode_atomic args = {
		.flags = flags,
		.count_objs = 1,
		.objs_ptr = (uintptr_t)&object,
		.count_props_ptr = (uintptr_t)&count,
		.props_ptr = (uintptr_t)&id,
		.prop_values_ptr = (uintptr_t)&value,
	};

	CHECK(id != 0);
	return guest_ioctl(display->fd, DRM_IOCTL_MODE_ATOMIC, &args);
}

static struct display display;
static const struct drm_mode_modeinfo *small;

static struct picture shown_picture(uint32_t seed)
{
	struct picture picture;

	display = open_display();
	small = mode_of(&display, 640, 480);
	CHECK(small != NULL);
	picture = make_picture(&display, 640, 480, seed);
	CHECK_EQ(show(&display, &picture, small), 0);
	return picture;
}

/* ---- the checks ---- */

static void the_largest_mode_is_shown(void)
{
	const struct drm_mode_modeinfo *mode;
	struct picture picture;

	display = open_display();
	mode = mode_of(&display, 1920, 1080);
	CHECK(mode != NULL);
	picture = make_picture(&display, 1920, 1080, 1);
	CHECK_EQ(show(&display, &picture, mode), 0);
	CHECK(crc_shown(&display) != 0);
}

static void each_mode_is_set(void)
{
	display = open_display();
	for (uint32_t i = 0; i < display.mode_count; i++) {
		const struct drm_mode_modeinfo *mode = &display.modes[i];
		struct drm_mode_create_dumb create = {.width = mode->hdisplay, .height = mode->vdisplay, .bpp = 32};
		struct drm_mode_fb_cmd2 add = {
			.width = mode->hdisplay, .height = mode->vdisplay, .pixel_format = DRM_FORMAT_XRGB8888};
		struct picture picture = {0};
		struct drm_mode_destroy_dumb destroy = {0};

		if (mode->hdisplay > 1920 || mode->vdisplay > 1080)
			continue;
		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
		add.handles[0] = create.handle;
		add.pitches[0] = create.pitch;
		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
		picture.framebuffer = add.fb_id;
		CHECK_EQ(show(&display, &picture, mode), 0);
		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_RMFB, &add.fb_id), 0);
		destroy.handle = create.handle;
		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
	}
}

static void equal_pictures_have_equal_crcs(void)
{
	struct picture first = shown_picture(1);
	struct picture second = make_picture(&display, 640, 480, 2), third = make_picture(&display, 640, 480, 1);
	uint32_t crcs[3];

	crcs[0] = crc_shown(&display);
	CHECK_EQ(show(&display, &second, small), 0);
	crcs[1] = crc_shown(&display);
	CHECK_EQ(show(&display, &third, small), 0);
	crcs[2] = crc_shown(&display);
	CHECK(crcs[0] != crcs[1]);
	CHECK_EQ(crcs[0], crcs[2]);
	/* One pixel in a corner. */
	third.words[479 * third.pitch / 4 + 639] ^= 0x10;
	CHECK_EQ(show(&display, &first, small), 0);
	CHECK_EQ(show(&display, &third, small), 0);
	CHECK(crc_shown(&display) != crcs[0]);
}

/* A flip's picture is on the display with the frame of its event. */
static void flips_show_with_their_events(void)
{
	struct picture pictures[2] = {shown_picture(1)};
	uint32_t crcs[2];
	int fd;

	pictures[1] = make_picture(&display, 640, 480, 2);
	crcs[0] = crc_shown(&display);
	CHECK_EQ(show(&display, &pictures[1], small), 0);
	crcs[1] = crc_shown(&display);
	for (uint32_t i = 0; i < 6; i++) {
		CHECK_EQ(flip(&display, &pictures[i % 2], DRM_MODE_PAGE_FLIP_EVENT), 0);
		CHECK_EQ(next_event(&display).base.type, DRM_EVENT_FLIP_COMPLETE);
		fd = crc_open(&display);
		CHECK_EQ(crc_read(fd, 1), crcs[i % 2]);
		close(fd);
	}
}

static void a_second_flip_is_refused_until_the_first(void)
{
	struct picture picture = shown_picture(1);

	CHECK_EQ(flip(&display, &picture, DRM_MODE_PAGE_FLIP_EVENT | 0x100), EINVAL);
	CHECK_EQ(flip(&display, &picture, DRM_MODE_PAGE_FLIP_ASYNC), EINVAL);
	CHECK_EQ(flip(&display, &picture, DRM_MODE_PAGE_FLIP_EVENT), 0);
	next_event(&display);
	CHECK_EQ(show(&display, NULL, NULL), 0);
	CHECK_EQ(flip(&display, &picture, DRM_MODE_PAGE_FLIP_EVENT), EBUSY);
}

static void vertical_blanks_are_counted(void)
{
	int64_t time = 0;
	uint64_t sequence = 0;

	shown_picture(1);
	for (uint32_t i = 0; i < 10; i++) {
		union drm_wait_vblank wait = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 1}};
		struct drm_crtc_get_sequence get = {.crtc_id = display.crtc};

		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_WAIT_VBLANK, &wait), 0);
		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_CRTC_GET_SEQUENCE, &get), 0);
		CHECK_EQ(get.active, 1);
		CHECK(get.sequence > sequence);
		CHECK(get.sequence_ns > time);
		sequence = get.sequence;
		time = get.sequence_ns;
	}
}

static void events_come_at_their_blanks(void)
{
	struct drm_crtc_get_sequence get;

	shown_picture(1);
	get = (struct drm_crtc_get_sequence){.crtc_id = display.crtc};
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_CRTC_GET_SEQUENCE, &get), 0);
	for (uint64_t i = 8; i > 0; i--) {
		struct drm_crtc_queue_sequence ask = {
			.crtc_id = display.crtc, .sequence = get.sequence + 10 + i, .user_data = i};

		CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_CRTC_QUEUE_SEQUENCE, &ask), 0);
	}
	for (uint64_t i = 1; i <= 8; i++) {
		struct drm_event_crtc_sequence event = {0};

		CHECK(read(display.fd, &event, sizeof(event)) == sizeof(event));
		CHECK_EQ(event.base.type, DRM_EVENT_CRTC_SEQUENCE);
		CHECK_EQ(event.user_data, i);
		CHECK(event.sequence >= get.sequence + 10 + i);
	}
}

static void bad_atomic_states_are_refused(void)
{
	struct picture picture = shown_picture(1);
	uint32_t crc = crc_shown(&display);
	struct drm_mode_atomic none = {.flags = 0x8000};

	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_ATOMIC, &none), EINVAL);
	none.flags = DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_PAGE_FLIP_EVENT;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_ATOMIC, &none), EINVAL);
	/* A part of the framebuffer that is not there, scaling, a CRTC that is none, a framebuffer that is none. */
	CHECK_EQ(set_plane(&display, "SRC_X", 1u << 16, 0), ENOSPC);
	CHECK_EQ(set_plane(&display, "SRC_W", 320u << 16, 0), ERANGE);
	CHECK_EQ(set_plane(&display, "CRTC_ID", display.connector, 0), EINVAL);
	CHECK_EQ(set_plane(&display, "FB_ID", 0xffff, 0), EINVAL);
	CHECK_EQ(set_plane(&display, "FB_ID", 0, 0), EINVAL);
	CHECK_EQ(set_plane(&display, "FB_ID", picture.framebuffer, DRM_MODE_ATOMIC_TEST_ONLY), 0);
	CHECK_EQ(crc_shown(&display), crc);
}

/* What is only tested changes nothing. */
static void a_test_changes_nothing(void)
{
	struct picture second;
	uint32_t crc;

	shown_picture(1);
	second = make_picture(&display, 640, 480, 2);
	crc = crc_shown(&display);
	CHECK_EQ(set_plane(&display, "FB_ID", second.framebuffer, DRM_MODE_ATOMIC_TEST_ONLY), 0);
	CHECK_EQ(crc_shown(&display), crc);
	CHECK_EQ(set_plane(&display, "FB_ID", second.framebuffer, 0), 0);
	CHECK(crc_shown(&display) != crc);
}

static void damage_clips_are_taken(void)
{
	const struct drm_mode_rect clips[2] = {{10, 20, 30, 40}, {600, 400, 640, 480}};
	struct drm_mode_create_blob blob = {.data = (uintptr_t)clips, .length = sizeof(clips)};

	shown_picture(1);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
	CHECK_EQ(set_plane(&display, "FB_DAMAGE_CLIPS", blob.blob_id, 0), 0);
	blob.length = 5;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
	CHECK_EQ(set_plane(&display, "FB_DAMAGE_CLIPS", blob.blob_id, 0), EINVAL);
}

static void bad_framebuffers_are_refused(void)
{
	struct picture picture = shown_picture(1);
	const struct drm_mode_fb_cmd2 good = {.width = 640, .height = 480, .pixel_format = DRM_FORMAT_XRGB8888,
					      .handles = {picture.handle}, .pitches = {picture.pitch}};
	struct drm_mode_fb_cmd2 add[8];

	for (int i = 0; i < 8; i++)
		add[i] = good;
	add[0].pitches[0] = 640 * 4 - 4;
	add[1].height = 481;
	add[2].pixel_format = 0x20202020;
	add[3].width = 100000;
	add[4].offsets[0] = 4096;
	add[5].handles[0] = 0;
	add[6].flags = 0x80;
	add[7].width = 0;
	for (int i = 0; i < 8; i++)
		CHECK(guest_ioctl(display.fd, DRM_IOCTL_MODE_ADDFB2, &add[i]) != 0);
	add[0] = good;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_ADDFB2, &add[0]), 0);
}

static void a_removed_framebuffer_ends_the_picture(void)
{
	struct picture picture = shown_picture(1);
	struct drm_mode_crtc crtc = {.crtc_id = display.crtc};

	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCRTC, &crtc), 0);
	CHECK_EQ(crtc.fb_id, picture.framebuffer);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_RMFB, &picture.framebuffer), 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCRTC, &crtc), 0);
	CHECK_EQ(crtc.fb_id, 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_RMFB, &picture.framebuffer), ENOENT);
}

static void bad_modes_are_refused(void)
{
	struct picture picture = shown_picture(1);
	struct drm_mode_modeinfo mode = *small;

	mode.hdisplay = 0;
	CHECK_EQ(show(&display, &picture, &mode), EINVAL);
	mode = *small;
	mode.clock = 0;
	CHECK_EQ(show(&display, &picture, &mode), EINVAL);
	mode = *small;
	mode.hsync_end = mode.htotal + 1;
	CHECK_EQ(show(&display, &picture, &mode), EINVAL);
	mode = *mode_of(&display, 1024, 768);
	CHECK_EQ(show(&display, &picture, &mode), ENOSPC);
}

static void the_display_goes_off_and_on(void)
{
	struct picture picture = shown_picture(1);
	uint32_t crc = crc_shown(&display);
	struct drm_crtc_get_sequence get = {.crtc_id = display.crtc};

	CHECK_EQ(show(&display, NULL, NULL), 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_CRTC_GET_SEQUENCE, &get), EINVAL);
	CHECK_EQ(show(&display, &picture, small), 0);
	CHECK_EQ(crc_shown(&display), crc);
}

static void a_lease_shows_and_ends(void)
{
	uint32_t objects[3];
	struct drm_mode_create_lease lease = {.object_ids = (uintptr_t)objects, .object_count = 3};
	struct drm_mode_revoke_lease revoke = {0};
	struct display lessee;
	struct picture picture;

	shown_picture(1);
	objects[0] = display.crtc;
	objects[1] = display.connector;
	objects[2] = display.plane;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_CREATE_LEASE, &lease), 0);
	lessee = display;
	lessee.fd = (int)lease.fd;
	picture = make_picture(&lessee, 640, 480, 2);
	CHECK_EQ(show(&lessee, &picture, small), 0);
	revoke.lessee_id = lease.lessee_id;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_REVOKE_LEASE, &revoke), 0);
	CHECK_EQ(show(&lessee, &picture, small), ENOENT);
}

#define ROW(name) {#name, name}

int main(int argc, char **argv)
{
	static const struct guest_test tests[] = {
		ROW(the_largest_mode_is_shown),
		ROW(each_mode_is_set),
		ROW(equal_pictures_have_equal_crcs),
		ROW(flips_show_with_their_events),
		ROW(a_second_flip_is_refused_until_the_first),
		ROW(vertical_blanks_are_counted),
		ROW(events_come_at_their_blanks),
		ROW(bad_atomic_states_are_refused),
		ROW(a_test_changes_nothing),
		ROW(damage_clips_are_taken),
		ROW(bad_framebuffers_are_refused),
		ROW(a_removed_framebuffer_ends_the_picture),
		ROW(bad_modes_are_refused),
		ROW(the_display_goes_off_and_on),
		ROW(a_lease_shows_and_ends),
	};

	if (argc < 2)
		return 2;
	driver = argv[1];
	return guest_run(tests, sizeof(tests) / sizeof(tests[0]), argc - 1, argv + 1);
}
