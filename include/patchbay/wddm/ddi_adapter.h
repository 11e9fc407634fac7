/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Arguments of the functions by which a driver describes itself, its contexts
 * and its allocations, in the documented layout: see ddi.h. The driver writes
 * fields marked "out". Fields without a mark are 0 or unused.
 */
#ifndef PB_HOST_WDDM_DDI_ADAPTER_H
#define PB_HOST_WDDM_DDI_ADAPTER_H

#include <stddef.h>
#include <stdint.h>

/* NTSTATUS values of these functions. */
#define PB_STATUS_NOT_SUPPORTED     0xc00000bbu /**< STATUS_NOT_SUPPORTED */
#define PB_STATUS_BUFFER_TOO_SMALL  0xc0000023u /**< STATUS_BUFFER_TOO_SMALL */
#define PB_STATUS_INVALID_PARAMETER 0xc000000du /**< STATUS_INVALID_PARAMETER */

/** DXGK_QUERYADAPTERINFOTYPE: the types that the shim answers. */
enum pb_dxgk_query {
	PB_DXGK_QUERY_DRIVERCAPS = 1,    /**< struct pb_dxgk_drivercaps */
	PB_DXGK_QUERY_QUERYSEGMENT = 2,  /**< struct pb_dxgk_querysegmentout */
	PB_DXGK_QUERY_QUERYSEGMENT3 = 5, /**< since Windows 8: struct pb_dxgk_querysegmentout3 */
};

/** DXGKARG_QUERYADAPTERINFO. */
struct pb_dxgkarg_queryadapterinfo {
	uint32_t Type;           /**< DXGK_QUERYADAPTERINFOTYPE */
	void *pInputData;        /**< unused */
	uint32_t InputDataSize;  /**< unused */
	void *pOutputData;       /**< out: a struct by Type */
	uint32_t OutputDataSize; /**< size of pOutputData */
};

#define PB_DXGK_FLIP_ON_VSYNC_MMIO     0x2u /**< DXGK_FLIPCAPS: FlipOnVSyncMmIo */
#define PB_DXGK_SCHEDULE_MULTI_ENGINE  0x1u /**< DXGK_VIDSCHCAPS: MultiEngineAware */
#define PB_DXGK_SCHEDULE_PREEMPTION    0x4u /**< DXGK_VIDSCHCAPS: PreemptionAware, since Windows 8 */
#define PB_DXGK_PREEMPT_AT_DMA_BUFFERS 100u /**< D3DKMDT_*_PREEMPTION_DMA_BUFFER_BOUNDARY */

/*
 * DXGK_PRESENTATIONCAPS. SupportKernelModeCommandBuffer, which stands for all of GDI, is not set: engines neither blend
 * nor stretch. Nor may an overlapping copy or a blend within one bitmap be asked for. All but the first since Windows 7.
 */
#define PB_DXGK_PRESENT_NO_OVERLAP 0x00000002u /**< NoOverlapScreenBlt */
#define PB_DXGK_PRESENT_NO_SAME_BITMAP                                                                       \
	0x00000038u /**< NoSameBitmapAlphaBlend, -StretchBlt, -TransparentBlt */
#define PB_DXGK_PRESENT_NO_OVERLAPPED         0x000000c0u /**< NoSameBitmapOverlappedAlphaBlend, -StretchBlt */
#define PB_DXGK_PRESENT_NO_OVERLAPPED_BIT_BLT 0x02000000u /**< NoSameBitmapOverlappedBitBlt */

/** DXGK_DRIVERCAPS. */
struct pb_dxgk_drivercaps {
	uint64_t HighestAcceptableAddress; /**< out: last address of segment 0 */
	uint32_t MaxAllocationListSlotId;  /**< out: highest SlotId of a patch entry */
	size_t ApertureSegmentCommitLimit; /**< out: bytes of all apertures; what exceeds size_t is cut off */
	uint32_t MaxPointerWidth;          /**< there is no pointer */
	uint32_t MaxPointerHeight;         /**< there is no pointer */
	uint32_t PointerCaps;              /**< there is no pointer */
	uint32_t InterruptMessageNumber;   /**< out: 0 */
	uint32_t NumberOfSwizzlingRanges;  /**< there are none */
	uint32_t MaxOverlays;              /**< there are none */
	uint32_t GammaRampCaps;            /**< there is no display */
	uint32_t PresentationCaps;         /**< out: PB_DXGK_PRESENT_NO_* */
	uint32_t MaxQueuedFlipOnVSync;     /**< there is no display */
	uint32_t FlipCaps;       /**< out: FlipOnVSyncMmIo, without which no OS takes PreemptionAware */
	uint32_t SchedulingCaps; /**< out: PB_DXGK_SCHEDULE_* */
	uint32_t MemoryManagementCaps[2];      /**< DXGK_VIDMMCAPS: flags; out: PagingNode */
	uint32_t GpuEngineTopology[65];        /**< out: NbAsymetricProcessingNodes; 64 reserved words */
	uint32_t WDDMVersion;                  /**< since Windows 7; out: DXGK_WDDMVERSION */
	uint32_t Reserved[7];                  /**< since Windows 7 */
	uint32_t Reserved1[40];                /**< since Windows 7 */
	uint32_t PreemptionCaps[2];            /**< since Windows 8; out: of graphics, of compute */
	uint8_t SupportNonVGA;                 /**< since Windows 8; out: 1 */
	uint8_t SupportSmoothRotation;         /**< there is no display */
	uint8_t SupportPerEngineTDR;           /**< since Windows 8; out: 1 */
	uint8_t SupportDirectFlip;             /**< there is no display */
	uint8_t SupportMultiPlaneOverlay;      /**< there is no display */
	uint8_t SupportRuntimePowerManagement; /**< out: 0 */
	uint8_t SupportSurpriseRemovalInHibernation; /**< out: 0 */
	uint8_t HybridDiscrete;                      /**< since WDDM 1.3; out: 0 */
	uint32_t MaxOverlayPlanes;                   /**< since WDDM 1.3; there is no display */
};

#define PB_DXGK_SEGMENT_APERTURE    0x1u /**< DXGK_SEGMENTFLAGS: Aperture */
#define PB_DXGK_SEGMENT_CPU_VISIBLE 0x4u /**< DXGK_SEGMENTFLAGS: CpuVisible */

/** DXGK_SEGMENTDESCRIPTOR. */
struct pb_dxgk_segmentdescriptor {
	uint64_t BaseAddress;          /**< out: first address of the segment */
	uint64_t CpuTranslatedAddress; /**< out: where the CPU sees it; 0: nowhere */
	size_t Size;                   /**< out: bytes */
	uint32_t NbOfBanks;            /**< out: 0 */
	uint64_t *pBankRangeTable;     /**< unused */
	size_t CommitLimit;            /**< out: of an aperture: its size */
	uint32_t Flags;                /**< out: PB_DXGK_SEGMENT_* */
};

/** DXGK_QUERYSEGMENTOUT. */
struct pb_dxgk_querysegmentout {
	uint32_t NbSegment; /**< out: number of segments; in the second call the OS has room for so many */
	struct pb_dxgk_segmentdescriptor *pSegmentDescriptor; /**< NULL in the first call */
	uint32_t PagingBufferSegmentId;                       /**< out: 0, contiguous system memory */
	uint32_t PagingBufferSize;                            /**< out: bytes */
	uint32_t PagingBufferPrivateDataSize;                 /**< out: bytes */
};

/** DXGK_SEGMENTDESCRIPTOR3, since Windows 8. */
struct pb_dxgk_segmentdescriptor3 {
	uint32_t Flags;                /**< out: PB_DXGK_SEGMENT_* */
	uint64_t BaseAddress;          /**< out: first address of the segment */
	uint64_t CpuTranslatedAddress; /**< out: where the CPU sees it; 0: nowhere */
	size_t Size;                   /**< out: bytes */
	uint32_t NbOfBanks;            /**< out: 0 */
	uint64_t *pBankRangeTable;     /**< unused */
	size_t CommitLimit;            /**< out: of an aperture: its size */
	size_t SystemMemoryEndAddress; /**< out: 0 */
	size_t Reserved;               /**< out: 0 */
};

/** DXGK_QUERYSEGMENTOUT3, since Windows 8. */
struct pb_dxgk_querysegmentout3 {
	uint32_t NbSegment; /**< out: number of segments; in the second call the OS has room for so many */
	struct pb_dxgk_segmentdescriptor3 *pSegmentDescriptor; /**< NULL in the first call */
	uint32_t PagingBufferSegmentId;                        /**< out: 0, contiguous system memory */
	uint32_t PagingBufferSize;                             /**< out: bytes */
	uint32_t PagingBufferPrivateDataSize;                  /**< out: bytes */
};

/** DXGK_CONTEXTINFO. */
struct pb_dxgk_contextinfo {
	uint32_t DmaBufferSize;            /**< out: bytes */
	uint32_t DmaBufferSegmentSet;      /**< out: 0, contiguous system memory */
	uint32_t DmaBufferPrivateDataSize; /**< out: bytes */
	uint32_t AllocationListSize;       /**< out: entries */
	uint32_t PatchLocationListSize;    /**< out: entries */
	uint32_t Reserved;                 /**< since Windows 7; out: 0 */
};

#define PB_DXGK_CONTEXT_GDI 0x2u /**< DXGK_CREATECONTEXTFLAGS: GdiContext */

/** DXGKARG_CREATECONTEXT. */
struct pb_dxgkarg_createcontext {
	void *hContext;                         /**< in: the OS's handle; out: struct pb_wddm_context */
	uint32_t NodeOrdinal;                   /**< node */
	uint32_t EngineAffinity;                /**< bit 0: the only engine of the node */
	uint32_t Flags;                         /**< DXGK_CREATECONTEXTFLAGS */
	void *pPrivateDriverData;               /**< unused */
	uint32_t PrivateDriverDataSize;         /**< unused */
	struct pb_dxgk_contextinfo ContextInfo; /**< out; before Windows 7 it has one word less */
};

#define PB_DXGK_ALLOCATION_CPU_VISIBLE 0x1u /**< DXGK_ALLOCATIONINFOFLAGS: CpuVisible */

/** DXGK_ALLOCATIONINFO. */
struct pb_dxgk_allocationinfo {
	void *pPrivateDriverData; /**< struct pb_wddm_allocation_data: kernel memory, from the process */
	uint32_t PrivateDriverDataSize;     /**< size of pPrivateDriverData */
	uint32_t Alignment;                 /**< out: bytes */
	size_t Size;                        /**< out: bytes, whole pages */
	size_t PitchAlignedSize;            /**< out: 0 */
	uint32_t HintedBank;                /**< out: 0 */
	uint32_t PreferredSegment;          /**< out: the first segment with memory */
	uint32_t SupportedReadSegmentSet;   /**< out: bit n: segment n + 1 */
	uint32_t SupportedWriteSegmentSet;  /**< out: bit n: segment n + 1 */
	uint32_t EvictionSegmentSet;        /**< out: 0, to pages of system memory */
	uint32_t MaximumRenamingListLength; /**< out: 0 */
	void *hAllocation;                  /**< out: struct pb_wddm_allocation */
	uint32_t Flags;                     /**< out: PB_DXGK_ALLOCATION_* */
	void *pAllocationUsageHint;         /**< out: NULL */
	uint32_t AllocationPriority;        /**< out: D3DDDI_ALLOCATIONPRIORITY_NORMAL */
};

/** DXGKARG_CREATEALLOCATION. */
struct pb_dxgkarg_createallocation {
	const void *pPrivateDriverData;                 /**< unused */
	uint32_t PrivateDriverDataSize;                 /**< unused */
	uint32_t NumAllocations;                        /**< elements of pAllocationInfo */
	struct pb_dxgk_allocationinfo *pAllocationInfo; /**< in and out */
	void *hResource;                                /**< unused: left as it is */
	uint32_t Flags;                                 /**< unused */
};

/** DXGK_OPENALLOCATIONINFO. */
struct pb_dxgk_openallocationinfo {
	uint32_t hAllocation;     /**< the OS's handle; the driver finds its object by DxgkCbGetHandleData */
	void *pPrivateDriverData; /**< unused */
	uint32_t PrivateDriverDataSize;  /**< unused */
	void *hDeviceSpecificAllocation; /**< out: struct pb_wddm_allocation */
};

/** DXGKARG_OPENALLOCATION. */
struct pb_dxgkarg_openallocation {
	uint32_t NumAllocations;                            /**< elements of pOpenAllocation */
	struct pb_dxgk_openallocationinfo *pOpenAllocation; /**< in and out */
	void *pPrivateDriverData;                           /**< unused */
	uint32_t PrivateDriverSize;                         /**< unused */
	uint32_t Flags;                                     /**< unused */
};

/** DXGKARG_DESCRIBEALLOCATION. */
struct pb_dxgkarg_describeallocation {
	void *hAllocation;                     /**< struct pb_wddm_allocation */
	uint32_t Width;                        /**< out: pixels */
	uint32_t Height;                       /**< out: rows */
	uint32_t Format;                       /**< out: D3DDDIFORMAT */
	uint32_t MultisampleMethod[2];         /**< out: NumSamples 0, NumQualityLevels 0 */
	uint32_t RefreshRate[2];               /**< out: 0 of 0: no primary surface */
	uint32_t PrivateDriverFormatAttribute; /**< out: 0 */
};

/** DXGKARG_COLLECTDBGINFO. */
struct pb_dxgkarg_collectdbginfo {
	uint32_t Reason;   /**< bugcheck code of the report */
	void *pBuffer;     /**< out: the report */
	size_t BufferSize; /**< bytes of pBuffer */
	void *pExtension;  /**< unused */
};

#endif
