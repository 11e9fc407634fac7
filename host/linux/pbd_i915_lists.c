// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What EXECBUFFER2 is given: its objects and relocations, copied and checked, and the contents of memory of the caller. */
#include <linux/bsearch.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "pbd_i915_exec.h"

#define PBD_EXEC_OBJECT_FLAGS                                                                                \
	(EXEC_OBJECT_NEEDS_FENCE | EXEC_OBJECT_NEEDS_GTT | EXEC_OBJECT_WRITE |                               \
	 EXEC_OBJECT_SUPPORTS_48B_ADDRESS | EXEC_OBJECT_ASYNC | EXEC_OBJECT_CAPTURE)
#define PBD_EXEC_DOMAINS                                                                                     \
	(I915_GEM_DOMAIN_RENDER | I915_GEM_DOMAIN_SAMPLER | I915_GEM_DOMAIN_COMMAND |                        \
	 I915_GEM_DOMAIN_INSTRUCTION | I915_GEM_DOMAIN_VERTEX)

/* A handle and its index, to find targets by handle. */
struct pbd_exec_handle {
	u32 handle;
	u32 index;
};

static int pbd_exec_check_object(const struct drm_i915_gem_exec_object2 *object)
{
	if (object->flags & ~(u64)PBD_EXEC_OBJECT_FLAGS)
		return -EINVAL;
	/* All placements are aligned to pages; nothing of this generation asks for more. */
	if (object->alignment > PAGE_SIZE || (object->alignment & (object->alignment - 1)))
		return -EINVAL;
	return 0;
}

int pbd_exec_copy_objects(struct pbd_exec *exec)
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

int pbd_exec_copy_relocs(struct pbd_exec *exec)
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
int pbd_exec_look_up(struct pbd_exec *exec, struct drm_file *file)
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

int pbd_exec_check_batch(const struct pbd_exec *exec)
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

int pbd_exec_check_relocs(struct pbd_exec *exec)
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
int pbd_exec_copy_contents(struct pbd_exec *exec)
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
int pbd_exec_write_contents(struct pbd_exec *exec)
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

void pbd_exec_free_contents(struct pbd_exec *exec)
{
	u32 i;

	for (i = 0; exec->contents && i < exec->count; i++)
		kvfree(exec->contents[i]);
	kvfree(exec->contents);
}

/* Waits until no submission uses the objects. */
int pbd_exec_idle(struct pbd_exec *exec)
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
