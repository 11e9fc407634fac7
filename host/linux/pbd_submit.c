// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A submission: copied and checked, translated, placed, armed, published. Everything that can fail or that allocates
 * comes before it is armed.
 */
#include <linux/capability.h>
#include <linux/dma-fence-unwrap.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "patchbay/compact.h"
#include "pbd_submit.h"

#define PBD_SUBMIT_FLAGS                                                                                     \
	(PATCHBAY_SUBMIT_PATCH | PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT |                      \
	 PATCHBAY_SUBMIT_EXPLICIT | PATCHBAY_SUBMIT_UNSAFE)

static_assert(sizeof(struct drm_patchbay_patch) == sizeof(struct pb_patch_location));
static_assert(sizeof(struct drm_patchbay_allocation) == sizeof(struct pb_render_user_allocation));

/* ---- copies ---- */

static int pbd_copy(void **to, u64 from, size_t count, size_t bytes)
{
	if (count == 0)
		return 0;
	*to = kvmalloc_array(count, bytes, GFP_KERNEL);
	if (!*to)
		return -ENOMEM;
	return copy_from_user(*to, u64_to_user_ptr(from), count * bytes) ? -EFAULT : 0;
}

static int pbd_check_args(struct pbd_device *dev, const struct drm_patchbay_submit *args)
{
	const u32 *capabilities = dev->info.capabilities;
	bool patch = args->flags & PATCHBAY_SUBMIT_PATCH;

	if ((args->flags & ~PBD_SUBMIT_FLAGS) || args->pad)
		return -EINVAL;
	if (!(args->flags & PATCHBAY_SUBMIT_FENCE_IN) && args->in_fence_fd != 0)
		return -EINVAL;
	if (args->allocation_count > capabilities[PB_CAPABILITY_ALLOCATIONS_MAX] ||
	    args->patch_count > capabilities[PB_CAPABILITY_PATCHES_MAX] ||
	    args->command_bytes > PBD_COMMAND_BYTES_MAX)
		return -E2BIG;
	if (args->in_count > PBD_SYNCS_MAX || args->out_count > PBD_SYNCS_MAX)
		return -E2BIG;
	if (patch && (args->command_bytes || (args->flags & PATCHBAY_SUBMIT_UNSAFE) || args->start % 4 ||
		      args->end % 4 || args->start > args->end))
		return -EINVAL;
	if (!patch && (args->target || args->start || args->end || args->command_bytes % 4))
		return -EINVAL;
	if ((args->flags & PATCHBAY_SUBMIT_UNSAFE) && !(pbd_unsafe && capable(CAP_SYS_ADMIN)))
		return -EPERM;
	return 0;
}

static int pbd_copy_lists(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	u32 i;
	int ret;

	ret = pbd_copy((void **)&submit->commands, args->commands, args->command_bytes / 4, 4);
	if (ret == 0)
		ret = pbd_copy((void **)&submit->allocations, args->allocations, args->allocation_count,
			       sizeof(*submit->allocations));
	if (ret == 0)
		ret = pbd_copy((void **)&submit->patches, args->patches, args->patch_count,
			       sizeof(*submit->patches));
	for (i = 0; ret == 0 && i < args->allocation_count; i++)
		if (submit->allocations[i].flags & ~PATCHBAY_ALLOCATION_WRITE)
			ret = -EINVAL;
	return ret;
}

/* ---- objects ---- */

static int pbd_compare(const void *a, const void *b)
{
	const struct drm_gem_object *const *first = a, *const *second = b;

	return *first < *second ? -1 : *first > *second;
}

/* Index of an object in the sorted list. */
u32 pbd_object_index(const struct pbd_job *job, const struct drm_gem_object *object)
{
	u32 low = 0, high = job->object_count;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (job->objects[middle] <= object)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Lists each object once, and whether it is written. */
int pbd_unique_objects(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	u32 i, count = 0;

	job->objects = kvmalloc_array(job->listed_count + 1, sizeof(*job->objects), GFP_KERNEL);
	job->writes = kvcalloc(job->listed_count + 1, sizeof(*job->writes), GFP_KERNEL);
	if (!job->objects || !job->writes)
		return -ENOMEM;
	for (i = 0; i < job->listed_count; i++)
		if (job->listed[i])
			job->objects[count++] = job->listed[i];
	sort(job->objects, count, sizeof(*job->objects), pbd_compare, NULL);
	for (i = 0; i < count; i++)
		if (job->object_count == 0 || job->objects[job->object_count - 1] != job->objects[i])
			job->objects[job->object_count++] = job->objects[i];
	for (i = 0; i < job->listed_count; i++)
		if (job->listed[i] && (i >= submit->args->allocation_count ||
				       (submit->allocations[i].flags & PATCHBAY_ALLOCATION_WRITE)))
			job->writes[pbd_object_index(job, job->listed[i])] = true;
	return 0;
}

/* Looks up the objects of the list, and behind them the target. */
static int pbd_look_up(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct pbd_job *job = submit->job;
	u32 count = args->allocation_count, i;

	job->listed = kvcalloc(count + 1, sizeof(*job->listed), GFP_KERNEL);
	if (!job->listed)
		return -ENOMEM;
	for (i = 0; i < count; i++, job->listed_count++) {
		if (submit->allocations[i].handle == 0)
			continue;
		job->listed[i] = drm_gem_object_lookup(submit->drm_file, submit->allocations[i].handle);
		if (!job->listed[i]) {
			submit->args->refusal = PB_RENDER_INVALID_HANDLE;
			return -ENOENT;
		}
	}
	if (args->flags & PATCHBAY_SUBMIT_PATCH) {
		job->listed[count] = drm_gem_object_lookup(submit->drm_file, args->target);
		if (!job->listed[count])
			return -ENOENT;
		job->listed_count++;
		submit->target = pbd_bo(job->listed[count]);
		submit->target_bytes = (u32)submit->target->base.size;
		if (!(submit->target->flags & PATCHBAY_GEM_PATCHABLE) || args->end > submit->target->base.size)
			return -EINVAL;
	}
	return pbd_unique_objects(submit);
}

/* ---- translation ---- */

/* Entry `handle - 1` of the list. Where it will lie is not known yet: its address stays poison. */
static bool pbd_find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct pbd_job *job = context;

	if (handle == 0 || handle > job->listed_count || !job->listed[handle - 1])
		return false;
	*allocation = (struct pb_render_allocation){ .size = job->listed[handle - 1]->size };
	return true;
}

static int pbd_render_errno(enum pb_render_status status)
{
	switch (status) {
	case PB_RENDER_SUCCESS:
		return 0;
	case PB_RENDER_NO_MEMORY:
		return -ENOMEM;
	case PB_RENDER_INSUFFICIENT_DMA_BUFFER:
		return -E2BIG;
	case PB_RENDER_PRIVILEGED_INSTRUCTION:
		return -EPERM;
	case PB_RENDER_INVALID_HANDLE:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}

/* Makes the outputs: the most that these commands can become. */
static int pbd_make_outputs(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct pbd_job *job = submit->job;
	const u32 words = args->command_bytes / 4;
	const u32 most = submit->dev->info.capabilities[PB_CAPABILITY_PATCHES_MAX];

	job->engine_bytes = words * 16 + PB_RENDER_DMA_BYTES_MIN;
	job->location_count = min(words / 4 * 3 + PB_RENDER_PATCHES_MIN, most);
	job->engine = kvmalloc(job->engine_bytes, GFP_KERNEL);
	job->locations = kvmalloc_array(job->location_count, sizeof(*job->locations), GFP_KERNEL);
	job->entries = kvcalloc(args->allocation_count + 1, sizeof(*job->entries), GFP_KERNEL);
	job->entry_count = args->allocation_count;
	return job->engine && job->locations && job->entries ? 0 : -ENOMEM;
}

/* Translates the commands into engine packets and lists, all addresses unknown. */
static int pbd_translate(struct pbd_submit *submit)
{
	struct drm_patchbay_submit *args = submit->args;
	struct pbd_job *job = submit->job;
	const u32 kinds = submit->dev->info.capabilities[PB_CAPABILITY_NODE_KINDS];
	const struct pb_render_device device = {
		.find = pbd_find,
		.context = job,
		.node = kinds >> job->queue->node * 4 & 0xf,
	};
	struct pb_render_arguments render = {
		.device = &device,
		.command = submit->commands,
		.command_length = args->command_bytes,
		.user_allocations = (const void *)submit->allocations,
		.user_allocation_count = args->allocation_count,
		.user_locations = (const void *)submit->patches,
		.user_location_count = args->patch_count,
	};
	u32 private_data[sizeof(struct pb_render_record) / sizeof(u32)];
	enum pb_render_status status;
	u64 staging;
	u32 i;
	int ret = pbd_make_outputs(submit);

	if (ret != 0)
		return ret;
	for (i = 0; i < args->allocation_count; i++)
		submit->allocations[i].handle = job->listed[i] ? i + 1 : 0;
	staging = pb_render_staging_bytes(args->command_bytes, args->allocation_count, args->patch_count);
	render.staging_size = (u32)staging;
	render.staging = kvmalloc(staging + 8, GFP_KERNEL);
	if (!render.staging)
		return -ENOMEM;
	render.output = (struct pb_render_output){
		.dma_buffer = job->engine,
		.dma_size = job->engine_bytes,
		.private_data = private_data,
		.private_data_size = sizeof(private_data),
		.allocations = job->entries,
		.allocations_size = args->allocation_count,
		.locations = job->locations,
		.locations_size = job->location_count,
	};
	status = args->flags & PATCHBAY_SUBMIT_UNSAFE ? pb_render_km(&render) : pb_render(&render);
	kvfree(render.staging);
	submit->record = render.output.record;
	job->engine_bytes = submit->record.dma_bytes;
	job->location_count = submit->record.patch_count;
	args->refusal = status;
	return pbd_render_errno(status);
}

/* Takes the user's patch list for the target: the firmware checks every entry. */
static int pbd_take_patches(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct pbd_job *job = submit->job;
	u32 i;

	job->locations = (struct pb_patch_location *)submit->patches;
	job->location_count = args->patch_count;
	submit->patches = NULL;
	job->entries = kvcalloc(args->allocation_count + 1, sizeof(*job->entries), GFP_KERNEL);
	job->entry_count = args->allocation_count;
	if (!job->entries)
		return -ENOMEM;
	for (i = 0; i < args->allocation_count; i++) {
		const struct drm_gem_object *object = job->listed[i];

		job->entries[i].size_low = object ? (u32)object->size : 0;
		job->entries[i].flags = !object ? PB_ALLOCATION_UNBIND :
					   submit->allocations[i].flags & PATCHBAY_ALLOCATION_WRITE ?
						     PB_ALLOCATION_WRITE :
						     0;
		job->entries[i].id = i + 1;
	}
	return 0;
}

/* ---- fences that are waited for ---- */

static void pbd_dep_done(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct pbd_job *job = container_of(cb, struct pbd_dep, cb)->job;

	if (atomic_dec_and_test(&job->waiting))
		queue_work(job->dev->push_wq, &job->queue->push);
}

/*
 * Leaves the wait to the firmware, if the fence is that of another queue of this file. Those of other files are waited
 * for in the kernel: with a failure behind it, the firmware would fail this submission as well.
 */
static bool pbd_wait_in_firmware(struct pbd_job *job, struct dma_fence *base)
{
	struct pbd_fence *fence = container_of(base, struct pbd_fence, base);
	bool taken = false;
	u32 i;

	if (!pbd_fence_is_ours(base) || fence->dev != job->dev || fence->file != job->queue->account->id)
		return false;
	spin_lock_irq(&job->dev->state_lock);
	if (dma_fence_is_signaled(base) || fence->queue == job->queue) {
		taken = true;
	} else if (fence->queue->error_value == 0) {
		for (i = 0; i < job->awaited_count && job->awaited[i] != fence->queue; i++)
			;
		taken = i < PB_WAITS_MAX;
		if (taken && i == job->awaited_count) {
			kref_get(&fence->queue->refs);
			job->awaited[job->awaited_count] = fence->queue;
			job->awaited_value[job->awaited_count++] = base->seqno;
		} else if (taken && base->seqno > job->awaited_value[i]) {
			job->awaited_value[i] = base->seqno;
		}
	}
	spin_unlock_irq(&job->dev->state_lock);
	return taken;
}

/* Adds one fence to what the submission waits for. */
static int pbd_add_fence(struct pbd_job *job, struct dma_fence *fence)
{
	struct pbd_dep *deps;
	u32 i;

	if (dma_fence_is_signaled(fence) || pbd_wait_in_firmware(job, fence))
		return 0;
	for (i = 0; i < job->dep_count; i++) {
		if (job->deps[i].fence->context != fence->context)
			continue;
		if (dma_fence_is_later(fence, job->deps[i].fence)) {
			dma_fence_put(job->deps[i].fence);
			job->deps[i].fence = dma_fence_get(fence);
		}
		return 0;
	}
	if (job->dep_count == PBD_DEPS_MAX)
		return -E2BIG;
	if (job->dep_count == job->dep_room) {
		u32 room = max(8u, job->dep_room * 2);

		deps = kvrealloc(job->deps, job->dep_room * sizeof(*deps), room * sizeof(*deps), GFP_KERNEL);
		if (!deps)
			return -ENOMEM;
		job->deps = deps;
		job->dep_room = room;
	}
	job->deps[job->dep_count++] = (struct pbd_dep){ .fence = dma_fence_get(fence), .job = job };
	return 0;
}

/* Adds what a fence consists of. Consumes the reference. */
int pbd_add_fences(struct pbd_job *job, struct dma_fence *head)
{
	struct dma_fence_unwrap cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_fence_unwrap_for_each(fence, &cursor, head) {
		if (ret == 0)
			ret = pbd_add_fence(job, fence);
	}
	dma_fence_put(head);
	return ret;
}

/* Adds the fences that the caller names. */
static int pbd_add_named_fences(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct drm_patchbay_sync *syncs = NULL;
	struct dma_fence *fence;
	u32 i;
	int ret = 0;

	if (args->flags & PATCHBAY_SUBMIT_FENCE_IN) {
		fence = sync_file_get_fence(args->in_fence_fd);
		ret = fence ? pbd_add_fences(submit->job, fence) : -EINVAL;
	}
	if (ret == 0)
		ret = pbd_copy((void **)&syncs, args->in_syncs, args->in_count, sizeof(*syncs));
	for (i = 0; ret == 0 && i < args->in_count; i++) {
		if (syncs[i].flags)
			ret = -EINVAL;
		if (ret == 0)
			ret = drm_syncobj_find_fence(submit->drm_file, syncs[i].handle, syncs[i].point, 0, &fence);
		if (ret == 0)
			ret = pbd_add_fences(submit->job, fence);
	}
	kvfree(syncs);
	return ret;
}

/* Adds the fences of the objects: of their writers, and of their readers where the submission writes. */
int pbd_add_object_fences(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	u32 i;
	int ret = 0;

	if (submit->args->flags & PATCHBAY_SUBMIT_EXPLICIT)
		return 0;
	for (i = 0; ret == 0 && i < job->object_count; i++) {
		struct dma_resv_iter cursor;
		struct dma_fence *fence;

		dma_resv_for_each_fence(&cursor, job->objects[i]->resv, dma_resv_usage_rw(job->writes[i]), fence) {
			if (ret == 0)
				ret = pbd_add_fence(job, fence);
		}
	}
	return ret;
}

/* ---- what is signaled ---- */

static int pbd_prepare_signals(struct pbd_submit *submit)
{
	const struct drm_patchbay_submit *args = submit->args;
	struct drm_patchbay_sync *syncs = NULL;
	int ret;
	u32 i;

	if (args->out_count == 0)
		return 0;
	submit->signals = kvcalloc(args->out_count, sizeof(*submit->signals), GFP_KERNEL);
	if (!submit->signals)
		return -ENOMEM;
	ret = pbd_copy((void **)&syncs, args->out_syncs, args->out_count, sizeof(*syncs));
	for (i = 0; ret == 0 && i < args->out_count; i++) {
		struct pbd_signal *signal = &submit->signals[i];

		if (syncs[i].flags) {
			ret = -EINVAL;
			break;
		}
		signal->point = syncs[i].point;
		signal->syncobj = drm_syncobj_find(submit->drm_file, syncs[i].handle);
		if (!signal->syncobj) {
			ret = -ENOENT;
			break;
		}
		submit->signal_count++;
		if (signal->point != 0) {
			signal->chain = dma_fence_chain_alloc();
			if (!signal->chain)
				ret = -ENOMEM;
		}
	}
	kvfree(syncs);
	return ret;
}

static void pbd_publish_signals(struct pbd_submit *submit, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < submit->signal_count; i++) {
		struct pbd_signal *signal = &submit->signals[i];

		if (signal->chain)
			drm_syncobj_add_point(signal->syncobj, signal->chain, fence, signal->point);
		else
			drm_syncobj_replace_fence(signal->syncobj, fence);
		signal->chain = NULL;
	}
}

static void pbd_free_signals(struct pbd_submit *submit)
{
	u32 i;

	for (i = 0; i < submit->signal_count; i++) {
		dma_fence_chain_free(submit->signals[i].chain);
		drm_syncobj_put(submit->signals[i].syncobj);
	}
	kvfree(submit->signals);
}

/* ---- lists ---- */

/* Offsets in the submission's space: engine buffer, allocations, patches, waits. */
static u32 pbd_entries_offset(const struct pbd_job *job)
{
	return round_up(job->engine_bytes, 64);
}

static u32 pbd_locations_offset(const struct pbd_job *job)
{
	return round_up(pbd_entries_offset(job) + job->entry_count * (u32)sizeof(*job->entries), 64);
}

static u32 pbd_waits_offset(const struct pbd_job *job)
{
	u32 bytes = job->word_count != 0 ? job->word_count * (u32)sizeof(*job->words) :
					   job->location_count * (u32)sizeof(*job->locations);

	return round_up(pbd_locations_offset(job) + bytes, 64);
}

/* Bytes of card memory for what the firmware reads. */
u32 pbd_job_bytes(const struct pbd_job *job)
{
	return pbd_waits_offset(job) + PB_WAITS_MAX * (u32)sizeof(struct pb_wait);
}

static bool pbd_try_charge(struct pbd_job *job, u32 bytes)
{
	struct pbd_account *account = job->queue->account;
	bool fits;

	spin_lock_irq(&job->dev->state_lock);
	fits = account->staged == 0 || account->staged + bytes <= PBD_STAGED_BYTES;
	if (fits) {
		account->staged += bytes;
		job->staged = bytes;
	}
	spin_unlock_irq(&job->dev->state_lock);
	return fits;
}

/*
 * Makes memory for the compact list of a long one, and waits until the file's unfinished submissions leave kernel memory for
 * this one: only the file itself makes that last.
 */
int pbd_charge(struct pbd_job *job)
{
	u32 words = PB_COMPACT_WORDS_MAX(job->location_count);

	/* Commands have been translated, and their lists are described already. */
	if (!job->engine && job->location_count >= PBD_LONG_LIST) {
		job->words = kvmalloc_array(words, sizeof(*job->words), GFP_KERNEL);
		if (!job->words)
			return -ENOMEM;
		job->word_room = words;
	}
	return wait_event_interruptible(job->queue->account->wait,
					pbd_try_charge(job, pbd_job_bytes(job) + job->word_room * 4));
}

/* Encodes a long list compactly: a third of the card memory. One that cannot be encoded has an entry that is wrong. */
static void pbd_encode(struct pbd_job *job)
{
	u32 encoded;

	if (!job->words || pb_compact_encode(job->locations, job->location_count, job->words, job->word_room,
					     &job->word_count, &encoded) != PB_ERROR_OK)
		job->word_count = 0;
}

/* Entry of the patch list, of which the firmware reports the word. */
u32 pbd_job_entry(const struct pbd_job *job, u32 error, u32 index)
{
	if (job->word_count == 0 || index == PB_INDEX_NONE || error < PB_ERROR_PATCH_RESERVED)
		return index;
	return pb_compact_index(job->words, job->word_count, index);
}

static void pbd_set_address(u32 *low, u64 address)
{
	low[0] = lower_32_bits(address);
	low[1] = upper_32_bits(address);
}

/* Writes the lists to the submission's space. The addresses in them have been set. Nothing allocates, waits or fails. */
void pbd_job_fill(struct pbd_job *job)
{
	u8 *bytes = job->dev->arena_memory.bytes_host + job->space.start;
	u64 address = job->dev->arena_memory.os_address + job->space.start;
	struct pb_descriptor *descriptor = &job->descriptor;
	u32 i;

	if (job->engine) {
		memcpy(bytes, job->engine, job->engine_bytes);
		pbd_set_address(&descriptor->dma_address_low, address);
	}
	memcpy(bytes + pbd_entries_offset(job), job->entries, job->entry_count * sizeof(*job->entries));
	pbd_set_address(&descriptor->allocation_address_low, address + pbd_entries_offset(job));
	if (job->word_count != 0)
		memcpy(bytes + pbd_locations_offset(job), job->words, job->word_count * sizeof(*job->words));
	else
		memcpy(bytes + pbd_locations_offset(job), job->locations, job->location_count * sizeof(*job->locations));
	pbd_set_address(&descriptor->patch_address_low, address + pbd_locations_offset(job));
	for (i = 0; i < job->awaited_count; i++)
		pb_wait_on((struct pb_wait *)(bytes + pbd_waits_offset(job)) + i, &job->awaited[i]->queue,
			   job->awaited_value[i]);
	pbd_set_address(&descriptor->wait_address_low, address + pbd_waits_offset(job));
	job->filled = true;
}

/* ---- placement and lists ---- */

/* Whether an object leaves VRAM for another submission. This one comes after that. */
bool pbd_is_claimed(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	u32 i;

	for (i = 0; i < job->object_count && !submit->room.claims; i++)
		if (pbd_bo_is_claimed(submit->dev, pbd_bo(job->objects[i])))
			return true;
	return false;
}

/* Moves the submission's own objects out, so that they can lie differently. */
static int pbd_evict_own(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < job->object_count; i++)
		if (pbd_bo(job->objects[i])->pins == 0)
			ret = pbd_bo_evict(submit->dev, pbd_bo(job->objects[i]), &submit->room);
	return ret;
}

/* Places the objects that must be in the window, or the others. */
static int pbd_place_some(struct pbd_submit *submit, u32 patchable)
{
	struct pbd_job *job = submit->job;
	int ret = 0;
	u32 i;

	for (i = 0; ret == 0 && i < job->object_count; i++) {
		struct pbd_bo *bo = pbd_bo(job->objects[i]);

		if ((bo->flags & PATCHBAY_GEM_PATCHABLE) == patchable)
			ret = pbd_bo_place(submit->dev, bo, &submit->room);
	}
	return ret;
}

/*
 * Brings all objects into VRAM: those first that the others could take the window from. If they do not fit as they lie, they
 * make room for each other once.
 * @return -EAGAIN: as pbd_bo_place()
 */
static int pbd_place_all(struct pbd_submit *submit)
{
	struct pbd_device *dev = submit->dev;
	struct pbd_job *job = submit->job;
	unsigned int round;
	int ret = 0;
	u32 i;

	if (pbd_is_claimed(submit))
		return -EAGAIN;
	submit->room.ticket = &submit->ticket;
	for (round = 0; round < 2; round++) {
		ret = pbd_place_some(submit, PATCHBAY_GEM_PATCHABLE);
		if (ret == 0)
			ret = pbd_place_some(submit, 0);
		if (ret != -ENOSPC || round == 1)
			break;
		ret = pbd_evict_own(submit);
		if (ret != 0)
			break;
	}
	for (i = 0; ret == 0 && i < job->object_count; i++)
		pbd_bo_used(dev, pbd_bo(job->objects[i]));
	return ret;
}

/* Sets the addresses that the objects have now. Pre: resv of all objects is held. @return -E2BIG: too long a list */
int pbd_address_lists(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct pb_descriptor *descriptor = &job->descriptor;
	u32 i;

	for (i = 0; i < job->entry_count; i++) {
		struct pb_allocation *entry = &job->entries[i];
		struct pbd_bo *bo;

		if (!job->listed[i])
			continue;
		bo = pbd_bo(job->listed[i]);
		pbd_set_address(&entry->address_low, pbd_bo_os_address(bo));
		entry->flags &= ~PB_ALLOCATION_SEGMENT_MASK;
		entry->flags |= bo->region->segment.request.id << PB_ALLOCATION_SEGMENT_SHIFT;
	}
	if (submit->target) {
		pbd_set_address(&descriptor->dma_address_low, pbd_bo_os_address(submit->target));
		descriptor->dma_segment = submit->target->region->segment.request.id;
		descriptor->dma_size = submit->target_bytes;
		descriptor->dma_start = submit->args->start;
		descriptor->dma_end = submit->args->end;
		descriptor->flags = PB_FLAG_NULL_RENDERING;
		descriptor->allocation_count = job->entry_count;
		pbd_encode(job);
		descriptor->patch_count = descriptor->patch_length = job->word_count != 0 ? job->word_count :
											    job->location_count;
		descriptor->patch_encoding = job->word_count != 0 ? PB_PATCH_ENCODING_COMPACT : PB_PATCH_ENCODING_WDDM;
	} else {
		pb_render_describe(&submit->record, descriptor);
		descriptor->dma_segment = PB_SEGMENT_SYSTEM;
		descriptor->dma_size = job->engine_bytes;
		/* The firmware reads no private data: the record stays with the driver. */
		descriptor->private_start = descriptor->private_end = descriptor->private_size = 0;
	}
	descriptor->wait_count = job->awaited_count;
	descriptor->context = job->queue->context;
	job->epoch = submit->dev->epoch;
	return pbd_job_bytes(job) <= PBD_LARGE_BYTES ? 0 : -E2BIG;
}

/* ---- arming ---- */

/*
 * Gives the submission its place in the queue's order. From here on its fence will be signaled, and nothing may fail.
 * Pre: validate; each object's reservation has a slot.
 * @return -ENODEV: the card is gone; nothing has happened
 */
static int pbd_arm(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct pbd_queue *queue = job->queue;
	struct pbd_device *dev = submit->dev;
	bool first;

	spin_lock_irq(&dev->state_lock);
	if (dev->state != PBD_UP || job->epoch != dev->epoch) {
		spin_unlock_irq(&dev->state_lock);
		return -ENODEV;
	}
	job->value = ++queue->value;
	job->descriptor.fence_id = (u32)job->value;
	pbd_set_address(&job->descriptor.timeline_low, job->value);
	list_add_tail(&job->link, &queue->pending);
	queue->unfinished++;
	first = dev->jobs++ == 0;
	pbd_trace_submit(job);
	spin_unlock_irq(&dev->state_lock);
	if (first)
		pbd_card_watch(dev);
	return 0;
}

/* Counts the fences that are still waited for. Pre: one more is counted until all callbacks are there. */
static void pbd_add_callbacks(struct pbd_job *job)
{
	u32 i;

	for (i = 0; i < job->dep_count; i++) {
		struct pbd_dep *dep = &job->deps[i];

		atomic_inc(&job->waiting);
		dep->added = true;
		if (dma_fence_add_callback(dep->fence, &dep->cb, pbd_dep_done) != 0) {
			dep->added = false;
			atomic_dec(&job->waiting);
		}
	}
}

/*
 * Arms and publishes. Pre: all is allocated, the reservations are held. The submission may end at any time from then on,
 * also because the card does: a reference of ours keeps it. @return as pbd_arm()
 */
int pbd_publish(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	struct dma_fence *fence = &job->fence->base;
	bool cookie = dma_fence_begin_signalling();
	int ret;
	u32 i;

	atomic_set(&job->waiting, 1);
	kref_get(&job->refs);
	ret = pbd_arm(submit);
	if (ret == 0) {
		submit->args->value = job->value;
		for (i = 0; i < job->object_count; i++)
			dma_resv_add_fence(job->objects[i]->resv, fence,
					   job->writes[i] ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
		pbd_publish_signals(submit, fence);
		if (submit->sync_file) {
			fd_install(submit->fd, submit->sync_file->file);
			submit->args->out_fence_fd = submit->fd;
			submit->sync_file = NULL;
			submit->fd = -1;
		}
		pbd_add_callbacks(job);
		if (atomic_dec_and_test(&job->waiting))
			pbd_push(job->queue);
	}
	dma_fence_end_signalling(cookie);
	if (ret != 0)
		pbd_job_put(job);
	return ret;
}

/* ---- the ioctl ---- */

int pbd_make_fence(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;

	job->fence = pbd_fence_alloc(job->queue);
	if (!job->fence)
		return -ENOMEM;
	pbd_fence_begin(job->queue, job->fence);
	if (!(submit->args->flags & PATCHBAY_SUBMIT_FENCE_OUT))
		return 0;
	submit->fd = get_unused_fd_flags(O_CLOEXEC);
	if (submit->fd < 0)
		return submit->fd;
	submit->sync_file = sync_file_create(&job->fence->base);
	return submit->sync_file ? 0 : -ENOMEM;
}

/* Places, writes and publishes. Pre: validate, card for reading, the reservations of all objects. */
static int pbd_submit_reserved(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	u32 i;
	int ret = pbd_place_all(submit);

	for (i = 0; ret == 0 && i < job->object_count; i++)
		ret = dma_resv_reserve_fences(job->objects[i]->resv, 1);
	if (ret == 0)
		ret = pbd_add_object_fences(submit);
	if (ret == 0)
		ret = pbd_make_fence(submit);
	if (ret != 0)
		return ret;
	ret = pbd_address_lists(submit);
	return ret != 0 ? ret : pbd_publish(submit);
}

/* Pre: validate, card for reading. */
static int pbd_submit_placed(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	int ret = pbd_queue_make(job->queue);

	if (ret != 0)
		return ret;
	ret = drm_gem_lock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	if (ret != 0)
		return ret;
	ret = pbd_submit_reserved(submit);
	drm_gem_unlock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	return ret;
}

static bool pbd_queue_has_room(struct pbd_queue *queue)
{
	return READ_ONCE(queue->unfinished) < PBD_QUEUE_JOBS || READ_ONCE(queue->dev->state) != PBD_UP;
}

/* Waits for the right to place, and for room in the ring, which only its holder takes. */
int pbd_lock_validate(struct pbd_submit *submit)
{
	struct pbd_queue *queue = submit->job->queue;
	int ret;

	for (;;) {
		ret = wait_event_interruptible(queue->wait, pbd_queue_has_room(queue));
		if (ret == 0)
			ret = mutex_lock_interruptible(&submit->dev->validate);
		if (ret != 0 || pbd_queue_has_room(queue))
			return ret;
		mutex_unlock(&submit->dev->validate);
	}
}

/*
 * Places a submission. One that needs the room of objects that are busy waits for them behind others of its kind; no
 * submission that has its objects in VRAM, or finds room among idle ones, waits for that. What the one claims is not used
 * by others until it has the room.
 * @place: tries; -EAGAIN: `submit->room` says what is missing
 */
int pbd_with_room(struct pbd_submit *submit, int (*place)(struct pbd_submit *submit))
{
	struct pbd_device *dev = submit->dev;
	unsigned long end;
	int ret = place(submit);

	if (ret != -EAGAIN)
		return ret;
	ret = mutex_lock_interruptible(&dev->claim);
	if (ret != 0)
		return ret;
	submit->room.claims = true;
	end = jiffies + PBD_ROOM_JIFFIES;
	do {
		ret = place(submit);
	} while (ret == -EAGAIN && (ret = pbd_room_wait(&submit->room, end)) == 0);
	pbd_claims_end(dev);
	submit->room.claims = false;
	mutex_unlock(&dev->claim);
	return ret;
}

static int pbd_submit_try(struct pbd_submit *submit)
{
	struct pbd_device *dev = submit->dev;
	int ret = pbd_lock_validate(submit);

	if (ret != 0)
		return ret;
	down_read(&dev->card);
	ret = pbd_submit_placed(submit);
	up_read(&dev->card);
	mutex_unlock(&dev->validate);
	return ret;
}

static int pbd_submit_prepared(struct pbd_submit *submit)
{
	int ret = pbd_charge(submit->job);

	return ret != 0 ? ret : pbd_with_room(submit, pbd_submit_try);
}

static int pbd_prepare(struct pbd_submit *submit)
{
	const bool patch = submit->args->flags & PATCHBAY_SUBMIT_PATCH;
	int ret = pbd_copy_lists(submit);

	if (ret == 0)
		ret = pbd_look_up(submit);
	if (ret == 0)
		ret = patch ? pbd_take_patches(submit) : pbd_translate(submit);
	if (ret == 0)
		ret = pbd_prepare_signals(submit);
	if (ret == 0)
		ret = pbd_add_named_fences(submit);
	return ret;
}

void pbd_submit_free(struct pbd_submit *submit)
{
	if (submit->sync_file)
		fput(submit->sync_file->file);
	if (submit->fd >= 0)
		put_unused_fd(submit->fd);
	pbd_free_signals(submit);
	kvfree(submit->commands);
	kvfree(submit->allocations);
	kvfree(submit->patches);
	pbd_job_put(submit->job);
}

/* Makes a submission with a reference to its queue. */
struct pbd_job *pbd_job_make(struct pbd_device *dev, struct pbd_file *file, u32 queue)
{
	struct pbd_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_init(&job->refs);
	INIT_LIST_HEAD(&job->link);
	job->dev = dev;
	job->error_index = PB_INDEX_NONE;
	job->queue = pbd_queue_get(file, queue, true);
	if (!job->queue) {
		kfree(job);
		return ERR_PTR(-ENOENT);
	}
	return job;
}

/* ---- blits of the kernel's own ---- */

/* Translates the blit: one COPY_RECT with two addresses to patch. Entry 0 of the list is NULL. */
static int pbd_blit_translate(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;
	const struct pb_render_device device = { .find = pbd_find, .context = job, .node = PB_NODE_COPY };
	u32 private_data[sizeof(struct pb_render_record) / sizeof(u32)];
	struct pb_render_present present = {
		.device = &device,
		.source = { .handle = 2, .pitch = blit->from_pitch, .left = blit->x, .top = blit->y },
		.destination = { .handle = 3, .pitch = blit->to_pitch, .left = blit->x, .top = blit->y },
		.width = blit->width,
		.height = blit->height,
	};
	enum pb_render_status status;
	int ret = pbd_make_outputs(submit);

	if (ret != 0)
		return ret;
	present.output = (struct pb_render_output){
		.dma_buffer = job->engine,
		.dma_size = job->engine_bytes,
		.private_data = private_data,
		.private_data_size = sizeof(private_data),
		.allocations = job->entries,
		.allocations_size = submit->args->allocation_count,
		.locations = job->locations,
		.locations_size = job->location_count,
	};
	status = pb_render_present(&present);
	submit->record = present.output.record;
	job->engine_bytes = submit->record.dma_bytes;
	job->location_count = submit->record.patch_count;
	return pbd_render_errno(status);
}

static int pbd_blit_list(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;

	job->listed = kvcalloc(3, sizeof(*job->listed), GFP_KERNEL);
	submit->allocations = kvcalloc(3, sizeof(*submit->allocations), GFP_KERNEL);
	if (!job->listed || !submit->allocations)
		return -ENOMEM;
	drm_gem_object_get(blit->from);
	drm_gem_object_get(blit->to);
	job->listed[1] = blit->from;
	job->listed[2] = blit->to;
	job->listed_count = 3;
	submit->allocations[2].flags = PATCHBAY_ALLOCATION_WRITE;
	return pbd_unique_objects(submit);
}

/* Places both objects and pins them, so that the addresses in the lists stay right until they are unpinned. */
static int pbd_blit_place(struct pbd_submit *submit)
{
	struct pbd_job *job = submit->job;
	int ret = pbd_queue_make(job->queue);
	u32 i;

	if (ret == 0)
		ret = drm_gem_lock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	if (ret != 0)
		return ret;
	ret = pbd_place_all(submit);
	if (ret == 0) {
		for (i = 0; i < job->object_count; i++)
			pbd_bo(job->objects[i])->pins++;
		(void)pbd_address_lists(submit);
		pbd_job_fill(job);
	}
	drm_gem_unlock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	return ret;
}

static int pbd_blit_try(struct pbd_submit *submit)
{
	int ret = mutex_lock_interruptible(&submit->dev->validate);

	if (ret != 0)
		return ret;
	down_read(&submit->dev->card);
	ret = pbd_blit_place(submit);
	up_read(&submit->dev->card);
	mutex_unlock(&submit->dev->validate);
	return ret;
}

static bool pbd_blit_has_space(struct pbd_job *job)
{
	bool has;

	spin_lock_irq(&job->dev->state_lock);
	has = job->dev->state != PBD_UP || pbd_job_take_space(job);
	spin_unlock_irq(&job->dev->state_lock);
	return has;
}

/* Waits for earlier updates, which alone have room where the display has its own. */
static int pbd_blit_space(struct pbd_job *job)
{
	long left = wait_event_interruptible_timeout(job->queue->account->wait, pbd_blit_has_space(job), PBD_ROOM_JIFFIES);

	if (left <= 0)
		return left < 0 ? (int)left : -EBUSY;
	return drm_mm_node_allocated(&job->space) ? 0 : -ENODEV;
}

static int pbd_blit_make(struct pbd_submit *submit, const struct pbd_blit *blit)
{
	struct pbd_job *job = submit->job;
	int ret = pbd_blit_list(submit, blit);

	if (ret == 0)
		ret = pbd_blit_translate(submit, blit);
	if (ret == 0)
		ret = pbd_blit_space(job);
	if (ret != 0)
		return ret;
	job->fence = pbd_fence_alloc(job->queue);
	return job->fence ? pbd_with_room(submit, pbd_blit_try) : -ENOMEM;
}

/*
 * Makes all that a blit needs. Both objects are pinned until the caller unpins them. Sleeps, allocates, may fail.
 * @return the blit, for pbd_blit_go() or pbd_job_put(); an error, and nothing is pinned
 */
struct pbd_job *pbd_blit_prepare(struct pbd_queue *queue, const struct pbd_blit *blit)
{
	struct drm_patchbay_submit args = { .allocation_count = 3, .command_bytes = 64 };
	struct pbd_submit submit = { .dev = queue->dev, .args = &args, .fd = -1 };
	struct pbd_job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int ret;

	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_init(&job->refs);
	INIT_LIST_HEAD(&job->link);
	job->dev = queue->dev;
	job->error_index = PB_INDEX_NONE;
	job->queue = queue;
	kref_get(&queue->refs);
	submit.job = job;
	ret = pbd_blit_make(&submit, blit);
	kref_get(&job->refs);
	pbd_submit_free(&submit);
	if (ret == 0)
		return job;
	pbd_job_put(job);
	return ERR_PTR(ret);
}

/*
 * Submits a blit. Nothing allocates or fails, and no lock is taken under which others do. Pre: of one queue, one blit at
 * a time goes. @return a reference to its fence; NULL: the card was lost since it was
 * prepared, and nothing happens
 */
struct dma_fence *pbd_blit_go(struct pbd_job *job)
{
	struct pbd_submit submit = { .dev = job->dev, .job = job };
	struct dma_fence *fence = NULL;
	bool cookie;

	pbd_fence_begin(job->queue, job->fence);
	cookie = dma_fence_begin_signalling();
	atomic_set(&job->waiting, 0);
	kref_get(&job->refs);
	if (pbd_arm(&submit) == 0) {
		fence = dma_fence_get(&job->fence->base);
		pbd_push(job->queue);
	}
	dma_fence_end_signalling(cookie);
	if (!fence)
		pbd_job_put(job);
	return fence;
}

/* ---- the ioctl itself ---- */

int pbd_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct pbd_submit submit = {
		.dev = pbd_device(drm),
		.drm_file = drm_file,
		.args = data,
		.fd = -1,
	};
	int ret, idx;

	submit.args->refusal = PB_RENDER_SUCCESS;
	ret = pbd_check_args(submit.dev, submit.args);
	if (ret != 0)
		return ret;
	if (!drm_dev_enter(drm, &idx))
		return -ENODEV;
	submit.job = pbd_job_make(submit.dev, drm_file->driver_priv, submit.args->queue);
	if (IS_ERR(submit.job)) {
		drm_dev_exit(idx);
		return PTR_ERR(submit.job);
	}
	ret = pbd_prepare(&submit);
	if (ret == 0)
		ret = pbd_submit_prepared(&submit);
	pbd_submit_free(&submit);
	drm_dev_exit(idx);
	return ret;
}
