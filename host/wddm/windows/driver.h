/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The functions of the shim as those of a Windows display miniport. The driver
 * itself has the rest: AddDevice, StartDevice, power, children and displays, and
 * those that need memory: it calls pb_wddm_create_context() and the like.
 *
 * The driver's device context, which AddDevice returns, starts with its struct
 * pb_wddm_adapter; each hContext points to a struct that starts with its struct
 * pb_wddm_context.
 */
#ifndef PB_HOST_WDDM_WINDOWS_DRIVER_H
#define PB_HOST_WDDM_WINDOWS_DRIVER_H

#include "host/wddm/windows/wdk.h"

/** Fills in Version and the functions that the shim has; others are left as they are. For DriverEntry. */
void pb_wddm_windows_functions(DRIVER_INITIALIZATION_DATA *data);
/** Returns config.interface_version: of the driver's version and the OS's, the lower. For StartDevice. */
uint32_t pb_wddm_windows_version(const DXGKRNL_INTERFACE *os);
/** A lock for config.lock, or for all short locks of the channel's link: a spinlock at DISPATCH_LEVEL. */
struct pb_wddm_windows_lock {
	struct pb_lock base; /**< first, so that one pointer is both */
	KSPIN_LOCK spin;     /**< the lock proper */
	KIRQL level;         /**< level to return to; the holder's */
};

/** Initialises a lock. For StartDevice. */
void pb_wddm_windows_lock_init(struct pb_wddm_windows_lock *lock);
/** Returns config.callbacks. For StartDevice. @param os the driver's copy, which exists as long as the adapter */
struct pb_wddm_callbacks pb_wddm_windows_callbacks(DXGKRNL_INTERFACE *os);

#endif
