// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The card: how the host library reaches it, attach, and its end. */
#include <linux/delay.h>
#include <linux/io.h>

#include "patchbay/abi/boot.h"
#include "pbd_drv.h"

/* Registers of an ivshmem device. */
#define PBD_REG_DOORBELL 12

/*
 * Bytes of segment 0: lists and engine buffers of submissions, and rings of as many queues as the firmware has contexts
 * for one machine (288 of 512), 4,352 bytes each.
 */
#define PBD_SYSTEM_BYTES (PBD_ARENA_BYTES + (1280u << 10))
/* More of it for clients of a GL engine: about 900 KiB each. */
#define PBD_SYSTEM_VIRT_BYTES (5u << 20)
#define PBD_REGION_BYTES_MIN (256u << 10)

/* Addresses of the OS and of the engines differ, so that each mistake shows. */
#define PBD_SYSTEM_OS 0x10000000ull
#define PBD_SYSTEM_GPU 0x110000000ull
static const u64 pbd_region_os[PBD_VRAM_REGIONS] = { 0x4000000000ull, 0x8000000000ull };
static const u64 pbd_region_gpu[PBD_VRAM_REGIONS] = { 0x200000000ull, 0x300000000ull };
/* With i915's uAPI an address has 32 bits. */
static const u64 pbd_region_gpu_i915[PBD_VRAM_REGIONS] = { 0x10000000ull, 0x80000000ull };
static const u32 pbd_region_id[PBD_VRAM_REGIONS] = { PBD_SEGMENT_WINDOW, PBD_SEGMENT_OUTER };

/* The watchdog's period while submissions are unfinished, and otherwise. */
#define PBD_WATCH_MS 200
#define PBD_WATCH_IDLE_MS 1000
/* Rounds of the watchdog that must have seen the card's clock stand still. */
#define PBD_WATCH_ROUNDS 4
#define PBD_ATTACH_TRY_MS 400

/* ---- the link ---- */

static void pbd_lock_acquire(struct pb_lock *base) __acquires(base)
{
	struct pbd_lock *lock = container_of(base, struct pbd_lock, base);
	unsigned long flags;

	spin_lock_irqsave(&lock->lock, flags);
	lock->flags = flags;
}

static void pbd_lock_release(struct pb_lock *base) __releases(base)
{
	struct pbd_lock *lock = container_of(base, struct pbd_lock, base);

	spin_unlock_irqrestore(&lock->lock, lock->flags);
}

void pbd_lock_init(struct pbd_lock *lock)
{
	lock->base.acquire = pbd_lock_acquire;
	lock->base.release = pbd_lock_release;
	spin_lock_init(&lock->lock);
}

static void pbd_link_doorbell(struct pb_link *link)
{
	struct pbd_device *dev = container_of(link, struct pbd_device, link);

	writel(link->channel, dev->registers + PBD_REG_DOORBELL);
}

/* Clients of a GL engine have a count of interrupts each; otherwise only the holder of `commands` waits. */
static enum pb_error pbd_link_wait(struct pb_link *link, uint64_t timeout_us)
{
	struct pbd_device *dev = container_of(link, struct pbd_device, link);
	int *seen = pbd_virt_irqs_seen(dev) ?: &dev->irqs_seen;
	long left;

	if (READ_ONCE(dev->abort))
		return PB_ERROR_NO_CARD;
	left = wait_event_timeout(dev->irq_wait, atomic_read(&dev->irqs) != *seen || READ_ONCE(dev->abort),
				  usecs_to_jiffies(timeout_us));
	*seen = atomic_read(&dev->irqs);
	return left == 0 ? PB_ERROR_TIMEOUT : PB_ERROR_OK;
}

static uint64_t pbd_link_now(struct pb_link *link)
{
	return ktime_to_us(ktime_get());
}

static void pbd_link_close(struct pb_link *link)
{
}

static const struct pb_link_ops pbd_link_ops = {
	.doorbell = pbd_link_doorbell,
	.wait = pbd_link_wait,
	.now = pbd_link_now,
	.close = pbd_link_close,
};

int pbd_errno(enum pb_error error)
{
	switch (error) {
	case PB_ERROR_OK:
		return 0;
	case PB_ERROR_NO_SPACE:
	case PB_ERROR_NO_QUOTA:
		return -ENOSPC;
	case PB_ERROR_NO_PERMISSION:
		return -EACCES;
	case PB_ERROR_BAD_ARGUMENT:
		return -EINVAL;
	case PB_ERROR_BUSY:
		return -EBUSY;
	case PB_ERROR_TIMEOUT:
		return -ETIMEDOUT;
	case PB_ERROR_NO_CARD:
		return -ENODEV;
	default:
		return -EIO;
	}
}

void pbd_card_init(struct pbd_device *dev)
{
	pbd_lock_init(&dev->command_lock);
	pbd_lock_init(&dev->kick_lock);
	pbd_lock_init(&dev->event_lock);
	dev->locks.commands = &dev->command_lock.base;
	dev->locks.kicks = &dev->kick_lock.base;
	dev->locks.events = &dev->event_lock.base;
	dev->link.ops = &pbd_link_ops;
	dev->link.locks = &dev->locks;
}

/* ---- attach ---- */

/* Creates the segment of a region: as much as the card has left for it, halved until it fits. */
static void pbd_region_make(struct pbd_device *dev, unsigned int index, u64 bytes)
{
	struct pbd_region *region = &dev->regions[index];
	struct pb_segment_request request = {
		.id = pbd_region_id[index],
		.os_base = pbd_region_os[index],
		.gpu_base = pbd_i915 ? pbd_region_gpu_i915[index] : pbd_region_gpu[index],
		.kind = index == 0 ? PB_SEGMENT_LINEAR : PB_SEGMENT_OUTER,
	};
	/* After a sleep objects have places in it. */
	const u64 kept = drm_mm_initialized(&region->mm) ? region->segment.request.size : 0;
	enum pb_error error = PB_ERROR_NO_SPACE;

	if (kept != 0)
		bytes = kept;
	for (; bytes >= max_t(u64, kept, PBD_REGION_BYTES_MIN) && error != PB_ERROR_OK; bytes /= 2) {
		request.size = round_down(bytes, PB_PAGE_BYTES);
		request.backing_bytes = (u32)request.size;
		error = pb_segment_create(&region->segment, &dev->channel, &request);
		if (error != PB_ERROR_OK && error != PB_ERROR_NO_SPACE && error != PB_ERROR_NO_QUOTA)
			break;
	}
	if (error != PB_ERROR_OK)
		return;
	mutex_lock(&dev->vram);
	if (kept == 0) {
		drm_mm_init(&region->mm, 0, request.size);
		region->used = 0;
	}
	region->present = true;
	mutex_unlock(&dev->vram);
}

/* Creates the segments. Half of what the card has is left to other machines, unless a parameter says more. */
static int pbd_segments_make(struct pbd_device *dev)
{
	const struct pb_card_info *card = &dev->channel.card;
	const u32 system = PBD_SYSTEM_BYTES + (pbd_virtgpu ? PBD_SYSTEM_VIRT_BYTES : 0);
	struct pb_segment_request request = {
		.id = PB_SEGMENT_SYSTEM,
		.os_base = PBD_SYSTEM_OS,
		.gpu_base = PBD_SYSTEM_GPU,
		.size = system,
		.backing_bytes = system,
	};
	u32 window = pb_card_pool_most(card);
	u32 outer = card->capabilities[PB_CAPABILITY_OUTER_BYTES];
	enum pb_error error;

	error = pb_segment_create(&dev->system, &dev->channel, &request);
	if (error == PB_ERROR_OK)
		error = pb_memory_allocate(&dev->system, PBD_ARENA_BYTES, PB_PAGE_BYTES, &dev->arena_memory);
	if (error == PB_ERROR_OK)
		error = pb_memory_allocate(&dev->system, PB_PAGE_BYTES, PB_PAGE_BYTES, &dev->record_memory);
	if (error != PB_ERROR_OK)
		return pbd_errno(error);
	if (pbd_virtgpu) {
		int ret = pbd_virt_attach(dev);

		if (ret != 0)
			return ret;
	}
	window = window > system ? (window - system) / 2 : 0;
	if (pbd_vram_mb != 0)
		window = min_t(u64, (u64)pbd_vram_mb << 20, U32_MAX);
	pbd_region_make(dev, 0, window);
	outer = pbd_outer_mb != 0 ? (u32)min_t(u64, (u64)pbd_outer_mb << 20, outer) : outer / 2;
	pbd_region_make(dev, 1, outer);
	if (!dev->regions[0].present)
		return -ENOSPC;
	pbd_host_make(dev);
	return 0;
}

/* Attaches to the firmware. Pre: nothing of an earlier attachment is in use; the caller holds `card` for writing. */
int pbd_card_attach(struct pbd_device *dev, unsigned int timeout_ms)
{
	enum pb_error error;
	unsigned long flags;
	int ret;

	mutex_lock(&dev->commands);
	WRITE_ONCE(dev->abort, false);
	dev->spare_count = 0;
	error = pb_channel_attach(&dev->channel, &dev->link, (u64)timeout_ms * 1000);
	ret = pbd_errno(error);
	if (error == PB_ERROR_OK) {
		ret = pbd_segments_make(dev);
		if (ret != 0)
			(void)pb_channel_detach(&dev->channel);
	}
	mutex_unlock(&dev->commands);
	if (ret != 0) {
		drm_dbg(&dev->drm, "no attach: %s\n", pb_error_name(error));
		return ret;
	}
	dev->info = dev->channel.card;
	spin_lock_irqsave(&dev->state_lock, flags);
	dev->epoch++;
	dev->state = PBD_UP;
	dev->clock_busy = false;
	spin_unlock_irqrestore(&dev->state_lock, flags);
	pbd_host_attached(dev);
	return 0;
}

/* Forgets what an attachment had. Pre: `card` is held for writing, all submissions have ended. */
void pbd_card_forget(struct pbd_device *dev)
{
	unsigned int i;

	pbd_vram_lost(dev);
	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++) {
		if (!drm_mm_initialized(&dev->regions[i].mm))
			continue;
		drm_mm_takedown(&dev->regions[i].mm);
		memset(&dev->regions[i], 0, sizeof(dev->regions[i]));
	}
	mutex_unlock(&dev->vram);
}

/* Leaves the card for good. Pre: the device is unplugged. */
void pbd_card_detach(struct pbd_device *dev)
{
	unsigned long flags;
	bool up, left = true;

	spin_lock_irqsave(&dev->state_lock, flags);
	up = dev->state == PBD_UP || dev->leaving;
	dev->removed = true;
	spin_unlock_irqrestore(&dev->state_lock, flags);
	cancel_delayed_work_sync(&dev->watch);
	cancel_delayed_work_sync(&dev->attach);
	pbd_end_all(dev, -ENODEV);
	flush_workqueue(dev->push_wq);
	flush_workqueue(dev->clean_wq);
	down_write(&dev->card);
	if (up) {
		mutex_lock(&dev->commands);
		WRITE_ONCE(dev->abort, false);
		left = pb_channel_detach(&dev->channel) == PB_ERROR_OK;
		mutex_unlock(&dev->commands);
	}
	pbd_card_forget(dev);
	pbd_host_end(dev, left);
	up_write(&dev->card);
}

/* ---- the end of the card ---- */

/*
 * Ends each submission with an error, and begins to look for the card's return. Any context; the first caller counts.
 */
void pbd_card_lost(struct pbd_device *dev, int result, const char *why)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&dev->state_lock, flags);
	first = dev->state == PBD_UP && !dev->removed;
	spin_unlock_irqrestore(&dev->state_lock, flags);
	if (!first)
		return;
	drm_warn(&dev->drm, "the card is lost: %s\n", why);
	pbd_end_all(dev, result);
	mod_delayed_work(dev->clean_wq, &dev->attach, 0);
}

/* Attaches again, as often as it takes. */
void pbd_card_attach_work(struct work_struct *work)
{
	struct pbd_device *dev = container_of(work, struct pbd_device, attach.work);
	int ret, idx;

	if (!drm_dev_enter(&dev->drm, &idx))
		return;
	/* It reads the channel, which the attach writes. */
	cancel_delayed_work_sync(&dev->watch);
	down_write(&dev->card);
	/* What is on its way into card memory, whose place will be another one. */
	flush_workqueue(dev->push_wq);
	/* Submissions that have ended hold queues, which end with their attachment. */
	flush_work(&dev->clean);
	pbd_card_forget(dev);
	ret = READ_ONCE(dev->removed) ? -ENODEV : pbd_card_attach(dev, PBD_ATTACH_TRY_MS);
	up_write(&dev->card);
	if (ret == 0) {
		dev->restarts++;
		drm_info(&dev->drm, "attached again: incarnation %u\n", dev->channel.card.incarnation);
		pbd_card_watch(dev);
	} else if (!READ_ONCE(dev->removed)) {
		queue_delayed_work(dev->clean_wq, &dev->attach, msecs_to_jiffies(500));
	}
	drm_dev_exit(idx);
}

/* ---- the watchdog, on the guest's own clock ---- */

/* Whether the card's clock has stood still for too long while something was asked of the card. */
static bool pbd_clock_stands(struct pbd_device *dev, bool busy)
{
	const struct pb_boot_block *block = (const void *)dev->memory;
	u32 clock = READ_ONCE(block->clock);

	if (!busy || !dev->clock_busy || clock != dev->clock) {
		dev->clock = clock;
		dev->clock_busy = busy;
		dev->clock_moved = jiffies;
		dev->clock_ticks = 0;
		return false;
	}
	/* Rounds as well as time: after a pause of the whole machine the card gets its chance. */
	return ++dev->clock_ticks >= PBD_WATCH_ROUNDS &&
	       time_after(jiffies, dev->clock_moved + msecs_to_jiffies(pbd_card_timeout_ms));
}

void pbd_card_watch_work(struct work_struct *work)
{
	struct pbd_device *dev = container_of(work, struct pbd_device, watch.work);
	enum pb_error error;
	bool busy;

	if (READ_ONCE(dev->state) != PBD_UP || READ_ONCE(dev->removed))
		return;
	busy = READ_ONCE(dev->jobs) != 0 || mutex_is_locked(&dev->commands);
	pbd_retire(dev);
	error = pb_channel_check(&dev->channel, NULL);
	if (error == PB_ERROR_OK)
		error = pb_channel_watch(&dev->channel);
	if (error != PB_ERROR_OK)
		pbd_card_lost(dev, -EIO, pb_error_name(error));
	else if (pbd_clock_stands(dev, busy))
		pbd_card_lost(dev, -ENODEV, "its clock stands still");
	else
		queue_delayed_work(dev->card_wq, &dev->watch,
				   msecs_to_jiffies(busy ? PBD_WATCH_MS : PBD_WATCH_IDLE_MS));
}

/* Makes the watchdog look soon. */
void pbd_card_watch(struct pbd_device *dev)
{
	mod_delayed_work(dev->card_wq, &dev->watch, msecs_to_jiffies(PBD_WATCH_MS));
}
