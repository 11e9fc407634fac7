// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The 3D part of virtio-gpu's uAPI, as a driver: what there is of it. The numbers of the uAPI are those of
 * <drm/virtgpu_drm.h>.
 */
#include <linux/uaccess.h>

#include <drm/drm_ioctl.h>
#include <drm/drm_prime.h>

#include "pbd_virtgpu.h"

static int pbd_virt_getparam_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct drm_virtgpu_getparam *args = data;
	int value;

	switch (args->param) {
	case VIRTGPU_PARAM_3D_FEATURES:
	case VIRTGPU_PARAM_CAPSET_QUERY_FIX:
		value = 1;
		break;
	case VIRTGPU_PARAM_RESOURCE_BLOB:
	case VIRTGPU_PARAM_HOST_VISIBLE:
	case VIRTGPU_PARAM_CROSS_DEVICE:
	case VIRTGPU_PARAM_CONTEXT_INIT:
		value = 0;
		break;
	case VIRTGPU_PARAM_SUPPORTED_CAPSET_IDs:
		value = 1 << 1 | 1 << 2;
		break;
	default:
		return -EINVAL;
	}
	return copy_to_user(u64_to_user_ptr(args->value), &value, sizeof(value)) ? -EFAULT : 0;
}

static int pbd_virt_caps_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	const struct pbd_virt_device *virt = &pbd_device(drm)->virt;
	const struct drm_virtgpu_get_caps *args = data;
	const void *words = args->cap_set_id == 1 ? virt->caps1 : virt->caps2;
	size_t bytes = args->cap_set_id == 1 ? sizeof(virt->caps1) : sizeof(virt->caps2);

	if (args->cap_set_id != 1 && args->cap_set_id != 2)
		return -EINVAL;
	bytes = min_t(size_t, bytes, args->size);
	return copy_to_user(u64_to_user_ptr(args->addr), words, bytes) ? -EFAULT : 0;
}

/* ---- the driver ---- */

static const struct drm_ioctl_desc pbd_virt_ioctls[] = {
	DRM_IOCTL_DEF_DRV(VIRTGPU_MAP, pbd_virt_map_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_EXECBUFFER, pbd_virt_exec_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_GETPARAM, pbd_virt_getparam_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_RESOURCE_CREATE, pbd_virt_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_RESOURCE_INFO, pbd_virt_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_TRANSFER_FROM_HOST, pbd_virt_from_host_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_TRANSFER_TO_HOST, pbd_virt_to_host_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_WAIT, pbd_virt_wait_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(VIRTGPU_GET_CAPS, pbd_virt_caps_ioctl, DRM_RENDER_ALLOW),
};

/* Name and version are what Mesa looks for. */
const struct drm_driver pbd_virt_driver = {
	PBD_DRIVER_COMMON,
	.postclose = pbd_file_close,
	.gem_create_object = pbd_virt_gem_create,
	.ioctls = pbd_virt_ioctls,
	.num_ioctls = ARRAY_SIZE(pbd_virt_ioctls),
	.name = "virtio_gpu",
	.desc = "Patchbay card, OpenGL",
	.date = "20261123",
	.major = 0,
	.minor = 1,
};
