/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The arguments of a WDDM 1.x display miniport that carry work: our own
 * definitions of the documented structs, so that the shim builds anywhere.
 *
 * A struct is named as the documented one, in lower case and with our prefix
 * (struct pb_dxgkarg_patch is DXGKARG_PATCH). Its fields have the documented
 * names and, where the layout is public, the documented places on a 64-bit
 * host. Unions of bit-fields are one word with masks. Of DXGKARG_PRESENT and
 * DXGKARG_BUILDPAGINGBUFFER only the fields that this contract uses are here.
 *
 * D3DDDI_PATCHLOCATIONLIST is struct pb_patch_location (firmware/abi/patch.h):
 * the same 24 bytes.
 */
#ifndef PB_HOST_WDDM_DDI_H
#define PB_HOST_WDDM_DDI_H

#include <stdint.h>

#include "firmware/abi/base.h"
#include "firmware/abi/patch.h"
#include "firmware/abi/submission.h"

/* The layouts are those of 64-bit Windows; elsewhere pointers are shorter, and nobody shares these structs. */
#define PB_DDI_64(condition, text)     PB_STATIC_ASSERT(sizeof(void *) != 8 || (condition), text)
#define PB_DDI_AT(type, field, offset) PB_DDI_64(offsetof(struct type, field) == (offset), #type "." #field)
#define PB_DDI_SIZE(type, bytes)       PB_DDI_64(sizeof(struct type) == (bytes), #type)

/* NTSTATUS values that Render does not have already (PB_RENDER_STATUSES). */
#define PB_STATUS_SUCCESS                 0x00000000u
#define PB_STATUS_ALLOCATION_BUSY         0xc01e0102u /**< STATUS_GRAPHICS_ALLOCATION_BUSY */
#define PB_STATUS_INSUFFICIENT_DMA_BUFFER 0xc01e0001u /**< STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER */
#define PB_STATUS_UNSUCCESSFUL            0xc0000001u
#define PB_STATUS_GPU_EXCEPTION_ON_DEVICE 0xc01e0200u /**< STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE */

/* DXGK_ALLOCATIONLIST.Value. The public header's mask of SegmentId, 0x2E, is a misprint. */
#define PB_DXGK_ALLOCATION_WRITE         0x01u
#define PB_DXGK_ALLOCATION_SEGMENT_SHIFT 1u
#define PB_DXGK_ALLOCATION_SEGMENT_MASK  0x3eu

/** DXGK_ALLOCATIONLIST: an allocation and where it is. */
struct pb_dxgk_allocationlist {
	void *hDeviceSpecificAllocation; /**< struct pb_wddm_allocation, or NULL: unbinds */
	uint32_t Value;                  /**< WriteOperation, SegmentId, Reserved: PB_DXGK_ALLOCATION_* */
	uint64_t PhysicalAddress;        /**< in its segment, base included; 0 is an address */
};
PB_DDI_SIZE(pb_dxgk_allocationlist, 24);
PB_DDI_AT(pb_dxgk_allocationlist, hDeviceSpecificAllocation, 0);
PB_DDI_AT(pb_dxgk_allocationlist, Value, 8);
PB_DDI_AT(pb_dxgk_allocationlist, PhysicalAddress, 16);

/** DXGKARG_RENDER, for Render and RenderKm. */
struct pb_dxgkarg_render {
	const void *pCommand;              /**< the process may change it meanwhile */
	uint32_t CommandLength;            /**< bytes */
	void *pDmaBuffer;                  /**< advanced past the last byte written */
	uint32_t DmaSize;                  /**< bytes */
	void *pDmaBufferPrivateData;       /**< advanced too */
	uint32_t DmaBufferPrivateDataSize; /**< bytes */
	struct pb_dxgk_allocationlist
		*pAllocationList; /**< the kernel's; its addresses are final if it has a segment */
	uint32_t AllocationListSize;
	const struct pb_patch_location *pPatchLocationListIn; /**< the process may change it meanwhile */
	uint32_t PatchLocationListInSize;
	struct pb_patch_location *pPatchLocationListOut; /**< advanced past the last element written */
	uint32_t PatchLocationListOutSize;
	uint32_t MultipassOffset; /**< 0 for a new command buffer, then as the last call left it */
	uint32_t DmaBufferSegmentId;
	uint64_t DmaBufferPhysicalAddress;
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

/** RECT: right and bottom are outside. */
struct pb_rect {
	int32_t left;
	int32_t top;
	int32_t right;
	int32_t bottom;
};

/* DXGK_PRESENTFLAGS */
#define PB_DXGK_PRESENT_BLT 0x1u

/** DXGKARG_PRESENT: allocation 1 is the source, 2 the destination. */
struct pb_dxgkarg_present {
	void *pDmaBuffer; /**< advanced; NULL for a flip */
	uint32_t DmaSize;
	void *pDmaBufferPrivateData; /**< advanced */
	uint32_t DmaBufferPrivateDataSize;
	const struct pb_dxgk_allocationlist *pAllocationList; /**< 3 elements */
	struct pb_patch_location *pPatchLocationListOut;      /**< advanced */
	uint32_t PatchLocationListOutSize;
	uint32_t MultipassOffset; /**< of pDstSubRects, the next one to do */
	struct pb_rect DstRect;
	struct pb_rect SrcRect; /**< of the same size */
	uint32_t SubRectCnt;
	const struct pb_rect *pDstSubRects; /**< the parts of DstRect to write */
	uint32_t Flags;                     /**< PB_DXGK_PRESENT_* */
};

/** DXGK_BUILDPAGINGBUFFER_OPERATION, of WDDM 1.x. */
enum pb_dxgk_operation {
	PB_DXGK_OPERATION_TRANSFER = 0,
	PB_DXGK_OPERATION_FILL = 1,
	PB_DXGK_OPERATION_DISCARD_CONTENT = 2,
	PB_DXGK_OPERATION_READ_PHYSICAL = 3,
	PB_DXGK_OPERATION_WRITE_PHYSICAL = 4,
	PB_DXGK_OPERATION_MAP_APERTURE_SEGMENT = 5,
	PB_DXGK_OPERATION_UNMAP_APERTURE_SEGMENT = 6,
	PB_DXGK_OPERATION_SPECIAL_LOCK_TRANSFER = 7,
};

/** MDL: pages of system memory, as the engine sees them. */
struct pb_mdl {
	const uint64_t *pages; /**< address of each, multiple of 4 KiB */
};

/** A place that a paging operation is about. */
struct pb_dxgk_place {
	uint32_t SegmentId;      /**< 0: pMdl */
	uint64_t SegmentAddress; /**< base included */
	const struct pb_mdl *pMdl;
};

/** DXGKARG_BUILDPAGINGBUFFER. */
struct pb_dxgkarg_buildpagingbuffer {
	void *pDmaBuffer; /**< advanced past the last byte written */
	uint32_t DmaSize; /**< bytes left */
	enum pb_dxgk_operation Operation;
	uint32_t MultipassOffset; /**< 0 for a new operation, then as the last call left it */
	union {
		struct {
			void *hAllocation;       /**< NULL: a raw copy; here all copies are */
			uint32_t TransferOffset; /**< bytes, for the side that is in a segment */
			uint64_t TransferSize;   /**< bytes; 0: it was lost, nothing is copied */
			struct pb_dxgk_place Source;
			struct pb_dxgk_place Destination;
			uint32_t MdlOffset; /**< pages, for the side that is an MDL */
		} Transfer;
		struct {
			void *hAllocation;
			uint64_t FillSize; /**< bytes */
			uint32_t FillPattern;
			struct pb_dxgk_place Destination; /**< in a segment */
		} Fill;
		struct {
			void *hAllocation; /**< struct pb_wddm_allocation: says how many bytes */
			uint32_t SegmentId;
			uint64_t SegmentAddress;
		} DiscardContent;
		struct {
			void *hAllocation; /**< NULL for DMA buffers */
			uint32_t SegmentId;
			uint64_t OffsetInPages; /**< from the start of the aperture */
			uint64_t NumberOfPages;
			const struct pb_mdl *pMdl;
			uint32_t MdlOffset; /**< pages */
		} MapApertureSegment;
		struct {
			void *hAllocation;
			uint32_t SegmentId;
			uint64_t OffsetInPages;
			uint64_t NumberOfPages;
			uint64_t DummyPage; /**< the firmware has its own */
		} UnmapApertureSegment;
	};
};

/* DXGK_PATCHFLAGS and DXGK_SUBMITCOMMANDFLAGS are PB_FLAG_* (firmware/abi/submission.h): the same bits. */

/** DXGKARG_PATCH. */
struct pb_dxgkarg_patch {
	void *hContext; /**< struct pb_wddm_context; NULL for some paging buffers */
	uint32_t DmaBufferSegmentId;
	uint64_t DmaBufferPhysicalAddress; /**< of byte 0 */
	void *pDmaBuffer;
	uint32_t DmaBufferSize;
	uint32_t DmaBufferSubmissionStartOffset;
	uint32_t DmaBufferSubmissionEndOffset;
	void *pDmaBufferPrivateData;
	uint32_t DmaBufferPrivateDataSize;
	uint32_t DmaBufferPrivateDataSubmissionStartOffset;
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;
	const struct pb_dxgk_allocationlist *pAllocationList;
	uint32_t AllocationListSize;
	const struct pb_patch_location *pPatchLocationList;
	uint32_t PatchLocationListSize;
	uint32_t PatchLocationListSubmissionStart;
	uint32_t PatchLocationListSubmissionLength;
	uint32_t SubmissionFenceId;
	uint32_t Flags; /**< DXGK_PATCHFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;
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

/** DXGKARG_SUBMITCOMMAND as of Windows 8: no list, and no pointer to the DMA buffer. */
struct pb_dxgkarg_submitcommand {
	void *hContext; /**< struct pb_wddm_context; NULL for paging buffers */
	uint32_t DmaBufferSegmentId;
	uint64_t DmaBufferPhysicalAddress; /**< of byte 0 */
	uint32_t DmaBufferSize;
	uint32_t DmaBufferSubmissionStartOffset;
	uint32_t DmaBufferSubmissionEndOffset;
	void *pDmaBufferPrivateData;
	uint32_t DmaBufferPrivateDataSize;
	uint32_t DmaBufferPrivateDataSubmissionStartOffset;
	uint32_t DmaBufferPrivateDataSubmissionEndOffset;
	uint32_t SubmissionFenceId;
	uint32_t VidPnSourceId;
	uint32_t FlipInterval;
	uint32_t Flags; /**< DXGK_SUBMITCOMMANDFLAGS: PB_FLAG_* */
	uint32_t EngineOrdinal;
	uint64_t DmaBufferVirtualAddress;
	uint32_t NodeOrdinal;
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
	uint32_t PreemptionFenceId; /**< of a count of its own */
	uint32_t NodeOrdinal;
	uint32_t EngineOrdinal;
	uint32_t Flags; /**< reserved */
};
PB_DDI_SIZE(pb_dxgkarg_preemptcommand, 16);

/** DXGKARG_QUERYCURRENTFENCE. */
struct pb_dxgkarg_querycurrentfence {
	uint32_t CurrentFence; /**< out */
	uint32_t NodeOrdinal;
	uint32_t EngineOrdinal;
};
PB_DDI_SIZE(pb_dxgkarg_querycurrentfence, 12);

/** DXGKARG_RESETENGINE. */
struct pb_dxgkarg_resetengine {
	uint32_t NodeOrdinal;
	uint32_t EngineOrdinal;
	uint32_t LastAbortedFenceId; /**< out */
};
PB_DDI_SIZE(pb_dxgkarg_resetengine, 12);

/** DXGKARG_QUERYENGINESTATUS. */
struct pb_dxgkarg_queryenginestatus {
	uint32_t NodeOrdinal;
	uint32_t EngineOrdinal;
	uint32_t EngineStatus; /**< out: PB_DXGK_ENGINE_RESPONSIVE */
};
#define PB_DXGK_ENGINE_RESPONSIVE 0x1u

/** DXGKARG_QUERYDEPENDENTENGINEGROUP. */
struct pb_dxgkarg_querydependentenginegroup {
	uint32_t NodeOrdinal;
	uint32_t EngineOrdinal;
	uint64_t
		DependentNodeOrdinalMask; /**< out: nodes that a reset of this one resets, itself among them */
};
PB_DDI_SIZE(pb_dxgkarg_querydependentenginegroup, 16);

/** DXGK_INTERRUPT_TYPE, of those that speak of DMA buffers. */
enum pb_dxgk_interrupt_type {
	PB_DXGK_INTERRUPT_DMA_COMPLETED = 1,
	PB_DXGK_INTERRUPT_DMA_PREEMPTED = 2,
	PB_DXGK_INTERRUPT_DMA_FAULTED = 4,
};

/** DXGKARGCB_NOTIFY_INTERRUPT_DATA as of Windows 7. */
struct pb_dxgkargcb_notify_interrupt_data {
	uint32_t InterruptType; /**< enum pb_dxgk_interrupt_type */
	union {
		struct {
			uint32_t SubmissionFenceId;
			uint32_t NodeOrdinal;
			uint32_t EngineOrdinal;
		} DmaCompleted;
		struct {
			uint32_t PreemptionFenceId;
			uint32_t LastCompletedFenceId;
			uint32_t NodeOrdinal;
			uint32_t EngineOrdinal;
		} DmaPreempted;
		struct {
			uint32_t FaultedFenceId;
			uint32_t Status; /**< NTSTATUS */
			uint32_t NodeOrdinal;
			uint32_t EngineOrdinal;
		} DmaFaulted;
		uint64_t Reserved[8];
	};
	uint32_t Flags;
};
PB_DDI_SIZE(pb_dxgkargcb_notify_interrupt_data, 80);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, InterruptType, 0x00);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, DmaCompleted, 0x08);
PB_DDI_AT(pb_dxgkargcb_notify_interrupt_data, Flags, 0x48);

#endif
