// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-picture DRIVER: writes what the first display of a DRM driver shows to stdout: width and height, 32 bits each, and three
 * bytes a pixel, red first. It reads the framebuffer that the CRTC scans out, so for the driver vkms it is the picture,
 * and no code of this project takes part.
 *
 * pbd-picture DRIVER settle: returns when the picture has not changed while the machine had nothing to do.
 */
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* A picture is settled after so many checks in a row, each with at most BUSY of 50 hundredths of a second in use. */
#define CHECKS 3
#define BUSY 8
#define CHECKS_MAX 1200

static int open_driver(const char *name)
{
	for (int i = 0; i < 16; i++) {
		char path[32], driver[32] = "";
		struct drm_version version = {.name = driver, .name_len = sizeof(driver) - 1};
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		/* The first to open becomes the master, which a client wants to be. */
		ioctl(fd, DRM_IOCTL_DROP_MASTER, 0);
		if (ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 && strcmp(driver, name) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/* The framebuffer that the display scans out. */
static bool find(int fd, struct drm_mode_fb_cmd2 *framebuffer)
{
	uint32_t crtcs[4] = {0};
	struct drm_mode_card_res resources = {.crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 4};
	struct drm_mode_crtc crtc = {0};

	if (ioctl(fd, DRM_IOCTL_MODE_GETRESOURCES, &resources) != 0)
		return false;
	crtc.crtc_id = crtcs[0];
	if (ioctl(fd, DRM_IOCTL_MODE_GETCRTC, &crtc) != 0 || crtc.fb_id == 0)
		return false;
	*framebuffer = (struct drm_mode_fb_cmd2){.fb_id = crtc.fb_id};
	return ioctl(fd, DRM_IOCTL_MODE_GETFB2, framebuffer) == 0;
}

/* The pixels of the framebuffer that is shown, three bytes each, behind width and height. NULL: nothing is shown. */
static uint8_t *read_picture(int fd, size_t *bytes)
{
	struct drm_mode_fb_cmd2 shown;
	struct drm_mode_map_dumb map = {0};
	struct drm_gem_close gem = {0};
	uint8_t *picture, *to;
	const uint8_t *from;
	size_t length;

	if (!find(fd, &shown))
		return NULL;
	map.handle = gem.handle = shown.handles[0];
	if (ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map) != 0)
		return NULL;
	length = (size_t)shown.pitches[0] * shown.height;
	from = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)map.offset);
	*bytes = 8 + (size_t)shown.width * shown.height * 3;
	picture = malloc(*bytes);
	if (from == MAP_FAILED || picture == NULL)
		exit(1);
	memcpy(picture, &shown.width, 4);
	memcpy(picture + 4, &shown.height, 4);
	to = picture + 8;
	for (uint32_t y = 0; y < shown.height; y++)
		for (uint32_t x = 0; x < shown.width; x++, to += 3) {
			const uint8_t *pixel = from + shown.offsets[0] + (size_t)y * shown.pitches[0] + (size_t)x * 4;

			to[0] = pixel[2];
			to[1] = pixel[1];
			to[2] = pixel[0];
		}
	munmap((void *)from, length);
	ioctl(fd, DRM_IOCTL_GEM_CLOSE, &gem);
	return picture;
}

/* Hundredths of a second since the start in which the machine did something, or waited for its disk. */
static unsigned long busy(void)
{
	unsigned long user, nice, system, idle, wait;
	FILE *file = fopen("/proc/stat", "r");

	if (file == NULL || fscanf(file, "cpu %lu %lu %lu %lu %lu", &user, &nice, &system, &idle, &wait) != 5)
		exit(1);
	fclose(file);
	return user + nice + system + wait;
}

static int settle(int fd)
{
	uint8_t *last = NULL;
	size_t last_bytes = 0;
	int same = 0;

	for (int i = 0; i < CHECKS_MAX && same < CHECKS; i++) {
		unsigned long before;
		size_t bytes = 0;
		uint8_t *picture = read_picture(fd, &bytes);
		bool equal = picture && last && bytes == last_bytes && memcmp(picture, last, bytes) == 0;

		free(last);
		last = picture;
		last_bytes = bytes;
		before = busy();
		usleep(500000);
		same = equal && busy() - before <= BUSY ? same + 1 : 0;
	}
	return same == CHECKS ? 0 : 1;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open_driver(argv[1]) : -1;
	size_t bytes = 0;
	uint8_t *picture;

	if (fd < 0) {
		fprintf(stderr, "pbd-picture: no such driver\n");
		return 1;
	}
	if (argc > 2)
		return settle(fd);
	picture = read_picture(fd, &bytes);
	if (picture == NULL) {
		fprintf(stderr, "pbd-picture: nothing is shown\n");
		return 1;
	}
	return fwrite(picture, 1, bytes, stdout) == bytes && fflush(stdout) == 0 ? 0 : 1;
}
