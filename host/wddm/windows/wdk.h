/* SPDX-License-Identifier: MIT */
/*
 * The documented structs: those of the WDK in a build with PB_WDK, else the stand-in that standin.py makes of the tables
 * of their layout. DXGKDDI_INTERFACE_VERSION is the newest interface that the driver is built for; the WDK's headers
 * leave out what is newer.
 */
#ifndef PB_HOST_WDDM_WINDOWS_WDK_H
#define PB_HOST_WDDM_WINDOWS_WDK_H

#include "patchbay/wddm/wddm.h"

#ifndef DXGKDDI_INTERFACE_VERSION
#define DXGKDDI_INTERFACE_VERSION PB_DXGKDDI_WDDM1_3
#endif
#define PB_DDI_VERSION DXGKDDI_INTERFACE_VERSION

#ifdef PB_WDK
#include <dispmprt.h>
#include <ntddk.h>
#include <windef.h>
#else
#include "standin.h"
#endif

#endif
