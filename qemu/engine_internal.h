/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the files of the engine model share. Not for anyone else.
 *
 *   engine_model.c    registers, the walk over the ring, time
 *   engine_command.c  commands: reset, go on behind a fault, stop
 *   engine_progress.c what is kept of a slot that it stopped inside, and how it goes on
 *   engine_defects.c  interrupts, and how they get lost
 *   engine_packets.c  the packet table, decoding, buffers inside buffers
 *   engine_memory.c   GPU address -> card memory, against the channel's ranges
 *   engine_pages.c    pages of apertures: translation, MAP_APERTURE, UNMAP_APERTURE
 *   engine_blit.c     FILL, DISCARD, COPY, COPY_RECT
 *   engine_draw.c     TARGET, TEXTURE, DRAW: operands and state
 *   engine_raster.c   one triangle
 */
#ifndef PB_QEMU_ENGINE_INTERNAL_H
#define PB_QEMU_ENGINE_INTERNAL_H

#include "hal/engine.h"
#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/shared.h"
#include "qemu/engine.h"

#define PB_MODEL_PACKET_WORDS_MAX PB_PACKET_COPY_RECT_WORDS

/** Entries of the translation cache. */
#define PB_MODEL_CACHE_ENTRIES 64u
/** Tag of an entry that is free: no word of a page table lies there. */
#define PB_MODEL_CACHE_EMPTY 1u

/** One range of the running channel, checked: it, or its page table, lies in card memory. Whole pages. */
struct pb_model_window {
	uint64_t gpu_base;
	uint32_t bytes;
	uint32_t offset; /**< in card memory; of the page table when paged */
	bool paged;
};

/** Bytes that a packet names, checked: they lie in one window. */
struct pb_model_span {
	const struct pb_model_window *window; /**< NULL: no bytes */
	uint64_t address;
	uint32_t bytes;
};

/** Bytes of a span that lie in a row in card memory. */
struct pb_model_piece {
	uint32_t *words;
	uint32_t bytes; /**< a multiple of 4, not 0 */
	bool mapped;    /**< false: `words` is the one word of the dummy page; use it, then fault with PAGE */
};

/** A word of a page table that was read. */
struct pb_model_translation {
	uint32_t tag;  /**< offset of the word in card memory, or PB_MODEL_CACHE_EMPTY */
	uint32_t page; /**< what it says: offset of a page */
};

/** A buffer being run. */
struct pb_model_frame {
	struct pb_model_span span;
	uint32_t done; /**< bytes read */
};

/** Target or texture. */
struct pb_model_surface {
	struct pb_model_span span; /**< no bytes: not set in this submission */
	uint32_t width;
	uint32_t height;
	uint32_t pitch; /**< in bytes */
};

enum pb_model_phase {
	PB_MODEL_WAITING, /**< between two slots */
	PB_MODEL_RUNNING, /**< in a slot's buffer */
	PB_MODEL_FENCING, /**< behind it */
	PB_MODEL_STOPPED, /**< faulted */
	PB_MODEL_DROPPED, /**< faulted, and a stop has emptied the ring */
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
	bool paging;   /**< for privileged work only */
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
	uint32_t finished; /**< sequence of the last fence since the last reset or stop */
	uint32_t stop;     /**< the STOP or STOP_INSIDE that is not answered yet; 0: none */
	int64_t budget;    /**< microseconds left of this step; below 0 when the last packet took longer */

	struct pb_engine_model_defects defects;
	uint32_t steps; /**< since an interrupt for nothing */
	uint32_t held;  /**< steps until the line is raised; 0: nothing to raise */

	struct pb_model_translation cache[PB_MODEL_CACHE_ENTRIES]; /**< direct mapped */
	uint32_t cleared; /**< of struct pb_engine_translation, when the cache was last emptied */
	uint32_t changed;
	uint32_t nowhere; /**< where words go when there is no dummy page either */

	/* The slot being run. */
	enum pb_model_phase phase;
	uint32_t sequence; /**< of its fence */
	bool privileged;
	uint32_t dummy_offset; /**< as the register says: not checked */
	struct pb_engine_translation *translation;
	struct pb_model_window windows[PB_ENGINE_RANGES];
	uint32_t window_count;
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

/** The word at an offset of card memory, which the caller has checked. */
static inline uint32_t *pb_model_words(const struct pb_engine_model *model, uint32_t offset)
{
	return (uint32_t *)(void *)(model->config.memory + offset);
}

/** Stores a word of the register block. */
static inline void pb_model_store(uint32_t *address, uint32_t value)
{
	pb_shared_write32(address, value);
}

/** Raises the node's line, if the defects let it. */
void pb_model_interrupt(struct pb_engine_model *model);
/** What they do with each step. */
void pb_model_defects_step(struct pb_engine_model *model);

/** Everything as at the start, but for time, progress and counters. */
void pb_model_reset(struct pb_engine_model *model);
/** Looks at the command. */
void pb_model_look(struct pb_engine_model *model);
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
void pb_model_pages_look(struct pb_engine_model *model);
enum pb_model_status pb_model_map(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_unmap(struct pb_engine_model *model, const uint32_t *words);

enum pb_model_status pb_model_fill(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_discard(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy(struct pb_engine_model *model, const uint32_t *words);
enum pb_model_status pb_model_copy_rect(struct pb_engine_model *model, const uint32_t *words);
/** Takes the operands of TARGET or TEXTURE. @return PB_MODEL_DONE or PB_MODEL_FAULTED */
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
