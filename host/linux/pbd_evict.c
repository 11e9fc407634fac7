// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Room in VRAM. An object is moved there by a submission that names it, and out of it when another object needs the room
 * and its own fences have ended. No thread waits for a fence here with a lock held: one that needs the room of busy
 * objects claims them, and comes again.
 */
#include <linux/delay.h>
#include <linux/dma-resv.h>

#include "pbd_job.h"

/* Rounds in search of an object to evict, while others hold them for a moment. */
#define PBD_EVICT_ROUNDS 50

/* Lets an object move again that pbd_blit_prepare() has pinned. Any context, also behind which a fence is signaled. */
void pbd_bo_unpin(struct drm_gem_object *object)
{
	atomic_dec(&pbd_bo(object)->pins);
}

/* ---- claims: objects that leave VRAM as soon as they are idle ---- */

/* Whether the object waits to leave. No submission but the claimant's may use it until then. */
bool pbd_bo_is_claimed(struct pbd_device *dev, struct pbd_bo *bo)
{
	bool claimed;

	mutex_lock(&dev->vram);
	claimed = !list_empty(&bo->claim);
	mutex_unlock(&dev->vram);
	return claimed;
}

/* Claims a busy object. Pre: the caller holds a reference to it, and `claim` if the room says so. @return -EAGAIN */
static int pbd_claim(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	if (!room->claims && !room->alone)
		return -EAGAIN;
	mutex_lock(&dev->vram);
	if (room->claims && list_empty(&bo->claim)) {
		drm_gem_object_get(&bo->base);
		list_add_tail(&bo->claim, &dev->claims);
	}
	mutex_unlock(&dev->vram);
	drm_gem_object_get(&bo->base);
	room->busy = bo;
	return -EAGAIN;
}

/* Lets all claimed objects be used again. Pre: `claim` is held. */
void pbd_claims_end(struct pbd_device *dev)
{
	mutex_lock(&dev->vram);
	while (!list_empty(&dev->claims)) {
		struct pbd_bo *bo = list_first_entry(&dev->claims, struct pbd_bo, claim);

		list_del_init(&bo->claim);
		mutex_unlock(&dev->vram);
		drm_gem_object_put(&bo->base);
		mutex_lock(&dev->vram);
	}
	mutex_unlock(&dev->vram);
}

/* ---- who leaves for whom ---- */

/* Whether the object can not leave, whoever needs its room. */
static bool pbd_bo_stays(const struct pbd_bo *bo)
{
	return atomic_read(&bo->pins) != 0 || (bo->kmaps && !bo->outside);
}

/* Whether an object has room in a region that another one could take. */
static bool pbd_bo_in_way(const struct pbd_region *region, const struct pbd_bo *wants, const struct pbd_bo *bo)
{
	u64 start, end;

	pbd_bo_range(region, wants, &start, &end);
	return bo->node.start < end && bo->node.start + bo->node.size > start;
}

/* Brings the contents from VRAM to pages, unless they are not needed. Pre: resv; the object is idle. */
static int pbd_bo_move_out(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (bo->purgeable) {
		pbd_bo_unmap(dev, bo);
		pbd_bo_drop_pages(bo);
		bo->purged = true;
		return 0;
	}
	ret = pbd_bo_get_pages(bo);
	if (ret != 0)
		return ret;
	pbd_bo_unmap(dev, bo);
	return pbd_bo_move(dev, bo, PBD_MOVE_OUT, room);
}

/*
 * Whether no submission uses the object. Fences of other drivers say nothing of VRAM, which those do not reach. Pre: resv is
 * held.
 */
bool pbd_bo_is_idle(struct pbd_bo *bo)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	bool idle = true;

	dma_resv_for_each_fence(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, fence)
		idle &= !pbd_fence_is_ours(fence) || dma_fence_is_signaled(fence);
	return idle;
}

/*
 * Takes an object's room in a region: its contents are in pages of the system then, or on their way. Pre: resv is held.
 * @return -EAGAIN: it is busy, or too much is being moved; `room` says what to do
 */
int pbd_bo_evict(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (!bo->region)
		return 0;
	if (pbd_bo_stays(bo))
		return -EBUSY;
	if (!pbd_bo_is_idle(bo))
		return pbd_claim(dev, bo, room);
	if (pbd_bo_in_vram(bo) && !bo->outside) {
		ret = pbd_bo_move_out(dev, bo, room);
		if (ret != 0)
			return ret;
	}
	mutex_lock(&dev->vram);
	dev->evictions += pbd_bo_in_vram(bo);
	pbd_bo_leave(bo);
	mutex_unlock(&dev->vram);
	pbd_bo_come_inside(bo);
	return 0;
}

/* How long an object may have to be waited for. */
enum pbd_patience {
	PBD_IDLE,  /* not at all */
	PBD_SOON,  /* until the engine has done what is in the rings */
	PBD_LATER, /* also for fences of others */
	PBD_PATIENCES,
};

static enum pbd_patience pbd_bo_patience(struct pbd_device *dev, struct pbd_bo *bo)
{
	enum pbd_patience most = PBD_IDLE;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, fence) {
		if (!pbd_fence_is_ours(fence) || dma_fence_is_signaled(fence))
			continue;
		most = max(most, pbd_fence_waits(dev, fence) ? PBD_LATER : PBD_SOON);
	}
	return most;
}

/*
 * Returns the object of a region that was not used for longest, among those whose reservation is free; with its reservation
 * and a reference. An object in the list exists: freeing it begins with the list.
 */
static struct pbd_bo *pbd_victim(struct pbd_device *dev, const struct pbd_bo *wants, struct pbd_region *region,
				 enum pbd_patience patience, struct pbd_room *room)
{
	struct pbd_bo *bo, *found = NULL;

	mutex_lock(&dev->vram);
	list_for_each_entry(bo, &dev->lru, lru) {
		if (bo->region != region || pbd_bo_stays(bo) || !pbd_bo_in_way(region, wants, bo))
			continue;
		if (!list_empty(&bo->claim) && !room->claims) {
			room->claimed = true;
			continue;
		}
		if (!dma_resv_trylock(bo->base.resv)) {
			room->held |= dma_resv_locking_ctx(bo->base.resv) != room->ticket;
			continue;
		}
		if (!pbd_bo_stays(bo) && pbd_bo_patience(dev, bo) <= patience) {
			if (kref_get_unless_zero(&bo->base.refcount)) {
				found = bo;
				break;
			}
			/* It is being freed, and leaves as soon as this list is. */
			room->held = true;
		}
		dma_resv_unlock(bo->base.resv);
	}
	mutex_unlock(&dev->vram);
	return found;
}

/* Takes room in a region; others are moved out for it. @return -ENOSPC: none was left; -EAGAIN: the next one is busy */
static int pbd_bo_enter_evicting(struct pbd_device *dev, struct pbd_bo *bo, unsigned int index, enum pbd_patience patience,
				 struct pbd_room *room)
{
	struct pbd_bo *victim;
	int ret;

	if (bo->base.size > dev->regions[index].segment.request.size)
		return -ENOSPC;
	for (;;) {
		ret = pbd_bo_enter(dev, bo, index);
		if (ret != -ENOSPC)
			return ret;
		victim = pbd_victim(dev, bo, &dev->regions[index], patience, room);
		if (!victim)
			return -ENOSPC;
		ret = pbd_bo_evict(dev, victim, room);
		dma_resv_unlock(victim->base.resv);
		drm_gem_object_put(&victim->base);
		if (ret != 0)
			return ret;
	}
}

/* Where an object may lie, the best place first. @return how many places */
static unsigned int pbd_bo_choices(struct pbd_device *dev, const struct pbd_bo *bo, unsigned int *choices)
{
	bool host = dev->regions[PBD_REGION_HOST].present && !(bo->flags & PBD_BO_VRAM);
	unsigned int count = 0;

	if (host && (bo->flags & PATCHBAY_GEM_HOST))
		choices[count++] = PBD_REGION_HOST;
	if (dev->regions[1].present && !(bo->flags & PATCHBAY_GEM_PATCHABLE))
		choices[count++] = 1;
	choices[count++] = 0;
	if (host && !(bo->flags & PATCHBAY_GEM_HOST))
		choices[count++] = PBD_REGION_HOST;
	return count;
}

/*
 * Takes room for an object where it may lie: outside of the window first, unless it is to be patched; in host memory
 * first if it prefers that, else before a busy object would have to leave VRAM. Idle objects leave first, then those that
 * will soon be idle.
 */
static int pbd_bo_find_room(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	unsigned int choices[PBD_REGIONS], count = pbd_bo_choices(dev, bo, choices), i;
	enum pbd_patience patience;
	int ret = -ENOSPC;

	if (room)
		room->claimed = false;
	for (i = 0; ret == -ENOSPC && i < count; i++)
		if (i == 0 || choices[i] != PBD_REGION_HOST)
			ret = pbd_bo_enter(dev, bo, choices[i]);
	for (patience = PBD_IDLE; ret == -ENOSPC && room && patience < PBD_PATIENCES; patience++)
		for (i = 0; ret == -ENOSPC && i < count; i++)
			ret = pbd_bo_enter_evicting(dev, bo, choices[i], patience, room);
	/* The rest is promised to another one: the caller's turn comes behind it. */
	return ret == -ENOSPC && room && room->claimed && !room->alone ? -EAGAIN : ret;
}

/* The same, while others hold objects for a moment. @return -EAGAIN: they still do; the caller comes again without its locks */
static int pbd_bo_find_room_soon(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	unsigned int round;
	int ret;

	for (round = 0;; round++) {
		if (room)
			room->held = false;
		ret = pbd_bo_find_room(dev, bo, room);
		if (ret != -ENOSPC || !room)
			return ret;
		if (!room->held && bo->edge == PBD_EDGE_NONE)
			return ret;
		/* What lies at the edges does not move: anywhere, then. */
		if (!room->held)
			bo->edge = PBD_EDGE_NONE;
		if (round == PBD_EVICT_ROUNDS)
			return -EAGAIN;
		if (msleep_interruptible(1) != 0)
			return -ERESTARTSYS;
	}
}

/* Brings the contents to the room that the object has got. Pre: resv. */
static int pbd_bo_move_in(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (!pbd_bo_in_vram(bo)) {
		ret = pbd_bo_get_pages(bo);
		return ret != 0 ? ret : pbd_bo_move(dev, bo, PBD_MOVE_MAP, room);
	}
	/* What another object left in VRAM is not for this one. A copy is made when a submission enters its ring. */
	if (!bo->pages || bo->outside)
		return pbd_bo_move(dev, bo, PBD_MOVE_CLEAR, room);
	pbd_bo_unmap(dev, bo);
	ret = pbd_bo_move(dev, bo, PBD_MOVE_IN, room);
	/* The engine takes them from the pages later: pbd_move_ended(). */
	if (ret == 0 && !bo->move)
		pbd_bo_drop_pages(bo);
	return ret;
}

/*
 * Moves an object into VRAM, or maps its pages for the engines. Pre: resv is held.
 * @room: others leave for it; NULL: only if there is room
 * @return -EAGAIN: objects of others are busy. Without locks, wait for `room->busy` and come again, or take `claim` first
 */
int pbd_bo_place(struct pbd_device *dev, struct pbd_bo *bo, struct pbd_room *room)
{
	int ret;

	if (bo->region)
		return 0;
	if (bo->kmaps && !bo->outside)
		return -EBUSY;
	if (pbd_host_is_unsure(dev, bo))
		return -ENOSPC;
	if (bo->move && dma_fence_is_signaled(bo->move))
		(void)pbd_bo_settle(bo, false);
	/* What is in swap is read first: that may fail. */
	ret = bo->stored ? pbd_bo_get_pages(bo) : 0;
	do {
		if (ret == 0 || ret == -EOPNOTSUPP)
			ret = pbd_bo_find_room_soon(dev, bo, room);
		if (ret != 0)
			return ret;
		ret = pbd_bo_move_in(dev, bo, room);
		if (ret != 0) {
			mutex_lock(&dev->vram);
			pbd_bo_leave(bo);
			mutex_unlock(&dev->vram);
		}
		/* The engines do not reach a page of it. */
		if (ret == -EOPNOTSUPP)
			bo->flags |= PBD_BO_VRAM;
	} while (ret == -EOPNOTSUPP);
	if (ret == 0)
		bo->touched = true;
	return ret;
}

/* Waits for the submissions that use an object. @return as dma_resv_wait_timeout() */
long pbd_bo_wait(struct pbd_bo *bo, long left)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_iter_begin(&cursor, bo->base.resv, DMA_RESV_USAGE_BOOKKEEP);
	dma_resv_for_each_fence_unlocked(&cursor, fence) {
		if (left > 0 && pbd_fence_is_ours(fence))
			left = dma_fence_wait_timeout(fence, true, left);
	}
	dma_resv_iter_end(&cursor);
	return left;
}

/* Waits without a lock until the object that is in the way is idle. @return -EBUSY: not before `end`, in jiffies */
int pbd_room_wait(struct pbd_room *room, unsigned long end)
{
	struct pbd_bo *bo = room->busy;
	long left = (long)(end - jiffies);

	room->busy = NULL;
	if (room->move) {
		if (left > 0)
			left = dma_fence_wait_timeout(room->move, true, left);
		dma_fence_put(room->move);
		room->move = NULL;
		if (left <= 0 && !bo)
			return left == -ERESTARTSYS ? -ERESTARTSYS : -EBUSY;
	}
	if (!bo)
		return left > 0 ? 0 : -EBUSY;
	if (left > 0)
		left = pbd_bo_wait(bo, left);
	drm_gem_object_put(&bo->base);
	return left > 0 ? 0 : left == -ERESTARTSYS ? -ERESTARTSYS : -EBUSY;
}

/* Locks an object's reservation and moves it into VRAM, for a caller that has other locks. @return 0: the caller unlocks */
int pbd_bo_lock_placed(struct pbd_device *dev, struct pbd_bo *bo)
{
	struct pbd_room room = { .alone = true };
	unsigned long end = jiffies + PBD_ROOM_JIFFIES;
	int ret;

	do {
		ret = dma_resv_lock_interruptible(bo->base.resv, NULL);
		if (ret != 0)
			return ret;
		ret = pbd_bo_place(dev, bo, &room);
		if (ret == 0)
			return 0;
		dma_resv_unlock(bo->base.resv);
	} while (ret == -EAGAIN && (ret = pbd_room_wait(&room, end)) == 0);
	return ret;
}
