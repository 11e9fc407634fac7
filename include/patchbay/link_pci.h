/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Links of a program in a virtual machine to an emulated card, which is an ivshmem device there
 * (docs/virtual-machines.md). No kernel driver of Patchbay is needed. A program uses the machine's channel alone: the
 * device serves one link at a time. The caller may be any user who may open the files named below.
 */
#ifndef PB_HOST_LINK_PCI_H
#define PB_HOST_LINK_PCI_H

#include "patchbay/link.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Opens a device that the kernel's driver vfio-pci holds, with its interrupt: /dev/vfio/vfio and /dev/vfio/GROUP. The
 * machine needs an IOMMU. Several threads may use the link, if its `locks` are set. When the device is unplugged, or
 * taken from vfio-pci, `wait` returns PB_ERROR_NO_CARD, and the kernel waits until the link is closed. When the card
 * ends, nothing tells the machine: the library's time limits run out.
 * @param address of the PCI device, as in "0000:00:04.0"
 * @param link out; the caller closes it with link->ops->close
 * @retval PB_ERROR_BAD_ARGUMENT `address` is none
 * @retval PB_ERROR_NO_CARD there is no such device, or it is no ivshmem device
 * @retval PB_ERROR_UNSUPPORTED vfio-pci does not hold the device, or not all of its IOMMU group
 * @retval PB_ERROR_BUSY another program uses the device, or one of its IOMMU group
 * @retval PB_ERROR_PROTOCOL the device has no interrupts, or no channel
 * @retval PB_ERROR_SYSTEM a system call failed; errno holds the reason
 * @retval PB_ERROR_HOST_MEMORY the host is out of memory
 */
enum pb_error pb_link_open_vfio(const char *address, struct pb_link **link);

/**
 * Opens a device that no driver holds, through the kernel's files /sys/bus/pci/devices/ADDRESS/resource0 and resource2.
 * There is no interrupt: `wait` returns after 1 ms at most. One thread uses the link at a time. Nothing tells
 * the link of a device that is unplugged.
 * @param address of the PCI device, as in "0000:00:04.0"
 * @param link out; the caller closes it with link->ops->close
 * @retval PB_ERROR_BUSY a driver holds the device, or another program uses it
 * @return otherwise as pb_link_open_vfio()
 */
enum pb_error pb_link_open_pci(const char *address, struct pb_link **link);

#ifdef __cplusplus
}
#endif

#endif
