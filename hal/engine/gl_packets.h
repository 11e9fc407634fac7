/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Packets of a GL engine, beside those of hal/engine/packets.h: what a DMA
 * buffer holds on the 3D nodes of a card that runs OpenGL. Every other engine
 * has no such packets and faults with PACKET.
 *
 * Each owner (channel and context of a slot) has a renderer of its own with one
 * virgl context. A resource of a renderer stands at a GPU page, which a GL_BIND
 * gives it. Packets name a resource by that page (address >> 12) and by nothing
 * else; page 0 names none. A page where nothing is bound is a PAGE fault with
 * the address. docs/engine.md, "GL packets", has the rules.
 */
#ifndef PB_HAL_ENGINE_GL_PACKETS_H
#define PB_HAL_ENGINE_GL_PACKETS_H

#include <stdint.h>

/** Words 1 and up: whole virgl commands. Each word that names a resource is the resource's page, or 0: none. */
#define PB_PACKET_GL 0x40u
/** Most words of several commands in one GL packet; a longer packet holds one command. The header is not counted. */
#define PB_GL_RUN_WORDS_MAX 4096u
/** Most words of one command, and of a GL packet. */
#define PB_GL_PACKET_WORDS_MAX 65536u

/** Copies between memory and a resource: words below. */
#define PB_PACKET_GL_TRANSFER       0x41u
#define PB_PACKET_GL_TRANSFER_WORDS 15u
#define PB_GL_TRANSFER_FLAGS        1u /**< PB_GL_TRANSFER_TO_RESOURCE or 0; other bits are VALUE */
#define PB_GL_TRANSFER_ADDRESS      2u /**< low, high: memory of the channel, aligned to 4 bytes */
#define PB_GL_TRANSFER_BYTES        4u /**< of that memory; a multiple of 4, PB_GL_TRANSFER_BYTES_MAX at most */
#define PB_GL_TRANSFER_PAGE         5u  /**< of the resource */
#define PB_GL_TRANSFER_LEVEL        6u  /**< mipmap level */
#define PB_GL_TRANSFER_BOX          7u  /**< x, y, z, width, height, depth */
#define PB_GL_TRANSFER_STRIDE       13u /**< bytes from row to row in memory; 0: rows follow each other */
#define PB_GL_TRANSFER_LAYER_STRIDE 14u /**< bytes from layer to layer; 0: layers follow each other */
/** Flag: from memory to the resource; else from the resource to memory. */
#define PB_GL_TRANSFER_TO_RESOURCE 1u
/** Most bytes of one transfer. */
#define PB_GL_TRANSFER_BYTES_MAX (64u << 20)

/** Stores a capability set at an address: 1 set, 2 its version, 3,4 address, 5 bytes. The rest becomes 0. */
#define PB_PACKET_GL_CAPS       0x42u
#define PB_PACKET_GL_CAPS_WORDS 6u
#define PB_GL_CAPS_SET          1u
#define PB_GL_CAPS_VERSION      2u
#define PB_GL_CAPS_ADDRESS      3u
#define PB_GL_CAPS_BYTES        5u /**< a multiple of 4, PB_GL_CAPS_BYTES_MAX at most */
#define PB_GL_CAPS_BYTES_MAX    4096u

/**
 * Privileged. A resource of an owner stands at a page from now on. The first
 * GL_BIND of an identifier creates the resource; a later one has equal words 5
 * and up, or is VALUE, and keeps the contents.
 */
#define PB_PACKET_GL_BIND       0x43u
#define PB_PACKET_GL_BIND_WORDS 15u
#define PB_GL_BIND_OWNER        1u /**< PB_ENGINE_OWNER (hal/engine.h) of the running slot's channel */
#define PB_GL_BIND_RESOURCE     2u /**< identifier, not 0; unique for its owner */
#define PB_GL_BIND_PAGE         3u /**< first page, not 0; all pages in one range of the channel */
#define PB_GL_BIND_PAGES        4u /**< how many, not 0; none may be bound for that owner */
#define PB_GL_BIND_TEMPLATE     5u /**< what the resource is: PB_GL_TEMPLATE_WORDS words */
#define PB_GL_TEMPLATE_WORDS    10u
/** Words of a template, all as virgl has them. */
#define PB_GL_TEMPLATE_TARGET     0u /**< PIPE_BUFFER, PIPE_TEXTURE_2D, ... */
#define PB_GL_TEMPLATE_FORMAT     1u
#define PB_GL_TEMPLATE_BIND       2u
#define PB_GL_TEMPLATE_WIDTH      3u
#define PB_GL_TEMPLATE_HEIGHT     4u
#define PB_GL_TEMPLATE_DEPTH      5u
#define PB_GL_TEMPLATE_ARRAY_SIZE 6u
#define PB_GL_TEMPLATE_LAST_LEVEL 7u
#define PB_GL_TEMPLATE_SAMPLES    8u
#define PB_GL_TEMPLATE_FLAGS      9u

/** Privileged: 1 owner, 2 resource, 3 flags. The resource loses its address and keeps its contents. */
#define PB_PACKET_GL_UNBIND       0x44u
#define PB_PACKET_GL_UNBIND_WORDS 4u
#define PB_GL_UNBIND_OWNER        1u
#define PB_GL_UNBIND_RESOURCE     2u /**< one that the owner does not have is ignored */
#define PB_GL_UNBIND_FLAGS        3u /**< PB_GL_UNBIND_DESTROY or 0; other bits are VALUE */
/** Flag: the resource and its contents are gone, too. Its identifier is free. */
#define PB_GL_UNBIND_DESTROY 1u

/**
 * Privileged: 1 owner. Ends the renderer of an owner, with all its resources,
 * and forgets that it was lost: the next packet of that owner starts a new one.
 */
#define PB_PACKET_GL_END       0x45u
#define PB_PACKET_GL_END_WORDS 2u
#define PB_GL_END_OWNER        1u

#endif
