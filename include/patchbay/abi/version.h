/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Release of these sources. A build may define PB_VERSION itself; CMake reads
 * the number below, so that it stands in this file alone.
 */
#ifndef PB_FIRMWARE_ABI_VERSION_H
#define PB_FIRMWARE_ABI_VERSION_H

#ifndef PB_VERSION
/** Text of the release: the build text of the boot block, and the header of an image, carry it. */
#define PB_VERSION "0.1.0"
#endif

#endif
