/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The state of one engine model, for the owners of its memory: a soft engine
 * keeps it in static memory (hal/engine_model/soft.h), a program on its heap
 * (qemu/engine.h). Only the files of the model access its members.
 */
#ifndef PB_HAL_ENGINE_MODEL_STATE_H
#define PB_HAL_ENGINE_MODEL_STATE_H

#include "hal/engine.h"
#include "hal/engine/packets.h"
#include "hal/engine/registers.h"
#include "hal/engine_memory.h"
#include "hal/engine_model/model.h"

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
	uint32_t page; /**< its value: offset of a page */
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
	PB_MODEL_MORE, /**< a part is done; call again with this packet */
	PB_MODEL_FAULTED,
};

/** One row of the packet table. */
struct pb_model_operation {
	enum pb_model_status (*run)(struct pb_engine_model *model,
				    const uint32_t *words); /**< NULL: no such packet */
	uint32_t words;                                     /**< length of the packet; 0: any */
	uint32_t kinds;                                     /**< bit for each enum pb_node_kind that has it */
	uint32_t cost; /**< microseconds before anything that it touches */
	bool paging;   /**< for privileged submissions only */
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
	uint32_t steps; /**< since the last spurious interrupt */
	uint32_t held;  /**< steps until the line is raised; 0: nothing to raise */

	struct pb_model_translation cache[PB_MODEL_CACHE_ENTRIES]; /**< direct mapped */
	uint32_t cleared; /**< of struct pb_engine_translation, when the cache was last emptied */
	uint32_t changed;
	uint32_t nowhere; /**< where words go when there is no dummy page either */

	/* The slot being run. */
	enum pb_model_phase phase;
	uint32_t sequence; /**< of its fence */
	bool privileged;
	uint32_t owner;        /**< channel and context: PB_ENGINE_OWNER */
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

#endif
