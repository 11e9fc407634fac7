// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A submission, from the ioctl on: what the user passes is copied and checked, then the steps of pbd_submit.h are taken
 * in order. Everything that can fail or that allocates comes before it is armed.
 */
#include <linux/capability.h>
#include <linux/dma-resv.h>
#include <linux/file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "pbd_submit.h"

#define PBD_SUBMIT_FLAGS                                                                                     \
	(PATCHBAY_SUBMIT_PATCH | PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT |                      \
	 PATCHBAY_SUBMIT_EXPLICIT | PATCHBAY_SUBMIT_UNSAFE)

static_assert(sizeof(struct drm_patchbay_patch) == sizeof(struct pb_patch_location));
static_assert(sizeof(struct drm_patchbay_allocation) == sizeof(struct pb_render_user_allocation));

/* ---- copies ---- */

/* Copies an array of the user's. @to: NULL stays NULL if it is empty; otherwise the caller frees it */
int pbd_copy(void **to, u64 from, size_t count, size_t bytes)
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

/* ---- the steps ---- */

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
	if (IS_ERR_OR_NULL(job->queue)) {
		int ret = job->queue ? PTR_ERR(job->queue) : -ENOENT;

		kfree(job);
		return ERR_PTR(ret);
	}
	return job;
}

/* ---- the ioctl ---- */

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
