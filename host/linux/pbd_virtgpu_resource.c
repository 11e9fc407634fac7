// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Resources of virtio-gpu's uAPI: memory of the guest, contents at a renderer, transfers between the two, and the display.
 * Transfers are those of host/gl, which checks them.
 */
#include <drm/drm_framebuffer.h>

#include "pbd_virtgpu.h"

/* Bytes of a resource's memory. */
#define PBD_VIRT_BO_BYTES_MAX (256u << 20)
/* How long VIRTGPU_WAIT waits, as virtio-gpu does: longer than a reset takes. */
#define PBD_VIRT_WAIT_JIFFIES pbd_patience(15 * HZ)

static const struct drm_gem_object_funcs pbd_virt_funcs;

bool pbd_virt_is_resource(const struct drm_gem_object *object)
{
	return object->funcs == &pbd_virt_funcs;
}

/* Looks up a resource by a handle of the file. @return a reference */
static struct pbd_virt_bo *pbd_virt_look_up(struct drm_file *drm_file, u32 handle)
{
	struct drm_gem_object *object = drm_gem_object_lookup(drm_file, handle);

	if (object && !pbd_virt_is_resource(object)) {
		drm_gem_object_put(object);
		object = NULL;
	}
	return object ? pbd_virt_bo(object) : NULL;
}

/* ---- resources ---- */

static int pbd_virt_bo_open(struct drm_gem_object *object, struct drm_file *drm_file)
{
	return pbd_virt_copy_open(pbd_virt_bo(object), pbd_virt_of(drm_file));
}

static void pbd_virt_bo_close(struct drm_gem_object *object, struct drm_file *drm_file)
{
	pbd_virt_copy_close(pbd_virt_bo(object), pbd_virt_of(drm_file));
}

static void pbd_virt_bo_free(struct drm_gem_object *object)
{
	struct pbd_virt_bo *bo = pbd_virt_bo(object);

	if (bo->shadow)
		drm_gem_object_put(bo->shadow);
	if (!iosys_map_is_null(&bo->map))
		drm_gem_shmem_vunmap(&bo->base, &bo->map);
	kvfree(bo->staged);
	mutex_destroy(&bo->lock);
	drm_gem_shmem_free(&bo->base);
}

static const struct drm_gem_object_funcs pbd_virt_funcs = {
	.free = pbd_virt_bo_free,
	.open = pbd_virt_bo_open,
	.close = pbd_virt_bo_close,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

struct drm_gem_object *pbd_virt_gem_create(struct drm_device *drm, size_t size)
{
	struct pbd_virt_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->base.base.funcs = &pbd_virt_funcs;
	mutex_init(&bo->lock);
	INIT_LIST_HEAD(&bo->copies);
	return &bo->base.base;
}

/* Makes a resource with memory that stays mapped. */
static struct pbd_virt_bo *pbd_virt_bo_create(struct pbd_device *dev, size_t bytes)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&dev->drm, bytes);
	struct pbd_virt_bo *bo;
	int ret;

	if (IS_ERR(shmem))
		return ERR_CAST(shmem);
	bo = container_of(shmem, struct pbd_virt_bo, base);
	do {
		bo->number = (u32)atomic_inc_return(&dev->virt.numbers);
	} while (bo->number == 0);
	ret = drm_gem_shmem_vmap(shmem, &bo->map);
	if (ret == 0)
		return bo;
	iosys_map_clear(&bo->map);
	drm_gem_object_put(&shmem->base);
	return ERR_PTR(ret);
}

int pbd_virt_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_virtgpu_resource_create *args = data;
	const u32 template_words[PB_GL_TEMPLATE_WORDS] = {
		[PB_GL_TEMPLATE_TARGET] = args->target,
		[PB_GL_TEMPLATE_FORMAT] = args->format,
		[PB_GL_TEMPLATE_BIND] = args->bind,
		[PB_GL_TEMPLATE_WIDTH] = args->width,
		[PB_GL_TEMPLATE_HEIGHT] = args->height,
		[PB_GL_TEMPLATE_DEPTH] = args->depth,
		[PB_GL_TEMPLATE_ARRAY_SIZE] = args->array_size,
		[PB_GL_TEMPLATE_LAST_LEVEL] = args->last_level,
		[PB_GL_TEMPLATE_SAMPLES] = args->nr_samples,
		[PB_GL_TEMPLATE_FLAGS] = args->flags,
	};
	struct pbd_virt_bo *bo;
	int ret;

	if (args->size > PBD_VIRT_BO_BYTES_MAX)
		return -EINVAL;
	bo = pbd_virt_bo_create(pbd_device(drm), max_t(size_t, args->size, PAGE_SIZE));
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	memcpy(bo->template_words, template_words, sizeof(template_words));
	args->res_handle = bo->number;
	ret = drm_gem_handle_create(drm_file, &bo->base.base, &args->bo_handle);
	drm_gem_object_put(&bo->base.base);
	return ret;
}

int pbd_virt_info_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_virtgpu_resource_info *args = data;
	struct pbd_virt_bo *bo = pbd_virt_look_up(drm_file, args->bo_handle);

	if (!bo)
		return -ENOENT;
	args->res_handle = bo->number;
	args->size = (u32)bo->base.base.size;
	args->blob_mem = 0;
	drm_gem_object_put(&bo->base.base);
	return 0;
}

int pbd_virt_map_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct drm_virtgpu_map *args = data;
	struct pbd_virt_bo *bo = pbd_virt_look_up(drm_file, args->handle);
	int ret;

	if (!bo)
		return -ENOENT;
	ret = drm_gem_create_mmap_offset(&bo->base.base);
	if (ret == 0)
		args->offset = drm_vma_node_offset_addr(&bo->base.base.vma_node);
	drm_gem_object_put(&bo->base.base);
	return ret;
}

int pbd_virt_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_virtgpu_3d_wait *args = data;
	struct pbd_virt_bo *bo = pbd_virt_look_up(drm_file, args->handle);
	struct dma_resv *resv;
	long left;

	if (!bo)
		return -ENOENT;
	resv = bo->base.base.resv;
	if (args->flags & VIRTGPU_WAIT_NOWAIT)
		left = dma_resv_test_signaled(resv, DMA_RESV_USAGE_READ);
	else
		left = dma_resv_wait_timeout(resv, DMA_RESV_USAGE_READ, true, PBD_VIRT_WAIT_JIFFIES);
	drm_gem_object_put(&bo->base.base);
	return left < 0 ? (int)left : left == 0 ? -EBUSY : 0;
}

/* ---- transfers ---- */

/* Transfers between the resource's memory and the renderer; from the renderer, it is waited for. */
static int pbd_virt_transfer(struct drm_file *drm_file, u32 handle, const struct drm_virtgpu_3d_box *box,
			     struct pb_gl_transfer_request *request, bool to_resource)
{
	struct pbd_virt *virt = pbd_virt_of(drm_file);
	struct pbd_virt_bo *bo = pbd_virt_look_up(drm_file, handle);
	struct pb_gl_transfer transfer;
	struct pb_gl_resource *resource;
	const char *why;
	int ret;

	if (!bo)
		return -ENOENT;
	request->template_words = bo->template_words;
	request->available = bo->base.base.size;
	memcpy(request->box, box, sizeof(request->box));
	ret = pb_gl_transfer_plan(request, &transfer, &why) ? pbd_virt_fetch(bo, virt) : -EINVAL;
	if (ret == 0)
		ret = pbd_virt_enter(virt);
	if (ret == 0) {
		pbd_virt_refresh(bo, virt);
		resource = pb_gl_resources_find(&virt->client->resources, bo->number);
		if (!resource)
			ret = -ENOENT;
		else if (pb_gl_client_transfer(virt->client, resource, request, to_resource, bo->map.vaddr))
			(void)pb_gl_client_flush(virt->client);
		pbd_virt_note_written(bo, virt);
		ret = pbd_virt_leave(virt) ?: ret;
	}
	drm_gem_object_put(&bo->base.base);
	return ret;
}

int pbd_virt_to_host_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_virtgpu_3d_transfer_to_host *args = data;
	struct pb_gl_transfer_request request = {
		.level = args->level,
		.stride = args->stride,
		.layer_stride = args->layer_stride,
		.offset = args->offset,
	};

	return pbd_virt_transfer(drm_file, args->bo_handle, &args->box, &request, true);
}

int pbd_virt_from_host_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_virtgpu_3d_transfer_from_host *args = data;
	struct pb_gl_transfer_request request = {
		.level = args->level,
		.stride = args->stride,
		.layer_stride = args->layer_stride,
		.offset = args->offset,
	};

	return pbd_virt_transfer(drm_file, args->bo_handle, &args->box, &request, false);
}

/* ---- the display ---- */

/* Reads the picture from a client's renderer into the shadow. Pre: the client is the caller's, the shadow is there. */
static int pbd_virt_read_picture(struct pbd_virt_bo *bo, struct pbd_virt *virt,
				 const struct pb_gl_transfer_request *request)
{
	struct pbd_device *dev = virt->dev;
	struct pb_gl_resource *resource = pb_gl_resources_find(&virt->client->resources, bo->number);
	struct pbd_bo *shadow = pbd_bo(bo->shadow);
	int ret = pbd_bo_lock_placed(dev, shadow);

	if (ret != 0)
		return ret;
	if (resource)
		(void)pb_gl_client_transfer(virt->client, resource, request, false,
					    dev->memory + pbd_bo_memory_offset(shadow));
	dma_resv_unlock(bo->shadow->resv);
	return 0;
}

/*
 * Returns the object that a blit of the framebuffer reads: for a resource, a copy of its picture in VRAM, which lives as
 * long as the resource. A client that has failed, or has closed its last handle, shows its last picture.
 */
struct drm_gem_object *pbd_virt_picture(struct drm_framebuffer *fb)
{
	struct drm_gem_object *object = fb->obj[0];
	struct pbd_virt_bo *bo;
	struct pb_gl_transfer_request request = {};
	struct pb_gl_transfer transfer;
	struct pbd_virt *virt;
	const char *why;
	int ret;

	if (!pbd_virt_is_resource(object))
		return object;
	bo = pbd_virt_bo(object);
	request.template_words = bo->template_words;
	request.stride = fb->pitches[0];
	request.offset = fb->offsets[0];
	request.available = object->size;
	request.box[3] = min(fb->width, bo->template_words[PB_GL_TEMPLATE_WIDTH]);
	request.box[4] = min(fb->height, bo->template_words[PB_GL_TEMPLATE_HEIGHT]);
	request.box[5] = 1;
	if (!pb_gl_transfer_plan(&request, &transfer, &why) || transfer.block_bytes != fb->format->cpp[0])
		return ERR_PTR(-EINVAL);
	if (!READ_ONCE(bo->shadow)) {
		struct drm_gem_object *shadow = pbd_bo_create(pbd_device(object->dev), object->size, 0);

		if (IS_ERR(shadow))
			return shadow;
		if (cmpxchg(&bo->shadow, NULL, shadow))
			drm_gem_object_put(shadow);
	}
	virt = pbd_virt_writer(bo);
	if (!virt)
		return bo->shadow;
	ret = pbd_virt_enter(virt);
	if (ret == 0) {
		ret = pbd_virt_read_picture(bo, virt, &request);
		(void)pbd_virt_leave(virt);
	}
	pbd_virt_put(virt);
	return ret == 0 || ret == -EIO || ret == -ENODEV ? bo->shadow : ERR_PTR(ret);
}
