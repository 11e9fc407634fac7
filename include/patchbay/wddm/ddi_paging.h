/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Arguments of DxgkDdiBuildPagingBuffer, in the documented layout: see ddi.h.
 */
#ifndef PB_HOST_WDDM_DDI_PAGING_H
#define PB_HOST_WDDM_DDI_PAGING_H

#include <stddef.h>
#include <stdint.h>

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
	PB_DXGK_OPERATION_INIT_CONTEXT_RESOURCE = 10, /**< since Windows 8: no packet */
};

/** MDL: a list of physical pages. The frame numbers of the pages (PFN_NUMBER, uintptr_t) follow the struct. */
struct pb_mdl {
	struct pb_mdl *Next;  /**< unused */
	int16_t Size;         /**< bytes of the struct and its frame numbers; unused */
	int16_t MdlFlags;     /**< unused */
	void *Process;        /**< unused */
	void *MappedSystemVa; /**< unused */
	void *StartVa;        /**< unused */
	uint32_t ByteCount;   /**< unused */
	uint32_t ByteOffset;  /**< unused: operations cover whole pages */
};

/** Source or destination of a paging operation. */
struct pb_dxgk_location {
	uint32_t SegmentId; /**< 0: system memory, named by pMdl */
	__extension__ union {
		uint64_t SegmentAddress;   /**< of a segment: its base included */
		const struct pb_mdl *pMdl; /**< of system memory: the pages */
	};
};

/** DXGKARG_BUILDPAGINGBUFFER. */
struct pb_dxgkarg_buildpagingbuffer {
	void *pDmaBuffer;                  /**< first free byte; advanced past the last byte written */
	uint32_t DmaSize;                  /**< bytes left */
	void *pDmaBufferPrivateData;       /**< first free byte; advanced past the last byte written */
	uint32_t DmaBufferPrivateDataSize; /**< bytes left */
	uint32_t Operation;                /**< enum pb_dxgk_operation: selects the member of the union */
	uint32_t MultipassOffset; /**< in: 0 for a new operation, else as the last call left it; out */
	__extension__ union {
		struct {
			void *hAllocation;       /**< NULL: a raw copy; the shim treats all copies alike */
			uint32_t TransferOffset; /**< bytes, for a side in a segment */
			size_t TransferSize;     /**< bytes; 0: the contents are lost, nothing is copied */
			struct pb_dxgk_location Source;      /**< read */
			struct pb_dxgk_location Destination; /**< written */
			uint32_t Flags;     /**< DXGK_TRANSFERFLAGS; unused: nothing is swizzled */
			uint32_t MdlOffset; /**< pages, for a side in system memory */
		} Transfer;                 /**< of TRANSFER */
		struct {
			void *hAllocation;    /**< unused */
			size_t FillSize;      /**< bytes */
			uint32_t FillPattern; /**< value of each word */
			struct {
				uint32_t SegmentId;      /**< segment */
				uint64_t SegmentAddress; /**< segment base included */
			} Destination;                   /**< written */
		} Fill;                                  /**< of FILL */
		struct {
			void *hAllocation;       /**< struct pb_wddm_allocation: gives the size */
			uint32_t Flags;          /**< DXGK_DISCARDCONTENTFLAGS; unused */
			uint32_t SegmentId;      /**< segment of the allocation */
			uint64_t SegmentAddress; /**< segment base included */
		} DiscardContent;                /**< of DISCARD_CONTENT */
		struct {
			uint32_t SegmentId;       /**< unused */
			uint64_t PhysicalAddress; /**< unused */
		} ReadPhysical;                   /**< of READ_PHYSICAL */
		struct {
			uint32_t SegmentId;       /**< unused */
			uint64_t PhysicalAddress; /**< unused */
		} WritePhysical;                  /**< of WRITE_PHYSICAL */
		struct {
			void *hDevice;             /**< unused */
			void *hAllocation;         /**< NULL for DMA buffers; unused */
			uint32_t SegmentId;        /**< the aperture */
			size_t OffsetInPages;      /**< from the start of the aperture */
			size_t NumberOfPages;      /**< pages to map */
			const struct pb_mdl *pMdl; /**< pages to map to */
			uint32_t Flags;            /**< DXGK_MAPAPERTUREFLAGS; unused */
			uint32_t MdlOffset;        /**< first page of pMdl to use */
		} MapApertureSegment;              /**< of MAP_APERTURE_SEGMENT */
		struct {
			void *hDevice;        /**< unused */
			void *hAllocation;    /**< unused */
			uint32_t SegmentId;   /**< the aperture */
			size_t OffsetInPages; /**< from the start of the aperture */
			size_t NumberOfPages; /**< pages to unmap */
			uint64_t DummyPage;   /**< unused: the firmware has its own */
		} UnmapApertureSegment;       /**< of UNMAP_APERTURE_SEGMENT */
		struct {
			void *hAllocation;                   /**< unused */
			uint32_t TransferOffset;             /**< unused */
			size_t TransferSize;                 /**< unused */
			struct pb_dxgk_location Source;      /**< unused */
			struct pb_dxgk_location Destination; /**< unused */
			uint32_t Flags;                      /**< unused */
			uint32_t SwizzlingRangeId;           /**< unused */
			uint32_t SwizzlingRangeData;         /**< unused */
		} SpecialLockTransfer;                       /**< of SPECIAL_LOCK_TRANSFER */
		struct {
			void *hAllocation; /**< unused */
			struct {
				uint32_t SegmentId; /**< unused */
				__extension__ union {
					uint64_t SegmentAddress;   /**< unused */
					const struct pb_mdl *pMdl; /**< unused */
				};
				void *VirtualAddress;       /**< unused */
				uint64_t GpuVirtualAddress; /**< unused */
			} Destination;                      /**< unused: contexts have no resources */
		} InitContextResource;                      /**< of INIT_CONTEXT_RESOURCE */
		struct {
			uint32_t Reserved[64]; /**< size of the union */
		} Reserved;                    /**< not used */
	};
	void *hSystemContext; /**< struct pb_wddm_context of the OS's own work; unused */
};

#endif
