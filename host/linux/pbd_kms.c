// SPDX-License-Identifier: GPL-2.0 OR MIT
/* A display: one connector, one CRTC with vertical blanks by a timer, one plane (pbd_plane.c). */
#include <linux/hrtimer.h>

#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_crtc.h>
#include <drm/drm_edid.h>
#include <drm/drm_gem_framebuffer_helper.h>
#include <drm/drm_managed.h>
#include <drm/drm_modeset_helper_vtables.h>
#include <drm/drm_probe_helper.h>
#include <drm/drm_simple_kms_helper.h>
#include <drm/drm_vblank.h>

#include "pbd_drv.h"

#define PBD_WIDTH_MAX 1920
#define PBD_HEIGHT_MAX 1080
/* A mode fits if the scan-out and two framebuffers do. */
#define PBD_PICTURES 3

static struct pbd_kms *pbd_kms(struct drm_device *drm)
{
	return &pbd_device(drm)->kms;
}

/* ---- vertical blanks, by a timer ---- */

static enum hrtimer_restart pbd_vblank(struct hrtimer *timer)
{
	struct pbd_kms *kms = container_of(timer, struct pbd_kms, timer);

	hrtimer_forward_now(timer, kms->period);
	drm_crtc_handle_vblank(&kms->crtc);
	pbd_crc_vblank(kms);
	return READ_ONCE(kms->ticking) ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static int pbd_vblank_enable(struct drm_crtc *crtc)
{
	struct pbd_kms *kms = pbd_kms(crtc->dev);
	struct drm_vblank_crtc *vblank = &crtc->dev->vblank[drm_crtc_index(crtc)];

	drm_calc_timestamping_constants(crtc, &crtc->mode);
	kms->period = ns_to_ktime(vblank->framedur_ns);
	WRITE_ONCE(kms->ticking, true);
	hrtimer_start(&kms->timer, kms->period, HRTIMER_MODE_REL);
	return 0;
}

/* The caller holds a lock that the timer takes: a timer that runs is not waited for, and does not run again. */
static void pbd_vblank_disable(struct drm_crtc *crtc)
{
	struct pbd_kms *kms = pbd_kms(crtc->dev);

	WRITE_ONCE(kms->ticking, false);
	hrtimer_try_to_cancel(&kms->timer);
}

/* The time of the blank is that at which the timer should have run. */
static bool pbd_vblank_time(struct drm_crtc *crtc, int *max_error, ktime_t *time, bool in_irq)
{
	struct pbd_kms *kms = pbd_kms(crtc->dev);
	struct drm_vblank_crtc *vblank = &crtc->dev->vblank[drm_crtc_index(crtc)];

	if (!READ_ONCE(vblank->enabled)) {
		*time = ktime_get();
		return true;
	}
	*time = ktime_sub(READ_ONCE(kms->timer.node.expires), kms->period);
	return true;
}

/* ---- the CRTC ---- */

static int pbd_crtc_check(struct drm_crtc *crtc, struct drm_atomic_state *state)
{
	struct drm_crtc_state *crtc_state = drm_atomic_get_new_crtc_state(state, crtc);

	/* The display shows its plane or nothing. */
	if (crtc_state->enable && !(crtc_state->plane_mask & drm_plane_mask(crtc->primary)))
		return -EINVAL;
	return drm_atomic_add_affected_planes(state, crtc);
}

static void pbd_crtc_flush(struct drm_crtc *crtc, struct drm_atomic_state *state)
{
	struct drm_pending_vblank_event *event = crtc->state->event;

	crtc->state->event = NULL;
	if (!event)
		return;
	spin_lock_irq(&crtc->dev->event_lock);
	if (drm_crtc_vblank_get(crtc) == 0)
		drm_crtc_arm_vblank_event(crtc, event);
	else
		drm_crtc_send_vblank_event(crtc, event);
	spin_unlock_irq(&crtc->dev->event_lock);
}

static void pbd_crtc_enable(struct drm_crtc *crtc, struct drm_atomic_state *state)
{
	drm_crtc_vblank_on(crtc);
}

/* Nothing is flushed that is off, so the event is sent here. */
static void pbd_crtc_disable(struct drm_crtc *crtc, struct drm_atomic_state *state)
{
	struct drm_pending_vblank_event *event = crtc->state->event;

	drm_crtc_vblank_off(crtc);
	pbd_show_nothing(pbd_device(crtc->dev));
	if (!event || crtc->state->active)
		return;
	crtc->state->event = NULL;
	spin_lock_irq(&crtc->dev->event_lock);
	drm_crtc_send_vblank_event(crtc, event);
	spin_unlock_irq(&crtc->dev->event_lock);
}

static const struct drm_crtc_helper_funcs pbd_crtc_helpers = {
	.atomic_check = pbd_crtc_check,
	.atomic_flush = pbd_crtc_flush,
	.atomic_enable = pbd_crtc_enable,
	.atomic_disable = pbd_crtc_disable,
};

static const struct drm_crtc_funcs pbd_crtc_funcs = {
	.set_config = drm_atomic_helper_set_config,
	.page_flip = drm_atomic_helper_page_flip,
	.destroy = drm_crtc_cleanup,
	.reset = drm_atomic_helper_crtc_reset,
	.atomic_duplicate_state = drm_atomic_helper_crtc_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_crtc_destroy_state,
	.enable_vblank = pbd_vblank_enable,
	.disable_vblank = pbd_vblank_disable,
	.get_vblank_timestamp = pbd_vblank_time,
	.get_crc_sources = pbd_crc_sources,
	.set_crc_source = pbd_crc_set,
	.verify_crc_source = pbd_crc_verify,
};

/* ---- the connector ---- */

static u64 pbd_vram_bytes(struct pbd_device *dev)
{
	u64 bytes = 0;
	unsigned int i;

	/* The picture lies in one region of VRAM. */
	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++)
		if (dev->regions[i].present && i != PBD_REGION_HOST)
			bytes = max(bytes, dev->regions[i].segment.request.size);
	mutex_unlock(&dev->vram);
	return bytes;
}

static enum drm_mode_status pbd_mode_valid(struct drm_connector *connector, struct drm_display_mode *mode)
{
	u64 bytes = 4ull * round_up(mode->hdisplay, 16) * mode->vdisplay;

	return bytes * PBD_PICTURES <= pbd_device(connector->dev)->kms.bytes ? MODE_OK : MODE_MEM;
}

static int pbd_get_modes(struct drm_connector *connector)
{
	int count = drm_add_modes_noedid(connector, PBD_WIDTH_MAX, PBD_HEIGHT_MAX);
	const bool small = pbd_device(connector->dev)->kms.bytes < 4ull * 1024 * 768 * PBD_PICTURES;

	drm_set_preferred_mode(connector, small ? 640 : 1024, small ? 480 : 768);
	return count;
}

static const struct drm_connector_helper_funcs pbd_connector_helpers = {
	.get_modes = pbd_get_modes,
	.mode_valid = pbd_mode_valid,
};

static const struct drm_connector_funcs pbd_connector_funcs = {
	.fill_modes = drm_helper_probe_single_connector_modes,
	.destroy = drm_connector_cleanup,
	.reset = drm_atomic_helper_connector_reset,
	.atomic_duplicate_state = drm_atomic_helper_connector_duplicate_state,
	.atomic_destroy_state = drm_atomic_helper_connector_destroy_state,
};

/* ---- all of it ---- */

static const struct drm_mode_config_funcs pbd_mode_funcs = {
	.fb_create = drm_gem_fb_create_with_dirty,
	.atomic_check = drm_atomic_helper_check,
	.atomic_commit = drm_atomic_helper_commit,
};

static const struct drm_mode_config_helper_funcs pbd_mode_helpers = {
	.atomic_commit_tail = drm_atomic_helper_commit_tail_rpm,
};

static int pbd_kms_objects(struct pbd_device *dev)
{
	struct pbd_kms *kms = &dev->kms;
	int ret = pbd_plane_init(dev);

	if (ret != 0)
		return ret;
	ret = drm_crtc_init_with_planes(&dev->drm, &kms->crtc, &kms->plane, NULL, &pbd_crtc_funcs, NULL);
	if (ret != 0)
		return ret;
	drm_crtc_helper_add(&kms->crtc, &pbd_crtc_helpers);
	ret = drm_simple_encoder_init(&dev->drm, &kms->encoder, DRM_MODE_ENCODER_VIRTUAL);
	if (ret != 0)
		return ret;
	kms->encoder.possible_crtcs = drm_crtc_mask(&kms->crtc);
	ret = drm_connector_init(&dev->drm, &kms->connector, &pbd_connector_funcs, DRM_MODE_CONNECTOR_VIRTUAL);
	if (ret != 0)
		return ret;
	drm_connector_helper_add(&kms->connector, &pbd_connector_helpers);
	return drm_connector_attach_encoder(&kms->connector, &kms->encoder);
}

/* A node that copies and does nothing else, if there is one. */
static u32 pbd_copy_node(const struct pbd_device *dev)
{
	const u32 *capabilities = dev->info.capabilities;
	u32 node;

	for (node = 0; node < capabilities[PB_CAPABILITY_NODES] && node < 8; node++)
		if ((capabilities[PB_CAPABILITY_NODE_KINDS] >> 4 * node & 0xf) == PB_NODE_COPY)
			return node;
	return 0;
}

/* Makes the display. Pre: the card is attached. */
int pbd_kms_init(struct pbd_device *dev)
{
	struct drm_mode_config *config = &dev->drm.mode_config;
	struct pbd_kms *kms = &dev->kms;
	int ret = drmm_mode_config_init(&dev->drm);

	if (ret != 0)
		return ret;
	config->funcs = &pbd_mode_funcs;
	config->helper_private = &pbd_mode_helpers;
	config->max_width = PBD_WIDTH_MAX;
	config->max_height = PBD_HEIGHT_MAX;
	config->preferred_depth = 24;
	config->fb_modifiers_not_supported = true;
	hrtimer_init(&kms->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	kms->timer.function = pbd_vblank;
	kms->bytes = pbd_vram_bytes(dev);
	kms->queue = pbd_queue_of_kernel(dev, pbd_copy_node(dev));
	if (!kms->queue)
		return -ENOMEM;
	ret = pbd_crc_init(kms, &dev->drm);
	if (ret == 0)
		ret = pbd_kms_objects(dev);
	if (ret == 0)
		ret = drm_vblank_init(&dev->drm, 1);
	if (ret == 0)
		drm_mode_config_reset(&dev->drm);
	return ret;
}

/* Ends the display's work. Pre: the device is unplugged, or was never registered. */
void pbd_kms_stop(struct pbd_device *dev)
{
	drm_atomic_helper_shutdown(&dev->drm);
	hrtimer_cancel(&dev->kms.timer);
	pbd_crc_stop(&dev->kms);
}

void pbd_kms_free(struct pbd_device *dev)
{
	if (dev->kms.queue)
		pbd_queue_put(dev->kms.queue);
	dev->kms.queue = NULL;
}
