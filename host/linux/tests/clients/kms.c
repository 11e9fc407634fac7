// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-kms DRIVER [CHECK...]: what any atomic driver of a display must do, through ioctls that all have. It runs on vkms
 * and on the card in one kernel: what holds on vkms must hold on the card. What needs no display runs on vgem as well.
 * Pictures are compared by the CRCs that a driver computes of what it shows.
 */
#include <drm/drm_fourcc.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kms_checks.h"
#include "kms_display.h"

const char *kms_driver;

static struct display display;
static const struct drm_mode_modeinfo *small;

static struct picture shown_picture(uint32_t seed)
{
	struct picture picture;

	display = open_display(kms_driver);
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

	display = open_display(kms_driver);
	mode = mode_of(&display, 1920, 1080);
	CHECK(mode != NULL);
	picture = make_picture(&display, 1920, 1080, 1);
	CHECK_EQ(show(&display, &picture, mode), 0);
	CHECK(crc_shown(&display) != 0);
}

static void each_mode_is_set(void)
{
	display = open_display(kms_driver);
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
	if (property_of(&display, display.plane, DRM_MODE_OBJECT_PLANE, "FB_DAMAGE_CLIPS") == 0)
		guest_lacks("the plane has no property FB_DAMAGE_CLIPS");
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

/* The card shows pictures in vkms's memory, and vkms those in the card's, as their own. */
static void pictures_of_another_driver_are_shown(void)
{
	struct picture own = shown_picture(1), other;
	const uint32_t crc = crc_shown(&display);
	int fd = guest_open_primary(strcmp(kms_driver, "vkms") == 0 ? "patchbay" : "vkms");

	CHECK(fd >= 0);
	other = make_picture_of(&display, fd, 640, 480, 2);
	CHECK_EQ(show(&display, &other, small), 0);
	CHECK(crc_shown(&display) != crc);
	memcpy(other.words, own.words, 480 * own.pitch);
	CHECK_EQ(show(&display, NULL, NULL), 0);
	CHECK_EQ(show(&display, &other, small), 0);
	CHECK_EQ(crc_shown(&display), crc);
}

#define ROW(name) {#name, name}
#define LISTED(name) ROW(name),

/* With a display, and without: vgem has none. */
static const struct guest_test displays[] = {
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
	ROW(pictures_of_another_driver_are_shown),
	KMS_EVENTS(LISTED)
	KMS_STATES(LISTED)
};
static const struct guest_test files[] = {KMS_BUFFERS(LISTED) KMS_FILES(LISTED)};

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc < 2)
		return 2;
	kms_driver = argv[1];
	if (strcmp(kms_driver, "vgem") != 0)
		failed = guest_run(displays, sizeof(displays) / sizeof(displays[0]), argc - 1, argv + 1);
	return guest_run(files, sizeof(files) / sizeof(files[0]), argc - 1, argv + 1) | failed;
}
