/* SPDX-License-Identifier: MIT */
#include "hal/shared.h"
#include "qemu/engine_internal.h"

/* The MCU wrote the entry, but a model must not trust it: each word is read once. */
static void load_window(const struct pb_engine_model *model, const struct pb_engine_range_entry *entry,
			struct pb_model_window *window)
{
	uint32_t low = pb_shared_read32(&entry->gpu_base_low);
	uint32_t high = pb_shared_read32(&entry->gpu_base_high);
	uint32_t bytes = pb_shared_read32(&entry->bytes);
	uint32_t offset = pb_shared_read32(&entry->memory_offset);
	bool aligned = ((low | offset) & 3u) == 0;
	bool inside = (uint64_t)offset + bytes <= model->config.memory_bytes;

	*window = (struct pb_model_window){.gpu_base = (uint64_t)high << 32 | low};
	if (!aligned || !inside)
		return;
	window->bytes = bytes;
	window->memory = (uint32_t *)(void *)(model->config.memory + offset);
}

void pb_model_windows_load(struct pb_engine_model *model, uint32_t range_offset, uint32_t channels,
			   uint32_t channel)
{
	const struct pb_engine_range_entry *table =
		(const struct pb_engine_range_entry *)(const void *)(model->config.memory + range_offset);

	for (uint32_t i = 0; i < PB_ENGINE_RANGES; i++) {
		if (channel < channels)
			load_window(model, &table[channel * PB_ENGINE_RANGES + i], &model->windows[i]);
		else
			model->windows[i] = (struct pb_model_window){.bytes = 0};
	}
}

bool pb_model_access(struct pb_engine_model *model, uint64_t address, uint64_t bytes, uint32_t **words)
{
	*words = NULL;
	if (bytes == 0)
		return true;
	if (((address | bytes) & 3u) != 0) {
		pb_model_fault_packet(model, PB_ENGINE_FAULT_ALIGNMENT);
		return false;
	}
	for (uint32_t i = 0; i < PB_ENGINE_RANGES; i++) {
		const struct pb_model_window *window = &model->windows[i];
		uint64_t offset = address - window->gpu_base;

		/* Subtractions only: sums of foreign numbers could wrap. */
		if (address < window->gpu_base || offset >= window->bytes || bytes > window->bytes - offset)
			continue;
		*words = window->memory + offset / 4;
		return true;
	}
	pb_model_fault(model, PB_ENGINE_FAULT_ADDRESS, address);
	return false;
}
