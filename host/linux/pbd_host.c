// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Host memory of a machine whose memory the card reaches: the card's admin has granted it to the channel. One segment of
 * kind HOST has all of it, so that the engine can move pages and read paging buffers. An aperture over that segment gives
 * the pages of an object addresses in a row, which submissions use.
 *
 * A host address is the physical address of the page, if the file that the card maps is the machine's memory. Nothing says
 * that it is: the engine copies a page of ours before anything is believed, and then writes to it.
 */
#include <linux/mm.h>
#include <linux/random.h>

#include "patchbay/paging.h"
#include "pbd_job.h"

/* Addresses of the OS and of the engines. */
#define PBD_HOST_OS 0xc000000000ull
#define PBD_HOST_GPU 0x500000000ull
#define PBD_APERTURE_OS 0xd000000000ull
#define PBD_APERTURE_GPU 0x400000000ull
#define PBD_APERTURE_BYTES_MIN (1u << 20)
#define PBD_PROBE_WAIT_US (1000ull * max(2000u, pbd_card_timeout_ms))

void pbd_host_init(struct pbd_host *host)
{
	mutex_init(&host->lock);
	INIT_LIST_HEAD(&host->kept);
}

/* ---- whether the granted memory is that of this machine ---- */

/* What the probe needs. */
struct pbd_probe {
	struct pbd_device *dev;
	struct pbd_lock lock;
	struct pb_queue queue;
	struct pb_memory memory; /* of the card: a page for packets, and one to copy to */
	u32 context;
	struct page *page;
	u32 pattern[PB_PAGE_BYTES / sizeof(u32)];
};

/* Lets the engine copy a page. Ordinary packets: a fault costs the probe's context alone. */
static bool pbd_probe_copy(struct pbd_probe *probe, u64 from, u64 to)
{
	const struct pb_memory *memory = &probe->memory;
	struct pb_paging_buffer buffer = {
		.dma_buffer = (u32 *)memory->bytes_host,
		.gpu_address = memory->segment->request.gpu_base + memory->offset,
		.dma_size = PB_PAGE_BYTES,
	};
	struct pb_paging_operation operation = {
		.kind = PB_PAGING_TRANSFER,
		.source.gpu_address = from,
		.destination.gpu_address = to,
		.bytes = PB_PAGE_BYTES,
	};
	struct pb_descriptor descriptor = {
		.context = probe->context,
		.fence_id = 1,
		.dma_address_low = lower_32_bits(memory->os_address),
		.dma_address_high = upper_32_bits(memory->os_address),
		.dma_segment = PB_SEGMENT_SYSTEM,
		.dma_size = PB_PAGE_BYTES,
	};
	struct pb_fence fence;

	if (pb_paging_build(&operation, &buffer) != PB_RENDER_SUCCESS)
		return false;
	descriptor.dma_end = PB_PAGE_BYTES - buffer.dma_size;
	return pb_queue_submit(&probe->queue, &descriptor) == PB_ERROR_OK &&
	       pb_queue_wait(&probe->queue, probe->queue.timeline, PBD_PROBE_WAIT_US, &fence) == PB_ERROR_OK &&
	       fence.status == PB_ERROR_OK;
}

/* Whether the engine finds what the CPU writes to a page, and the CPU what the engine writes. */
static bool pbd_probe_page(struct pbd_probe *probe)
{
	u8 *copy = probe->memory.bytes_host + PB_PAGE_BYTES, *bytes = page_address(probe->page);
	u64 card = probe->memory.segment->request.gpu_base + probe->memory.offset + PB_PAGE_BYTES;
	u64 host = PBD_HOST_GPU + page_to_phys(probe->page) - probe->dev->host.start;

	get_random_bytes(probe->pattern, PB_PAGE_BYTES);
	memcpy(bytes, probe->pattern, PB_PAGE_BYTES);
	memset(copy, 0, PB_PAGE_BYTES);
	if (!pbd_probe_copy(probe, host, card) || memcmp(copy, probe->pattern, PB_PAGE_BYTES) != 0)
		return false;
	memset(bytes, 0, PB_PAGE_BYTES);
	return pbd_probe_copy(probe, card, host) && memcmp(bytes, probe->pattern, PB_PAGE_BYTES) == 0;
}

static bool pbd_probe_run(struct pbd_probe *probe)
{
	struct pbd_device *dev = probe->dev;
	const struct pb_queue_request request = {
		.entries = PBD_RING_ENTRIES,
		.priority = PB_PRIORITY_HIGH,
		.lock = &probe->lock.base,
	};
	bool passed = false;

	if (pb_memory_allocate(&dev->system, 2 * PB_PAGE_BYTES, PB_PAGE_BYTES, &probe->memory) != PB_ERROR_OK)
		return false;
	if (pb_context_create(&dev->channel, &probe->context) == PB_ERROR_OK) {
		if (pb_queue_create_with(&probe->queue, &dev->channel, &dev->system, &request) == PB_ERROR_OK) {
			passed = pbd_probe_page(probe);
			(void)pb_queue_destroy(&probe->queue);
		}
		(void)pb_context_destroy(&dev->channel, probe->context);
	}
	pb_memory_free(&probe->memory);
	return passed;
}

/* Pre: the segment has been created. */
static bool pbd_host_probe(struct pbd_device *dev)
{
	struct pbd_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	bool passed = false;

	if (!probe)
		return false;
	probe->dev = dev;
	pbd_lock_init(&probe->lock);
	/* The lowest memory, which every grant of a machine's memory has. */
	probe->page = alloc_page(GFP_KERNEL | GFP_DMA);
	if (probe->page && pbd_host_reaches(dev, &probe->page, 1))
		passed = pbd_probe_run(probe);
	if (probe->page)
		__free_page(probe->page);
	kfree(probe);
	return passed;
}

/* ---- segments ---- */

static void pbd_host_aperture(struct pbd_device *dev)
{
	struct pbd_region *region = &dev->regions[PBD_REGION_HOST];
	u64 most = (u64)dev->channel.card.capabilities[PB_CAPABILITY_APERTURE_PAGES] * PB_PAGE_BYTES;
	struct pb_segment_request request = {
		.id = PBD_SEGMENT_APERTURE,
		.os_base = PBD_APERTURE_OS,
		.gpu_base = PBD_APERTURE_GPU,
		.kind = PB_SEGMENT_APERTURE,
		.size = min(most, dev->host.bytes / 2),
	};
	/* After a sleep objects have places in it. */
	const u64 kept = drm_mm_initialized(&region->mm) ? region->segment.request.size : 0;
	enum pb_error error = PB_ERROR_NO_SPACE;

	if (kept != 0)
		request.size = kept;
	while (request.size >= max_t(u64, kept, PBD_APERTURE_BYTES_MIN) && error != PB_ERROR_OK) {
		request.size = round_down(request.size, PB_PAGE_BYTES);
		error = pb_segment_create(&region->segment, &dev->channel, &request);
		if (error != PB_ERROR_OK && error != PB_ERROR_NO_SPACE && error != PB_ERROR_NO_QUOTA)
			break;
		if (error != PB_ERROR_OK)
			request.size /= 2;
	}
	if (error != PB_ERROR_OK)
		return;
	mutex_lock(&dev->vram);
	if (kept == 0) {
		drm_mm_init(&region->mm, 0, request.size);
		region->used = 0;
	}
	region->host = true;
	region->present = true;
	mutex_unlock(&dev->vram);
}

/*
 * Takes the host memory that was granted, if it is memory of this machine. Pre: commands, card for writing; the
 * segments of card memory exist. Without host memory all is as it was.
 */
void pbd_host_make(struct pbd_device *dev)
{
	struct pb_segment_request request = {
		.id = PBD_SEGMENT_HOST,
		.os_base = PBD_HOST_OS,
		.gpu_base = PBD_HOST_GPU,
		.kind = PB_SEGMENT_HOST,
	};
	struct pb_host_pages pages;
	struct pb_host_grant grant;

	dev->host.bytes = 0;
	if (!pbd_host_memory || pbd_i915 || pbd_virtgpu ||
	    dev->channel.card.capabilities[PB_CAPABILITY_HOST_BYTES] == 0 ||
	    pb_host_grant_query(&dev->channel, dev->link.channel, 0, &grant) != PB_ERROR_OK || grant.bytes == 0)
		return;
	/* On some boards a part of card memory stands for it. */
	if (grant.offset < dev->memory_bytes)
		return;
	request.size = request.backing_bytes = grant.bytes;
	pages.address = grant.address;
	pages.memory = __va(grant.address);
	if (pb_segment_create_host(&dev->host.segment, &dev->channel, &request, &pages) != PB_ERROR_OK)
		return;
	dev->host.start = grant.address;
	dev->host.bytes = grant.bytes;
	if (!pbd_host_probe(dev)) {
		drm_info(&dev->drm, "the card's host memory is not the memory of this machine\n");
		(void)pb_segment_destroy(&dev->host.segment);
		dev->host.bytes = 0;
		return;
	}
	pbd_host_aperture(dev);
}

/* Returns the node for moves: one that does nothing but copies, if there is one. */
static u32 pbd_host_node(const struct pbd_device *dev)
{
	u32 node, nodes = min(dev->info.capabilities[PB_CAPABILITY_NODES], 8u);

	for (node = 0; node < nodes; node++)
		if ((dev->info.capabilities[PB_CAPABILITY_NODE_KINDS] >> node * 4 & 0xf) == PB_NODE_COPY)
			return node;
	return 0;
}

/* Lets go what was kept of an attachment that is over: no engine is at it any more. */
static void pbd_host_release(struct pbd_device *dev)
{
	struct pbd_job *job, *next;
	LIST_HEAD(kept);

	spin_lock_irq(&dev->state_lock);
	list_splice_init(&dev->host.kept, &kept);
	spin_unlock_irq(&dev->state_lock);
	list_for_each_entry_safe(job, next, &kept, link)
		pbd_job_put(job);
}

/* Makes the queue of the moves. Pre: card for writing; the card is up, and has stopped what was in flight before. */
void pbd_host_attached(struct pbd_device *dev)
{
	struct pbd_host *host = &dev->host;

	pbd_host_release(dev);
	host->failed = false;
	if (host->bytes == 0)
		return;
	if (!host->queue) {
		host->queue = pbd_queue_of_kernel(dev, pbd_host_node(dev));
		if (host->queue)
			host->queue->priority = PB_PRIORITY_HIGH;
	}
	/* After a sleep it may still be known by what it was. */
	if (host->queue) {
		spin_lock_irq(&dev->state_lock);
		list_del_init(&host->queue->link);
		spin_unlock_irq(&dev->state_lock);
	}
	/* Without a queue the CPU moves what is moved, and no object is mapped. */
	if (!host->queue || pbd_queue_make(host->queue) != 0)
		host->bytes = 0;
}

/*
 * Ends the use of host memory. Pre: card for writing.
 * @left: the firmware has stopped what was in flight, or is dead; else what engines may be at is never used again
 */
void pbd_host_end(struct pbd_device *dev, bool left)
{
	struct pbd_host *host = &dev->host;

	spin_lock_irq(&dev->state_lock);
	host->bytes = 0;
	if (!left && !list_empty(&host->kept)) {
		drm_err(&dev->drm, "engines may still be at memory of this machine, which is kept\n");
		INIT_LIST_HEAD(&host->kept);
	}
	spin_unlock_irq(&dev->state_lock);
	pbd_host_release(dev);
	dma_fence_put(host->last);
	host->last = NULL;
	if (host->queue)
		pbd_queue_put(host->queue);
	host->queue = NULL;
}

/* ---- what the engines reach ---- */

/* Whether the engines reach all of these pages. */
bool pbd_host_reaches(const struct pbd_device *dev, struct page *const *pages, unsigned long count)
{
	const struct pbd_host *host = &dev->host;
	unsigned long i;

	for (i = 0; i < count; i++)
		if (page_to_phys(pages[i]) - host->start > host->bytes - PAGE_SIZE ||
		    page_to_phys(pages[i]) < host->start)
			return false;
	return host->bytes != 0;
}

/*
 * Keeps a submission that the card's end has ended, until the card has another firmware or the device goes: engines may
 * still be at its objects, which are memory of this machine. Pre: state; the job is in no list. @return false: it need
 * not be kept
 */
bool pbd_host_keeps(struct pbd_device *dev, struct pbd_job *job)
{
	if (dev->host.bytes == 0 || dev->state == PBD_UP || job->epoch != dev->epoch)
		return false;
	list_move_tail(&job->link, &dev->host.kept);
	return true;
}

/* Whether engines that nothing is known of may be at the object's pages. Pre: resv. */
bool pbd_host_is_unsure(struct pbd_device *dev, const struct pbd_bo *bo)
{
	return bo->reached != 0 && bo->reached == READ_ONCE(dev->epoch) && READ_ONCE(dev->state) != PBD_UP;
}
