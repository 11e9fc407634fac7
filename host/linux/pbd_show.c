// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the driver shows of itself: keys of fdinfo, files of debugfs, tracepoints. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <drm/drm_debugfs.h>

#include "patchbay/abi/boot.h"
#include "patchbay/names.h"
#include "patchbay/query.h"
#include "pbd_job.h"
#include "pbd_live.h"
#include "pbd_virtgpu.h"

#define CREATE_TRACE_POINTS
#include "pbd_trace.h"

/* The card's clock, in microseconds. Pre: the device is mapped. */
static u32 pbd_card_clock(const struct pbd_device *dev)
{
	return READ_ONCE(((const struct pb_boot_block *)(const void *)dev->memory)->clock);
}

void pbd_trace_submit(const struct pbd_job *job)
{
	const struct pbd_queue *queue = job->queue;

	if (trace_patchbay_submit_enabled())
		trace_patchbay_submit(queue->account->id, queue->node, queue->queue.handle, job->value,
				      pbd_card_clock(job->dev), (int)job->dep_count);
}

void pbd_trace_ring(const struct pbd_job *job)
{
	const struct pbd_queue *queue = job->queue;

	if (trace_patchbay_ring_enabled())
		trace_patchbay_ring(queue->account->id, queue->node, queue->queue.handle, job->value,
				    pbd_card_clock(job->dev), (int)(job->index % PBD_RING_ENTRIES));
}

void pbd_trace_signal(const struct pbd_job *job, int result)
{
	const struct pbd_queue *queue = job->queue;

	if (trace_patchbay_signal_enabled())
		trace_patchbay_signal(queue->account->id, queue->node, queue->queue.handle, job->value,
				      pbd_card_clock(job->dev), result);
}

/* ---- engine time ---- */

/* Notes that the firmware has the submission. Pre: the state lock is held. */
void pbd_busy_begin(struct pbd_job *job)
{
	job->begun_ns = ktime_get_ns();
}

/*
 * Charges a file for a submission that has ended: the time since the firmware got it, without the time in which
 * earlier ones of the node ended. What files are charged is never more than the time that has passed on the node. Pre:
 * the state lock is held.
 */
void pbd_busy_charge(struct pbd_device *dev, struct pbd_account *account, u32 node, u64 begun_ns)
{
	u64 *last, now, from;

	if (begun_ns == 0 || node >= PBD_NODES_MAX)
		return;
	last = &dev->node_ended_ns[node];
	now = ktime_get_ns();
	from = max(begun_ns, *last);
	account->busy_ns[node] += now - from;
	*last = now;
}

void pbd_busy_end(struct pbd_job *job)
{
	pbd_busy_charge(job->dev, job->queue->account, job->queue->node, job->begun_ns);
}

/* ---- fdinfo: Documentation/gpu/drm-usage-stats.rst ---- */

struct pbd_kind {
	u32 kind;
	const char *name;
};

static const struct pbd_kind pbd_kinds[] = {
	{ PATCHBAY_NODE_3D, "render" },
	{ PATCHBAY_NODE_COPY, "copy" },
};

static u32 pbd_kind_of(const struct pbd_device *dev, u32 node)
{
	return node < 8 ? dev->info.capabilities[PB_CAPABILITY_NODE_KINDS] >> node * 4 & 0xf : 0;
}

static void pbd_show_engines(struct seq_file *m, struct pbd_device *dev, struct pbd_account *account)
{
	u32 nodes = min_t(u32, dev->info.capabilities[PB_CAPABILITY_NODES], PBD_NODES_MAX), i, node;

	for (i = 0; i < ARRAY_SIZE(pbd_kinds); i++) {
		u32 count = 0;
		u64 busy = 0;

		spin_lock_irq(&dev->state_lock);
		for (node = 0; node < nodes; node++) {
			if (pbd_kind_of(dev, node) != pbd_kinds[i].kind)
				continue;
			count++;
			busy += account->busy_ns[node];
		}
		spin_unlock_irq(&dev->state_lock);
		if (count != 0)
			seq_printf(m, "drm-engine-%s:\t%llu ns\n", pbd_kinds[i].name, busy);
		if (count > 1)
			seq_printf(m, "drm-engine-capacity-%s:\t%u\n", pbd_kinds[i].name, count);
	}
}

/*
 * It may move at this moment: then it counts where it was or will be. Pages that it has left for VRAM count until they are
 * freed.
 */
static void pbd_count_object(const struct pbd_bo *bo, u64 *vram, u64 *host, u64 *pages)
{
	const struct pbd_region *region = READ_ONCE(bo->region);

	if (region)
		*(region->host ? host : vram) += bo->base.size;
	if ((!region || !region->host) && READ_ONCE(bo->pages))
		*pages += bo->base.size;
}

/* Bytes of a file's objects: in VRAM, in host memory, in other pages of the system. What several files share, counts in each. */
static void pbd_count_objects(struct drm_file *drm_file, u64 *vram, u64 *host, u64 *pages)
{
	struct drm_gem_object *object;
	int handle;

	spin_lock(&drm_file->table_lock);
	idr_for_each_entry(&drm_file->object_idr, object, handle) {
		if (pbd_virt_is_resource(object))
			*pages += object->size;
		else
			pbd_count_object(pbd_bo(object), vram, host, pages);
	}
	spin_unlock(&drm_file->table_lock);
}

void pbd_show_fdinfo(struct seq_file *m, struct file *f)
{
	struct drm_file *drm_file = f->private_data;
	struct pbd_file *file = drm_file->driver_priv;
	struct pbd_device *dev = file->dev;
	u64 vram = 0, host = 0, pages = 0;

	pbd_count_objects(drm_file, &vram, &host, &pages);
	if (file->virt)
		pbd_virt_count_memory(file->virt, &vram);
	seq_printf(m, "drm-driver:\t%s\n", dev->drm.driver->name);
	seq_printf(m, "drm-pdev:\t%s\n", pci_name(dev->pdev));
	seq_printf(m, "drm-client-id:\t%llu\n", file->account->id);
	pbd_show_engines(m, dev, file->account);
	seq_printf(m, "drm-memory-vram:\t%llu KiB\n", vram >> 10);
	seq_printf(m, "drm-memory-host:\t%llu KiB\n", host >> 10);
	seq_printf(m, "drm-memory-system:\t%llu KiB\n", pages >> 10);
}

/* ---- debugfs ---- */

/* A queue with what the driver knows of it; the firmware is asked afterwards, without a spinlock. */
struct pbd_seen {
	struct pbd_queue *queue;
	u32 pending, running, fences;
	u64 value, completed, error_value;
	u32 error, error_index;
	bool lost;
};

static void pbd_see(struct pbd_seen *seen, struct pbd_queue *queue)
{
	struct pbd_job *job;

	*seen = (struct pbd_seen){ .queue = queue };
	list_for_each_entry(job, &queue->pending, link) {
		if (seen->pending++ == 0)
			seen->fences = (u32)atomic_read(&job->waiting);
	}
	list_for_each_entry(job, &queue->running, link)
		seen->running++;
	seen->value = queue->value;
	seen->completed = queue->completed;
	seen->lost = queue->lost;
	seen->error_value = queue->error_value;
	seen->error = queue->error;
	seen->error_index = queue->error_index;
}

/* Notes all queues that the firmware has, each with a reference. @return how many */
static u32 pbd_see_all(struct pbd_device *dev, struct pbd_seen *seen, u32 room)
{
	struct pbd_queue *queue;
	u32 count = 0;

	spin_lock_irq(&dev->state_lock);
	list_for_each_entry(queue, &dev->queues, link) {
		if (count == room)
			break;
		if (kref_get_unless_zero(&queue->refs))
			pbd_see(&seen[count++], queue);
	}
	spin_unlock_irq(&dev->state_lock);
	return count;
}

/* Asks the firmware why nothing of the queue runs. @there: the firmware has it. Pre: card for reading, commands. */
void pbd_show_why(struct seq_file *m, struct pb_queue *queue, bool there)
{
	struct pb_queue_state state;
	enum pb_error error = there ? pb_queue_query(queue, &state) : PB_ERROR_NO_CARD;

	if (error != PB_ERROR_OK) {
		seq_printf(m, " why=? (%s)", pb_error_name(error));
		return;
	}
	seq_printf(m, " why=%s", pb_why_name(state.why));
	if (state.why == PB_WHY_WAITING)
		seq_printf(m, " for=0x%x:%llu", state.waits_for_queue, state.waits_for_value);
	seq_printf(m, " put=%u admitted=%u retired=%u", state.put, state.admitted, state.completed);
}

static void pbd_show_queue(struct seq_file *m, struct pbd_device *dev, const struct pbd_seen *seen)
{
	struct pbd_queue *queue = seen->queue;

	seq_printf(m, "queue=0x%x file=%llu node=%u priority=%u context=0x%x%s value=%llu completed=%llu",
		   queue->queue.handle, queue->account->id, queue->node, queue->priority, queue->context,
		   seen->lost ? " lost" : "", seen->value, seen->completed);
	seq_printf(m, " waiting=%u running=%u fences=%u", seen->pending, seen->running, seen->fences);
	if (seen->error_value != 0)
		seq_printf(m, " failed=%llu error=%s entry=%d", seen->error_value, pb_error_name(seen->error),
			   (int)seen->error_index);
	mutex_lock(&dev->commands);
	pbd_show_why(m, &queue->queue, queue->epoch == dev->epoch && READ_ONCE(dev->state) == PBD_UP);
	mutex_unlock(&dev->commands);
	seq_putc(m, '\n');
}

static int pbd_debugfs_queues(struct seq_file *m, void *data)
{
	struct drm_info_node *node = m->private;
	struct pbd_device *dev = pbd_device(node->minor->dev);
	struct pbd_seen *seen = kvmalloc_array(PBD_CONTEXTS_MAX, sizeof(*seen), GFP_KERNEL);
	u32 count, i;

	if (!seen)
		return -ENOMEM;
	count = pbd_see_all(dev, seen, PBD_CONTEXTS_MAX);
	down_read(&dev->card);
	for (i = 0; i < count; i++)
		pbd_show_queue(m, dev, &seen[i]);
	pbd_virt_show_clients(m, dev);
	up_read(&dev->card);
	for (i = 0; i < count; i++)
		pbd_queue_put(seen[i].queue);
	kvfree(seen);
	return 0;
}

static int pbd_debugfs_memory(struct seq_file *m, void *data)
{
	static const char *const names[PBD_REGIONS] = { "window", "outer", "host" };
	struct drm_info_node *node = m->private;
	struct pbd_device *dev = pbd_device(node->minor->dev);
	struct drm_mm_node *space;
	struct pbd_bo *bo;
	u64 used = 0;
	u32 i, objects = 0, mapped = 0, pinned = 0;

	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_REGIONS; i++)
		if (dev->regions[i].present)
			seq_printf(m, "%s: bytes=%llu used=%llu gpu=0x%llx\n", names[i],
				   dev->regions[i].segment.request.size, dev->regions[i].used,
				   dev->regions[i].segment.request.gpu_base);
	list_for_each_entry(bo, &dev->lru, lru) {
		objects += pbd_bo_in_vram(bo);
		mapped += !pbd_bo_in_vram(bo);
		pinned += atomic_read(&bo->pins) != 0;
	}
	seq_printf(m, "objects: vram=%u host=%u pinned=%u evictions=%llu\n", objects, mapped, pinned, dev->evictions);
	seq_printf(m, "moved: engine=%lld cpu=%lld\n", atomic64_read(&dev->host.engine_bytes),
		   atomic64_read(&dev->host.cpu_bytes));
	seq_printf(m, "pages: held=%lu purgeable=%lu purged=%lld swapped=%lld\n", dev->paged_pages,
		   dev->purgeable_pages, atomic64_read(&dev->purged_pages), atomic64_read(&dev->swapped_pages));
	mutex_unlock(&dev->vram);
	spin_lock_irq(&dev->state_lock);
	for (i = 0; i < PBD_ARENAS; i++)
		drm_mm_for_each_node(space, &dev->arenas[i].mm)
			used += space->size;
	spin_unlock_irq(&dev->state_lock);
	seq_printf(m, "lists: bytes=%u used=%llu\n", PBD_ARENA_BYTES, used);
	return 0;
}

static int pbd_debugfs_card(struct seq_file *m, void *data)
{
	struct drm_info_node *info = m->private;
	struct pbd_device *dev = pbd_device(info->minor->dev);
	struct pb_channel_status channel;
	struct pb_node_status status;
	u32 node;

	seq_printf(m, "card: state=%s channel=%u incarnation=%u restarts=%u jobs=%u clock_us=%u build=%s\n",
		   READ_ONCE(dev->state) == PBD_UP ? "up" : "down", dev->link.channel, dev->info.incarnation,
		   READ_ONCE(dev->restarts), READ_ONCE(dev->jobs), pbd_card_clock(dev), dev->info.build);
	down_read(&dev->card);
	mutex_lock(&dev->commands);
	if (READ_ONCE(dev->state) == PBD_UP && pb_channel_query(&dev->channel, &channel) == PB_ERROR_OK)
		seq_printf(m, "channel: queues=%u contexts=%u spare=%u segments=%u admitted=%u dropped=%u\n",
			   channel.queues, channel.contexts, dev->spare_count, channel.segments, channel.admitted,
			   channel.events_dropped);
	for (node = 0; node < dev->info.capabilities[PB_CAPABILITY_NODES]; node++) {
		if (READ_ONCE(dev->state) != PBD_UP || pb_node_query(&dev->channel, node, &status) != PB_ERROR_OK)
			break;
		seq_printf(m, "node%u: state=%s in_flight=%u engine_us=%u idle=%u stops=%u resets=%u head=0x%x completed=%u\n",
			   node, pb_node_state_name(status.state), status.in_flight, status.engine_us,
			   status.idle_times, status.stops, status.resets, status.head, status.completed);
	}
	mutex_unlock(&dev->commands);
	up_read(&dev->card);
	return 0;
}

/* What exists, of all devices. */
atomic_t pbd_live[PBD_LIVE_COUNT];

static int pbd_debugfs_live(struct seq_file *m, void *data)
{
	seq_printf(m, "live: objects=%d queues=%d fences=%d\n", atomic_read(&pbd_live[PBD_LIVE_OBJECTS]),
		   atomic_read(&pbd_live[PBD_LIVE_QUEUES]), atomic_read(&pbd_live[PBD_LIVE_FENCES]));
	return 0;
}

typedef int (*pbd_show_fn)(struct seq_file *m, void *data);

/* A removed device has no card to ask. */
static int pbd_debugfs_show(struct seq_file *m, void *data)
{
	struct drm_info_node *node = m->private;
	const pbd_show_fn *show = node->info_ent->data;
	int idx, ret;

	if (!drm_dev_enter(node->minor->dev, &idx))
		return -ENODEV;
	ret = (*show)(m, data);
	drm_dev_exit(idx);
	return ret;
}

static const pbd_show_fn pbd_shows[] = {
	pbd_debugfs_queues,
	pbd_debugfs_memory,
	pbd_debugfs_card,
	pbd_debugfs_live,
};

static const struct drm_info_list pbd_debugfs_files[] = {
	{ "patchbay_queues", pbd_debugfs_show, 0, (void *)&pbd_shows[0] },
	{ "patchbay_memory", pbd_debugfs_show, 0, (void *)&pbd_shows[1] },
	{ "patchbay_card", pbd_debugfs_show, 0, (void *)&pbd_shows[2] },
	{ "patchbay_live", pbd_debugfs_show, 0, (void *)&pbd_shows[3] },
};

void pbd_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(pbd_debugfs_files, ARRAY_SIZE(pbd_debugfs_files), minor->debugfs_root, minor);
	if (minor->dev->driver == &pbd_i915_driver)
		pbd_i915_debugfs_init(minor);
}
