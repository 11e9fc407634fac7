// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What all clients of the GL engine share at one device: the addresses of resources, the formats of patches, and the
 * engine's capabilities.
 */
#include "patchbay/format.h"
#include "patchbay/names.h"
#include "pbd_virtgpu.h"

/* Addresses of resources: their contents are with the renderers, so all clients use the same addresses. */
#define PBD_VIRT_ADDRESS_BYTES (64u << 20)
#define PBD_VIRT_ADDRESS_MIN (1u << 20)
#define PBD_VIRT_OS 0xc000000000ull
#define PBD_VIRT_GPU 0x400000000ull

/*
 * Makes what all clients share: addresses of resources and the formats of patches. Pre: attached, segment 0 is there,
 * commands are held.
 */
int pbd_virt_attach(struct pbd_device *dev)
{
	struct pb_segment_request request = {
		.id = PBD_SEGMENT_VIRT,
		.os_base = PBD_VIRT_OS,
		.gpu_base = PBD_VIRT_GPU,
		.kind = PB_SEGMENT_OUTER,
	};
	enum pb_error error = PB_ERROR_NO_SPACE;
	u64 bytes = min_t(u64, PBD_VIRT_ADDRESS_BYTES, dev->channel.card.capabilities[PB_CAPABILITY_OUTER_BYTES] / 4);
	unsigned int i;

	for (; bytes >= PBD_VIRT_ADDRESS_MIN && error == PB_ERROR_NO_SPACE; bytes /= 2) {
		request.size = round_down(bytes, PB_PAGE_BYTES);
		request.backing_bytes = (u32)request.size;
		error = pb_segment_create(&dev->virt.segment, &dev->channel, &request);
	}
	for (i = 0; i < ARRAY_SIZE(pb_gl_formats) && error == PB_ERROR_OK; i++)
		error = pb_format_set(&dev->channel, PB_GL_FORMAT_PAGE + i, &pb_gl_formats[i], NULL);
	if (error != PB_ERROR_OK) {
		drm_err(&dev->drm, "virtgpu: %s; it needs a card with --engine gl and --card-memory 64M or more\n",
			pb_error_name(error));
		return pbd_errno(error);
	}
	dev->virt.addresses = (struct pb_residency_segment){
		.id = request.id,
		.kind = request.kind,
		.os_base = request.os_base,
		.gpu_base = request.gpu_base,
		.bytes = request.size,
	};
	return 0;
}

static int pbd_virt_read_caps(struct pbd_virt *virt, u32 set, u32 *words, u32 bytes)
{
	int ret = pbd_virt_enter(virt);

	if (ret != 0)
		return ret;
	(void)pb_gl_client_caps(virt->client, set, words, bytes);
	return pbd_virt_leave(virt);
}

/* Reads the capabilities of the GL engine, once. @return -ENODEV: the card has none */
int pbd_virt_init(struct pbd_device *dev)
{
	struct pbd_virt *virt = pbd_virt_alloc(dev);
	int ret;

	if (!virt)
		return -ENOMEM;
	ret = pbd_virt_read_caps(virt, 1, dev->virt.caps1, sizeof(dev->virt.caps1));
	if (ret == 0)
		ret = pbd_virt_read_caps(virt, 2, dev->virt.caps2, sizeof(dev->virt.caps2));
	pbd_virt_end(virt);
	pbd_virt_put(virt);
	if (ret != 0 && ret != -ENOMEM)
		drm_err(&dev->drm, "virtgpu: the card has no GL engine (%d); start it with --engine gl\n", ret);
	return ret == -EIO ? -ENODEV : ret;
}
