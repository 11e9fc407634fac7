/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the engine model share. Not for anyone else.
 *
 *   engine_model.c    registers, commands, the walk over the ring, time
 *   engine_packets.c  the packet table, decoding, buffers inside buffers
 *   engine_memory.c   GPU address -> pointer, against the channel's ranges
 *   engine_blit.c     FILL, COPY, COPY_RECT
 *   engine_draw.c     TARGET, TEXTURE, DRAW: operands and state
 *   engine_raster.c   one triangle
 */
#ifndef PB_QEMU_ENGINE_INTERNAL_H
#define PB_QEMU_ENGINE_INTERNAL_H

#include "hal/engine.h"
#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "qemu/engine.h"

#define PB_MODEL_PACKET_WORDS_MAX PB_PACKET_COPY_RECT_WORDS

/** One range of the running channel, checked: it lies in card memory. */
struct pb_model_window {
	uint64_t gpu_base;
	uint32_t bytes; /**< 0: matches nothing */
	uint32_t *memory;
};

/** A buffer being run. */
struct pb_model_frame {
	const uint32_t *next; /**< first word not yet read */
	uint64_t address;     /**< its GPU address */
	uint32_t words;       /**< that are left */
};

/** Target or texture. */
struct pb_model_surface {
	uint32_t *pixels; /**< NULL: not set in this submission */
	uint32_t width;
	uint32_t height;
	uint32_t pitch; /**< in pixels */
};

enum pb_model_phase {
	PB_MODEL_WAITING, /**< between two slots */
	PB_MODEL_RUNNING, /**< in a slot's buffer */
	PB_MODEL_FENCING, /**< behind it */
	PB_MODEL_STOPPED, /**< faulted */
};

/** What became of a packet. */
enum pb_model_status {
	PB_MODEL_DONE,
	PB_MODEL_MORE, /**< a part is done; call again with the same packet */
	PB_MODEL_FAULTED,
};

/** One row of the packet table. */
struct pb_model_operation {
	enum pb_model_status (*run)(struct pb_engine_model *model,
				    const uint32_t *words); /**< NULL: no such packet */
	uint32_t words;                                     /**< length of the packet; 0: any */
	uint32_t kinds;                                     /**< bit for each enum pb_node_kind that has it */
	uint32_t cost; /**< microseconds before anything that it touches */
};

struct pb_engine_model {
	struct pb_engine_model_config config;
	struct pb_engine_model_statistics statistics;
	struct pb_engine_registers *registers;

	/* Private copies: registers are stored, never read back. */
	uint32_t head;
	uint32_t command_done;
	uint32_t progress;
	uint32_t time;
	int64_t budget; /**< microseconds left of this step; below 0 when the last packet took longer */

	/* The slot being run. */
	enum pb_model_phase phase;
	uint32_t sequence; /**< of its fence */
	struct pb_model_window windows[PB_ENGINE_RANGES];
	struct pb_model_frame frames[PB_ENGINE_NESTING_MAX];
	uint32_t depth; /**< frames in use */
	struct pb_model_surface target;
	struct pb_model_surface texture;

	/* The packet being run. */
	const struct pb_model_operation *operation; /**< NULL: none, the next one is to be read */
	uint32_t words[PB_MODEL_PACKET_WORDS_MAX];
	uint64_t packet_address; /**< where it was read; 0 in the ring */
	uint64_t cursor;         /**< how far a packet that returned PB_MODEL_MORE has come; 0 at its start */
	uint32_t touched;        /**< words or pixels not yet paid for */
};

/** A GPU address as it stands in a packet, low word first. */
static inline uint64_t pb_model_address(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

/** Stops the engine. @return PB_MODEL_FAULTED */
enum pb_model_status pb_model_fault(struct pb_engine_model *model, enum pb_engine_fault_code code,
				    uint64_t address);
/** As pb_model_fault, for the codes whose address is that of the packet. */
enum pb_model_status pb_model_fault_packet(struct pb_engine_model *model, enum pb_engine_fault_code code);
/** Engine time goes by, with progress. */
void pb_model_charge(struct pb_engine_model *model, uint32_t microseconds);
/** Charges for words or pixels that the packet has touched. */
void pb_model_touch(struct pb_engine_model *model, uint64_t count);
/** The rest of the step goes by without progress. */
void pb_model_stall(struct pb_engine_model *model);

/** Forgets buffers, packet, target and texture of the slot before. */
void pb_model_packets_clear(struct pb_engine_model *model);
/** Starts a buffer inside the present one, or the submission's own. @return PB_MODEL_DONE or PB_MODEL_FAULTED */
enum pb_model_status pb_model_enter(struct pb_engine_model *model, uint64_t address, uint32_t bytes);
/** Runs a packet or a part of it. @return false: no buffer is left, or the engine has stopped */
bool pb_model_packets_run(struct pb_engine_model *model);

/** Reads the ranges of a channel; one out of the table has none. The table lies in card memory. */
void pb_model_windows_load(struct pb_engine_model *model, uint32_t range_offset, uint32_t channels,
			   uint32_t channel);
/**
 * Where the bytes at a GPU address lie.
 * @param words not to be used when `bytes` is 0
 * @return false: the engine has stopped with ALIGNMENT or ADDRESS
 */
bool pb_model_access(struct pb_engine_model *model, uint64_t address, uint64_t bytes, uint32_t **words);

enum pb_model_status pb_model_fill(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy_rect(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_target(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_texture(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_draw(struct pb_engine_model *model, const uint32_t *words);

/**
 * Draws one triangle. The vertices are in their documented range.
 * @param walked set to the pixels of its bounding box inside the target
 * @return pixels stored
 */
uint64_t pb_model_triangle(const struct pb_model_surface *target, const struct pb_model_surface *texture,
			   const struct pb_vertex vertices[3], uint64_t *walked);

#endif
