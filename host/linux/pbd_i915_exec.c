// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * EXECBUFFER2: one patched submission that executes nothing. Its DMA buffer reaches from the first to the last object
 * that has relocations; each relocation is an entry of the patch list, each object one of the allocation list. An
 * object may have moved since its last use: what the caller presumes of addresses is not believed, so that all is
 * patched.
 */
#include <linux/bsearch.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include <uapi/drm/i915_drm.h>

#include "patchbay/abi/patch.h"
#include "patchbay_i915.h"
#include "pbd_i915.h"
#include "pbd_submit.h"

#define PBD_EXEC_FLAGS                                                                                       \
	(I915_EXEC_RING_MASK | I915_EXEC_GEN7_SOL_RESET | I915_EXEC_IS_PINNED | I915_EXEC_NO_RELOC |         \
	 I915_EXEC_HANDLE_LUT | I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT | I915_EXEC_BATCH_FIRST |           \
	 I915_EXEC_FENCE_ARRAY)
#define PBD_EXEC_OBJECT_FLAGS                                                                                \
	(EXEC_OBJECT_NEEDS_FENCE | EXEC_OBJECT_NEEDS_GTT | EXEC_OBJECT_WRITE |                               \
	 EXEC_OBJECT_SUPPORTS_48B_ADDRESS | EXEC_OBJECT_ASYNC | EXEC_OBJECT_CAPTURE)
#define PBD_EXEC_DOMAINS                                                                                     \
	(I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER | I915_GEM_DOMAIN_COMMAND |                        \
	 I915_GEM_DOMAIN_INSTRUCTION | I915_GEM_DOMAIN_VERTEX)

/* One call. */
struct pbd_exec {
	struct pbd_submit submit;
	struct drm_patchbay_submit args; /* what the steps of a submission read */
	struct drm_i915_gem_execbuffer2 *user;
	struct drm_i915_gem_exec_object2 *objects; /* `offset`: of the answer */
	u64 *presumed;                             /* of each object */
	u32 count;
	u32 batch;                                  /* index of the object that would be executed */
	struct drm_i915_gem_relocation_entry *relocs; /* of all objects, in order; targets are indices */
	u32 reloc_count;
	int (*step)(struct pbd_exec *exec); /* what is done under the locks */
	void **contents; /* of objects that are memory of the caller, until they are written; NULL: none */
	bool has_contents;
	bool in_use; /* objects that are to have them were in use by an earlier submission */
};

/* A handle and its index, to find targets by handle. */
struct pbd_exec_handle {
	u32 handle;
	u32 index;
};

/* ---- copies and checks ---- */

static int pbd_exec_check_args(const struct drm_i915_gem_execbuffer2 *user)
{
	const u32 ring = user->flags & I915_EXEC_RING_MASK;
	const bool fences = user->flags & I915_EXEC_FENCE_ARRAY;

	if (user->flags & I915_EXEC_SECURE)
		return -EPERM;
	if ((user->flags & ~(u64)PBD_EXEC_FLAGS) || user->DR1 || user->DR4)
		return -EINVAL;
	if (ring != I915_EXEC_DEFAULT && ring != I915_EXEC_RENDER && ring != I915_EXEC_BLT)
		return -EINVAL;
	if ((user->batch_start_offset | user->batch_len) & 7 || user->buffer_count == 0)
		return -EINVAL;
	if (!fences && (user->num_cliprects || user->cliprects_ptr))
		return -EINVAL;
	if (!(user->flags & (I915_EXEC_FENCE_IN | I915_EXEC_FENCE_OUT)) && user->rsvd2)
		return -EINVAL;
	if (user->rsvd1 & ~(u64)I915_EXEC_CONTEXT_ID_MASK)
		return -EINVAL;
	return fences && user->num_cliprects > PBD_SYNCS_MAX ? -E2BIG : 0;
}

static int pbd_exec_check_object(const struct drm_i915_gem_exec_object2 *object)
{
	if (object->flags & ~(u64)PBD_EXEC_OBJECT_FLAGS)
		return -EINVAL;
	/* All placements are aligned to pages; nothing of this generation asks for more. */
	if (object->alignment > PAGE_SIZE || (object->alignment & (object->alignment - 1)))
		return -EINVAL;
	return 0;
}

static int pbd_exec_copy_objects(struct pbd_exec *exec)
{
	const size_t bytes = exec->count * sizeof(*exec->objects);
	u64 relocs = 0;
	u32 i;
	int ret = 0;

	exec->objects = kvmalloc(bytes, GFP_KERNEL);
	exec->presumed = kvmalloc_array(exec->count, sizeof(*exec->presumed), GFP_KERNEL);
	if (!exec->objects || !exec->presumed)
		return -ENOMEM;
	if (copy_from_user(exec->objects, u64_to_user_ptr(exec->user->buffers_ptr), bytes))
		return -EFAULT;
	for (i = 0; ret == 0 && i < exec->count; i++) {
		ret = pbd_exec_check_object(&exec->objects[i]);
		relocs += exec->objects[i].relocation_count;
		exec->presumed[i] = exec->objects[i].offset;
	}
	if (ret != 0)
		return ret;
	if (relocs > exec->submit.dev->info.capabilities[PB_CAPABILITY_PATCHES_MAX])
		return -E2BIG;
	exec->reloc_count = (u32)relocs;
	exec->batch = exec->user->flags & I915_EXEC_BATCH_FIRST ? 0 : exec->count - 1;
	return 0;
}

static int pbd_exec_copy_relocs(struct pbd_exec *exec)
{
	u32 i, next = 0;

	exec->relocs = kvmalloc_array(exec->reloc_count + 1, sizeof(*exec->relocs), GFP_KERNEL);
	exec->submit.job->locations = kvmalloc_array(exec->reloc_count + 1, sizeof(*exec->submit.job->locations), GFP_KERNEL);
	exec->submit.job->location_count = exec->reloc_count;
	if (!exec->relocs || !exec->submit.job->locations)
		return -ENOMEM;
	for (i = 0; i < exec->count; i++) {
		const u32 count = exec->objects[i].relocation_count;

		if (copy_from_user(&exec->relocs[next], u64_to_user_ptr(exec->objects[i].relocs_ptr),
				   count * sizeof(*exec->relocs)))
			return -EFAULT;
		next += count;
	}
	return 0;
}

/* Looks up the objects. None may be named twice. */
static int pbd_exec_look_up(struct pbd_exec *exec, struct drm_file *file)
{
	struct pbd_submit *submit = &exec->submit;
	struct pbd_job *job = submit->job;
	u32 i;
	int ret;

	job->listed = kvcalloc(exec->count + 1, sizeof(*job->listed), GFP_KERNEL);
	submit->allocations = kvcalloc(exec->count + 1, sizeof(*submit->allocations), GFP_KERNEL);
	job->entries = kvcalloc(exec->count + 1, sizeof(*job->entries), GFP_KERNEL);
	if (!job->listed || !submit->allocations || !job->entries)
		return -ENOMEM;
	job->entry_count = exec->count;
	for (i = 0; i < exec->count; i++, job->listed_count++) {
		job->listed[i] = drm_gem_object_lookup(file, exec->objects[i].handle);
		if (!job->listed[i])
			return -ENOENT;
		/* The firmware writes to what it patches. */
		if ((exec->objects[i].flags & EXEC_OBJECT_WRITE) || exec->objects[i].relocation_count)
			submit->allocations[i].flags = PATCHBAY_ALLOCATION_WRITE;
	}
	ret = pbd_unique_objects(submit);
	return ret == 0 && job->object_count != exec->count ? -EINVAL : ret;
}

static int pbd_exec_check_batch(const struct pbd_exec *exec)
{
	const u64 size = exec->submit.job->listed[exec->batch]->size;
	const u32 start = exec->user->batch_start_offset, length = exec->user->batch_len;

	return start >= size || length > size - start ? -EINVAL : 0;
}

static int pbd_exec_compare(const void *a, const void *b)
{
	const struct pbd_exec_handle *first = a, *second = b;

	return first->handle < second->handle ? -1 : first->handle > second->handle;
}

/* Replaces the handles of all targets by indices of the list. */
static int pbd_exec_find_targets(struct pbd_exec *exec)
{
	struct pbd_exec_handle *handles;
	u32 i;
	int ret = 0;

	handles = kvmalloc_array(exec->count, sizeof(*handles), GFP_KERNEL);
	if (!handles)
		return -ENOMEM;
	for (i = 0; i < exec->count; i++)
		handles[i] = (struct pbd_exec_handle){ exec->objects[i].handle, i };
	sort(handles, exec->count, sizeof(*handles), pbd_exec_compare, NULL);
	for (i = 0; ret == 0 && i < exec->reloc_count; i++) {
		const struct pbd_exec_handle key = { exec->relocs[i].target_handle, 0 };
		const struct pbd_exec_handle *found =
			bsearch(&key, handles, exec->count, sizeof(*handles), pbd_exec_compare);

		if (found)
			exec->relocs[i].target_handle = found->index;
		else
			ret = -ENOENT;
	}
	kvfree(handles);
	return ret;
}

static int pbd_exec_check_reloc(struct pbd_exec *exec, const struct drm_i915_gem_relocation_entry *reloc, u64 size)
{
	if (reloc->target_handle >= exec->count)
		return -ENOENT;
	if (reloc->write_domain & (reloc->write_domain - 1))
		return -EINVAL;
	if ((reloc->read_domains | reloc->write_domain) & ~PBD_EXEC_DOMAINS)
		return -EINVAL;
	if (reloc->offset > size - sizeof(u32) || reloc->offset % sizeof(u32))
		return -EINVAL;
	if (reloc->write_domain) {
		const struct drm_gem_object *target = exec->submit.job->listed[reloc->target_handle];
		struct pbd_job *job = exec->submit.job;

		exec->submit.job->entries[reloc->target_handle].flags |= PB_ALLOCATION_WRITE;
		job->writes[pbd_object_index(job, target)] = true;
	}
	return 0;
}

static int pbd_exec_check_relocs(struct pbd_exec *exec)
{
	u32 i, j, next = 0;
	int ret = exec->user->flags & I915_EXEC_HANDLE_LUT ? 0 : pbd_exec_find_targets(exec);

	for (i = 0; ret == 0 && i < exec->count; i++) {
		const u64 size = exec->submit.job->listed[i]->size;

		exec->submit.job->entries[i].size_low = (u32)size;
		exec->submit.job->entries[i].id = i + 1;
		if (exec->objects[i].flags & EXEC_OBJECT_WRITE)
			exec->submit.job->entries[i].flags = PB_ALLOCATION_WRITE;
		for (j = 0; ret == 0 && j < exec->objects[i].relocation_count; j++, next++)
			ret = pbd_exec_check_reloc(exec, &exec->relocs[next], size);
	}
	return ret;
}

/* ---- memory of the caller ---- */

/* Copies what objects are to have, before any lock is taken. */
static int pbd_exec_copy_contents(struct pbd_exec *exec)
{
	u64 bytes = 0;
	u32 i;

	exec->contents = kvcalloc(exec->count, sizeof(*exec->contents), GFP_KERNEL);
	if (!exec->contents)
		return -ENOMEM;
	for (i = 0; i < exec->count; i++) {
		const struct pbd_bo *bo = pbd_bo(exec->submit.job->listed[i]);

		if (!bo->user_mm)
			continue;
		if (bo->user_mm != current->mm)
			return -EFAULT;
		bytes += bo->base.size;
		if (bytes > PBD_I915_USER_BYTES_MAX)
			return -E2BIG;
		exec->has_contents = true;
		exec->contents[i] = kvmalloc(bo->base.size, GFP_KERNEL);
		if (!exec->contents[i])
			return -ENOMEM;
		if (copy_from_user(exec->contents[i], u64_to_user_ptr(bo->user_start), bo->base.size))
			return -EFAULT;
	}
	return 0;
}

/*
 * Writes the copies. Pre: the objects are placed, their reservations held.
 * @return -EBUSY with `in_use`: pbd_exec_idle() waits for that
 */
static int pbd_exec_write_contents(struct pbd_exec *exec)
{
	u32 i;

	for (i = 0; i < exec->count; i++)
		if (exec->contents[i] &&
		    !dma_resv_test_signaled(exec->submit.job->listed[i]->resv, DMA_RESV_USAGE_READ)) {
			exec->in_use = true;
			return -EBUSY;
		}
	for (i = 0; i < exec->count; i++) {
		if (!exec->contents[i])
			continue;
		pbd_bo_write(exec->submit.dev, pbd_bo(exec->submit.job->listed[i]), exec->contents[i]);
		kvfree(exec->contents[i]);
		exec->contents[i] = NULL;
	}
	return 0;
}

static void pbd_exec_free_contents(struct pbd_exec *exec)
{
	u32 i;

	for (i = 0; exec->contents && i < exec->count; i++)
		kvfree(exec->contents[i]);
	kvfree(exec->contents);
}

/* Waits until no submission uses the objects. */
static int pbd_exec_idle(struct pbd_exec *exec)
{
	struct pbd_job *job = exec->submit.job;
	u32 i;

	for (i = 0; i < job->object_count; i++) {
		const long left = dma_resv_wait_timeout(job->objects[i]->resv, DMA_RESV_USAGE_READ, true,
							MAX_SCHEDULE_TIMEOUT);

		if (left < 0)
			return (int)left;
	}
	return 0;
}

/* ---- fences ---- */

static int pbd_exec_take_fence(struct pbd_exec *exec, const struct drm_i915_gem_exec_fence *user)
{
	struct pbd_submit *submit = &exec->submit;
	struct dma_fence *fence;
	int ret = 0;

	if (user->flags & __I915_EXEC_FENCE_UNKNOWN_FLAGS)
		return -EINVAL;
	if (user->flags & I915_EXEC_FENCE_WAIT) {
		ret = drm_syncobj_find_fence(submit->drm_file, user->handle, 0, 0, &fence);
		if (ret == 0)
			ret = pbd_add_fences(submit->job, fence);
	}
	if (ret == 0 && (user->flags & I915_EXEC_FENCE_SIGNAL)) {
		struct pbd_signal *signal = &submit->signals[submit->signal_count];

		signal->syncobj = drm_syncobj_find(submit->drm_file, user->handle);
		if (!signal->syncobj)
			return -ENOENT;
		submit->signal_count++;
	}
	return ret;
}

static int pbd_exec_take_fences(struct pbd_exec *exec)
{
	const struct drm_i915_gem_execbuffer2 *user = exec->user;
	const u32 count = user->flags & I915_EXEC_FENCE_ARRAY ? user->num_cliprects : 0;
	struct drm_i915_gem_exec_fence *fences;
	u32 i;
	int ret = 0;

	if (user->flags & I915_EXEC_FENCE_IN) {
		struct dma_fence *fence = sync_file_get_fence((int)lower_32_bits(user->rsvd2));

		ret = fence ? pbd_add_fences(exec->submit.job, fence) : -EINVAL;
	}
	if (ret != 0 || count == 0)
		return ret;
	fences = kvmalloc_array(count, sizeof(*fences), GFP_KERNEL);
	exec->submit.signals = kvcalloc(count, sizeof(*exec->submit.signals), GFP_KERNEL);
	if (!fences || !exec->submit.signals)
		ret = -ENOMEM;
	else if (copy_from_user(fences, u64_to_user_ptr(user->cliprects_ptr), count * sizeof(*fences)))
		ret = -EFAULT;
	for (i = 0; ret == 0 && i < count; i++)
		ret = pbd_exec_take_fence(exec, &fences[i]);
	kvfree(fences);
	return ret;
}

/* ---- placement ---- */

/* Whether the firmware writes to the object. A list without entries has a DMA buffer as well: the batch. */
static bool pbd_exec_is_patched(const struct pbd_exec *exec, u32 index)
{
	return exec->objects[index].relocation_count != 0 || (exec->reloc_count == 0 && index == exec->batch);
}

/* Marks what must lie in the MCU's window. @return bytes of it that do not lie there yet */
static u64 pbd_exec_mark(struct pbd_exec *exec)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < exec->count; i++) {
		struct pbd_bo *bo = pbd_bo(exec->submit.job->listed[i]);

		bo->flags &= ~PATCHBAY_GEM_PATCHABLE;
		if (!pbd_exec_is_patched(exec, i))
			continue;
		bo->flags |= PATCHBAY_GEM_PATCHABLE;
		if (bo->region != &exec->submit.dev->regions[0])
			bytes += bo->base.size;
	}
	return bytes;
}

/* Whether the window has no room for so many bytes. */
static bool pbd_exec_is_narrow(struct pbd_device *dev, u64 bytes)
{
	const struct pbd_region *window = &dev->regions[0];
	bool narrow;

	mutex_lock(&dev->vram);
	narrow = dev->regions[1].present && bytes > window->segment.request.size - window->used;
	mutex_unlock(&dev->vram);
	return narrow;
}

/*
 * Moves out what lies in the wrong place: `all`, or what is to be patched and lies outside of the window, and what
 * makes the window narrow.
 */
static int pbd_exec_leave(struct pbd_exec *exec, bool narrow, bool all)
{
	struct pbd_device *dev = exec->submit.dev;
	const struct pbd_region *window = &dev->regions[0];
	u32 i;
	int ret = 0;

	for (i = 0; ret == 0 && i < exec->count; i++) {
		struct pbd_bo *bo = pbd_bo(exec->submit.job->listed[i]);
		const bool patched = bo->flags & PATCHBAY_GEM_PATCHABLE;

		if (!bo->region || (bo->pins && !patched))
			continue;
		if (all || (patched ? bo->region != window : narrow && bo->region == window))
			ret = pbd_bo_evict(dev, bo, &exec->submit.room);
	}
	return ret;
}

static int pbd_exec_enter(struct pbd_exec *exec, bool patched)
{
	u32 i;
	int ret = 0;

	for (i = 0; ret == 0 && i < exec->count; i++)
		if (pbd_exec_is_patched(exec, i) == patched)
			ret = pbd_bo_place(exec->submit.dev, pbd_bo(exec->submit.job->listed[i]), &exec->submit.room);
	return ret;
}

/*
 * Brings the objects into VRAM, into the window first what is to be patched. If they do not fit as they lie, they make
 * room for each other once. Pre: resv of all.
 */
static int pbd_exec_place(struct pbd_exec *exec)
{
	struct pbd_device *dev = exec->submit.dev;
	unsigned int round;
	bool narrow;
	u32 i;
	int ret = 0;

	if (pbd_is_claimed(&exec->submit))
		return -EAGAIN;
	exec->submit.room.ticket = &exec->submit.ticket;
	narrow = pbd_exec_is_narrow(dev, pbd_exec_mark(exec));
	for (round = 0; round < 2; round++) {
		ret = pbd_exec_leave(exec, narrow, round == 1);
		if (ret == 0)
			ret = pbd_exec_enter(exec, true);
		if (ret == 0)
			ret = pbd_exec_enter(exec, false);
		if (ret != -ENOSPC)
			break;
	}
	for (i = 0; ret == 0 && i < exec->count; i++)
		pbd_bo_used(dev, pbd_bo(exec->submit.job->listed[i]));
	return ret;
}

/* Sets the DMA buffer: from the first to the last object that is patched. */
static void pbd_exec_set_target(struct pbd_exec *exec)
{
	struct pbd_bo *first = NULL;
	u64 end = 0;
	u32 i;

	for (i = 0; i < exec->count; i++) {
		struct pbd_bo *bo = pbd_bo(exec->submit.job->listed[i]);

		if (!pbd_exec_is_patched(exec, i))
			continue;
		if (!first || bo->node.start < first->node.start)
			first = bo;
		end = max(end, bo->node.start + bo->base.size);
	}
	exec->submit.target = first;
	exec->submit.target_bytes = (u32)(end - first->node.start);
	exec->args.start = 0;
	exec->args.end = exec->submit.target_bytes;
}

/* Writes the patch list, and the addresses that the caller is told. Pre: all objects are placed. */
static void pbd_exec_set_lists(struct pbd_exec *exec)
{
	u32 i, j, next = 0;

	pbd_exec_set_target(exec);
	for (i = 0; i < exec->count; i++) {
		const struct pbd_bo *bo = pbd_bo(exec->submit.job->listed[i]);
		const u64 offset = bo->node.start - exec->submit.target->node.start;

		exec->objects[i].offset = pbd_bo_gpu_address(bo);
		for (j = 0; j < exec->objects[i].relocation_count; j++, next++) {
			const struct drm_i915_gem_relocation_entry *reloc = &exec->relocs[next];

			exec->submit.job->locations[next] = (struct pb_patch_location){
				.allocation_index = reloc->target_handle,
				.driver_id = PB_PATCH_FORMAT_SUM32,
				.allocation_offset = reloc->delta,
				.patch_offset = (u32)(offset + reloc->offset),
			};
		}
	}
}

/* ---- capture ---- */

static void pbd_exec_put(u8 **to, const u32 *words, unsigned int count)
{
	memcpy(*to, words, count * sizeof(*words));
	*to += count * sizeof(*words);
}

static void pbd_exec_put_objects(struct pbd_exec *exec, u8 **to)
{
	u32 i;

	for (i = 0; i < exec->count; i++) {
		const struct drm_i915_gem_exec_object2 *object = &exec->objects[i];
		const u64 size = exec->submit.job->listed[i]->size;
		const u64 presumed = exec->presumed[i];
		const u32 words[10] = {
			object->handle, (u32)object->flags, lower_32_bits(size), upper_32_bits(size),
			lower_32_bits(object->alignment), upper_32_bits(object->alignment),
			lower_32_bits(presumed), upper_32_bits(presumed),
			lower_32_bits(object->offset), upper_32_bits(object->offset),
		};

		pbd_exec_put(to, words, ARRAY_SIZE(words));
	}
}

static void pbd_exec_put_relocs(struct pbd_exec *exec, u8 **to)
{
	u32 i, j, next = 0;

	for (i = 0; i < exec->count; i++) {
		for (j = 0; j < exec->objects[i].relocation_count; j++, next++) {
			const struct drm_i915_gem_relocation_entry *reloc = &exec->relocs[next];
			const u32 words[10] = {
				i, reloc->target_handle, lower_32_bits(reloc->offset), upper_32_bits(reloc->offset),
				reloc->delta, reloc->read_domains, reloc->write_domain, sizeof(u32),
				lower_32_bits(reloc->presumed_offset), upper_32_bits(reloc->presumed_offset),
			};

			pbd_exec_put(to, words, ARRAY_SIZE(words));
		}
	}
}

/* Shows the submission to the file that captures, as tests/data/README.txt describes it. */
static int pbd_exec_show(struct pbd_exec *exec, u32 phase, int status)
{
	struct pbd_capture_shown shown = {
		.bytes = 48 + 40 * (exec->count + exec->reloc_count), .phase = phase, .status = status,
	};
	const u32 words[12] = {
		shown.bytes, exec->count, exec->reloc_count, 0, exec->batch, exec->user->batch_start_offset,
		exec->user->batch_len, (u32)exec->user->rsvd1, lower_32_bits(exec->user->flags),
		upper_32_bits(exec->user->flags), 0, (u32)task_tgid_nr(current),
	};
	u8 *to;

	shown.record = kvmalloc(shown.bytes, GFP_KERNEL);
	if (!shown.record)
		return -ENOMEM;
	to = shown.record;
	pbd_exec_put(&to, words, ARRAY_SIZE(words));
	pbd_exec_put_objects(exec, &to);
	pbd_exec_put_relocs(exec, &to);
	pbd_capture_show(exec->submit.dev, &shown);
	return 0;
}

/* Places all objects, and holds them there, so that their addresses are those that will be patched. */
static int pbd_exec_pin_reserved(struct pbd_exec *exec)
{
	struct pbd_job *job = exec->submit.job;
	u32 i;
	int ret = pbd_exec_place(exec);

	if (ret == 0)
		ret = pbd_exec_write_contents(exec);
	for (i = 0; ret == 0 && i < job->object_count; i++)
		pbd_bo(job->objects[i])->pins++;
	if (ret == 0)
		pbd_exec_set_lists(exec);
	return ret;
}

static void pbd_exec_unpin(struct pbd_exec *exec)
{
	u32 i;

	for (i = 0; i < exec->submit.job->object_count; i++)
		pbd_bo_unpin(exec->submit.job->objects[i]);
}

/* ---- the way of a submission ---- */

/* Pre: validate, card for reading, the reservations of all objects. */
static int pbd_exec_reserved(struct pbd_exec *exec)
{
	struct pbd_submit *submit = &exec->submit;
	struct pbd_job *job = submit->job;
	u32 i;
	int ret = pbd_exec_place(exec);

	if (ret == 0)
		ret = pbd_exec_write_contents(exec);
	for (i = 0; ret == 0 && i < job->object_count; i++)
		ret = dma_resv_reserve_fences(job->objects[i]->resv, 1);
	if (ret == 0)
		ret = pbd_add_object_fences(submit);
	if (ret == 0)
		ret = pbd_make_fence(submit);
	if (ret != 0)
		return ret;
	pbd_exec_set_lists(exec);
	ret = pbd_address_lists(submit);
	return ret != 0 ? ret : pbd_publish(submit);
}

/* Does a step under the locks of a submission. */
static int pbd_exec_try(struct pbd_submit *submit)
{
	struct pbd_exec *exec = container_of(submit, struct pbd_exec, submit);
	struct pbd_device *dev = submit->dev;
	struct pbd_job *job = submit->job;
	int ret = pbd_lock_validate(submit);

	if (ret != 0)
		return ret;
	down_read(&dev->card);
	ret = pbd_queue_make(job->queue);
	if (ret == 0)
		ret = drm_gem_lock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	if (ret == 0) {
		ret = exec->step(exec);
		drm_gem_unlock_reservations(job->objects, (int)job->object_count, &submit->ticket);
	}
	up_read(&dev->card);
	mutex_unlock(&dev->validate);
	return ret;
}

/* The same; where memory of the caller is copied, when its objects are idle. */
static int pbd_exec_locked(struct pbd_exec *exec, int (*step)(struct pbd_exec *exec))
{
	int ret;

	exec->step = step;
	do {
		exec->in_use = false;
		ret = exec->has_contents ? pbd_exec_idle(exec) : 0;
		if (ret == 0)
			ret = pbd_with_room(&exec->submit, pbd_exec_try);
	} while (exec->in_use);
	return ret;
}

/*
 * Submits, and shows the state before and after it. Pre: the objects are pinned. What is shown must not fail the call:
 * the submission is on its way.
 */
static int pbd_exec_pinned(struct pbd_exec *exec)
{
	struct dma_fence *fence;
	int ret = pbd_exec_idle(exec);

	if (ret == 0)
		ret = pbd_exec_show(exec, PATCHBAY_CAPTURE_PLACED, 0);
	if (ret == 0)
		ret = pbd_exec_locked(exec, pbd_exec_reserved);
	if (ret != 0)
		return ret;
	fence = &exec->submit.job->fence->base;
	(void)dma_fence_wait(fence, false);
	(void)pbd_exec_show(exec, PATCHBAY_CAPTURE_DONE, min(dma_fence_get_status(fence), 0));
	return 0;
}

/* One at a time. */
static int pbd_exec_captured(struct pbd_exec *exec)
{
	struct pbd_capture *capture = &exec->submit.dev->capture;
	int ret = mutex_lock_interruptible(&capture->one);

	if (ret != 0)
		return ret;
	ret = pbd_exec_locked(exec, pbd_exec_pin_reserved);
	if (ret == 0) {
		ret = pbd_exec_pinned(exec);
		pbd_exec_unpin(exec);
	}
	mutex_unlock(&capture->one);
	return ret;
}

static int pbd_exec_prepared(struct pbd_exec *exec)
{
	int ret = pbd_charge(exec->submit.job);

	if (ret != 0)
		return ret;
	return pbd_capture_on(exec->submit.dev) ? pbd_exec_captured(exec) : pbd_exec_locked(exec, pbd_exec_reserved);
}

static int pbd_exec_prepare(struct pbd_exec *exec, struct drm_file *file)
{
	int ret = pbd_exec_copy_objects(exec);

	if (ret == 0)
		ret = pbd_exec_copy_relocs(exec);
	if (ret == 0)
		ret = pbd_exec_look_up(exec, file);
	if (ret == 0)
		ret = pbd_exec_check_batch(exec);
	if (ret == 0)
		ret = pbd_exec_check_relocs(exec);
	if (ret == 0)
		ret = pbd_exec_copy_contents(exec);
	if (ret == 0)
		ret = pbd_exec_take_fences(exec);
	return ret;
}

/* Tells the caller the addresses, which are valid until an object moves, and the fence. */
static void pbd_exec_tell(const struct pbd_exec *exec)
{
	struct drm_i915_gem_exec_object2 __user *to = u64_to_user_ptr(exec->user->buffers_ptr);
	u32 i;

	if (exec->user->flags & I915_EXEC_FENCE_OUT)
		exec->user->rsvd2 = (u64)(u32)exec->args.out_fence_fd << 32 | lower_32_bits(exec->user->rsvd2);
	for (i = 0; i < exec->count; i++)
		if (put_user(exec->objects[i].offset, &to[i].offset))
			return;
}

static void pbd_exec_free(struct pbd_exec *exec)
{
	kvfree(exec->objects);
	kvfree(exec->presumed);
	pbd_exec_free_contents(exec);
	kvfree(exec->relocs);
	pbd_submit_free(&exec->submit);
}

static int pbd_exec_run(struct pbd_exec *exec, struct drm_file *file)
{
	struct drm_i915_gem_execbuffer2 *user = exec->user;
	struct pbd_device *dev = exec->submit.dev;
	int ret;

	if (user->buffer_count > dev->info.capabilities[PB_CAPABILITY_ALLOCATIONS_MAX])
		return -E2BIG;
	exec->count = user->buffer_count;
	exec->args.flags = PATCHBAY_SUBMIT_PATCH;
	exec->args.allocation_count = exec->count;
	if (user->flags & I915_EXEC_FENCE_OUT)
		exec->args.flags |= PATCHBAY_SUBMIT_FENCE_OUT;
	if (user->rsvd1 != 0 && !pbd_i915_is_context(dev, file, (u32)user->rsvd1))
		return -ENOENT;
	exec->submit.job = pbd_job_make(dev, file->driver_priv, pbd_i915_queue(dev, (u32)user->rsvd1));
	if (IS_ERR(exec->submit.job))
		return PTR_ERR(exec->submit.job);
	ret = pbd_exec_prepare(exec, file);
	if (ret == 0)
		ret = pbd_exec_prepared(exec);
	if (ret == 0)
		pbd_exec_tell(exec);
	pbd_exec_free(exec);
	return ret;
}

int pbd_i915_exec_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_exec *exec;
	int idx, ret = pbd_exec_check_args(data);

	if (ret != 0)
		return ret;
	exec = kzalloc(sizeof(*exec), GFP_KERNEL);
	if (!exec)
		return -ENOMEM;
	exec->user = data;
	exec->submit.dev = pbd_device(drm);
	exec->submit.drm_file = file;
	exec->submit.args = &exec->args;
	exec->submit.fd = -1;
	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = pbd_exec_run(exec, file);
		drm_dev_exit(idx);
	}
	kfree(exec);
	return ret;
}
