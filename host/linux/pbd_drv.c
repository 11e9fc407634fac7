// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The module and the PCI device. */
#include <linux/io.h>
#include <linux/module.h>

#include <drm/drm_fb_helper.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>

#include "patchbay/abi/boot.h"
#include "pbd_drv.h"

/* An ivshmem device with a doorbell: whether a card is behind it, its memory says. */
#define PBD_VENDOR 0x1af4
#define PBD_DEVICE 0x1110
#define PBD_BAR_REGISTERS 0
#define PBD_BAR_MEMORY 2
/* Register that holds the number of this machine at the card. */
#define PBD_REG_POSITION 8

#define PBD_ATTACH_MS max(5000u, pbd_card_timeout_ms)

bool pbd_unsafe;
module_param_named(unsafe, pbd_unsafe, bool, 0400);
MODULE_PARM_DESC(unsafe, "let root submit commands that hang or fault the engine (tests)");
bool pbd_fbdev = true;
module_param_named(fbdev, pbd_fbdev, bool, 0400);
MODULE_PARM_DESC(fbdev, "a console on the display (default yes)");
unsigned int pbd_card_timeout_ms = 1200;
module_param_named(card_timeout_ms, pbd_card_timeout_ms, uint, 0600);
MODULE_PARM_DESC(card_timeout_ms, "a card whose clock stands for so long is gone (default 1200)");
unsigned int pbd_vram_mb;
module_param_named(vram_mb, pbd_vram_mb, uint, 0400);
MODULE_PARM_DESC(vram_mb, "MiB of the card's window for objects (default 0: half of what is free)");

unsigned int pbd_outer_mb;
module_param_named(outer_mb, pbd_outer_mb, uint, 0400);
MODULE_PARM_DESC(outer_mb, "MiB of the card's memory outside of the window for objects (default 0: half of it)");
bool pbd_host_memory = true;
module_param_named(host_memory, pbd_host_memory, bool, 0400);
MODULE_PARM_DESC(host_memory, "let the card reach this machine's memory, where it can (default yes)");
bool pbd_i915;
module_param_named(i915, pbd_i915, bool, 0400);
MODULE_PARM_DESC(i915, "present the part of i915's uAPI that Mesa needs, instead of the driver's own");
bool pbd_virtgpu;
module_param_named(virtgpu, pbd_virtgpu, bool, 0400);
MODULE_PARM_DESC(virtgpu, "offer the 3D uAPI of virtio-gpu instead of our own; needs a card with a GL engine");
unsigned int pbd_gl_hang_ms;
module_param_named(gl_hang_ms, pbd_gl_hang_ms, uint, 0600);
MODULE_PARM_DESC(gl_hang_ms, "OpenGL that makes no progress for so long is reset: 10 to 100 unless the card's administrator allows more (default 0: the card's own limit)");

static int pbd_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct pbd_device *dev = pbd_device(drm);
	const u32 *capabilities = dev->info.capabilities;
	struct drm_patchbay_info *info = data;
	unsigned int i;

	memset(info, 0, sizeof(*info));
	info->abi_version = dev->info.abi_version;
	info->channel = dev->link.channel;
	info->nodes = capabilities[PB_CAPABILITY_NODES];
	info->node_kinds = capabilities[PB_CAPABILITY_NODE_KINDS];
	info->allocations_max = capabilities[PB_CAPABILITY_ALLOCATIONS_MAX];
	info->patches_max = capabilities[PB_CAPABILITY_PATCHES_MAX];
	info->command_bytes_max = PBD_COMMAND_BYTES_MAX;
	info->restarts = READ_ONCE(dev->restarts);
	strscpy(info->build, dev->info.build, sizeof(info->build));
	mutex_lock(&dev->vram);
	for (i = 0; i < PBD_VRAM_REGIONS; i++) {
		if (!dev->regions[i].present)
			continue;
		info->vram_bytes += dev->regions[i].segment.request.size;
		info->vram_used += dev->regions[i].used;
	}
	if (dev->regions[0].present)
		info->patchable_bytes = dev->regions[0].segment.request.size;
	if (dev->regions[PBD_REGION_HOST].present) {
		info->host_bytes = dev->regions[PBD_REGION_HOST].segment.request.size;
		info->host_used = dev->regions[PBD_REGION_HOST].used;
	}
	info->evictions = dev->evictions;
	mutex_unlock(&dev->vram);
	return 0;
}

static const struct drm_ioctl_desc pbd_ioctls[] = {
	DRM_IOCTL_DEF_DRV(PATCHBAY_INFO, pbd_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_GEM_CREATE, pbd_gem_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_GEM_INFO, pbd_gem_info_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_GEM_WAIT, pbd_gem_wait_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_GEM_MADVISE, pbd_gem_madvise_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_QUEUE_CREATE, pbd_queue_create_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_QUEUE_DESTROY, pbd_queue_destroy_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_QUEUE_QUERY, pbd_queue_query_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_QUEUE_CLEAR, pbd_queue_clear_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_SUBMIT, pbd_submit_ioctl, DRM_RENDER_ALLOW),
	DRM_IOCTL_DEF_DRV(PATCHBAY_WAIT, pbd_wait_ioctl, DRM_RENDER_ALLOW),
};

const struct file_operations pbd_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
#ifdef CONFIG_PROC_FS
	.show_fdinfo = pbd_show_fdinfo,
#endif
};

static const struct drm_driver pbd_driver = {
	PBD_DRIVER_COMMON,
	.postclose = pbd_file_close,
	.ioctls = pbd_ioctls,
	.num_ioctls = ARRAY_SIZE(pbd_ioctls),
	.name = "patchbay",
	.desc = "Patchbay card",
	.date = "20261123",
	.major = 1,
	.minor = 0,
};

/* ---- the device ---- */

static irqreturn_t pbd_interrupt(int irq, void *data)
{
	struct pbd_device *dev = data;

	atomic_inc(&dev->irqs);
	pbd_retire(dev);
	wake_up_all(&dev->irq_wait);
	return IRQ_HANDLED;
}

/*
 * Reads which channel the card has given this machine; it may be another one after a sleep, and the former one another
 * client's. @return -ENODEV: no card is behind the device
 */
int pbd_card_find(struct pbd_device *dev)
{
	if (READ_ONCE(*(const u32 *)(dev->memory + PB_BOOT_OFFSET)) != PB_BOOT_MAGIC)
		return -ENODEV;
	dev->link.channel = readl(dev->registers + PBD_REG_POSITION);
	return 0;
}

/* Maps the device. @return -ENODEV: no card is behind it */
static int pbd_map(struct pbd_device *dev)
{
	struct pci_dev *pdev = dev->pdev;
	resource_size_t bytes = pci_resource_len(pdev, PBD_BAR_MEMORY);
	int ret = pcim_enable_device(pdev);

	if (ret != 0)
		return ret;
	if (bytes < sizeof(struct pb_boot_block) || bytes > U32_MAX)
		return -ENODEV;
	ret = pci_request_regions(pdev, "patchbay");
	if (ret != 0)
		return ret;
	dev->memory_start = pci_resource_start(pdev, PBD_BAR_MEMORY);
	dev->memory_bytes = (u32)bytes;
	dev->registers = pcim_iomap(pdev, PBD_BAR_REGISTERS, 0);
	/* Memory of the machine below, not a device's: cached, and coherent. */
	dev->memory = devm_memremap(&pdev->dev, dev->memory_start, bytes, MEMREMAP_WB);
	if (!dev->registers || IS_ERR(dev->memory))
		return -ENOMEM;
	dev->link.memory = dev->memory;
	dev->link.memory_bytes = dev->memory_bytes;
	return pbd_card_find(dev);
}

/* Files and submissions are gone by now. */
static void pbd_release(struct drm_device *drm, void *data)
{
	struct pbd_device *dev = pbd_device(drm);
	unsigned int i;

	for (i = 0; i < PBD_ARENAS; i++)
		drm_mm_takedown(&dev->arenas[i].mm);
	if (dev->push_wq)
		destroy_workqueue(dev->push_wq);
	if (dev->clean_wq)
		destroy_workqueue(dev->clean_wq);
	if (dev->card_wq)
		destroy_workqueue(dev->card_wq);
}

static void pbd_arenas_init(struct pbd_device *dev)
{
	static const u32 sizes[PBD_ARENAS] = { PBD_DISPLAY_BYTES, PBD_SMALL_BYTES, PBD_LARGE_BYTES };
	u32 start = 0;
	unsigned int i;

	for (i = 0; i < PBD_ARENAS; start += sizes[i++]) {
		drm_mm_init(&dev->arenas[i].mm, start, sizes[i]);
		INIT_LIST_HEAD(&dev->arenas[i].hungry);
	}
}

static int pbd_init(struct pbd_device *dev)
{
	mutex_init(&dev->claim);
	mutex_init(&dev->validate);
	init_rwsem(&dev->card);
	mutex_init(&dev->commands);
	mutex_init(&dev->vram);
	spin_lock_init(&dev->state_lock);
	mutex_init(&dev->capture.one);
	spin_lock_init(&dev->capture.lock);
	init_waitqueue_head(&dev->capture.wait);
	init_waitqueue_head(&dev->irq_wait);
	INIT_LIST_HEAD(&dev->queues);
	INIT_LIST_HEAD(&dev->done);
	INIT_LIST_HEAD(&dev->lru);
	INIT_LIST_HEAD(&dev->claims);
	INIT_LIST_HEAD(&dev->paged);
	INIT_LIST_HEAD(&dev->virt.clients);
	INIT_LIST_HEAD(&dev->virt.waiters);
	INIT_WORK(&dev->clean, pbd_clean_work);
	INIT_DELAYED_WORK(&dev->watch, pbd_card_watch_work);
	INIT_DELAYED_WORK(&dev->attach, pbd_card_attach_work);
	pbd_arenas_init(dev);
	pbd_host_init(&dev->host);
	pbd_card_init(dev);
	/* Fences depend on the first and on the watchdog, so memory that is short must not stop them. */
	dev->push_wq = alloc_workqueue("patchbay-push", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	dev->card_wq = alloc_workqueue("patchbay-card", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	dev->clean_wq = alloc_workqueue("patchbay-clean", WQ_UNBOUND, 0);
	if (!dev->push_wq || !dev->card_wq || !dev->clean_wq) {
		pbd_release(&dev->drm, NULL);
		return -ENOMEM;
	}
	return drmm_add_action_or_reset(&dev->drm, pbd_release, NULL);
}

static int pbd_interrupts(struct pbd_device *dev)
{
	int ret = pci_alloc_irq_vectors(dev->pdev, 1, 1, PCI_IRQ_MSIX);

	if (ret < 0)
		return ret;
	dev->irq = pci_irq_vector(dev->pdev, 0);
	return request_irq(dev->irq, pbd_interrupt, 0, "patchbay", dev);
}

static void pbd_no_interrupts(struct pbd_device *dev)
{
	if (dev->irq)
		free_irq(dev->irq, dev);
	dev->irq = 0;
	pci_free_irq_vectors(dev->pdev);
}

static int pbd_start(struct pbd_device *dev)
{
	int ret = pbd_interrupts(dev);

	if (ret != 0) {
		dev->irq = 0;
		pbd_no_interrupts(dev);
		return ret;
	}
	down_write(&dev->card);
	ret = pbd_card_attach(dev, PBD_ATTACH_MS);
	up_write(&dev->card);
	if (ret == 0 && pbd_virtgpu)
		ret = pbd_virt_init(dev);
	if (ret == 0)
		ret = pbd_kms_init(dev);
	if (ret == 0 && pbd_i915)
		pbd_i915_identity(dev, true);
	if (ret == 0)
		ret = pbd_shrink_init(dev);
	if (ret == 0) {
		ret = drm_dev_register(&dev->drm, 0);
		if (ret != 0)
			pbd_shrink_end(dev);
	}
	if (ret != 0) {
		pbd_i915_identity(dev, false);
		pbd_kms_free(dev);
		pbd_card_detach(dev);
		pbd_no_interrupts(dev);
	}
	return ret;
}

static int pbd_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct drm_driver *driver = pbd_virtgpu ? &pbd_virt_driver : pbd_i915 ? &pbd_i915_driver : &pbd_driver;
	struct pbd_device *dev = devm_drm_dev_alloc(&pdev->dev, driver, struct pbd_device, drm);
	int ret;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	dev->pdev = pdev;
	ret = pbd_init(dev);
	if (ret == 0)
		ret = pbd_map(dev);
	if (ret != 0)
		return ret;
	pci_set_master(pdev);
	pci_set_drvdata(pdev, dev);
	ret = pbd_start(dev);
	if (ret != 0)
		return ret;
	pbd_pm_init(dev);
	pbd_card_watch(dev);
	if (pbd_fbdev)
		drm_fbdev_generic_setup(&dev->drm, 32);
	drm_info(&dev->drm, "channel %u of a card with %s\n", dev->link.channel, dev->info.build);
	return 0;
}

/* Fences end first, so that no thread waits for them while the device goes. Unplugging takes the mappings. */
static void pbd_remove(struct pci_dev *pdev)
{
	struct pbd_device *dev = pci_get_drvdata(pdev);

	pbd_pm_end(dev);
	WRITE_ONCE(dev->removed, true);
	pbd_end_all(dev, -ENODEV);
	/* A submission that is stopped for it would hold up the rest. */
	pbd_capture_close(dev, NULL);
	drm_dev_unplug(&dev->drm);
	pbd_shrink_end(dev);
	pbd_i915_identity(dev, false);
	pbd_kms_stop(dev);
	pbd_kms_free(dev);
	pbd_card_detach(dev);
	pbd_no_interrupts(dev);
	pci_clear_master(pdev);
}

static const struct pci_device_id pbd_ids[] = {
	{ PCI_DEVICE(PBD_VENDOR, PBD_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, pbd_ids);

static struct pci_driver pbd_pci_driver = {
	.name = "patchbay",
	.id_table = pbd_ids,
	.probe = pbd_probe,
	.remove = pbd_remove,
	.shutdown = pbd_remove,
	.driver.pm = pm_sleep_ptr(&pbd_pm_ops),
};

static int __init pbd_module_init(void)
{
	/* A device has one uAPI. */
	if (pbd_i915 && pbd_virtgpu)
		return -EINVAL;
	return pci_register_driver(&pbd_pci_driver);
}

static void __exit pbd_module_exit(void)
{
	pci_unregister_driver(&pbd_pci_driver);
	/* Fences are freed by callbacks, which are code of the module. */
	rcu_barrier();
}

module_init(pbd_module_init);
module_exit(pbd_module_exit);

MODULE_DESCRIPTION("DRM driver of the Patchbay card");
MODULE_AUTHOR("The Patchbay authors");
MODULE_LICENSE("Dual MIT/GPL");
