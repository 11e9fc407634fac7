/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR MIT) */
/*
 * The uAPI of the Patchbay DRM driver. docs/linux.md explains it.
 *
 * Rules for every ioctl: pointers are 64-bit numbers; `pad` and unknown flags
 * must be 0, else EINVAL. EIO: the card's firmware has ended or refused what
 * was asked. ENODEV: the card does not answer, or was removed.
 */
#ifndef PATCHBAY_DRM_H
#define PATCHBAY_DRM_H

#include <drm/drm.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_PATCHBAY_INFO 0x00
#define DRM_PATCHBAY_GEM_CREATE 0x01
#define DRM_PATCHBAY_GEM_INFO 0x02
#define DRM_PATCHBAY_GEM_WAIT 0x03
#define DRM_PATCHBAY_QUEUE_CREATE 0x04
#define DRM_PATCHBAY_QUEUE_DESTROY 0x05
#define DRM_PATCHBAY_QUEUE_QUERY 0x06
#define DRM_PATCHBAY_QUEUE_CLEAR 0x07
#define DRM_PATCHBAY_SUBMIT 0x08
#define DRM_PATCHBAY_WAIT 0x09
#define DRM_PATCHBAY_GEM_MADVISE 0x0a

/** Kinds of a node: what its engine can do. */
#define PATCHBAY_NODE_3D 1
#define PATCHBAY_NODE_COPY 2

/** struct drm_patchbay_info - what the card is and has */
struct drm_patchbay_info {
	/** @abi_version: out: of the firmware; major in bits 31..16 */
	__u32 abi_version;
	/** @channel: out: number of the card's channel that this machine has */
	__u32 channel;
	/** @nodes: out: nodes, numbered from 0 */
	__u32 nodes;
	/** @node_kinds: out: PATCHBAY_NODE_* in four bits a node, node 0 lowest */
	__u32 node_kinds;
	/** @allocations_max: out: entries of one allocation list */
	__u32 allocations_max;
	/** @patches_max: out: entries of one patch list */
	__u32 patches_max;
	/** @command_bytes_max: out: bytes of one command buffer */
	__u32 command_bytes_max;
	/** @restarts: out: times that the driver has attached to the card again */
	__u32 restarts;
	/** @vram_bytes: out: memory of the card that objects may lie in */
	__u64 vram_bytes;
	/** @patchable_bytes: out: part of it for PATCHBAY_GEM_PATCHABLE */
	__u64 patchable_bytes;
	/** @vram_used: out: bytes of @vram_bytes that objects have */
	__u64 vram_used;
	/** @evictions: out: objects moved out of card memory so far */
	__u64 evictions;
	/** @host_bytes: out: addresses for objects in host memory; 0: none */
	__u64 host_bytes;
	/** @host_used: out: bytes of @host_bytes that objects have */
	__u64 host_used;
	/** @build: out: version and board of the firmware, with a final 0 */
	char build[40];
};

/** The object may be the target of a submission with PATCHBAY_SUBMIT_PATCH. */
#define PATCHBAY_GEM_PATCHABLE 0x1
/** The object prefers host memory, if the card reaches any: the CPU is at it often. */
#define PATCHBAY_GEM_HOST 0x2

/** struct drm_patchbay_gem_create - creates an object, whose contents are 0 */
struct drm_patchbay_gem_create {
	/** @size: in: bytes, rounded up to pages; out: the rounded size */
	__u64 size;
	/** @flags: in: PATCHBAY_GEM_* */
	__u32 flags;
	/** @handle: out */
	__u32 handle;
};

/** Where an object lies. */
#define PATCHBAY_PLACE_NONE 0
#define PATCHBAY_PLACE_VRAM 1
#define PATCHBAY_PLACE_SYSTEM 2
/** As SYSTEM, and mapped where the engines see it. */
#define PATCHBAY_PLACE_HOST 3

/** The contents were lost with the card; they are 0 now. Reported once. */
#define PATCHBAY_GEM_LOST 0x1

/** struct drm_patchbay_gem_info - state of an object, and its mmap offset */
struct drm_patchbay_gem_info {
	/** @handle: in */
	__u32 handle;
	/** @flags: in: 0; out: PATCHBAY_GEM_LOST */
	__u32 flags;
	/** @place: out: PATCHBAY_PLACE_* */
	__u32 place;
	/** @pad: 0 */
	__u32 pad;
	/** @size: out: bytes */
	__u64 size;
	/** @offset: out: for mmap() of the device file */
	__u64 offset;
	/** @address: out: where the engines see the object now; 0: nowhere */
	__u64 address;
};

/** struct drm_patchbay_gem_wait - waits until an object is idle */
struct drm_patchbay_gem_wait {
	/** @handle: in */
	__u32 handle;
	/** @flags: in: 0: also reads must have ended; 1: only writes */
	__u32 flags;
	/** @timeout_ns: in: from now; negative: for ever. ETIME when it ends */
	__s64 timeout_ns;
};

/** The contents are needed. */
#define PATCHBAY_GEM_WILLNEED 0
/** The user can do without the contents, so that the kernel may take the memory. */
#define PATCHBAY_GEM_DONTNEED 1

/**
 * struct drm_patchbay_gem_madvise - says whether the contents are needed
 *
 * What is not needed is thrown away when the system or the card is short of
 * memory and the object is idle; at once, if it is in swap. The object stays
 * and may be used; its contents are 0 then. The advice is that of the object:
 * who shares it has to agree.
 */
struct drm_patchbay_gem_madvise {
	/** @handle: in */
	__u32 handle;
	/** @advice: in: PATCHBAY_GEM_WILLNEED, as at first, or _DONTNEED */
	__u32 advice;
	/** @retained: out: 0: thrown away since the last WILLNEED; else 1 */
	__u32 retained;
	/** @pad: 0 */
	__u32 pad;
};

/** Priorities. HIGH and REALTIME need CAP_SYS_NICE. */
#define PATCHBAY_PRIORITY_IDLE 0
#define PATCHBAY_PRIORITY_LOW 1
#define PATCHBAY_PRIORITY_NORMAL 2
#define PATCHBAY_PRIORITY_HIGH 3
#define PATCHBAY_PRIORITY_REALTIME 4

/**
 * struct drm_patchbay_queue_create - creates a queue with a context of its own
 *
 * Queue N, for a node N, need not be created: it has priority NORMAL, and is
 * made by the first submission to it. ENOSPC: the card has no more.
 */
struct drm_patchbay_queue_create {
	/** @node: in: which engine */
	__u32 node;
	/** @priority: in: PATCHBAY_PRIORITY_* */
	__u32 priority;
	/** @quantum_us: in: engine time of one turn; 0: the card's default */
	__u32 quantum_us;
	/** @queue: out: number of the queue in this file */
	__u32 queue;
};

/** struct drm_patchbay_queue - names a queue, to destroy or clear it */
struct drm_patchbay_queue {
	/** @queue: in: number */
	__u32 queue;
	/** @pad: 0 */
	__u32 pad;
};

/** An earlier submission failed: later ones are cancelled until QUEUE_CLEAR. */
#define PATCHBAY_QUEUE_LOST 0x1
/** The card was lost since; submissions get EIO until QUEUE_CLEAR. */
#define PATCHBAY_QUEUE_CARD_LOST 0x2

/** struct drm_patchbay_queue_query - state of a queue */
struct drm_patchbay_queue_query {
	/** @queue: in: number */
	__u32 queue;
	/** @flags: in: 0; out: PATCHBAY_QUEUE_* */
	__u32 flags;
	/** @submitted: out: value of the last submission */
	__u64 submitted;
	/** @completed: out: value of the last one that has ended */
	__u64 completed;
	/** @error_value: out: value of the first one that failed; 0: none */
	__u64 error_value;
	/** @error: out: why it failed: enum pb_error of the firmware */
	__u32 error;
	/** @error_index: out: the failing entry of its list, or ~0 */
	__u32 error_index;
	/** @errors: out: submissions that failed or were cancelled */
	__u32 errors;
	/** @node: out: which engine */
	__u32 node;
	/** @error_name: out: @error in words, with a final 0 */
	char error_name[32];
};

/** The submission writes to the allocation. */
#define PATCHBAY_ALLOCATION_WRITE 0x1

/** struct drm_patchbay_allocation - an entry of an allocation list */
struct drm_patchbay_allocation {
	/** @handle: object; 0: the entry names nothing, patches of it write nothing */
	__u32 handle;
	/** @flags: PATCHBAY_ALLOCATION_* */
	__u32 flags;
};

/** struct drm_patchbay_patch - an entry of a patch list (D3DDDI_PATCHLOCATIONLIST) */
struct drm_patchbay_patch {
	/** @allocation_index: index into the allocation list */
	__u32 allocation_index;
	/** @slot: SlotId; bits 31..24 are 0 */
	__u32 slot;
	/** @format: what is written, enum pb_patch_format_number */
	__u32 format;
	/** @allocation_offset: bytes from the start of the allocation */
	__u32 allocation_offset;
	/** @patch_offset: bytes from the start of the buffer that is patched */
	__u32 patch_offset;
	/** @split_offset: of commands: at or below @patch_offset; else ignored */
	__u32 split_offset;
};

/** struct drm_patchbay_sync - a syncobj to wait for, or to signal */
struct drm_patchbay_sync {
	/** @handle: syncobj */
	__u32 handle;
	/** @flags: 0 */
	__u32 flags;
	/** @point: of its timeline; 0: the syncobj is binary */
	__u64 point;
};

/** Instead of commands: the patch list is carried out in @target; nothing runs. */
#define PATCHBAY_SUBMIT_PATCH 0x01
/** @in_fence_fd is waited for. */
#define PATCHBAY_SUBMIT_FENCE_IN 0x02
/** @out_fence_fd is set to a new sync_file. */
#define PATCHBAY_SUBMIT_FENCE_OUT 0x04
/** Fences of the objects are not waited for. */
#define PATCHBAY_SUBMIT_EXPLICIT 0x08
/** Commands of the kernel's are allowed: CAP_SYS_ADMIN, and module parameter `unsafe`. */
#define PATCHBAY_SUBMIT_UNSAFE 0x10

/**
 * struct drm_patchbay_submit - submits commands, or patches of an object
 *
 * docs/render.md has the commands. They name memory by an index into the
 * allocation list and an offset; the driver writes an engine buffer in which
 * all addresses are poison, and the firmware patches each before it runs. The
 * patch list is optional then, and must not contradict the commands.
 *
 * A refused submission has no effect: @refusal names the status of
 * docs/render.md, if commands or lists were wrong.
 */
struct drm_patchbay_submit {
	/** @queue: in: number */
	__u32 queue;
	/** @flags: in: PATCHBAY_SUBMIT_* */
	__u32 flags;
	/** @commands: in: address of the commands */
	__u64 commands;
	/** @allocations: in: address of struct drm_patchbay_allocation[] */
	__u64 allocations;
	/** @patches: in: address of struct drm_patchbay_patch[] */
	__u64 patches;
	/** @in_syncs: in: address of struct drm_patchbay_sync[] to wait for */
	__u64 in_syncs;
	/** @out_syncs: in: address of struct drm_patchbay_sync[] to signal */
	__u64 out_syncs;
	/** @command_bytes: in: multiple of 4 */
	__u32 command_bytes;
	/** @allocation_count: in */
	__u32 allocation_count;
	/** @patch_count: in */
	__u32 patch_count;
	/** @in_count: in */
	__u32 in_count;
	/** @out_count: in */
	__u32 out_count;
	/** @in_fence_fd: in: sync_file, if asked for */
	__s32 in_fence_fd;
	/** @out_fence_fd: out: sync_file, if asked for */
	__s32 out_fence_fd;
	/** @target: in: of PATCHBAY_SUBMIT_PATCH: the patchable object */
	__u32 target;
	/** @start: in: first byte of @target that may be patched; multiple of 4 */
	__u32 start;
	/** @end: in: byte behind the last one; multiple of 4 */
	__u32 end;
	/** @refusal: out: enum pb_render_status */
	__u32 refusal;
	/** @pad: 0 */
	__u32 pad;
	/** @value: out: the submission's value in the queue's timeline */
	__u64 value;
};

/** struct drm_patchbay_wait - waits for a value of a queue */
struct drm_patchbay_wait {
	/** @queue: in: number */
	__u32 queue;
	/** @pad: 0 */
	__u32 pad;
	/** @value: in: of a submission; EINVAL if it was not submitted */
	__u64 value;
	/** @timeout_ns: in: from now; negative: for ever. ETIME when it ends */
	__s64 timeout_ns;
};

#define DRM_IOCTL_PATCHBAY_INFO \
	DRM_IOR(DRM_COMMAND_BASE + DRM_PATCHBAY_INFO, struct drm_patchbay_info)
#define DRM_IOCTL_PATCHBAY_GEM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_GEM_CREATE, struct drm_patchbay_gem_create)
#define DRM_IOCTL_PATCHBAY_GEM_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_GEM_INFO, struct drm_patchbay_gem_info)
#define DRM_IOCTL_PATCHBAY_GEM_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PATCHBAY_GEM_WAIT, struct drm_patchbay_gem_wait)
#define DRM_IOCTL_PATCHBAY_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_QUEUE_CREATE, struct drm_patchbay_queue_create)
#define DRM_IOCTL_PATCHBAY_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PATCHBAY_QUEUE_DESTROY, struct drm_patchbay_queue)
#define DRM_IOCTL_PATCHBAY_QUEUE_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_QUEUE_QUERY, struct drm_patchbay_queue_query)
#define DRM_IOCTL_PATCHBAY_QUEUE_CLEAR \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PATCHBAY_QUEUE_CLEAR, struct drm_patchbay_queue)
#define DRM_IOCTL_PATCHBAY_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_SUBMIT, struct drm_patchbay_submit)
#define DRM_IOCTL_PATCHBAY_WAIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_PATCHBAY_WAIT, struct drm_patchbay_wait)
#define DRM_IOCTL_PATCHBAY_GEM_MADVISE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_PATCHBAY_GEM_MADVISE, struct drm_patchbay_gem_madvise)

#if defined(__cplusplus)
}
#endif

#endif
