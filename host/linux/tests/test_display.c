// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The display: modes, flips and their events, damage. What it shows is compared outside of the guest. */
#include <drm/drm_fourcc.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"
#include "objects.h"
#include "tests.h"

#define MODES_MAX 64

struct display {
	int fd;
	uint32_t connector, crtc;
	struct drm_mode_modeinfo mode; /* that of all that is drawn and shown */
	struct drm_mode_modeinfo modes[MODES_MAX];
	uint32_t mode_count;
};

struct picture {
	uint32_t framebuffer, handle, width, height, pitch;
	uint32_t *words;
};

/* The pixel that scripts/linux.py expects, by its own formula. */
static uint32_t pixel(uint32_t x, uint32_t y, uint32_t seed)
{
	return ((x * 3 + seed) & 0xff) << 16 | ((y * 5 + seed * 7) & 0xff) << 8 | ((x ^ y) & 0xff);
}

static struct display open_display(void)
{
	struct display display = {.fd = guest_open_primary("patchbay")};
	uint32_t encoders[4];
	struct drm_mode_card_res resources = {
		.crtc_id_ptr = (uintptr_t)&display.crtc,
		.count_crtcs = 1,
		.connector_id_ptr = (uintptr_t)&display.connector,
		.count_connectors = 1,
	};
	struct drm_mode_get_connector connector = {0};

	CHECK(display.fd >= 0);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETRESOURCES, &resources), 0);
	CHECK_EQ(resources.count_crtcs, 1);
	CHECK_EQ(resources.count_connectors, 1);
	connector.connector_id = display.connector;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK(connector.count_modes > 0 && connector.count_modes <= MODES_MAX);
	connector.modes_ptr = (uintptr_t)display.modes;
	connector.encoders_ptr = (uintptr_t)encoders;
	connector.count_props = 0;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCONNECTOR, &connector), 0);
	CHECK_EQ(connector.connection, 1);
	/* The preferred mode is the first one. */
	CHECK(display.modes[0].type & DRM_MODE_TYPE_PREFERRED);
	display.mode = display.modes[0];
	display.mode_count = connector.count_modes;
	return display;
}

static void draw(const struct picture *picture, uint32_t seed)
{
	for (uint32_t y = 0; y < picture->height; y++)
		for (uint32_t x = 0; x < picture->width; x++)
			picture->words[y * picture->pitch / 4 + x] = pixel(x, y, seed);
}

/* A picture in memory of a driver, which may be another one than the display's. */
static struct picture make_picture_of(const struct display *display, int driver, uint32_t seed)
{
	struct drm_mode_create_dumb create = {
		.width = display->mode.hdisplay, .height = display->mode.vdisplay, .bpp = 32};
	struct drm_mode_map_dumb map = {0};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct drm_mode_fb_cmd2 add = {.pixel_format = DRM_FORMAT_XRGB8888};
	struct picture picture;

	CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	map.handle = prime.handle = create.handle;
	CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	if (driver != display->fd) {
		CHECK_EQ(guest_ioctl(driver, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
		CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	}
	add.width = create.width;
	add.height = create.height;
	add.handles[0] = prime.handle;
	add.pitches[0] = create.pitch;
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_ADDFB2, &add), 0);
	picture = (struct picture){.framebuffer = add.fb_id, .handle = prime.handle, .width = create.width,
				   .height = create.height, .pitch = create.pitch};
	picture.words = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, driver, (off_t)map.offset);
	CHECK(picture.words != MAP_FAILED);
	draw(&picture, seed);
	return picture;
}

static struct picture make_picture(const struct display *display, uint32_t seed)
{
	return make_picture_of(display, display->fd, seed);
}

static void show(const struct display *display, const struct picture *picture)
{
	struct drm_mode_crtc crtc = {
		.crtc_id = display->crtc,
		.fb_id = picture->framebuffer,
		.set_connectors_ptr = (uintptr_t)&display->connector,
		.count_connectors = 1,
		.mode_valid = 1,
		.mode = display->mode,
	};

	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_SETCRTC, &crtc), 0);
}

static int flip(const struct display *display, const struct picture *picture, uint64_t data)
{
	struct drm_mode_crtc_page_flip flip = {
		.crtc_id = display->crtc,
		.fb_id = picture->framebuffer,
		.flags = DRM_MODE_PAGE_FLIP_EVENT,
		.user_data = data,
	};

	return guest_ioctl(display->fd, DRM_IOCTL_MODE_PAGE_FLIP, &flip);
}

static struct drm_event_vblank flipped(const struct display *display)
{
	struct drm_event_vblank event;

	CHECK_EQ(guest_fence_wait(display->fd), 0);
	CHECK_EQ(read(display->fd, &event, sizeof(event)), sizeof(event));
	CHECK_EQ(event.base.type, DRM_EVENT_FLIP_COMPLETE);
	return event;
}

/* Asks the machine below to compare the display with the pictures of two seeds: the second one in a rectangle. */
static void compare(const struct display *display, uint32_t seed, uint32_t inner, const struct drm_clip_rect *clip)
{
	char answer[8] = "";

	printf("HOST compare %u %u %u %u %u %u %u %u\n", display->mode.hdisplay, display->mode.vdisplay, seed, inner,
	       clip ? clip->x1 : 0, clip ? clip->y1 : 0, clip ? clip->x2 : 0, clip ? clip->y2 : 0);
	fflush(stdout);
	/* The answer comes over the console. */
	CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	CHECK_EQ(strncmp(answer, "same", 4), 0);
}

void flips_show_the_picture(void)
{
	struct display display = open_display();
	struct picture pictures[2] = {make_picture(&display, 1), make_picture(&display, 2)};
	uint32_t sequence = 0;
	int64_t time = 0;

	show(&display, &pictures[0]);
	compare(&display, 1, 1, NULL);
	for (uint32_t i = 0; i < 30; i++) {
		struct drm_event_vblank event;
		int64_t now;

		CHECK_EQ(flip(&display, &pictures[(i + 1) % 2], i), 0);
		event = flipped(&display);
		CHECK_EQ(event.user_data, i);
		now = event.tv_sec * GUEST_SECOND + event.tv_usec * 1000ll;
		CHECK(i == 0 || (int32_t)(event.sequence - sequence) > 0);
		CHECK(now > time);
		sequence = event.sequence;
		time = now;
	}
	compare(&display, 1, 1, NULL);
	close(display.fd);
}

/* Only the rectangle that is reported as changed is taken over. */
void damage_is_all_that_is_taken(void)
{
	struct display display = open_display();
	struct picture picture = make_picture(&display, 3);
	struct drm_clip_rect clip = {.x1 = 17, .y1 = 33, .x2 = 200, .y2 = 120};
	struct drm_mode_fb_dirty_cmd dirty = {.fb_id = picture.framebuffer, .clips_ptr = (uintptr_t)&clip, .num_clips = 1};

	show(&display, &picture);
	draw(&picture, 4);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_DIRTYFB, &dirty), 0);
	compare(&display, 3, 4, &clip);
	dirty.num_clips = 0;
	dirty.clips_ptr = 0;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_DIRTYFB, &dirty), 0);
	compare(&display, 4, 4, NULL);
	close(display.fd);
}

/* Frees a picture, as a program does that draws its next ones in another size. */
static void free_picture(const struct display *display, struct picture *picture)
{
	struct drm_mode_destroy_dumb destroy = {.handle = picture->handle};

	CHECK_EQ(munmap(picture->words, (size_t)picture->pitch * picture->height), 0);
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_RMFB, &picture->framebuffer), 0);
	CHECK_EQ(guest_ioctl(display->fd, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
}

/* Objects of a program that draws lie in all of VRAM, in no order, and none is in use. */
static void fill_vram(int fd, uint32_t round)
{
	const uint64_t bytes = object_card_info(fd).vram_bytes;

	for (uint64_t filled = 0, i = round; filled < bytes; i++) {
		struct guest_object object = guest_object(fd, (i * 7 % 5 + 1) * 300 * 4096 / 4, 0);

		object_fill(fd, 0, &object, 1);
		munmap(object.words, object.size);
		filled += object.size;
	}
}

/* Two pictures of the mode are shown in turn, beside those of the mode before; these are freed then. */
static void show_mode(struct display *display, uint32_t mode, struct picture *pictures)
{
	struct picture before[2] = {pictures[0], pictures[1]};

	display->mode = display->modes[mode];
	for (uint32_t i = 0; i < 2; i++)
		pictures[i] = make_picture(display, mode + i);
	show(display, &pictures[0]);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_EQ(flip(display, &pictures[(i + 1) % 2], i), 0);
		CHECK_EQ(flipped(display).user_data, i);
	}
	for (uint32_t i = 0; i < 2 && before[i].words != NULL; i++)
		free_picture(display, &before[i]);
}

/*
 * The largest mode that is offered has room behind each other one, and each other one behind that: with what the mode before
 * still shows, and with objects that leave VRAM for it.
 */
void each_mode_has_room_after_each_other(void)
{
	struct display display = open_display();
	struct picture pictures[2] = {{0}};
	uint32_t largest = 0;

	for (uint32_t i = 0; i < display.mode_count; i++)
		if (display.modes[i].hdisplay * display.modes[i].vdisplay >
		    display.modes[largest].hdisplay * display.modes[largest].vdisplay)
			largest = i;
	printf("largest mode: %u x %u of %u\n", display.modes[largest].hdisplay, display.modes[largest].vdisplay,
	       display.mode_count);
	for (uint32_t i = 0; i < display.mode_count; i++) {
		int fd = guest_open();

		fill_vram(fd, i);
		show_mode(&display, i, pictures);
		fill_vram(fd, i + 1);
		show_mode(&display, largest, pictures);
		close(fd);
	}
	close(display.fd);
}

/* The picture goes with the display's power, and is there again with it; it was not drawn anew. */
void the_picture_returns_after_a_sleep(void)
{
	struct display display = open_display();
	struct picture pictures[2] = {make_picture(&display, 5), make_picture(&display, 6)};

	show(&display, &pictures[0]);
	compare(&display, 5, 5, NULL);
	CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	compare(&display, 5, 5, NULL);
	CHECK_EQ(flip(&display, &pictures[1], 1), 0);
	CHECK_EQ(flipped(&display).user_data, 1);
	compare(&display, 6, 6, NULL);
	close(display.fd);
}

/* A picture in vgem's memory is shown as any other, and each update of it. */
void pictures_of_another_driver_are_shown(void)
{
	struct display display = open_display();
	struct picture foreign = make_picture_of(&display, guest_open_primary("vgem"), 7);
	struct picture own = make_picture(&display, 8);
	struct drm_mode_fb_dirty_cmd dirty = {.fb_id = foreign.framebuffer};

	show(&display, &foreign);
	compare(&display, 7, 7, NULL);
	draw(&foreign, 9);
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_DIRTYFB, &dirty), 0);
	compare(&display, 9, 9, NULL);
	CHECK_EQ(flip(&display, &own, 1), 0);
	CHECK_EQ(flipped(&display).user_data, 1);
	compare(&display, 8, 8, NULL);
	close(display.fd);
}
