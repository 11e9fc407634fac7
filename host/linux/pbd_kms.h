/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The display of a device. */
#ifndef PBD_KMS_H
#define PBD_KMS_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <drm/drm_connector.h>
#include <drm/drm_crtc.h>
#include <drm/drm_encoder.h>
#include <drm/drm_plane.h>

struct pbd_device;

/* The display. */
struct pbd_kms {
	struct drm_plane plane;
	struct drm_crtc crtc;
	struct drm_encoder encoder;
	struct drm_connector connector;
	struct hrtimer timer; /* ticks at each vertical blank */
	ktime_t period;
	bool ticking;
	struct pbd_queue *queue; /* of the blits */
	u64 bytes;               /* for pictures */
	u32 updates;
	bool stale; /* the scan-out lacks an update: the next one is whole */

	/* CRCs: pbd_crc.c. */
	struct mutex shown_lock; /* no update and no CRC at once; under it nothing allocates */
	const u8 *shown;         /* the scan-out, NULL: nothing is shown; under shown_lock */
	u32 shown_width, shown_height, shown_pitch;
	struct work_struct crc_work;
	spinlock_t crc_lock;
	bool crc_on;
	bool crc_pending;        /* under crc_lock */
	u64 crc_first, crc_last; /* frames; under crc_lock */
	u32 *crc_line;
};

/* pbd_kms.c: CRTC, connector, all of it */
int pbd_kms_init(struct pbd_device *dev);
void pbd_kms_stop(struct pbd_device *dev);
void pbd_kms_free(struct pbd_device *dev);

/* pbd_plane.c: what is shown */
int pbd_plane_init(struct pbd_device *dev);
void pbd_show_nothing(struct pbd_device *dev);

/* pbd_crc.c: CRCs of the display */
void pbd_crc_vblank(struct pbd_kms *kms);
const char *const *pbd_crc_sources(struct drm_crtc *crtc, size_t *count);
int pbd_crc_verify(struct drm_crtc *crtc, const char *source, size_t *values);
int pbd_crc_set(struct drm_crtc *crtc, const char *source);
int pbd_crc_init(struct pbd_kms *kms, struct drm_device *drm);
void pbd_crc_stop(struct pbd_kms *kms);

#endif
