/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the engine model share. No other file includes it.
 *
 *   model.c    registers, the walk over the ring
 *   fault.c    time, faults
 *   command.c  commands: reset, go on behind a fault, stop
 *   progress.c what is kept of a slot that it stopped inside, and how it goes on
 *   defects.c  interrupts, and how they get lost
 *   packets.c  the packet table, decoding, buffers inside buffers
 *   memory.c   GPU address -> card memory, against the channel's ranges
 *   pages.c    pages of apertures: translation, MAP_APERTURE, UNMAP_APERTURE
 *   blit.c     FILL, DISCARD, COPY, COPY_RECT
 *   draw.c     TARGET, TEXTURE, DRAW: operands and state
 *   raster.c   one triangle
 *   gl*.c      packets of a GL engine, a library of their own: gl_internal.h
 */
#ifndef PB_HAL_ENGINE_MODEL_INTERNAL_H
#define PB_HAL_ENGINE_MODEL_INTERNAL_H

#include "hal/engine_model/words.h"

/** Raises the node's line, if the defects let it. */
void pb_model_interrupt(struct pb_engine_model *model);
/** Carries out the defects of one step. */
void pb_model_defects_step(struct pb_engine_model *model);

/** Everything as at the start, but for time, progress and counters. */
void pb_model_reset(struct pb_engine_model *model);
/** Reads the command register and carries out a new command. */
void pb_model_poll_command(struct pb_engine_model *model);
/** Answers a stop that was asked for, if this is the place. @return true: it has stopped */
bool pb_model_stop(struct pb_engine_model *model);
/** Stores how far the slot has come. Between two packets of its own buffer. */
void pb_model_save(struct pb_engine_model *model);
/** Goes on from there, if that is valid. The slot's own buffer, of so many bytes, has been entered. */
void pb_model_restore(struct pb_engine_model *model, const struct pb_engine_progress *from, uint32_t bytes);

/** Stores the reason why the engine is stopped, or none. */
void pb_model_store_fault(struct pb_engine_model *model, enum pb_engine_fault_code code, uint32_t sequence,
			  uint64_t address);
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
/** Whether the next packet is one of the slot's own buffer, the one before it being done. */
bool pb_model_between_packets(struct pb_engine_model *model);
/** Runs a packet or a part of it. @return false: no buffer is left, or the engine has stopped */
bool pb_model_packets_run(struct pb_engine_model *model);

/** Reads the ranges of a channel; one out of the table has none. The table lies in card memory. */
void pb_model_windows_load(struct pb_engine_model *model, uint32_t range_offset, uint32_t channels,
			   uint32_t channel);
/** Whether [address, address + bytes) lies in a window. */
bool pb_model_window_holds(const struct pb_model_window *window, uint64_t address, uint64_t bytes);
/**
 * Checks the bytes at a GPU address.
 * @return false: the engine has stopped with ALIGNMENT or ADDRESS
 */
bool pb_model_span(struct pb_engine_model *model, uint64_t address, uint64_t bytes,
		   struct pb_model_span *span);
/** The first of `bytes` bytes so far into a paged window, up to the end of the page. */
struct pb_model_piece pb_model_page_piece(struct pb_engine_model *model, const struct pb_model_window *window,
					  uint32_t at, uint32_t bytes);
/** The first of `bytes` bytes at an offset of a span, which has them, as far as they lie in a row. */
static inline struct pb_model_piece pb_model_piece(struct pb_engine_model *model,
						   const struct pb_model_span *span, uint32_t offset,
						   uint32_t bytes)
{
	const struct pb_model_window *window = span->window;
	uint32_t at = (uint32_t)(span->address - window->gpu_base) + offset;

	if (window->paged)
		return pb_model_page_piece(model, window, at, bytes);
	return (struct pb_model_piece){
		.words = pb_model_words(model, window->offset + at), .bytes = bytes, .mapped = true};
}

/** Reads words at an offset of a span, each once. @return how many, up to the first whose page is not mapped */
uint32_t pb_model_read(struct pb_engine_model *model, const struct pb_model_span *span, uint32_t offset,
		       uint32_t *words, uint32_t count);

/** Empties the translation cache. */
void pb_model_pages_reset(struct pb_engine_model *model);
/** Empties it if page tables have changed: between two packets. */
void pb_model_pages_check(struct pb_engine_model *model);
enum pb_model_status pb_model_map(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_unmap(struct pb_engine_model *model, const uint32_t *words);

enum pb_model_status pb_model_fill(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_discard(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy_rect(struct pb_engine_model *model, const uint32_t *words);
/** Checks and stores the operands of TARGET or TEXTURE. @return PB_MODEL_DONE or PB_MODEL_FAULTED */
enum pb_model_status pb_model_bind(struct pb_engine_model *model, const uint32_t *operands,
				   struct pb_model_surface *surface);
enum pb_model_status pb_model_target(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_texture(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_draw(struct pb_engine_model *model, const uint32_t *words);

/**
 * Draws one triangle onto the target. The vertices are in their documented range.
 * @param walked set to the pixels of its bounding box inside the target
 * @return PB_MODEL_DONE or PB_MODEL_FAULTED
 */
enum pb_model_status pb_model_triangle(struct pb_engine_model *model, const struct pb_vertex vertices[3],
				       uint64_t *walked);

#endif
