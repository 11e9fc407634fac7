/* SPDX-License-Identifier: MIT */
/**
 * @file
 * An ivshmem device of a virtual machine, as the links to it see it: registers in BAR 0, card memory in BAR 2.
 */
#ifndef PB_HOST_LINK_PCI_INTERNAL_H
#define PB_HOST_LINK_PCI_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/link_pci.h"

#define PB_PCI_DEVICES "/sys/bus/pci/devices" /**< where the kernel lists the devices */
#define PB_PCI_PATH    512u                   /**< size of a buffer for a path, in bytes */

/** Registers in BAR 0, in bytes. */
enum pb_pci_register {
	PB_PCI_POSITION = 8,  /**< read: number of this machine's channel */
	PB_PCI_DOORBELL = 12, /**< write: peer << 16 | vector */
};

/**
 * Builds the path of a file of a device.
 * @param devices folder with a folder for each device
 * @return false: it is too long
 */
bool pb_pci_path(const char *devices, const char *address, const char *name, char path[PB_PCI_PATH]);
/**
 * Returns whether there is an ivshmem device at an address.
 * @retval PB_ERROR_BAD_ARGUMENT `address` is no PCI address
 * @retval PB_ERROR_NO_CARD there is none
 */
enum pb_error pb_pci_find(const char *devices, const char *address);
/** Takes the value of PB_PCI_POSITION. @retval PB_ERROR_PROTOCOL no card gives a host that channel */
enum pb_error pb_pci_set_channel(struct pb_link *link, uint32_t position);
/** As pb_link_open_pci(), with the folder of devices. */
enum pb_error pb_pci_open(const char *devices, const char *address, struct pb_link **link);

#endif
