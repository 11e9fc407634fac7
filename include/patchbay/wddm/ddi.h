/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Arguments of the WDDM 1.x display miniport functions that carry submissions.
 * These are Patchbay's own definitions of the documented structs, so that the
 * shim builds on any host.
 *
 * A struct has the documented name in lower case with the prefix pb_ (struct
 * pb_dxgkarg_patch is DXGKARG_PATCH). Its fields have the documented names and,
 * where the layout is public, the documented offsets on a 64-bit host. A union
 * of bit-fields is one word with masks. DXGKARG_PRESENT and
 * DXGKARG_BUILDPAGINGBUFFER are reduced to the fields that the shim uses.
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

/* The layouts are those of 64-bit Windows. With shorter pointers only the shim and its tests use the structs. */
/** Checks a condition where pointers have 64 bits. */
#define PB_DDI_64(condition, text) PB_STATIC_ASSERT(sizeof(void *) != 8 || (condition), text)
/** Checks the offset of a field where pointers have 64 bits. */
#define PB_DDI_AT(type, field, offset) PB_DDI_64(offsetof(struct type, field) == (offset), #type "." #field)
/** Checks the size of a struct where pointers have 64 bits. */
#define PB_DDI_SIZE(type, bytes) PB_DDI_64(sizeof(struct type) == (bytes), #type)

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
PB_DDI_SIZE(pb_dxgk_allocationlist, 24);
PB_DDI_AT(pb_dxgk_allocationlist, hDeviceSpecificAllocation, 0);
PB_DDI_AT(pb_dxgk_allocationlist, Value, 8);
PB_DDI_AT(pb_dxgk_allocationlist, PhysicalAddress, 16);

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
PB_DDI_SIZE(pb_dxgkarg_render, 112);
PB_DDI_AT(pb_dxgkarg_render, pCommand, 0x00);
PB_DDI_AT(pb_dxgkarg_render, CommandLength, 0x08);
PB_DDI_AT(pb_dxgkarg_render, pDmaBuffer, 0x10);
PB_DDI_AT(pb_dxgkarg_render, DmaSize, 0x18);
PB_DDI_AT(pb_dxgkarg_render, pDmaBufferPrivateData, 0x20);
PB_DDI_AT(pb_dxgkarg_render, DmaBufferPrivateDataSize, 0x28);
PB_DDI_AT(pb_dxgkarg_render, pAllocationList, 0x30);
PB_DDI_AT(pb_dxgkarg_render, AllocationListSize, 0x38);
PB_DDI_AT(pb_dxgkarg_render, pPatchLocationListIn, 0x40);
PB_DDI_AT(pb_dxgkarg_render, PatchLocationListInSize, 0x48);
PB_DDI_AT(pb_dxgkarg_render, pPatchLocationListOut, 0x50);
PB_DDI_AT(pb_dxgkarg_render, PatchLocationListOutSize, 0x58);
PB_DDI_AT(pb_dxgkarg_render, MultipassOffset, 0x5c);
PB_DDI_AT(pb_dxgkarg_render, DmaBufferSegmentId, 0x60);
PB_DDI_AT(pb_dxgkarg_render, DmaBufferPhysicalAddress, 0x68);

/** RECT, in pixels. Right and bottom lie outside. */
struct pb_rect {
	int32_t left;   /**< first column */
	int32_t top;    /**< first row */
	int32_t right;  /**< column behind the last */
	int32_t bottom; /**< row behind the last */
};

#define PB_DXGK_PRESENT_BLT 0x1u /**< DXGK_PRESENTFLAGS: Blt */

/** DXGKARG_PRESENT: allocation 1 is the source, 2 the destination. */
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
	struct pb_rect DstRect;             /**< rectangle of the destination */
	struct pb_rect SrcRect;             /**< rectangle of the source, of the same size */
	uint32_t SubRectCnt;                /**< elements of pDstSubRects; 0: all of DstRect */
	const struct pb_rect *pDstSubRects; /**< parts of DstRect to write */
	uint32_t Flags;                     /**< PB_DXGK_PRESENT_* */
};

/** DXGK_BUILDPAGINGBUFFER_OPERATION of WDDM 1.x. */
enum pb_dxgk_operation {
	PB_DXGK_OPERATION_TRANSFER = 0,               /**< copies memory */
	PB_DXGK_OPERATION_FILL = 1,                   /**< fills memory */
	PB_DXGK_OPERATION_DISCARD_CONTENT = 2,        /**< declares contents undefined */
	PB_DXGK_OPERATION_READ_PHYSICAL = 3,          /**< flushes before a read; no packet */
	PB_DXGK_OPERATION_WRITE_PHYSICAL = 4,         /**< flushes after a write; no packet */
	PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT = 5,   /**< maps pages of an aperture */
	PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT = 6, /**< unmaps pages of an aperture */
	PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER = 7,  /**< not supported */
};

/** MDL: pages of system memory. */
struct pb_mdl {
	const uint64_t *pages; /**< GPU address of each page, multiple of 4 KiB */
};

/** Source or destination of a paging operation. */
struct pb_dxgk_location {
	uint32_t SegmentId;        /**< 0: system memory, named by pMdl */
	uint64_t SegmentAddress;   /**< segment base included; unused if SegmentId is 0 */
	const struct pb_mdl *pMdl; /**< used if SegmentId is 0 */
};

/** DXGKARG_BUILDPAGINGBUFFER. */
struct pb_dxgkarg_buildpagingbuffer {
	void *pDmaBuffer;                 /**< advanced past the last byte written */
	uint32_t DmaSize;                 /**< bytes left */
	enum pb_dxgk_operation Operation; /**< selects the member of the union */
	uint32_t MultipassOffset; /**< in: 0 for a new operation, else as the last call left it; out */
	union {
		struct {
			void *hAllocation;       /**< NULL: a raw copy; the shim treats all copies alike */
			uint32_t TransferOffset; /**< bytes, for a side in a segment */
			uint64_t TransferSize;   /**< bytes; 0: the contents are lost, nothing is copied */
			struct pb_dxgk_location Source;      /**< read */
			struct pb_dxgk_location Destination; /**< written */
			uint32_t MdlOffset;                  /**< pages, for a side in system memory */
		} Transfer;                                  /**< of TRANSFER */
		struct {
			void *hAllocation;                   /**< unused */
			uint64_t FillSize;                   /**< bytes */
			uint32_t FillPattern;                /**< value of each word */
			struct pb_dxgk_location Destination; /**< in a segment */
		} Fill;                                      /**< of FILL */
		struct {
			void *hAllocation;       /**< struct pb_wddm_allocation: gives the size */
			uint32_t SegmentId;      /**< segment of the allocation */
			uint64_t SegmentAddress; /**< segment base included */
		} DiscardContent;                /**< of DISCARD_CONTENT */
		struct {
			void *hAllocation;         /**< NULL for DMA buffers; unused */
			uint32_t SegmentId;        /**< the aperture */
			uint64_t OffsetInPages;    /**< from the start of the aperture */
			uint64_t NumberOfPages;    /**< pages to map */
			const struct pb_mdl *pMdl; /**< pages to map to */
			uint32_t MdlOffset;        /**< first page of pMdl to use */
		} MapApertureSegment;              /**< of MAP_APERTURE_SEGMENT */
		struct {
			void *hAllocation;      /**< unused */
			uint32_t SegmentId;     /**< the aperture */
			uint64_t OffsetInPages; /**< from the start of the aperture */
			uint64_t NumberOfPages; /**< pages to unmap */
			uint64_t DummyPage;     /**< unused: the firmware has its own */
		} UnmapApertureSegment;         /**< of UNMAP_APERTURE_SEGMENT */
	};
};

/* DXGK_PATCHFLAGS and DXGK_SUBMITCOMMANDFLAGS are PB_FLAG_* (include/patchbay/abi/submission.h): the same bits. */

/** DXGKARG_PATCH. */
struct pb_dxgkarg_patch {
	void *hContext;                          /**< struct pb_wddm_context; NULL for some paging buffers */
	uint32_t DmaBufferSegmentId;             /**< segment of the DMA buffer */
	uint64_t DmaBufferPhysicalAddress;       /**< address of byte 0 of the DMA buffer */
	void *pDmaBuffer;                        /**< unused: the firmware patches */
	uint32_t DmaBufferSize;                  /**< size of the DMA buffer */
	uint32_t DmaBufferSubmissionStartOffset; /**< first byte submitted */
	uint32_t DmaBufferSubmissionEndOffset;   /**< byte behind the last one submitted */
	void *pDmaBufferPrivateData;             /**< unused */
	uint32_t DmaBufferPrivateDataSize;       /**< unused */
	uint32_t DmaBufferPrivateDataSubmissionStartOffset;   /**< unused */
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;     /**< unused */
	const struct pb_dxgk_allocationlist *pAllocationList; /**< copied */
	uint32_t AllocationListSize;                          /**< entries of pAllocationList */
	const struct pb_patch_location *pPatchLocationList;   /**< copied from SubmissionStart on */
	uint32_t PatchLocationListSize;                       /**< entries of pPatchLocationList */
	uint32_t PatchLocationListSubmissionStart;            /**< first entry of this submission */
	uint32_t PatchLocationListSubmissionLength;           /**< entries of this submission */
	uint32_t SubmissionFenceId;                           /**< the OS's number of the submission */
	uint32_t Flags;                                       /**< DXGK_PATCHFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;                               /**< unused: a node has one engine */
};
PB_DDI_SIZE(pb_dxgkarg_patch, 120);
PB_DDI_AT(pb_dxgkarg_patch, hContext, 0x00);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferSegmentId, 0x08);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferPhysicalAddress, 0x10);
PB_DDI_AT(pb_dxgkarg_patch, pDmaBuffer, 0x18);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferSize, 0x20);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferSubmissionStartOffset, 0x24);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferSubmissionEndOffset, 0x28);
PB_DDI_AT(pb_dxgkarg_patch, pDmaBufferPrivateData, 0x30);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferPrivateDataSize, 0x38);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferPrivateDataSubmissionStartOffset, 0x3c);
PB_DDI_AT(pb_dxgkarg_patch, DmaBufferPrivateDataSubmissionEndOffset, 0x40);
PB_DDI_AT(pb_dxgkarg_patch, pAllocationList, 0x48);
PB_DDI_AT(pb_dxgkarg_patch, AllocationListSize, 0x50);
PB_DDI_AT(pb_dxgkarg_patch, pPatchLocationList, 0x58);
PB_DDI_AT(pb_dxgkarg_patch, PatchLocationListSize, 0x60);
PB_DDI_AT(pb_dxgkarg_patch, PatchLocationListSubmissionStart, 0x64);
PB_DDI_AT(pb_dxgkarg_patch, PatchLocationListSubmissionLength, 0x68);
PB_DDI_AT(pb_dxgkarg_patch, SubmissionFenceId, 0x6c);
PB_DDI_AT(pb_dxgkarg_patch, Flags, 0x70);
PB_DDI_AT(pb_dxgkarg_patch, EngineOrdinal, 0x74);

/** DXGKARG_SUBMITCOMMAND as of Windows 8: without lists and without a pointer to the DMA buffer. */
struct pb_dxgkarg_submitcommand {
	void *hContext;                          /**< struct pb_wddm_context; NULL for paging buffers */
	uint32_t DmaBufferSegmentId;             /**< segment of the DMA buffer */
	uint64_t DmaBufferPhysicalAddress;       /**< address of byte 0 of the DMA buffer */
	uint32_t DmaBufferSize;                  /**< size of the DMA buffer */
	uint32_t DmaBufferSubmissionStartOffset; /**< first byte submitted */
	uint32_t DmaBufferSubmissionEndOffset;   /**< byte behind the last one submitted */
	void *pDmaBufferPrivateData;             /**< unused */
	uint32_t DmaBufferPrivateDataSize;       /**< unused */
	uint32_t DmaBufferPrivateDataSubmissionStartOffset; /**< unused */
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;   /**< unused */
	uint32_t SubmissionFenceId;                         /**< the OS's number of the submission */
	uint32_t VidPnSourceId;                             /**< unused */
	uint32_t FlipInterval;                              /**< unused */
	uint32_t Flags;                                     /**< DXGK_SUBMITCOMMANDFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;                             /**< copied to the descriptor */
	uint64_t DmaBufferVirtualAddress;                   /**< unused */
	uint32_t NodeOrdinal;                               /**< node to run on, if hContext is NULL */
};
PB_DDI_SIZE(pb_dxgkarg_submitcommand, 96);
PB_DDI_AT(pb_dxgkarg_submitcommand, hContext, 0x00);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferSegmentId, 0x08);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferPhysicalAddress, 0x10);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferSize, 0x18);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferSubmissionStartOffset, 0x1c);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferSubmissionEndOffset, 0x20);
PB_DDI_AT(pb_dxgkarg_submitcommand, pDmaBufferPrivateData, 0x28);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferPrivateDataSize, 0x30);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferPrivateDataSubmissionStartOffset, 0x34);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferPrivateDataSubmissionEndOffset, 0x38);
PB_DDI_AT(pb_dxgkarg_submitcommand, SubmissionFenceId, 0x3c);
PB_DDI_AT(pb_dxgkarg_submitcommand, VidPnSourceId, 0x40);
PB_DDI_AT(pb_dxgkarg_submitcommand, FlipInterval, 0x44);
PB_DDI_AT(pb_dxgkarg_submitcommand, Flags, 0x48);
PB_DDI_AT(pb_dxgkarg_submitcommand, EngineOrdinal, 0x4c);
PB_DDI_AT(pb_dxgkarg_submitcommand, DmaBufferVirtualAddress, 0x50);
PB_DDI_AT(pb_dxgkarg_submitcommand, NodeOrdinal, 0x58);

/** DXGKARG_PREEMPTCOMMAND. */
struct pb_dxgkarg_preemptcommand {
	uint32_t PreemptionFenceId; /**< the OS's number of the preemption */
	uint32_t NodeOrdinal;       /**< node */
	uint32_t EngineOrdinal;     /**< unused: a node has one engine */
	uint32_t Flags;             /**< reserved */
};
PB_DDI_SIZE(pb_dxgkarg_preemptcommand, 16);

/** DXGKARG_QUERYCURRENTFENCE. */
struct pb_dxgkarg_querycurrentfence {
	uint32_t CurrentFence;  /**< out: fence id of the last submission completed or aborted */
	uint32_t NodeOrdinal;   /**< node */
	uint32_t EngineOrdinal; /**< unused: a node has one engine */
};
PB_DDI_SIZE(pb_dxgkarg_querycurrentfence, 12);

/** DXGKARG_RESETENGINE. */
struct pb_dxgkarg_resetengine {
	uint32_t NodeOrdinal;        /**< node */
	uint32_t EngineOrdinal;      /**< unused: a node has one engine */
	uint32_t LastAbortedFenceId; /**< out: fence id of the last submission aborted or completed */
};
PB_DDI_SIZE(pb_dxgkarg_resetengine, 12);

/** DXGKARG_QUERYENGINESTATUS. */
struct pb_dxgkarg_queryenginestatus {
	uint32_t NodeOrdinal;   /**< node */
	uint32_t EngineOrdinal; /**< unused: a node has one engine */
	uint32_t EngineStatus;  /**< out: PB_DXGK_ENGINE_RESPONSIVE or 0 */
};
#define PB_DXGK_ENGINE_RESPONSIVE 0x1u /**< DXGK_ENGINESTATUS: Responsive */

/** DXGKARG_QUERYDEPENDENTENGINEGROUP. */
struct pb_dxgkarg_querydependentenginegroup {
	uint32_t NodeOrdinal;              /**< node */
	uint32_t EngineOrdinal;            /**< unused: a node has one engine */
	uint64_t DependentNodeOrdinalMask; /**< out: bit n: a reset of this node resets node n, too */
};
PB_DDI_SIZE(pb_dxgkarg_querydependentenginegroup, 16);

/** DXGK_INTERRUPT_TYPE: the types that concern DMA buffers. */
enum pb_dxgk_interrupt_type {
	PB_DXGK_INTERRUPT_DMA_COMPLETED = 1, /**< a submission has completed */
	PB_DXGK_INTERRUPT_DMA_PREEMPTED = 2, /**< a preemption has ended */
	PB_DXGK_INTERRUPT_DMA_FAULTED = 4,   /**< not used by the shim */
};

/** DXGKARGCB_NOTIFY_INTERRUPT_DATA as of Windows 7. The shim writes it. */
struct pb_dxgkargcb_notify_interrupt_data {
	uint32_t InterruptType; /**< enum pb_dxgk_interrupt_type: selects the member of the union */
	union {
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
		uint64_t Reserved[8];            /**< size of the largest member in Windows */
	};
	uint32_t Flags; /**< 0 */
};
PB_DDI_SIZE(pb_dxgkargcb_notify_interrupt_data, 80);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, InterruptType, 0x00);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, DmaCompleted, 0x08);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, Flags, 0x48);

#endif
