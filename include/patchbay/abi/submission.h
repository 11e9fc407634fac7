/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A queue and one submission: what DXGKARG_PATCH and DXGKARG_SUBMITCOMMAND
 * carry, with pointers replaced by addresses.
 */
#ifndef PB_FIRMWARE_ABI_SUBMISSION_H
#define PB_FIRMWARE_ABI_SUBMISSION_H

#include "patchbay/abi/base.h"

/**
 * Completion state of a queue, 64 bytes, written by the firmware.
 *
 * A seqlock: `sequence` is odd while the rest changes. A reader takes an even
 * value, acquire barrier, the fields, acquire barrier, and the same value
 * again; it gives up after a bounded number of tries.
 */
struct pb_fence_record {
	uint32_t sequence;      /**< odd while the rest changes */
	uint32_t completed;     /**< consumer index: descriptors completed or returned since creation */
	uint32_t timeline_low;  /**< timeline value of the last completed one, low word */
	uint32_t timeline_high; /**< high word */
	uint32_t fence_id;      /**< SubmissionFenceId of the last completed one; any value is valid */
	uint32_t status;        /**< enum pb_error of the last completed one */
	uint32_t epoch;         /**< of the channel, at the creation of the queue */
	uint32_t valid;         /**< 1 once a submission has completed: 0 is a valid fence id */
	uint32_t reserved_patches[2];
	uint32_t error;          /**< first error since creation or QUEUE_CLEAR; PB_ERROR_OK if none */
	uint32_t error_fence_id; /**< fence id of the submission with that error */
	uint32_t error_index;    /**< the list entry, or PB_INDEX_NONE */
	uint32_t errors;         /**< submissions that failed or were cancelled since creation */
	uint32_t reserved[2];
};
PB_SIZE(pb_fence_record, 64);
PB_AT(pb_fence_record, sequence, 0);
PB_AT(pb_fence_record, completed, 4);
PB_AT(pb_fence_record, timeline_low, 8);
PB_AT(pb_fence_record, timeline_high, 12);
PB_AT(pb_fence_record, fence_id, 16);
PB_AT(pb_fence_record, status, 20);
PB_AT(pb_fence_record, epoch, 24);
PB_AT(pb_fence_record, valid, 28);
PB_AT(pb_fence_record, reserved_patches, 32);
PB_AT(pb_fence_record, error, 40);
PB_AT(pb_fence_record, error_fence_id, 44);
PB_AT(pb_fence_record, error_index, 48);
PB_AT(pb_fence_record, errors, 52);
PB_AT(pb_fence_record, reserved, 56);

/**
 * Result of the last preemption by the host, 64 bytes, written by the firmware.
 * Separate from the fence record, because preemption ids come from another
 * counter. A seqlock like the fence record, and written after it: completions
 * are reported first.
 */
struct pb_preempt_record {
	uint32_t sequence; /**< odd while the rest changes */
	uint32_t count; /**< preemptions of this queue that were reported; 0: none, the rest is undefined */
	uint32_t preemption_id; /**< of the request; any value */
	uint32_t fence_id;      /**< of the last submission completed */
	uint32_t valid;         /**< 1 if a submission has completed: 0 is a valid fence id */
	uint32_t completed;     /**< consumer index behind the last one completed or returned */
	uint32_t returned;      /**< submissions returned: those right before `completed` */
	uint32_t started;       /**< 1: the first of them had begun; PB_OPTION_RESUME continues it */
	uint32_t epoch;         /**< of the channel */
	/* not part of the record: the doorbell whose latency is being measured, or was last */
	uint32_t doorbell_index;   /**< index of the first descriptor that it announced */
	uint32_t doorbell_time_us; /**< card clock then, in microseconds; 0: no timestamp */
	uint32_t reserved[5];
};
PB_SIZE(pb_preempt_record, 64);
PB_AT(pb_preempt_record, sequence, 0);
PB_AT(pb_preempt_record, count, 4);
PB_AT(pb_preempt_record, preemption_id, 8);
PB_AT(pb_preempt_record, fence_id, 12);
PB_AT(pb_preempt_record, valid, 16);
PB_AT(pb_preempt_record, completed, 20);
PB_AT(pb_preempt_record, returned, 24);
PB_AT(pb_preempt_record, started, 28);
PB_AT(pb_preempt_record, epoch, 32);
PB_AT(pb_preempt_record, doorbell_index, 36);
PB_AT(pb_preempt_record, doorbell_time_us, 40);
PB_AT(pb_preempt_record, reserved, 44);

/** Words of progress that an engine saves of a submission that it stopped inside. The engine defines them. */
#define PB_SAVE_WORDS 16u

/**
 * Head of a queue in the channel's segment 0, 64-byte aligned; the ring of
 * descriptors follows right behind it. The host zeroes it before it creates
 * the queue.
 */
struct pb_queue_page {
	/* line 0: written by the host */
	uint32_t put; /**< descriptors written since creation */
	/**
	 * Microseconds without progress after which a submission of the queue counts as hung; 0: the node's. Read while
	 * one runs, and brought within the channel's limits: PB_RESOURCE_HANG_MICROSECONDS.
	 */
	uint32_t hang_us;
	/**
	 * Microseconds that a stop may take while a submission of the queue runs, whatever progress it makes; 0: the
	 * node's answer time without progress, for which progress may ask anew during two seconds. Limits: PB_RESOURCE_STOP_MICROSECONDS.
	 */
	uint32_t stop_us;
	uint32_t line0_reserved[13];

	/* line 1: written by the firmware */
	struct pb_fence_record fence; /**< completions */

	/* line 2: written by the firmware */
	struct pb_preempt_record preempt; /**< result of the last preemption */

	/* line 3: written by the firmware when the engine stopped inside a submission, read when that one continues */
	uint32_t save[PB_SAVE_WORDS]; /**< progress of the engine */
};
PB_SIZE(pb_queue_page, 256);
PB_AT(pb_queue_page, put, 0);
PB_AT(pb_queue_page, hang_us, 4);
PB_AT(pb_queue_page, stop_us, 8);
PB_AT(pb_queue_page, line0_reserved, 12);
PB_AT(pb_queue_page, fence, 64);
PB_AT(pb_queue_page, preempt, 128);
PB_AT(pb_queue_page, save, 192);

/*
 * Descriptor.flags: DXGK_PATCHFLAGS and DXGK_SUBMITCOMMANDFLAGS. Unknown bits
 * are ignored, as the WDDM contract has it.
 *
 *   31                            8 7 6 5 4 3 2 1 0
 *  +-------------------------------+-+-+-+-+-+-+-+-+
 *  |            ignored            |R|C|W|F|N|D|P|G|
 *  +-------------------------------+-+-+-+-+-+-+-+-+
 *  G Paging  P Present  D RedirectedPresent  N NullRendering
 *  F Flip  W FlipWithNoWait  C ContextSwitch  R Resubmission
 */
#define PB_FLAG_PAGING             0x01u /**< no lists, context 0; the channel needs the privilege */
#define PB_FLAG_PRESENT            0x02u /**< Present; ignored */
#define PB_FLAG_REDIRECTED_PRESENT 0x04u /**< RedirectedPresent; ignored */
#define PB_FLAG_NULL_RENDERING     0x08u /**< patched and fenced in order, not executed */
#define PB_FLAG_FLIP               0x10u /**< Flip; ignored */
#define PB_FLAG_FLIP_WITH_NO_WAIT  0x20u /**< FlipWithNoWait; ignored */
#define PB_FLAG_CONTEXT_SWITCH     0x40u /**< ContextSwitch; ignored */
#define PB_FLAG_RESUBMISSION       0x80u /**< Resubmission; ignored */

/** Descriptor.options: bits of our own; unknown ones are refused. */
#define PB_OPTION_RESUME                                                                                     \
	0x1u /**< continues from pb_queue_page.save: the submission was returned after it had begun */

/** Descriptor.patch_encoding */
enum pb_patch_encoding {
	PB_PATCH_ENCODING_WDDM = 0,    /**< struct pb_patch_location, 24 bytes */
	PB_PATCH_ENCODING_COMPACT = 1, /**< words, see include/patchbay/abi/patch.h; counts are in words */
	PB_PATCH_ENCODING_GROUPED = 2, /**< compact, grouped by allocation; counts are in words */
};

/**
 * A flag in Descriptor.patch_encoding: the allocation list is followed by struct pb_presumed for each allocation. Together
 * with the encoding COMPACT it is UNSUPPORTED: entries of a stream cannot be skipped unread, which GROUPED is for. The
 * capability PATCH_ENCODINGS has this bit as well.
 */
#define PB_PATCH_PRESUMED 0x10000u

/**
 * One submission, 128 bytes, written by the host and read once by the
 * firmware. Addresses are those of the OS: the segment's base is included.
 * Lists, waits and private data lie in backed memory of segment 0.
 */
struct pb_descriptor {
	uint32_t flags;    /**< PB_FLAG_* */
	uint32_t options;  /**< PB_OPTION_* */
	uint32_t context;  /**< context handle; 0 for a paging buffer */
	uint32_t fence_id; /**< SubmissionFenceId, any value */

	uint32_t timeline_low;     /**< greater than that of the previous descriptor */
	uint32_t timeline_high;    /**< high word */
	uint32_t dma_address_low;  /**< DmaBufferPhysicalAddress: byte 0 of the buffer, 4 KiB aligned */
	uint32_t dma_address_high; /**< high word */

	uint32_t dma_segment; /**< DmaBufferSegmentId; must be backed memory, or mapped in an aperture */
	uint32_t dma_size;    /**< DmaBufferSize in bytes */
	uint32_t dma_start;   /**< DmaBufferSubmissionStartOffset, multiple of 4 */
	uint32_t dma_end;     /**< DmaBufferSubmissionEndOffset: first byte not submitted, multiple of 4 */

	uint32_t private_address_low;  /**< pDmaBufferPrivateData; ignored when private_size is 0 */
	uint32_t private_address_high; /**< high word */
	uint32_t private_size;         /**< DmaBufferPrivateDataSize in bytes */
	uint32_t private_start;        /**< DmaBufferPrivateDataSubmissionStartOffset */

	uint32_t private_end;             /**< DmaBufferPrivateDataSubmissionEndOffset */
	uint32_t allocation_count;        /**< AllocationListSize; no entry is read if patch_length is 0 */
	uint32_t allocation_address_low;  /**< struct pb_allocation[], 8-byte aligned; unused if none */
	uint32_t allocation_address_high; /**< high word */

	uint32_t patch_address_low;  /**< pPatchLocationList, 4-byte aligned; unused when patch_length is 0 */
	uint32_t patch_address_high; /**< high word */
	uint32_t patch_count;        /**< PatchLocationListSize */
	uint32_t patch_start;        /**< PatchLocationListSubmissionStart */

	uint32_t patch_length;      /**< PatchLocationListSubmissionLength */
	uint32_t patch_encoding;    /**< enum pb_patch_encoding, and PB_PATCH_PRESUMED */
	uint32_t wait_address_low;  /**< struct pb_wait[], 8-byte aligned; unused if none */
	uint32_t wait_address_high; /**< high word */

	uint32_t wait_count;     /**< 0..PB_WAITS_MAX */
	uint32_t engine_ordinal; /**< EngineOrdinal; ignored, the queue names the node */
	/**
	 * The host's name for the contents of the buffer and its lists; 0: none. A submission whose cookie the
	 * firmware knows, with unchanged range, lists and placements, is not patched again. So the host takes
	 * another cookie after each change of the patch list or of the range of the buffer. Patches by other
	 * submissions are no such change: the firmware tracks them. Without effect if the buffer lies in an
	 * aperture, or if an entry writes the fence id: such a buffer is patched each time.
	 */
	uint32_t cookie;
	uint32_t reserved; /**< 0; firmware of ABI 1.0 stored the time of a doorbell here */
};
PB_SIZE(pb_descriptor, 128);
PB_AT(pb_descriptor, flags, 0);
PB_AT(pb_descriptor, options, 4);
PB_AT(pb_descriptor, context, 8);
PB_AT(pb_descriptor, fence_id, 12);
PB_AT(pb_descriptor, timeline_low, 16);
PB_AT(pb_descriptor, timeline_high, 20);
PB_AT(pb_descriptor, dma_address_low, 24);
PB_AT(pb_descriptor, dma_address_high, 28);
PB_AT(pb_descriptor, dma_segment, 32);
PB_AT(pb_descriptor, dma_size, 36);
PB_AT(pb_descriptor, dma_start, 40);
PB_AT(pb_descriptor, dma_end, 44);
PB_AT(pb_descriptor, private_address_low, 48);
PB_AT(pb_descriptor, private_address_high, 52);
PB_AT(pb_descriptor, private_size, 56);
PB_AT(pb_descriptor, private_start, 60);
PB_AT(pb_descriptor, private_end, 64);
PB_AT(pb_descriptor, allocation_count, 68);
PB_AT(pb_descriptor, allocation_address_low, 72);
PB_AT(pb_descriptor, allocation_address_high, 76);
PB_AT(pb_descriptor, patch_address_low, 80);
PB_AT(pb_descriptor, patch_address_high, 84);
PB_AT(pb_descriptor, patch_count, 88);
PB_AT(pb_descriptor, patch_start, 92);
PB_AT(pb_descriptor, patch_length, 96);
PB_AT(pb_descriptor, patch_encoding, 100);
PB_AT(pb_descriptor, wait_address_low, 104);
PB_AT(pb_descriptor, wait_address_high, 108);
PB_AT(pb_descriptor, wait_count, 112);
PB_AT(pb_descriptor, engine_ordinal, 116);
PB_AT(pb_descriptor, cookie, 120);
PB_AT(pb_descriptor, reserved, 124);

/** Waits of one submission. */
#define PB_WAITS_MAX 4u

/**
 * One wait on a queue of the same channel, written by the host. Out of line, because four of them
 * do not fit beside the fields of DXGKARG_PATCH in 128 bytes, and a submission
 * without waits need not carry them. The submission waits before it is patched.
 * The value need not have been submitted yet.
 */
struct pb_wait {
	uint32_t queue;         /**< queue handle */
	uint32_t reserved;      /**< must be 0 */
	uint32_t timeline_low;  /**< the wait ends when the queue's timeline has reached this value */
	uint32_t timeline_high; /**< high word */
};
PB_SIZE(pb_wait, 16);
PB_AT(pb_wait, queue, 0);
PB_AT(pb_wait, reserved, 4);
PB_AT(pb_wait, timeline_low, 8);
PB_AT(pb_wait, timeline_high, 12);

#endif
