// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What a submission becomes: engine packets and lists, with no address known; or the user's patch list as it is. */
#include <linux/slab.h>

#include "pbd_submit.h"

/* Entry `handle - 1` of the list. Where it will lie is not known yet: its address stays poison. */
bool pbd_find(void *context, uint32_t handle, struct pb_render_allocation *allocation)
{
	const struct pbd_job *job = context;

	if (handle == 0 || handle > job->listed_count || !job->listed[handle - 1])
		return false;
	*allocation = (struct pb_render_allocation){ .size = job->listed[handle - 1]->size };
	return true;
}

int pbd_render_errno(enum pb_render_status status)
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
int pbd_make_outputs(struct pbd_submit *submit)
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
int pbd_translate(struct pbd_submit *submit)
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
int pbd_take_patches(struct pbd_submit *submit)
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
