// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The plane of the display. What is shown is an object of the driver in card memory, the scan-out. Each update is one blit
 * from the framebuffer, patched by the firmware like any submission; it is prepared where the update may fail, and goes
 * where it may not. A record in card memory says where the scan-out is, so that the picture can be read from outside of
 * the machine.
 */
#include <drm/drm_atomic.h>
#include <drm/drm_atomic_helper.h>
#include <drm/drm_atomic_state_helper.h>
#include <drm/drm_damage_helper.h>
#include <drm/drm_fourcc.h>
#include <drm/drm_framebuffer.h>
#include <drm/drm_gem_atomic_helper.h>

#include "patchbay/scanout.h"
#include "pbd_job.h"

/* How long an update waits for its blit; the watchdog ends it before. */
#define PBD_BLIT_JIFFIES pbd_patience(5 * HZ)

static const u32 pbd_formats[] = { DRM_FORMAT_XRGB8888, DRM_FORMAT_ARGB8888 };

/* A state of the plane: what was prepared for its update. */
struct pbd_plane_state {
	struct drm_plane_state base;
	struct pbd_job *blit;           /* not submitted yet */
	struct drm_gem_object *source;  /* the framebuffer's object, pinned from the preparation to the end of the blit */
	struct drm_gem_object *scanout; /* referenced */
	bool pinned;                    /* the scan-out is, while prepared */
	u32 width, height, pitch;
};

static struct pbd_plane_state *to_pbd_plane_state(struct drm_plane_state *state)
{
	return container_of(state, struct pbd_plane_state, base);
}

/* ---- the record of the scan-out ---- */

static struct pb_scanout *pbd_record(struct pbd_device *dev)
{
	return dev->state == PBD_UP ? (struct pb_scanout *)(void *)dev->record_memory.bytes_host : NULL;
}

static void pbd_record_write(struct pbd_device *dev, const struct pbd_plane_state *state)
{
	struct pb_scanout *record = pbd_record(dev);

	if (!record)
		return;
	WRITE_ONCE(record->magic, 0);
	/* A reader that finds the mark has no half of what follows. */
	smp_wmb();
	if (!state)
		return;
	record->version = PB_SCANOUT_VERSION;
	record->width = state->width;
	record->height = state->height;
	record->pitch = state->pitch;
	record->offset = pbd_bo_memory_offset(pbd_bo(state->scanout));
	record->updates = ++dev->kms.updates;
	record->check = pb_scanout_check(record);
	/* The mark comes behind what it vouches for. */
	smp_wmb();
	WRITE_ONCE(record->magic, PB_SCANOUT_MAGIC);
}

/* ---- updates ---- */

/* Takes the scan-out of the state that is shown, if it has the right size, or makes another one. */
static int pbd_scanout_take(struct pbd_device *dev, struct pbd_plane_state *state, const struct drm_display_mode *mode,
			    bool *whole)
{
	const struct pbd_plane_state *shown = to_pbd_plane_state(dev->kms.plane.state);
	enum pbd_edge edge;

	state->width = mode->hdisplay;
	state->height = mode->vdisplay;
	state->pitch = round_up(4u * mode->hdisplay, 64);
	*whole = true;
	if (shown->scanout && shown->width == state->width && shown->height == state->height) {
		drm_gem_object_get(shown->scanout);
		state->scanout = shown->scanout;
		*whole = pbd_bo(shown->scanout)->lost || READ_ONCE(dev->kms.stale);
		return 0;
	}
	state->scanout = pbd_bo_create(dev, (u64)state->pitch * state->height, PBD_BO_VRAM);
	if (IS_ERR(state->scanout)) {
		int ret = PTR_ERR(state->scanout);

		state->scanout = NULL;
		return ret;
	}
	/* What is shown now stays until this one is: they lie at both ends. */
	edge = shown->scanout ? pbd_bo(shown->scanout)->edge : PBD_EDGE_NONE;
	pbd_bo(state->scanout)->edge = edge == PBD_EDGE_HIGH ? PBD_EDGE_LOW : PBD_EDGE_HIGH;
	return 0;
}

/* Makes the blit of an update. A card that is lost is no error: the picture comes when the card does. */
static int pbd_plane_prepare(struct drm_plane *plane, struct drm_plane_state *base)
{
	struct pbd_device *dev = pbd_device(plane->dev);
	struct pbd_plane_state *state = to_pbd_plane_state(base);
	struct drm_gem_object *picture;
	struct pbd_blit blit = {};
	struct drm_rect damage;
	struct pbd_job *job;
	bool whole;
	int ret;

	if (!base->fb || !base->crtc || !base->crtc->state)
		return 0;
	picture = pbd_virt_picture(base->fb);
	if (IS_ERR(picture))
		return PTR_ERR(picture);
	ret = drm_gem_plane_helper_prepare_fb(plane, base);
	if (ret == 0)
		ret = pbd_scanout_take(dev, state,
				       &drm_atomic_get_new_crtc_state(base->state, base->crtc)->mode, &whole);
	if (ret != 0)
		return ret;
	damage = (struct drm_rect){ 0, 0, (int)state->width, (int)state->height };
	if (!whole && !drm_atomic_helper_damage_merged(plane->state, base, &damage))
		damage = (struct drm_rect){ 0, 0, 1, 1 };
	blit.from = picture;
	blit.to = state->scanout;
	blit.from_pitch = base->fb->pitches[0];
	blit.to_pitch = state->pitch;
	blit.x = (u32)damage.x1;
	blit.y = (u32)damage.y1;
	blit.width = (u32)drm_rect_width(&damage);
	blit.height = (u32)drm_rect_height(&damage);
	job = pbd_blit_prepare(dev->kms.queue, &blit);
	if (IS_ERR(job)) {
		ret = PTR_ERR(job);
		drm_gem_object_put(state->scanout);
		state->scanout = NULL;
		return ret == -ENODEV || ret == -EIO ? 0 : ret;
	}
	pbd_bo(state->scanout)->lost = false;
	state->blit = job;
	state->source = blit.from;
	state->pinned = true;
	return 0;
}

/* The picture has been taken over, or will not be: it may move. */
static void pbd_plane_let_source(struct pbd_plane_state *state)
{
	if (state->source)
		pbd_bo_unpin(state->source);
	state->source = NULL;
}

static void pbd_plane_cleanup(struct drm_plane *plane, struct drm_plane_state *base)
{
	struct pbd_plane_state *state = to_pbd_plane_state(base);

	if (state->blit)
		pbd_job_put(state->blit);
	state->blit = NULL;
	pbd_plane_let_source(state);
	if (state->pinned)
		pbd_bo_unpin(state->scanout);
	state->pinned = false;
}

static int pbd_plane_check(struct drm_plane *plane, struct drm_atomic_state *state)
{
	struct drm_plane_state *new_state = drm_atomic_get_new_plane_state(state, plane);
	struct drm_crtc_state *crtc_state;

	if (!new_state->crtc)
		return 0;
	crtc_state = drm_atomic_get_new_crtc_state(state, new_state->crtc);
	return drm_atomic_helper_check_plane_state(new_state, crtc_state, DRM_PLANE_NO_SCALING, DRM_PLANE_NO_SCALING,
						   false, false);
}

/* Says what the scan-out is from now on; NULL: nothing is shown. Pre: shown_lock. */
static void pbd_show(struct pbd_device *dev, const struct pbd_plane_state *state)
{
	struct pbd_kms *kms = &dev->kms;

	kms->shown = state ? dev->memory + pbd_bo_memory_offset(pbd_bo(state->scanout)) : NULL;
	kms->shown_width = state ? state->width : 0;
	kms->shown_height = state ? state->height : 0;
	kms->shown_pitch = state ? state->pitch : 0;
	pbd_record_write(dev, state);
}

void pbd_show_nothing(struct pbd_device *dev)
{
	mutex_lock(&dev->kms.shown_lock);
	pbd_show(dev, NULL);
	mutex_unlock(&dev->kms.shown_lock);
}

/*
 * Submits the blit and waits for it, so that the event of the flip says that the framebuffer is free. If it fails, the
 * picture of before stays.
 */
static bool pbd_plane_blit(struct pbd_plane_state *state)
{
	struct dma_fence *fence = state->blit ? pbd_blit_go(state->blit) : NULL;
	bool done;

	if (state->blit)
		pbd_job_put(state->blit);
	state->blit = NULL;
	if (!fence)
		return false;
	done = dma_fence_wait_timeout(fence, false, PBD_BLIT_JIFFIES) > 0 && dma_fence_get_status(fence) == 1;
	dma_fence_put(fence);
	return done;
}

static void pbd_plane_update(struct drm_plane *plane, struct drm_atomic_state *commit)
{
	struct pbd_device *dev = pbd_device(plane->dev);
	struct pbd_plane_state *state = to_pbd_plane_state(plane->state);

	if (!plane->state->fb || !plane->state->visible)
		return;
	mutex_lock(&dev->kms.shown_lock);
	WRITE_ONCE(dev->kms.stale, !pbd_plane_blit(state));
	pbd_plane_let_source(state);
	if (!dev->kms.stale)
		pbd_show(dev, state);
	else
		dev->kms.shown = NULL;
	mutex_unlock(&dev->kms.shown_lock);
}

static void pbd_plane_disable(struct drm_plane *plane, struct drm_atomic_state *commit)
{
	pbd_show_nothing(pbd_device(plane->dev));
}

static const struct drm_plane_helper_funcs pbd_plane_helpers = {
	.prepare_fb = pbd_plane_prepare,
	.cleanup_fb = pbd_plane_cleanup,
	.atomic_check = pbd_plane_check,
	.atomic_update = pbd_plane_update,
	.atomic_disable = pbd_plane_disable,
};

/* ---- states ---- */

static void pbd_plane_destroy_state(struct drm_plane *plane, struct drm_plane_state *base)
{
	struct pbd_plane_state *state = to_pbd_plane_state(base);

	if (state->scanout)
		drm_gem_object_put(state->scanout);
	__drm_atomic_helper_plane_destroy_state(base);
	kfree(state);
}

static struct drm_plane_state *pbd_plane_duplicate_state(struct drm_plane *plane)
{
	struct pbd_plane_state *state = kzalloc(sizeof(*state), GFP_KERNEL);

	if (!state)
		return NULL;
	__drm_atomic_helper_plane_duplicate_state(plane, &state->base);
	return &state->base;
}

static void pbd_plane_reset(struct drm_plane *plane)
{
	struct pbd_plane_state *state = kzalloc(sizeof(*state), GFP_KERNEL);

	if (plane->state)
		pbd_plane_destroy_state(plane, plane->state);
	plane->state = NULL;
	if (state)
		__drm_atomic_helper_plane_reset(plane, &state->base);
}

static const struct drm_plane_funcs pbd_plane_funcs = {
	.update_plane = drm_atomic_helper_update_plane,
	.disable_plane = drm_atomic_helper_disable_plane,
	.destroy = drm_plane_cleanup,
	.reset = pbd_plane_reset,
	.atomic_duplicate_state = pbd_plane_duplicate_state,
	.atomic_destroy_state = pbd_plane_destroy_state,
};

/* Makes the plane. */
int pbd_plane_init(struct pbd_device *dev)
{
	struct drm_plane *plane = &dev->kms.plane;
	int ret = drm_universal_plane_init(&dev->drm, plane, 1, &pbd_plane_funcs, pbd_formats, ARRAY_SIZE(pbd_formats),
					   NULL, DRM_PLANE_TYPE_PRIMARY, NULL);

	if (ret != 0)
		return ret;
	drm_plane_helper_add(plane, &pbd_plane_helpers);
	drm_plane_enable_fb_damage_clips(plane);
	return 0;
}
