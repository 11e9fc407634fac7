/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * What the driver offers beside i915's uAPI when it presents that (module
 * parameter `i915`): a capture of all relocations, for root. docs/linux.md
 * explains it.
 *
 * The first CAPTURE_NEXT of a file begins the capture; the end of the file
 * ends it. From then on each EXECBUFFER2 of any file stops twice, and goes on
 * with the next CAPTURE_NEXT: when its objects have their addresses and
 * nothing is patched yet, and when its fence has ended. In between, all card
 * memory can be read and written with CAPTURE_MEMORY.
 */
#ifndef PATCHBAY_I915_H
#define PATCHBAY_I915_H

#include <drm/drm.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Behind all numbers of i915's own. */
#define DRM_PATCHBAY_CAPTURE_NEXT 0x58
#define DRM_PATCHBAY_CAPTURE_MEMORY 0x59

/** Nothing is patched yet. */
#define PATCHBAY_CAPTURE_PLACED 1
/** The firmware has ended the submission. */
#define PATCHBAY_CAPTURE_DONE 2

/** struct drm_patchbay_capture_next - lets the last one go on, waits for the next one */
struct drm_patchbay_capture_next {
	/**
	 * @record: in: address for the record: a submission of a SUBM file
	 * (tests/data/README.txt) without its contents
	 */
	__u64 record;
	/** @bytes: in: room for it; out: its bytes. ENOSPC: that many are needed; the record is still there */
	__u32 bytes;
	/** @phase: out: PATCHBAY_CAPTURE_* */
	__u32 phase;
	/** @status: out: of DONE: 0, or the negative error of the fence */
	__s32 status;
	/** @number: out: of the EXECBUFFER2, from 1 */
	__u32 number;
	/** @timeout_ns: in: from now; negative: for ever. ETIME when it ends */
	__s64 timeout_ns;
};

/** To card memory; else from it. */
#define PATCHBAY_CAPTURE_WRITE 0x1

/** struct drm_patchbay_capture_memory - reads or writes card memory, while an EXECBUFFER2 is stopped */
struct drm_patchbay_capture_memory {
	/** @address: in: as the engines see it, and as records name it */
	__u64 address;
	/** @data: in: address in the caller's memory */
	__u64 data;
	/** @bytes: in: 1 MiB at most */
	__u32 bytes;
	/** @flags: in: PATCHBAY_CAPTURE_* */
	__u32 flags;
};

#define DRM_IOCTL_PATCHBAY_CAPTURE_NEXT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_CAPTURE_NEXT, struct drm_patchbay_capture_next)
#define DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PATCHBAY_CAPTURE_MEMORY, struct drm_patchbay_capture_memory)

#if defined(__cplusplus)
}
#endif

#endif
