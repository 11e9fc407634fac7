// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * CRCs of the display, source "auto": one for each vertical blank, computed from the scan-out in card memory, so from what the
 * firmware and the engine have made of an update. Bits 24 to 31 of a pixel have no meaning and count as 0.
 */
#include <linux/crc32.h>
#include <linux/slab.h>

#include <drm/drm_crtc.h>
#include <drm/drm_debugfs_crc.h>
#include <drm/drm_vblank.h>

#include "pbd_drv.h"

/* Bytes of a row of the widest mode. */
#define PBD_CRC_ROW (4u * 1920)

static u32 pbd_crc_picture(struct pbd_kms *kms)
{
	u32 *line = kms->crc_line;
	u32 x, y, crc = 0;

	for (y = 0; y < kms->shown_height; y++) {
		const u32 *row = (const u32 *)(const void *)(kms->shown + (size_t)y * kms->shown_pitch);

		for (x = 0; x < kms->shown_width; x++)
			line[x] = row[x] & 0xffffff;
		crc = crc32_le(crc, (const u8 *)line, 4 * kms->shown_width);
	}
	return crc;
}

/* A worker that is late reports one CRC for all frames that it has missed. */
static void pbd_crc_work(struct work_struct *work)
{
	struct pbd_kms *kms = container_of(work, struct pbd_kms, crc_work);
	u64 first, last;
	u32 crc;

	spin_lock_irq(&kms->crc_lock);
	first = kms->crc_first;
	last = kms->crc_last;
	kms->crc_pending = false;
	spin_unlock_irq(&kms->crc_lock);
	mutex_lock(&kms->shown_lock);
	crc = kms->shown ? pbd_crc_picture(kms) : 0;
	mutex_unlock(&kms->shown_lock);
	for (; first <= last; first++)
		drm_crtc_add_crc_entry(&kms->crtc, true, (u32)first, &crc);
}

/* Asks for the CRC of the frame that has just begun. Interrupt. */
void pbd_crc_vblank(struct pbd_kms *kms)
{
	unsigned long flags;

	if (!READ_ONCE(kms->crc_on))
		return;
	spin_lock_irqsave(&kms->crc_lock, flags);
	kms->crc_last = drm_crtc_accurate_vblank_count(&kms->crtc);
	if (!kms->crc_pending)
		kms->crc_first = kms->crc_last;
	kms->crc_pending = true;
	spin_unlock_irqrestore(&kms->crc_lock, flags);
	queue_work(system_unbound_wq, &kms->crc_work);
}

static int pbd_crc_parse(const char *source)
{
	if (source && strcmp(source, "auto") != 0)
		return -EINVAL;
	return 0;
}

const char *const *pbd_crc_sources(struct drm_crtc *crtc, size_t *count)
{
	static const char *const sources[] = { "auto" };

	*count = ARRAY_SIZE(sources);
	return sources;
}

int pbd_crc_verify(struct drm_crtc *crtc, const char *source, size_t *values)
{
	*values = 1;
	return pbd_crc_parse(source);
}

/* CRCs need vertical blanks. @source: NULL turns them off */
int pbd_crc_set(struct drm_crtc *crtc, const char *source)
{
	struct pbd_kms *kms = container_of(crtc, struct pbd_kms, crtc);
	int ret = pbd_crc_parse(source);

	if (ret != 0 || !!source == kms->crc_on)
		return ret;
	if (source)
		ret = drm_crtc_vblank_get(crtc);
	if (ret != 0)
		return ret;
	WRITE_ONCE(kms->crc_on, !!source);
	if (source)
		return 0;
	drm_crtc_vblank_put(crtc);
	cancel_work_sync(&kms->crc_work);
	return 0;
}

int pbd_crc_init(struct pbd_kms *kms, struct drm_device *drm)
{
	spin_lock_init(&kms->crc_lock);
	mutex_init(&kms->shown_lock);
	INIT_WORK(&kms->crc_work, pbd_crc_work);
	kms->crc_line = devm_kzalloc(drm->dev, PBD_CRC_ROW, GFP_KERNEL);
	return kms->crc_line ? 0 : -ENOMEM;
}

/* Pre: the timer has ended. */
void pbd_crc_stop(struct pbd_kms *kms)
{
	cancel_work_sync(&kms->crc_work);
}
