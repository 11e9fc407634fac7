/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a patch list must do, of either encoding, and a check of the simulated
 * card against it. What one format makes of one entry: format_oracle.h.
 */
#ifndef PB_TESTS_UNIT_PATCH_ORACLE_H
#define PB_TESTS_UNIT_PATCH_ORACLE_H

#include "tests/unit/card_fixture.h"
#include "tests/unit/format_oracle.h"

/** Buffer that the oracle submits unless a list says more. It lies between two pages that are compared as well. */
#define ORACLE_BUFFER_BYTES CARD_DMA_STRIDE
/** Most that a list may say. */
#define ORACLE_BUFFER_MAX 0x80000u
/** Where the engine sees that buffer. */
#define ORACLE_SELF (CARD_SYSTEM_GPU + CARD_DMA + CARD_DMA_STRIDE)
/** A channel's own formats. */
#define ORACLE_OWN_FORMATS 16u

/* Segments beside those of the fixture: addresses only, nothing mapped. */
#define ORACLE_SIGN_OS                                                                                       \
	UINT64_C(0x20000000000) /**< segment 4: bit 47 of its addresses turns on in the middle */
#define ORACLE_SIGN_GPU     UINT64_C(0x7fffffff0000)
#define ORACLE_BIT48_OS     UINT64_C(0x30000000000) /**< segment 5: bit 48 is on, bit 47 off */
#define ORACLE_BIT48_GPU    UINT64_C(0x1000000000000)
#define ORACLE_TOP_OS       UINT64_C(0x40000000000) /**< segment 6: as high as one can lie */
#define ORACLE_TOP_GPU      UINT64_C(0xfffffffffffe0000)
#define ORACLE_BIT40_OS     UINT64_C(0x50000000000) /**< segment 7: bit 40 is on */
#define ORACLE_BIT40_GPU    UINT64_C(0x10000000000)
#define ORACLE_LOW_OS       UINT64_C(0x60000000000) /**< segment 8: small and below 4 GiB, where most are */
#define ORACLE_LOW_GPU      UINT64_C(0x20000000)
#define ORACLE_APERTURE_OS  UINT64_C(0x70000000000) /**< segment 9: an aperture */
#define ORACLE_APERTURE_GPU UINT64_C(0x30000000)
#define ORACLE_SMALL_BYTES  0x20000u /**< of segments 4, 5 and 7 to 9 */
#define ORACLE_TOP_BYTES    0x1f000u

/** Formats of the channel that submits. */
struct oracle_formats {
	struct pb_patch_format format[ORACLE_OWN_FORMATS]; /**< by DriverId - PB_FORMAT_OWN */
	bool set[ORACLE_OWN_FORMATS];
};

/** One submission for patching. Everything is read before the card runs. */
struct oracle_list {
	const struct pb_allocation *allocations;
	const struct pb_patch_location *patches; /**< encoding WDDM */
	const uint32_t *words;                   /**< encodings COMPACT and GROUPED */
	const struct pb_presumed *presumed;      /**< by allocation; NULL: without PB_PATCH_PRESUMED */
	const struct oracle_formats *own;        /**< NULL: none is set */
	uint32_t encoding;                       /**< enum pb_patch_encoding */
	uint32_t allocation_count;
	uint32_t patch_count; /**< this and the next two: entries, or words of a compact list */
	uint32_t patch_start;
	uint32_t patch_length;
	uint32_t dma_start;
	uint32_t dma_end;
	uint32_t buffer_bytes; /**< DmaBufferSize; 0: ORACLE_BUFFER_BYTES */
	uint32_t fence_id;     /**< 0: another one each time */
};

/** How far a list came. */
struct oracle_result {
	enum pb_error error; /**< of the first bad entry; PB_ERROR_OK: there is none */
	uint32_t done;       /**< entries carried out, those that were skipped not counted */
	uint32_t index;      /**< of the bad entry, counted as the list counts, from its first */
	uint32_t next;       /**< index behind it; without an error, the end */
};

/** An allocation entry. Its id and attribute are 0. */
struct pb_allocation oracle_allocation(uint64_t os_address, uint64_t size, uint32_t flags);
/** The format that an entry names, or NULL. */
const struct pb_patch_format *oracle_format(const struct oracle_list *list, uint32_t driver_id);
/** What is wrong with one entry of a WDDM list. PB_ERROR_OK: nothing. */
enum pb_error oracle_entry(const struct oracle_list *list, const struct pb_patch_location *patch,
			   uint32_t fence_id);
/** Carries the list out, up to the first bad entry, in `buffer`. */
struct oracle_result oracle_run(const struct oracle_list *list, uint32_t fence_id, uint8_t *buffer);
/**
 * Writes entries as a compact list: short where they can be, else as escapes. Reserved bits, SplitOffset,
 * and what an index or a format has beyond the bits of an entry, are lost.
 * @param loose take an escape, needed or not, where its bit i % 32 is set
 * @return words written, at most 3 for each entry
 */
uint32_t oracle_compact(const struct pb_patch_location *patches, uint32_t count, uint32_t loose,
			uint32_t *words);

/**
 * Writes entries as a grouped list, in the order that they have: groups of 1 to `most` entries, each named by its first
 * entry's allocation, and never skipped if that entry's format uses none.
 * @return words written, at most 3 for each entry and 2 for each group
 */
uint32_t oracle_grouped(const struct oracle_list *list, uint32_t count, uint32_t most, uint32_t *words);
/** What presumes an allocation where it is listed. */
struct pb_presumed oracle_presumed(const struct pb_allocation *allocation);

/** card_start with the segments above. */
void oracle_start(struct card *card);
/** card_start_on, likewise. */
void oracle_start_on(struct card *card, struct pb_link *link);
/** FORMAT_SET. @param reason set to result 0 of the reply, error or not */
enum pb_error oracle_format_set(struct pb_channel *channel, uint32_t driver_id,
				const struct pb_patch_format *format, uint32_t *reason);
/** Sets a format that must be taken. */
void oracle_own(struct card *card, struct oracle_formats *own, uint32_t driver_id,
		const struct pb_patch_format *format);

/** The card's bytes of the page before the buffer, the buffer and the page behind it. */
uint8_t *oracle_pages(const struct card *card);
/** Submits the list to patch those bytes as they are. Nothing is run. */
struct pb_fence oracle_submit(struct card *card, const struct oracle_list *list);
/**
 * Fills the pages with bytes made from `seed`, lets the card patch them without
 * running them, and compares memory, lists, fence record and events with the oracle.
 */
struct oracle_result oracle_check(struct card *card, const char *row, const struct oracle_list *list,
				  uint32_t seed);

/** The same for a short WDDM list that starts at its first entry, and again for its compact form if it has one. */
enum pb_error oracle_check_both(struct card *card, const char *row, const struct oracle_list *list,
				uint32_t seed);

/** A generator of numbers for tests: the same ones every time. */
uint32_t oracle_random(uint32_t *seed);

#endif
