/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"
#include "hal/shared.h"

/* Pages that one call maps or unmaps, so that a step ends. */
#define PAGES_AT_ONCE 64u

/* ---- translation ---- */

static void empty_cache(struct pb_engine_model *model)
{
	for (uint32_t i = 0; i < PB_MODEL_CACHE_ENTRIES; i++)
		model->cache[i].tag = PB_MODEL_CACHE_EMPTY;
}

void pb_model_pages_reset(struct pb_engine_model *model)
{
	empty_cache(model);
}

void pb_model_pages_check(struct pb_engine_model *model)
{
	uint32_t cleared = pb_shared_read32(&model->translation->cleared);
	uint32_t changed = pb_shared_read32(&model->translation->changed);

	if (cleared == model->cleared && changed == model->changed)
		return;
	/* The words of the page tables are read after the counters that announce their changes. */
	pb_shared_acquire();
	model->cleared = cleared;
	model->changed = changed;
	empty_cache(model);
}

/* Announces to all engines, this one too, that page tables have changed. */
static void tell_change(const struct pb_engine_model *model)
{
	pb_shared_add32(&model->translation->changed, 1u);
}

/* A cache knows nothing of channels, so that a page is held against the ranges whether it hit or not. */
static bool is_backed(const struct pb_engine_model *model, uint32_t page)
{
	for (uint32_t i = 0; i < model->window_count; i++) {
		const struct pb_model_window *window = &model->windows[i];

		if (!window->paged && page >= window->offset && page - window->offset < window->bytes)
			return true;
	}
	return false;
}

/* The page that a word of a page table names; false: none. Only what is mapped is kept in the cache. */
static bool translate(struct pb_engine_model *model, uint32_t entry_offset, uint32_t *page)
{
	struct pb_model_translation *kept = &model->cache[entry_offset / 4 % PB_MODEL_CACHE_ENTRIES];
	uint32_t entry;

	if (kept->tag != entry_offset) {
		entry = pb_shared_read32(pb_model_words(model, entry_offset));
		if (entry % PB_PAGE_BYTES != PB_ENGINE_PAGE_VALID)
			return false;
		*kept = (struct pb_model_translation){.tag = entry_offset,
						      .page = entry - PB_ENGINE_PAGE_VALID};
	}
	*page = kept->page;
	return is_backed(model, kept->page);
}

/* Where a word goes whose page is not mapped. */
static uint32_t *dummy_word(struct pb_engine_model *model, uint32_t in_page)
{
	uint32_t offset = model->dummy_offset;

	if (offset % PB_PAGE_BYTES != 0 || (uint64_t)offset + PB_PAGE_BYTES > model->config.memory_bytes)
		return &model->nowhere;
	return pb_model_words(model, offset + in_page);
}

struct pb_model_piece pb_model_page_piece(struct pb_engine_model *model, const struct pb_model_window *window,
					  uint32_t at, uint32_t bytes)
{
	uint32_t in_page = at % PB_PAGE_BYTES;
	uint32_t rest = PB_PAGE_BYTES - in_page;
	uint32_t page;

	if (!translate(model, window->offset + PB_ENGINE_TABLE_BYTES(at), &page))
		return (struct pb_model_piece){
			.words = dummy_word(model, in_page), .bytes = 4, .mapped = false};
	return (struct pb_model_piece){.words = pb_model_words(model, page + in_page),
				       .bytes = bytes < rest ? bytes : rest,
				       .mapped = true};
}

/* ---- packets ---- */

/* The range of the wanted kind that holds the pages; NULL: none. */
static const struct pb_model_window *find_window(const struct pb_engine_model *model, bool paged,
						 uint64_t address, uint64_t pages)
{
	for (uint32_t i = 0; i < model->window_count; i++) {
		const struct pb_model_window *window = &model->windows[i];

		if (window->paged == paged && pb_model_window_holds(window, address, pages * PB_PAGE_BYTES))
			return window;
	}
	return NULL;
}

static uint32_t *entry_of(const struct pb_engine_model *model, const struct pb_model_window *aperture,
			  uint64_t address, uint64_t page)
{
	uint32_t first = PB_ENGINE_TABLE_BYTES((uint32_t)(address - aperture->gpu_base));

	return pb_model_words(model, aperture->offset + first) + page;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static enum pb_model_status map_page(struct pb_engine_model *model, const struct pb_model_span *array,
				     uint32_t index, uint32_t *entry)
{
	const struct pb_model_window *window;
	uint32_t words[2];
	uint64_t address;
	uint32_t got = pb_model_read(model, array, 8 * index, words, 2);

	if (got != 2)
		return pb_model_fault(model, PB_ENGINE_FAULT_PAGE, array->address + 8 * index + 4 * got);
	address = pb_model_address(words);
	if (address % PB_PAGE_BYTES != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	window = find_window(model, false, address, 1);
	if (window == NULL)
		return pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address);
	pb_shared_write32(entry,
			  (window->offset + (uint32_t)(address - window->gpu_base)) | PB_ENGINE_PAGE_VALID);
	return PB_MODEL_DONE;
}

/* What a call has stored counts from the next packet on, also before a fault. */
static enum pb_model_status end_call(struct pb_engine_model *model, uint64_t end, uint32_t count)
{
	tell_change(model);
	pb_model_touch(model, end - model->cursor);
	model->cursor = end;
	return end < count ? PB_MODEL_MORE : PB_MODEL_DONE;
}

enum pb_model_status pb_model_map(struct pb_engine_model *model, const uint32_t *words)
{
	uint64_t address = pb_model_address(&words[1]);
	uint32_t count = words[3];
	uint64_t end = least(count, model->cursor + PAGES_AT_ONCE);
	const struct pb_model_window *aperture = find_window(model, true, address, count);
	struct pb_model_span array;

	if (count == 0)
		return PB_MODEL_DONE;
	/* Either operand's alignment counts before either's address. */
	if (address % PB_PAGE_BYTES != 0 || (words[4] & 3u) != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (aperture == NULL)
		return pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address);
	if (!pb_model_span(model, pb_model_address(&words[4]), 8 * (uint64_t)count, &array))
		return PB_MODEL_FAULTED;
	for (uint64_t page = model->cursor; page < end; page++) {
		uint32_t *entry = entry_of(model, aperture, address, page);

		if (map_page(model, &array, (uint32_t)page, entry) == PB_MODEL_FAULTED) {
			tell_change(model);
			return PB_MODEL_FAULTED;
		}
	}
	return end_call(model, end, count);
}

enum pb_model_status pb_model_unmap(struct pb_engine_model *model, const uint32_t *words)
{
	uint64_t address = pb_model_address(&words[1]);
	uint32_t count = words[3];
	uint64_t end = least(count, model->cursor + PAGES_AT_ONCE);
	const struct pb_model_window *aperture = find_window(model, true, address, count);

	if (count == 0)
		return PB_MODEL_DONE;
	if (address % PB_PAGE_BYTES != 0)
		return pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
	if (aperture == NULL)
		return pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address);
	for (uint64_t page = model->cursor; page < end; page++)
		pb_shared_write32(entry_of(model, aperture, address, page), 0);
	return end_call(model, end, count);
}

uint32_t pb_model_read(struct pb_engine_model *model, const struct pb_model_span *span, uint32_t offset,
		       uint32_t *words, uint32_t count)
{
	uint32_t done = 0;

	while (done < count) {
		const struct pb_model_piece piece =
			pb_model_piece(model, span, offset + 4 * done, 4 * (count - done));

		if (!piece.mapped)
			break;
		for (uint32_t i = 0; i < piece.bytes / 4; i++)
			words[done + i] = pb_shared_read32(&piece.words[i]);
		done += piece.bytes / 4;
	}
	return done;
}
