/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The command buffer of DxgkDdiRenderKm, since Windows 7, in the documented
 * layout: see ddi.h. A buffer is a run of struct pb_dxgk_renderkm_command, each
 * CommandSize bytes behind the one before. The OS writes all fields.
 *
 * Rectangles are in pixels. Sub-rectangles are in the space of the destination;
 * without any the whole destination rectangle is meant.
 */
#ifndef PB_HOST_WDDM_DDI_GDI_H
#define PB_HOST_WDDM_DDI_GDI_H

#include <stdint.h>

#include "patchbay/wddm/ddi.h"

/** DXGK_RENDERKM_OPERATION. */
enum pb_dxgk_gdiop {
	PB_DXGK_GDIOP_BITBLT = 1,         /**< struct pb_dxgk_gdiarg_bitblt */
	PB_DXGK_GDIOP_COLORFILL = 2,      /**< struct pb_dxgk_gdiarg_colorfill */
	PB_DXGK_GDIOP_ALPHABLEND = 3,     /**< struct pb_dxgk_gdiarg_alphablend */
	PB_DXGK_GDIOP_STRETCHBLT = 4,     /**< struct pb_dxgk_gdiarg_stretchblt */
	PB_DXGK_GDIOP_ESCAPE = 5,         /**< ignored, whatever it holds */
	PB_DXGK_GDIOP_TRANSPARENTBLT = 6, /**< struct pb_dxgk_gdiarg_transparentblt; not supported */
	PB_DXGK_GDIOP_CLEARTYPEBLEND = 7, /**< struct pb_dxgk_gdiarg_cleartypeblend; not supported */
};

#define PB_DXGK_GDIROP_SRCCOPY   1u    /**< DXGK_GDIROP_BITBLT: the source */
#define PB_DXGK_GDIROP_ROP3      5u    /**< DXGK_GDIROP_BITBLT: as Rop3 says */
#define PB_DXGK_GDIROPCF_PATCOPY 1u    /**< DXGK_GDIROP_COLORFILL: the colour */
#define PB_DXGK_GDIROPCF_ROP3    7u    /**< DXGK_GDIROP_COLORFILL: as Rop3 says */
#define PB_GDI_ROP3_SRCCOPY      0xccu /**< Rop3 of a copy of the source */
#define PB_GDI_ROP3_PATCOPY      0xf0u /**< Rop3 of a copy of the pattern, here the colour */

#define PB_DXGK_STRETCH_MIRROR 0x30000u /**< DXGK_GDIARG_STRETCHBLT.Flags: MirrorX, MirrorY */

/** DXGK_GDIARG_BITBLT. */
struct pb_dxgk_gdiarg_bitblt {
	struct pb_rect SrcRect;          /**< rectangle of the source */
	struct pb_rect DstRect;          /**< rectangle of the destination, of the same size */
	uint32_t SrcAllocationIndex;     /**< in the allocation list */
	uint32_t DstAllocationIndex;     /**< in the allocation list */
	uint32_t NumSubRects;            /**< elements of pSubRects */
	const struct pb_rect *pSubRects; /**< parts of DstRect to write */
	uint16_t Rop;                    /**< PB_DXGK_GDIROP_* */
	uint16_t Rop3;                   /**< of ROP3: GDI's code */
	uint32_t SrcPitch;               /**< bytes from one row of the source to the next */
	uint32_t DstPitch;               /**< bytes from one row of the destination to the next */
};

/** DXGK_GDIARG_COLORFILL. */
struct pb_dxgk_gdiarg_colorfill {
	struct pb_rect DstRect;          /**< rectangle to fill */
	uint32_t DstAllocationIndex;     /**< in the allocation list */
	uint32_t NumSubRects;            /**< elements of pSubRects */
	const struct pb_rect *pSubRects; /**< parts of DstRect to fill */
	uint32_t Color;                  /**< in the format of the destination */
	uint16_t Rop;                    /**< PB_DXGK_GDIROPCF_* */
	uint16_t Rop3;                   /**< of ROP3: GDI's code */
};

/** DXGK_GDIARG_ALPHABLEND. */
struct pb_dxgk_gdiarg_alphablend {
	struct pb_rect SrcRect;          /**< rectangle of the source */
	struct pb_rect DstRect;          /**< rectangle of the destination */
	uint32_t SrcAllocationIndex;     /**< in the allocation list */
	uint32_t DstAllocationIndex;     /**< in the allocation list */
	uint32_t NumSubRects;            /**< elements of pSubRects */
	const struct pb_rect *pSubRects; /**< parts of DstRect to write */
	uint8_t SourceConstantAlpha;     /**< 255: opaque */
	uint8_t SourceHasAlpha;          /**< each pixel of the source has an alpha of its own */
	uint32_t SrcPitch;               /**< bytes from one row of the source to the next */
};

/** DXGK_GDIARG_STRETCHBLT. The destination's index stands first here. */
struct pb_dxgk_gdiarg_stretchblt {
	struct pb_rect SrcRect;          /**< rectangle of the source */
	struct pb_rect DstRect;          /**< rectangle of the destination */
	uint32_t DstAllocationIndex;     /**< in the allocation list */
	uint32_t SrcAllocationIndex;     /**< in the allocation list */
	uint32_t NumSubRects;            /**< elements of pSubRects */
	const struct pb_rect *pSubRects; /**< parts of DstRect to write */
	uint32_t Flags;                  /**< Mode, MirrorX, MirrorY */
	uint32_t SrcPitch;               /**< bytes from one row of the source to the next */
};

/** DXGK_GDIARG_TRANSPARENTBLT. */
struct pb_dxgk_gdiarg_transparentblt {
	struct pb_rect SrcRect;          /**< unused */
	struct pb_rect DstRect;          /**< unused */
	uint32_t SrcAllocationIndex;     /**< unused */
	uint32_t DstAllocationIndex;     /**< unused */
	uint32_t Color;                  /**< unused */
	uint32_t NumSubRects;            /**< unused */
	const struct pb_rect *pSubRects; /**< unused */
	uint32_t Flags;                  /**< unused */
	uint32_t SrcPitch;               /**< unused */
};

/** DXGK_GDIARG_CLEARTYPEBLEND. */
struct pb_dxgk_gdiarg_cleartypeblend {
	struct pb_rect DstRect;            /**< unused */
	uint32_t TmpSurfAllocationIndex;   /**< unused */
	uint32_t GammaSurfAllocationIndex; /**< unused */
	uint32_t AlphaSurfAllocationIndex; /**< unused */
	uint32_t DstAllocationIndex;       /**< unused */
	int32_t DstToAlphaOffsetX;         /**< unused */
	int32_t DstToAlphaOffsetY;         /**< unused */
	uint32_t Color;                    /**< unused */
	uint32_t Gamma;                    /**< unused */
	uint32_t NumSubRects;              /**< unused */
	const struct pb_rect *pSubRects;   /**< unused */
	uint32_t AlphaSurfPitch;           /**< unused */
	uint32_t Color2;                   /**< unused */
};

/** DXGK_RENDERKM_COMMAND. */
struct pb_dxgk_renderkm_command {
	uint32_t OpCode;      /**< enum pb_dxgk_gdiop: selects the member of the union */
	uint32_t CommandSize; /**< bytes to the next command */
	union {
		struct pb_dxgk_gdiarg_bitblt BitBlt;                 /**< of BITBLT */
		struct pb_dxgk_gdiarg_colorfill ColorFill;           /**< of COLORFILL */
		struct pb_dxgk_gdiarg_alphablend AlphaBlend;         /**< of ALPHABLEND */
		struct pb_dxgk_gdiarg_stretchblt StretchBlt;         /**< of STRETCHBLT */
		struct pb_dxgk_gdiarg_transparentblt TransparentBlt; /**< of TRANSPARENTBLT */
		struct pb_dxgk_gdiarg_cleartypeblend ClearTypeBlend; /**< of CLEARTYPEBLEND */
	} Command;                                                   /**< the arguments */
};

#endif
