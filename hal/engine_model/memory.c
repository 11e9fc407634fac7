/* SPDX-License-Identifier: MIT */
#include "hal/engine_model/internal.h"
#include "hal/shared.h"

static bool is_page(uint64_t value)
{
	return value % PB_PAGE_BYTES == 0;
}

/* Whether a range lies in a part of memory that begins elsewhere than at 0. */
static bool is_inside(uint32_t part_offset, uint32_t part_bytes, uint32_t offset, uint32_t bytes)
{
	return bytes <= part_bytes && offset >= part_offset && offset - part_offset <= part_bytes - bytes;
}

/* Whether a range lies in card memory or, if it is no page table, in host memory or in outer memory. */
static bool is_memory(const struct pb_engine_model *model, uint32_t offset, uint32_t bytes, bool paged)
{
	const struct pb_engine_model_config *config = &model->config;

	return (uint64_t)offset + bytes <= config->memory_bytes ||
	       (!paged && (is_inside(config->host_offset, config->host_bytes, offset, bytes) ||
			   is_inside(config->outer_offset, config->outer_bytes, offset, bytes)));
}

/* The MCU wrote the entry, but a model must not trust it: each word is read once. false: it is not there. */
static bool load_window(const struct pb_engine_model *model, const struct pb_engine_range_entry *entry,
			struct pb_model_window *window)
{
	uint32_t bytes = pb_shared_read32(&entry->bytes);
	uint32_t low, high, offset, table, occupied;
	bool paged;

	/* It is stored last, as a range may be added while a submission of its channel starts. */
	pb_shared_acquire();
	low = pb_shared_read32(&entry->gpu_base_low);
	high = pb_shared_read32(&entry->gpu_base_high);
	offset = pb_shared_read32(&entry->memory_offset);
	paged = (offset & PB_ENGINE_RANGE_PAGED) != 0;
	table = offset - (paged ? PB_ENGINE_RANGE_PAGED : 0);
	occupied = paged ? PB_ENGINE_TABLE_BYTES(bytes) : bytes;
	*window = (struct pb_model_window){
		.gpu_base = (uint64_t)high << 32 | low, .bytes = bytes, .offset = table, .paged = paged};
	return bytes != 0 && is_page(low) && is_page(bytes) && is_page(table) &&
	       is_memory(model, table, occupied, paged);
}

void pb_model_windows_load(struct pb_engine_model *model, uint32_t range_offset, uint32_t channels,
			   uint32_t channel)
{
	const struct pb_engine_range_entry *table =
		(const struct pb_engine_range_entry *)(const void *)pb_model_words(model, range_offset);

	model->window_count = 0;
	if (channel >= channels)
		return;
	for (uint32_t i = 0; i < PB_ENGINE_RANGES; i++) {
		if (load_window(model, &table[channel * PB_ENGINE_RANGES + i],
				&model->windows[model->window_count]))
			model->window_count++;
	}
}

bool pb_model_window_holds(const struct pb_model_window *window, uint64_t address, uint64_t bytes)
{
	uint64_t offset = address - window->gpu_base;

	/* Subtractions only: sums of foreign numbers could wrap. */
	return address >= window->gpu_base && offset < window->bytes && bytes <= window->bytes - offset;
}

bool pb_model_span(struct pb_engine_model *model, uint64_t address, uint64_t bytes,
		   struct pb_model_span *span)
{
	*span = (struct pb_model_span){.window = NULL};
	if (bytes == 0)
		return true;
	if (((address | bytes) & 3u) != 0) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
		return false;
	}
	for (uint32_t i = 0; i < model->window_count; i++) {
		if (!pb_model_window_holds(&model->windows[i], address, bytes))
			continue;
		*span = (struct pb_model_span){
			.window = &model->windows[i], .address = address, .bytes = (uint32_t)bytes};
		return true;
	}
	pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address);
	return false;
}
