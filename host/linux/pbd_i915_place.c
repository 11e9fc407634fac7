// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The objects of an EXECBUFFER2 in VRAM: into the MCU's window what is patched, and lists that name where all lies. */
#include "patchbay/abi/patch.h"
#include "pbd_i915_exec.h"

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

		if (!bo->region || (atomic_read(&bo->pins) && !patched))
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
int pbd_exec_place(struct pbd_exec *exec)
{
	struct pbd_device *dev = exec->submit.dev;
	unsigned int round;
	bool narrow;
	u32 i;
	int ret = 0;

	if (pbd_is_claimed(&exec->submit))
		return -EAGAIN;
	if (pbd_holds_too_much(&exec->submit))
		return -EBUSY;
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
	pbd_job_find_outside(exec->submit.job);
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
void pbd_exec_set_lists(struct pbd_exec *exec)
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
