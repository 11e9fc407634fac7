/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A display and its pictures, for pbd-kms. */
#ifndef PBD_KMS_DISPLAY_H
#define PBD_KMS_DISPLAY_H

#include <drm/drm_mode.h>
#include <stdint.h>

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

/* The first connector, CRTC and plane of a driver's device. */
struct display open_display(const char *driver);
/* NULL: there is none of that size. */
const struct drm_mode_modeinfo *mode_of(const struct display *display, uint32_t width, uint32_t height);
/* A framebuffer; pictures of one size and seed are equal. */
struct picture make_picture(const struct display *display, uint32_t width, uint32_t height, uint32_t seed);
/* One in memory of a driver that may be another one than the display's: its primary node. */
struct picture make_picture_of(const struct display *display, int driver, uint32_t width, uint32_t height, uint32_t seed);
/* 0, or the errno. @picture: NULL turns the display off */
int show(const struct display *display, const struct picture *picture, const struct drm_mode_modeinfo *mode);
int flip(const struct display *display, const struct picture *picture, uint32_t flags);
struct drm_event_vblank next_event(const struct display *display);

/* A file of the display's CRCs, one for each frame; the CRC of the `skip`th frame from now on; that of what is shown. */
int crc_open(const struct display *display);
uint32_t crc_read(int fd, int skip);
uint32_t crc_shown(const struct display *display);

/* A property of an object of the display, to be set. */
struct setting {
	uint32_t object, type; /* DRM_MODE_OBJECT_ of the type */
	const char *name;
	uint64_t value;
};

/* 0: the object has no property of that name. */
uint32_t property_of(const struct display *display, uint32_t object, uint32_t type, const char *name);
/* One atomic commit. @return 0, or the errno. @flags: DRM_MODE_ATOMIC_ */
int commit(const struct display *display, const struct setting *settings, uint32_t count, uint32_t flags);
/* Sets one property of the plane. */
int set_plane(const struct display *display, const char *name, uint64_t value, uint32_t flags);

#endif
