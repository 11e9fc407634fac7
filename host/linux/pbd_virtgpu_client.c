// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Clients of the GL engine: what a file that draws has at the card, and the calls of host/gl. A client is used by one
 * thread at a time. Whatever goes wrong in it ends it, and nothing else.
 */
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "patchbay/format.h"
#include "patchbay/names.h"
#include "pbd_virtgpu.h"

/* Records of a client: resources at one time. A power of two. */
#define PBD_VIRT_RESOURCES 8192u
#define PBD_VIRT_RING_ENTRIES 32u
/* Staging memory in VRAM: this much, or half as much until it fits. */
#define PBD_VIRT_STAGING_BYTES (6u << 20)
#define PBD_VIRT_STAGING_MIN (PB_GL_CLIENT_SLOTS_MIN * PB_GL_STAGING_BYTES_MIN)
/* Longer than the card takes to reset what hangs. */
#define PBD_VIRT_TIMEOUT_US 120000000u
/* For the end of a client that has failed: the next one with its context's number ends its renderer, too. */
#define PBD_VIRT_END_US 12000000u

/* ---- calls ---- */

/* The count of interrupts that the caller has seen, if it is in a call of a client; NULL: it is not. */
int *pbd_virt_irqs_seen(struct pbd_device *dev)
{
	struct pbd_virt_waiter *waiter;
	int *seen = NULL;

	spin_lock_irq(&dev->state_lock);
	list_for_each_entry(waiter, &dev->virt.waiters, link)
		if (waiter->task == current)
			seen = &waiter->irqs_seen;
	spin_unlock_irq(&dev->state_lock);
	return seen;
}

/* The card counts as busy during a call, so that the watchdog looks after whoever waits in it. */
static void pbd_virt_call(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	bool first;

	virt->waiter.task = current;
	virt->waiter.irqs_seen = atomic_read(&dev->irqs);
	spin_lock_irq(&dev->state_lock);
	list_add(&virt->waiter.link, &dev->virt.waiters);
	first = dev->jobs++ == 0;
	spin_unlock_irq(&dev->state_lock);
	if (first)
		pbd_card_watch(dev);
}

static void pbd_virt_called(struct pbd_virt *virt)
{
	spin_lock_irq(&virt->dev->state_lock);
	list_del(&virt->waiter.link);
	virt->dev->jobs--;
	spin_unlock_irq(&virt->dev->state_lock);
}

/* ---- start and end ---- */

static void pbd_virt_free_memory(struct pbd_virt *virt)
{
	struct pb_gl_client_setup *setup = &virt->setup;
	unsigned int i;

	for (i = 0; i < PB_GL_CLIENT_SLOTS_MIN; i++)
		kvfree(setup->slot_ids[i]);
	kvfree(setup->resources);
	kvfree(setup->chains);
	kvfree(setup->ids);
	kvfree(setup->allocations);
	kvfree(setup->objects);
	kvfree(setup->sub_contexts);
	kvfree(virt->client);
	memset(setup, 0, sizeof(*setup));
	virt->client = NULL;
}

static void *pbd_virt_array(size_t count, size_t bytes)
{
	return kvcalloc(count, bytes, GFP_KERNEL_ACCOUNT);
}

static int pbd_virt_alloc_memory(struct pbd_virt *virt)
{
	struct pb_gl_client_setup *setup = &virt->setup;
	bool good = true;
	unsigned int i;

	memset(setup, 0, sizeof(*setup));
	setup->timeout_us = PBD_VIRT_TIMEOUT_US;
	setup->slot_count = PB_GL_CLIENT_SLOTS_MIN;
	setup->resource_count = PBD_VIRT_RESOURCES;
	setup->resources = pbd_virt_array(PBD_VIRT_RESOURCES, sizeof(*setup->resources));
	setup->chains = pbd_virt_array(PBD_VIRT_RESOURCES, sizeof(*setup->chains));
	setup->ids = pbd_virt_array(PBD_VIRT_RESOURCES + 1, sizeof(*setup->ids));
	setup->allocations = pbd_virt_array(PBD_VIRT_RESOURCES + 1, sizeof(*setup->allocations));
	setup->objects = pbd_virt_array(PB_GL_OBJECTS, sizeof(*setup->objects));
	setup->sub_contexts = pbd_virt_array(PB_GL_SUB_CONTEXTS, sizeof(*setup->sub_contexts));
	for (i = 0; i < PB_GL_CLIENT_SLOTS_MIN; i++) {
		setup->slot_ids[i] = pbd_virt_array(PB_GL_ALLOCATIONS, sizeof(*setup->slot_ids[i]));
		good = good && setup->slot_ids[i];
	}
	virt->client = pbd_virt_array(1, sizeof(*virt->client));
	if (good && setup->resources && setup->chains && setup->ids && setup->allocations && setup->objects &&
	    setup->sub_contexts && virt->client)
		return 0;
	pbd_virt_free_memory(virt);
	return -ENOMEM;
}

/* Makes staging memory in VRAM, which stays where it is. */
static int pbd_virt_make_staging(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	u64 bytes = PBD_VIRT_STAGING_BYTES;
	struct pbd_bo *bo;
	int ret;

	for (;;) {
		struct drm_gem_object *object = pbd_bo_create(dev, bytes, 0);

		if (IS_ERR(object))
			return PTR_ERR(object);
		bo = pbd_bo(object);
		ret = pbd_bo_lock_placed(dev, bo);
		if (ret == 0) {
			atomic_inc(&bo->pins);
			dma_resv_unlock(object->resv);
			virt->staging = object;
			break;
		}
		drm_gem_object_put(object);
		if (ret != -ENOSPC || bytes / 2 < PBD_VIRT_STAGING_MIN)
			return ret;
		bytes = round_down(bytes / 2, PAGE_SIZE);
	}
	virt->setup.staging = dev->memory + pbd_bo_memory_offset(bo);
	virt->setup.segments[PB_GL_SEGMENT_STAGING] = (struct pb_residency_segment){
		.id = bo->region->segment.request.id,
		.kind = bo->region->segment.request.kind,
		.os_base = pbd_bo_os_address(bo),
		.gpu_base = bo->region->segment.request.gpu_base + bo->node.start,
		.bytes = bytes,
	};
	virt->setup.segments[PB_GL_SEGMENT_RESOURCES] = dev->virt.addresses;
	return 0;
}

static void pbd_virt_drop_staging(struct pbd_virt *virt)
{
	if (!virt->staging)
		return;
	pbd_bo_unpin(virt->staging);
	drm_gem_object_put(virt->staging);
	virt->staging = NULL;
}

/* The first node that draws; the number of nodes if there is none. */
u32 pbd_virt_node(const struct pbd_device *dev)
{
	const u32 *capabilities = dev->info.capabilities;
	u32 node = 0;

	while (node < capabilities[PB_CAPABILITY_NODES] && node < 8 &&
	       (capabilities[PB_CAPABILITY_NODE_KINDS] >> 4 * node & 0xf) != PB_NODE_3D)
		node++;
	return node;
}

static enum pb_error pbd_virt_make_queues(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	struct pb_queue_request request = {
		.node = pbd_virt_node(dev),
		.entries = PBD_VIRT_RING_ENTRIES,
		.priority = PB_PRIORITY_NORMAL,
		.lock = &virt->queue_lock.base,
	};
	enum pb_error error = pb_context_create(&dev->channel, &virt->setup.context);

	if (error != PB_ERROR_OK)
		return error;
	error = pb_queue_create_with(&virt->queue, &dev->channel, &dev->system, &request);
	if (error == PB_ERROR_OK) {
		virt->setup.queue = &virt->queue;
		request.lock = &virt->paging_lock.base;
		error = pb_queue_create_with(&virt->paging, &dev->channel, &dev->system, &request);
	}
	if (error != PB_ERROR_OK)
		return error;
	virt->setup.paging = &virt->paging;
	return PB_ERROR_OK;
}

static enum pb_error pbd_virt_make_slots(struct pbd_virt *virt)
{
	struct pb_segment *system = &virt->dev->system;
	enum pb_error error = pb_memory_allocate(system, PB_PAGE_BYTES, PB_PAGE_BYTES, &virt->buffer);
	unsigned int i;

	for (i = 0; i < PB_GL_CLIENT_SLOTS_MIN && error == PB_ERROR_OK; i++) {
		error = pb_memory_allocate(system, PB_GL_SLOT_BYTES, PB_PAGE_BYTES, &virt->slots[i]);
		virt->setup.slots[i] = virt->slots[i];
	}
	virt->setup.buffer = virt->buffer;
	return error;
}

/* Ends what the firmware has of the client. Pre: commands are held; the attachment is that of the client. */
static void pbd_virt_unmake(struct pbd_virt *virt)
{
	enum pb_error error = PB_ERROR_OK;
	unsigned int i;

	if (virt->setup.paging)
		error = pb_queue_destroy(&virt->paging);
	if (virt->setup.queue && error == PB_ERROR_OK)
		error = pb_queue_destroy(&virt->queue);
	if (virt->setup.context && error == PB_ERROR_OK)
		error = pb_context_destroy(&virt->dev->channel, virt->setup.context);
	if (error != PB_ERROR_OK) {
		/* The firmware may still use the memory. */
		drm_dbg(&virt->dev->drm, "a client is left: %s\n", pb_error_name(error));
		return;
	}
	for (i = 0; i < PB_GL_CLIENT_SLOTS_MIN; i++)
		pb_memory_free(&virt->slots[i]);
	pb_memory_free(&virt->buffer);
}

static bool pbd_virt_is_attached(const struct pbd_virt *virt)
{
	return READ_ONCE(virt->dev->state) == PBD_UP && virt->epoch == virt->dev->epoch;
}

static int pbd_virt_make(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	enum pb_error error;
	int ret;

	mutex_lock(&dev->commands);
	error = pbd_virt_make_slots(virt);
	if (error == PB_ERROR_OK)
		error = pbd_virt_make_queues(virt);
	if (error != PB_ERROR_OK)
		pbd_virt_unmake(virt);
	mutex_unlock(&dev->commands);
	if (error != PB_ERROR_OK)
		return pbd_errno(error);
	pbd_virt_call(virt);
	/* An earlier attachment may have left a renderer under this context's number: it ends first. */
	ret = pb_gl_client_start(virt->client, &virt->setup) && pb_gl_client_end(virt->client) &&
	      pb_gl_client_start(virt->client, &virt->setup) ? 0 : -EIO;
	pbd_virt_called(virt);
	if (ret == 0)
		return 0;
	drm_dbg(&dev->drm, "no client: %s\n", virt->client->failure.what);
	mutex_lock(&dev->commands);
	pbd_virt_unmake(virt);
	mutex_unlock(&dev->commands);
	return ret;
}

/* Starts the client. Pre: its lock, and card for reading. */
static int pbd_virt_start(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;
	int ret;

	if (READ_ONCE(dev->state) != PBD_UP)
		return -ENODEV;
	virt->epoch = dev->epoch;
	ret = pbd_virt_alloc_memory(virt);
	if (ret != 0)
		return ret;
	ret = pbd_virt_make_staging(virt);
	if (ret == 0)
		ret = pbd_virt_make(virt);
	if (ret != 0) {
		pbd_virt_drop_staging(virt);
		pbd_virt_free_memory(virt);
		virt->epoch = 0;
		return ret;
	}
	spin_lock_irq(&dev->state_lock);
	list_add_tail(&virt->link, &dev->virt.clients);
	spin_unlock_irq(&dev->state_lock);
	virt->ready = true;
	return 0;
}

/*
 * What is submitted from here on may make no progress for so long. A stop has the card's own limit: a limit of the queue's
 * would count whatever progress a packet makes, and a renderer that is being started may take long.
 */
static void pbd_virt_set_limit(struct pbd_virt *virt)
{
	pb_queue_set_limits(&virt->queue, min(READ_ONCE(pbd_gl_hang_ms), U32_MAX / 1000) * 1000, 0);
}

/*
 * Begins a call of the file's client, which is started if it was not. Until pbd_virt_leave() the client is the caller's.
 * @return -EIO: it has failed, or was lost with the card
 */
int pbd_virt_enter(struct pbd_virt *virt)
{
	int ret = mutex_lock_interruptible(&virt->lock);

	if (ret != 0)
		return ret;
	down_read(&virt->dev->card);
	if (!virt->ready)
		ret = virt->epoch == 0 ? pbd_virt_start(virt) : -EIO;
	if (ret == 0 && (!pbd_virt_is_attached(virt) || virt->client->failure.what))
		ret = -EIO;
	if (ret == 0) {
		pbd_virt_set_limit(virt);
		pbd_virt_call(virt);
		return 0;
	}
	up_read(&virt->dev->card);
	mutex_unlock(&virt->lock);
	return ret;
}

/* Ends a call. @return -EINVAL: the program was wrong; -EIO: the card failed; either way the client is lost. Or 0 */
int pbd_virt_leave(struct pbd_virt *virt)
{
	const struct pb_gl_failure *failure = &virt->client->failure;
	int ret = !failure->what ? 0 : failure->program ? -EINVAL : -EIO;

	if (failure->what)
		drm_dbg(&virt->dev->drm, "%s[%d]: %s (command %u at word %u, %s)\n", current->comm,
			task_pid_nr(current), failure->what, failure->command, failure->word,
			pb_error_name(failure->error));
	pbd_virt_called(virt);
	up_read(&virt->dev->card);
	mutex_unlock(&virt->lock);
	return ret;
}

/*
 * Begins what is done for a file whether its client works or not, such as closing a handle. @return whether calls of
 * host/gl are possible. pbd_virt_leave_last() ends it
 */
bool pbd_virt_enter_last(struct pbd_virt *virt)
{
	bool works;

	mutex_lock(&virt->lock);
	down_read(&virt->dev->card);
	works = virt->ready && pbd_virt_is_attached(virt) && !virt->client->failure.what;
	if (works)
		pbd_virt_call(virt);
	return works;
}

void pbd_virt_leave_last(struct pbd_virt *virt, bool works)
{
	if (works)
		pbd_virt_called(virt);
	up_read(&virt->dev->card);
	mutex_unlock(&virt->lock);
}

/* Ends the client, and with it its renderer. Pre: the file is closed. */
void pbd_virt_end(struct pbd_virt *virt)
{
	struct pbd_device *dev = virt->dev;

	mutex_lock(&virt->lock);
	down_read(&dev->card);
	if (virt->ready) {
		if (pbd_virt_is_attached(virt)) {
			pbd_virt_call(virt);
			/* One that has failed may have a paging queue that ends nothing any more. */
			if (virt->client->failure.what)
				virt->client->setup.timeout_us = PBD_VIRT_END_US;
			(void)pb_gl_client_end(virt->client);
			pbd_virt_called(virt);
		}
		spin_lock_irq(&dev->state_lock);
		/* What was submitted has ended, with a fence or with the client. */
		pbd_virt_signal(virt, U64_MAX, -EIO);
		list_del_init(&virt->link);
		spin_unlock_irq(&dev->state_lock);
		mutex_lock(&dev->commands);
		if (pbd_virt_is_attached(virt))
			pbd_virt_unmake(virt);
		mutex_unlock(&dev->commands);
		pbd_virt_drop_staging(virt);
		pbd_virt_free_memory(virt);
		virt->ready = false;
	}
	virt->epoch = U32_MAX; /* it is not started again */
	up_read(&dev->card);
	mutex_unlock(&virt->lock);
}

struct pbd_virt *pbd_virt_alloc(struct pbd_device *dev)
{
	struct pbd_virt *virt = kzalloc(sizeof(*virt), GFP_KERNEL);

	if (!virt)
		return NULL;
	kref_init(&virt->refs);
	virt->dev = dev;
	mutex_init(&virt->lock);
	pbd_lock_init(&virt->queue_lock);
	pbd_lock_init(&virt->paging_lock);
	INIT_LIST_HEAD(&virt->link);
	INIT_LIST_HEAD(&virt->fences);
	virt->fence_context = dma_fence_context_alloc(1);
	return virt;
}

static void pbd_virt_release(struct kref *refs)
{
	struct pbd_virt *virt = container_of(refs, struct pbd_virt, refs);

	mutex_destroy(&virt->lock);
	kfree(virt);
}

void pbd_virt_put(struct pbd_virt *virt)
{
	kref_put(&virt->refs, pbd_virt_release);
}

/* ---- files ---- */

int pbd_virt_file_open(struct pbd_file *file)
{
	file->virt = pbd_virt_alloc(file->dev);
	if (!file->virt)
		return -ENOMEM;
	file->virt->account = file->account;
	return 0;
}

void pbd_virt_file_close(struct pbd_file *file)
{
	if (!file->virt)
		return;
	pbd_virt_end(file->virt);
	pbd_virt_put(file->virt);
}
