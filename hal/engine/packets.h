/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Packet set of the reference engine: what a DMA buffer holds.
 *
 * A packet is a run of 32-bit words. Word 0:
 *
 *   31      24 23                0
 *  +----------+-------------------+
 *  |  opcode  |  words, this one  |   words counts the whole packet
 *  +----------+-------------------+
 *
 * Addresses are GPU addresses, two words, low first: the places that patch
 * locations point at. Every access is checked against the channel's ranges
 * before it is made; a packet that faults has written nothing beyond the rows,
 * pixels, pages or words before the one that faulted. docs/engine.md has the
 * exact fill, sampling, copy and aperture rules. Paging packets are those of
 * privileged submissions (PB_ENGINE_OWNER_PRIVILEGED) only.
 */
#ifndef PB_HAL_ENGINE_PACKETS_H
#define PB_HAL_ENGINE_PACKETS_H

#include <stdint.h>

#define PB_PACKET(opcode, words) ((uint32_t)(opcode) << 24 | (uint32_t)(words))
#define PB_PACKET_OPCODE(header) ((header) >> 24)
#define PB_PACKET_WORDS(header)  ((header)&0x00ffffffu)

/* Both nodes. */
#define PB_PACKET_NOP        0x00u /**< any length from 1: skipped */
#define PB_PACKET_FILL       0x01u /**< 1,2 destination; 3 bytes; 4 value: stores the value in each word */
#define PB_PACKET_FILL_WORDS 5u
#define PB_PACKET_COPY       0x02u /**< 1,2 source; 3,4 destination; 5 bytes: as memmove */
#define PB_PACKET_COPY_WORDS 6u
#define PB_PACKET_COPY_RECT                                                                                  \
	0x03u /**< 1,2 source; 3 source pitch; 4,5 destination; 6 its pitch; 7 bytes a row; 8 rows */
#define PB_PACKET_COPY_RECT_WORDS 9u
#define PB_PACKET_DISCARD                                                                                    \
	0x04u /**< paging. 1,2 address; 3 bytes: their contents matter no more; stores PB_ENGINE_POISON */
#define PB_PACKET_DISCARD_WORDS 4u
#define PB_PACKET_MAP_APERTURE                                                                               \
	0x05u /**< paging. 1,2 first page in the aperture; 3 pages; 4,5 array of their GPU addresses, 8 bytes each */
#define PB_PACKET_MAP_APERTURE_WORDS   6u
#define PB_PACKET_UNMAP_APERTURE       0x06u /**< paging. 1,2 first page in the aperture; 3 pages */
#define PB_PACKET_UNMAP_APERTURE_WORDS 4u
#define PB_PACKET_INDIRECT             0x20u /**< 1,2 buffer; 3 bytes: runs it, then goes on; in the ring: owner first */
#define PB_PACKET_INDIRECT_WORDS       4u
#define PB_PACKET_INDIRECT_RING_WORDS  5u
#define PB_PACKET_FENCE                0x21u /**< 1 sequence: in the ring only */
#define PB_PACKET_FENCE_WORDS          2u
#define PB_PACKET_HANG                 0x30u /**< never ends: for tests */
#define PB_PACKET_HANG_WORDS           1u
#define PB_PACKET_FAULT                0x31u /**< faults: for tests */
#define PB_PACKET_FAULT_WORDS          1u
#define PB_PACKET_BUSY                 0x32u /**< 1 microseconds of engine time: for tests */
#define PB_PACKET_BUSY_WORDS           2u

/* The 3D node only. State is gone at the end of each submission. */
#define PB_PACKET_TARGET        0x10u /**< 1,2 colour buffer; 3 width; 4 height; 5 pitch in bytes */
#define PB_PACKET_TARGET_WORDS  6u
#define PB_PACKET_TEXTURE       0x11u /**< 1,2 texels; 3 width; 4 height; 5 pitch in bytes */
#define PB_PACKET_TEXTURE_WORDS 6u
#define PB_PACKET_DRAW          0x12u /**< 1,2 vertices; 3 their number, a multiple of 3: textured triangles */
#define PB_PACKET_DRAW_WORDS    4u

/** What DISCARD leaves behind, in each word: whoever reads it has read too late. */
#define PB_ENGINE_POISON 0xdeadda7au

/** Width and height of targets and textures: 1 up to this, in pixels of 4 bytes. */
#define PB_ENGINE_EXTENT_MAX 4096u
/** Indirect buffers inside each other, the submission itself being the first. */
#define PB_ENGINE_NESTING_MAX 4u
/** |x|, |y| of a vertex are at most this (4096 pixels), in 1/16 pixel. */
#define PB_ENGINE_POSITION_MAX 65536
/** |u|, |v| of a vertex are at most this (4096 texels), in 1/256 texel. */
#define PB_ENGINE_TEXEL_MAX 1048576

/** One vertex in memory, 16 bytes. */
struct pb_vertex {
	int32_t x; /**< pixels from the left edge of the target, 28.4 fixed point */
	int32_t y; /**< pixels from the top edge, 28.4 fixed point */
	int32_t u; /**< texels from the left edge of the texture, 24.8 fixed point */
	int32_t v; /**< texels from the top edge, 24.8 fixed point */
};

#endif
