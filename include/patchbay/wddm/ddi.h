/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Arguments of the WDDM 1.x display miniport functions that carry submissions,
 * in the documented layout. These are Patchbay's own definitions, so that the
 * shim builds on any host; they have the documented offsets of 64-bit Windows
 * or, on a host with 32-bit pointers, of 32-bit Windows. SIZE_T is size_t.
 * host/wddm/ddi_layout.def is the table of them, which the structs are compared
 * with. Arguments of BuildPagingBuffer are in ddi_paging.h.
 *
 * A struct has the documented name in lower case with the prefix pb_ (struct
 * pb_dxgkarg_patch is DXGKARG_PATCH). Its fields have the documented names. A
 * union of bit-fields is one word with masks.
 *
 * Later interface versions only append fields. A struct here has all fields up
 * to WDDM 1.3; a field of a later version than the OS uses (PB_DXGKDDI_*) does
 * not exist in the OS's memory, and the shim neither reads nor writes it.
 *
 * Sizes and offsets are in bytes, unless a field says otherwise. The OS writes
 * all fields but those marked "out" and "advanced", which the shim writes.
 *
 * D3DDDI_PATCHLOCATIONLIST is struct pb_patch_location (include/patchbay/abi/patch.h):
 * the same 24 bytes.
 */
#ifndef PB_HOST_WDDM_DDI_H
#define PB_HOST_WDDM_DDI_H

#include <stdint.h>

#include "patchbay/abi/base.h"
#include "patchbay/abi/patch.h"
#include "patchbay/abi/submission.h"

/*
 * DXGKDDI_INTERFACE_VERSION: the interface that the driver names in DRIVER_INITIALIZATION_DATA.Version, as far as the
 * OS supports it (DXGKRNL_INTERFACE.Version, which DxgkDdiStartDevice gets). The lower of the two counts.
 */
#define PB_DXGKDDI_VISTA   0x1052 /**< Windows Vista */
#define PB_DXGKDDI_WIN7    0x2005 /**< Windows 7, WDDM 1.1 */
#define PB_DXGKDDI_WIN8    0x300e /**< Windows 8, WDDM 1.2 */
#define PB_DXGKDDI_WDDM1_3 0x4002 /**< Windows 8.1, WDDM 1.3 */

/* NTSTATUS values beside those of PB_RENDER_STATUSES. */
#define PB_STATUS_SUCCESS                 0x00000000u /**< STATUS_SUCCESS */
#define PB_STATUS_ALLOCATION_BUSY         0xc01e0102u /**< STATUS_GRAPHICS_ALLOCATION_BUSY */
#define PB_STATUS_INSUFFICIENT_DMA_BUFFER 0xc01e0001u /**< STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER */
#define PB_STATUS_UNSUCCESSFUL            0xc0000001u /**< STATUS_UNSUCCESSFUL */
#define PB_STATUS_GPU_EXCEPTION_ON_DEVICE 0xc01e0200u /**< STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE */

/* Bits of DXGK_ALLOCATIONLIST.Value. The public header's mask of SegmentId, 0x2E, is a misprint. */
#define PB_DXGK_ALLOCATION_WRITE         0x01u /**< WriteOperation */
#define PB_DXGK_ALLOCATION_SEGMENT_SHIFT 1u    /**< lowest bit of SegmentId */
#define PB_DXGK_ALLOCATION_SEGMENT_MASK  0x3eu /**< bits of SegmentId */

/** DXGK_ALLOCATIONLIST: an allocation and its address. */
struct pb_dxgk_allocationlist {
	void *hDeviceSpecificAllocation; /**< struct pb_wddm_allocation; NULL: unbinds the entry */
	uint32_t Value;                  /**< WriteOperation, SegmentId, Reserved: PB_DXGK_ALLOCATION_* */
	uint64_t PhysicalAddress;        /**< address in the segment, segment base included; 0 is valid */
};

/** DXGKARG_RENDER, for Render and RenderKm. */
struct pb_dxgkarg_render {
	const void *pCommand;   /**< command buffer; of Render: user memory, which may change meanwhile */
	uint32_t CommandLength; /**< size of the command buffer */
	void *pDmaBuffer;       /**< advanced past the last byte written */
	uint32_t DmaSize;       /**< size of the DMA buffer */
	void *pDmaBufferPrivateData;                    /**< advanced past the last byte written */
	uint32_t DmaBufferPrivateDataSize;              /**< size of the private data */
	struct pb_dxgk_allocationlist *pAllocationList; /**< an entry with a segment has its final address */
	uint32_t AllocationListSize;                    /**< entries of pAllocationList */
	/** Of Render: user memory, which may change meanwhile. */
	const struct pb_patch_location *pPatchLocationListIn;
	uint32_t PatchLocationListInSize;                /**< entries of pPatchLocationListIn */
	struct pb_patch_location *pPatchLocationListOut; /**< advanced past the last element written */
	uint32_t PatchLocationListOutSize;               /**< elements of pPatchLocationListOut */
	uint32_t MultipassOffset; /**< in: 0 for a new command buffer, else as the last call left it; out */
	uint32_t DmaBufferSegmentId;       /**< segment of the DMA buffer; unused */
	uint64_t DmaBufferPhysicalAddress; /**< address of the DMA buffer; unused */
};

/** RECT, in pixels. Right and bottom lie outside. */
struct pb_rect {
	int32_t left;   /**< first column */
	int32_t top;    /**< first row */
	int32_t right;  /**< column behind the last */
	int32_t bottom; /**< row behind the last */
};

#define PB_DXGK_PRESENT_BLT        0x1u /**< DXGK_PRESENTFLAGS: Blt */
#define PB_DXGK_PRESENT_COLOR_FILL 0x2u /**< DXGK_PRESENTFLAGS: ColorFill */

/** DXGKARG_PRESENT: allocation 1 is the source of a blit, 2 the destination. */
struct pb_dxgkarg_present {
	void *pDmaBuffer;                  /**< advanced past the last byte written; NULL for a flip */
	uint32_t DmaSize;                  /**< size of the DMA buffer */
	void *pDmaBufferPrivateData;       /**< advanced past the last byte written */
	uint32_t DmaBufferPrivateDataSize; /**< size of the private data */
	const struct pb_dxgk_allocationlist *pAllocationList; /**< 3 elements */
	struct pb_patch_location *pPatchLocationListOut;      /**< advanced past the last element written */
	uint32_t PatchLocationListOutSize;                    /**< elements of pPatchLocationListOut */
	/** In: 0 in the first call; out: index of the next element of pDstSubRects. */
	uint32_t MultipassOffset;
	uint32_t Color;                     /**< of a colour fill: value of each pixel */
	struct pb_rect DstRect;             /**< rectangle of the destination */
	struct pb_rect SrcRect;             /**< of a blit: rectangle of the source, of the same size */
	uint32_t SubRectCnt;                /**< elements of pDstSubRects; 0: all of DstRect */
	const struct pb_rect *pDstSubRects; /**< parts of DstRect to write */
	uint32_t FlipInterval;              /**< of a flip; unused */
	uint32_t Flags;                     /**< PB_DXGK_PRESENT_* */
	uint32_t DmaBufferSegmentId;        /**< segment of the DMA buffer; unused */
	uint64_t DmaBufferPhysicalAddress;  /**< address of the DMA buffer; unused */
};

/* DXGK_PATCHFLAGS and DXGK_SUBMITCOMMANDFLAGS are PB_FLAG_* (include/patchbay/abi/submission.h): the same bits. */

/** DXGKARG_PATCH. */
struct pb_dxgkarg_patch {
	__extension__ union {
		void *hDevice;  /**< of drivers without contexts; unused */
		void *hContext; /**< struct pb_wddm_context; NULL for some paging buffers */
	};
	uint32_t DmaBufferSegmentId;             /**< unused: SubmitCommand has it */
	uint64_t DmaBufferPhysicalAddress;       /**< unused: SubmitCommand has it */
	void *pDmaBuffer;                        /**< unused: the firmware patches */
	uint32_t DmaBufferSize;                  /**< unused: SubmitCommand has it */
	uint32_t DmaBufferSubmissionStartOffset; /**< first byte submitted */
	uint32_t DmaBufferSubmissionEndOffset;   /**< byte behind the last one submitted */
	void *pDmaBufferPrivateData;             /**< the lists are kept in it, for SubmitCommand */
	uint32_t DmaBufferPrivateDataSize;       /**< size of the private data */
	uint32_t DmaBufferPrivateDataSubmissionStartOffset;   /**< first byte: Render's record */
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;     /**< byte behind the last one */
	const struct pb_dxgk_allocationlist *pAllocationList; /**< converted: entries that the range names */
	uint32_t AllocationListSize;                          /**< entries of pAllocationList */
	const struct pb_patch_location *pPatchLocationList;   /**< copied from SubmissionStart on */
	uint32_t PatchLocationListSize;                       /**< entries of pPatchLocationList */
	uint32_t PatchLocationListSubmissionStart;            /**< first entry of this submission */
	uint32_t PatchLocationListSubmissionLength;           /**< entries of this submission */
	uint32_t SubmissionFenceId;                           /**< unused: SubmitCommand has it */
	uint32_t Flags;                                       /**< DXGK_PATCHFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;                               /**< unused: a node has one engine */
};

/** DXGKARG_SUBMITCOMMAND: without lists and without a pointer to the DMA buffer. Before Windows 8 it ends earlier. */
struct pb_dxgkarg_submitcommand {
	__extension__ union {
		void *hDevice;  /**< of drivers without contexts; unused */
		void *hContext; /**< struct pb_wddm_context; NULL for some paging buffers */
	};
	uint32_t DmaBufferSegmentId;                        /**< segment of the DMA buffer */
	uint64_t DmaBufferPhysicalAddress;                  /**< address of byte 0 of the DMA buffer */
	uint32_t DmaBufferSize;                             /**< size of the DMA buffer */
	uint32_t DmaBufferSubmissionStartOffset;            /**< first byte submitted */
	uint32_t DmaBufferSubmissionEndOffset;              /**< byte behind the last one submitted */
	void *pDmaBufferPrivateData;                        /**< what Patch or BuildPagingBuffer left */
	uint32_t DmaBufferPrivateDataSize;                  /**< size of the private data */
	uint32_t DmaBufferPrivateDataSubmissionStartOffset; /**< first byte of this submission */
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;   /**< byte behind the last one */
	uint32_t SubmissionFenceId;                         /**< the OS's number of the submission */
	uint32_t VidPnSourceId;                             /**< unused */
	uint32_t FlipInterval;                              /**< unused */
	uint32_t Flags;                                     /**< DXGK_SUBMITCOMMANDFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;                             /**< copied to the descriptor */
	uint64_t DmaBufferVirtualAddress;                   /**< since Windows 7; reserved, not read */
	uint32_t NodeOrdinal; /**< since Windows 8: node to run on, if hContext is NULL */
};

/** DXGKARG_PREEMPTCOMMAND. */
struct pb_dxgkarg_preemptcommand {
	uint32_t PreemptionFenceId; /**< the OS's number of the preemption */
	uint32_t NodeOrdinal;       /**< node */
	uint32_t EngineOrdinal;     /**< unused: a node has one engine */
	uint32_t Flags;             /**< reserved */
};

/** DXGKARG_QUERYCURRENTFENCE. */
struct pb_dxgkarg_querycurrentfence {
	uint32_t CurrentFence;  /**< out: fence id of the last submission completed or aborted */
	uint32_t NodeOrdinal;   /**< node */
	uint32_t EngineOrdinal; /**< unused: a node has one engine */
};

/** DXGKARG_RESETENGINE, since Windows 8. */
struct pb_dxgkarg_resetengine {
	uint32_t NodeOrdinal;        /**< node */
	uint32_t EngineOrdinal;      /**< unused: a node has one engine */
	uint32_t LastAbortedFenceId; /**< out: fence id of the last submission aborted or completed */
};

/** DXGKARG_QUERYENGINESTATUS, since Windows 8. */
struct pb_dxgkarg_queryenginestatus {
	uint32_t NodeOrdinal;   /**< node */
	uint32_t EngineOrdinal; /**< unused: a node has one engine */
	uint32_t EngineStatus;  /**< out: PB_DXGK_ENGINE_RESPONSIVE or 0 */
};
#define PB_DXGK_ENGINE_RESPONSIVE 0x1u /**< DXGK_ENGINESTATUS: Responsive */

/** DXGKARG_QUERYDEPENDENTENGINEGROUP, since Windows 8. */
struct pb_dxgkarg_querydependentenginegroup {
	uint32_t NodeOrdinal;              /**< node */
	uint32_t EngineOrdinal;            /**< unused: a node has one engine */
	uint64_t DependentNodeOrdinalMask; /**< out: bit n: a reset of this node resets node n, too */
};

/** DXGK_INTERRUPT_TYPE: the types that concern DMA buffers. */
enum pb_dxgk_interrupt_type {
	PB_DXGK_INTERRUPT_DMA_COMPLETED = 1, /**< a submission has completed */
	PB_DXGK_INTERRUPT_DMA_PREEMPTED = 2, /**< a preemption has ended */
	PB_DXGK_INTERRUPT_DMA_FAULTED = 4,   /**< not used by the shim */
};

/** DXGKARGCB_NOTIFY_INTERRUPT_DATA, which has one layout in all versions. The shim writes it. */
struct pb_dxgkargcb_notify_interrupt_data {
	uint32_t InterruptType; /**< enum pb_dxgk_interrupt_type: selects the member of the union */
	__extension__ union {
		struct {
			uint32_t SubmissionFenceId; /**< submission that completed */
			uint32_t NodeOrdinal;       /**< its node */
			uint32_t EngineOrdinal;     /**< 0 */
		} DmaCompleted;                     /**< of DMA_COMPLETED */
		struct {
			uint32_t PreemptionFenceId;    /**< preemption that has ended */
			uint32_t LastCompletedFenceId; /**< last submission that completed */
			uint32_t NodeOrdinal;          /**< node */
			uint32_t EngineOrdinal;        /**< 0 */
		} DmaPreempted;                        /**< of DMA_PREEMPTED */
		struct {
			uint32_t FaultedFenceId; /**< submission that faulted */
			uint32_t Status;         /**< NTSTATUS */
			uint32_t NodeOrdinal;    /**< its node */
			uint32_t EngineOrdinal;  /**< 0 */
		} DmaFaulted;                    /**< of DMA_FAULTED */
		struct {
			uint32_t VidPnTargetId;       /**< video present target */
			uint64_t PhysicalAddress;     /**< address of the surface displayed */
			uint32_t PhysicalAdapterMask; /**< adapters of a linked set */
		} CrtcVsync;                          /**< not used by the shim: there is no display */
		struct {
			uint32_t Reserved[16]; /**< size of the union */
		} Reserved;                    /**< not used */
	};
	uint32_t Flags; /**< 0 */
};

#endif
