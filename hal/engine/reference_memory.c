/* SPDX-License-Identifier: MIT */
#include "hal/engine/reference_memory.h"

#include "hal/engine/registers.h"
#include "hal/shared.h"

static void set_range(void *context, uint32_t channel, uint32_t index, const struct pb_engine_range *range)
{
	const struct pb_reference_memory *memory = context;
	struct pb_engine_range_entry *table =
		(struct pb_engine_range_entry *)(void *)(memory->card_memory + memory->range_offset);
	struct pb_engine_range_entry *entry = &table[channel * PB_ENGINE_RANGES + index];

	pb_shared_write32(&entry->bytes, 0);
	pb_shared_release();
	pb_shared_write32(&entry->gpu_base_low, (uint32_t)range->gpu_base);
	pb_shared_write32(&entry->gpu_base_high, (uint32_t)(range->gpu_base >> 32));
	pb_shared_write32(&entry->memory_offset,
			  range->memory_offset | (range->paged ? PB_ENGINE_RANGE_PAGED : 0));
	pb_shared_release();
	pb_shared_write32(&entry->bytes, range->bytes);
}

static uint32_t *page_entry(const struct pb_reference_memory *memory, uint32_t table_offset, uint32_t index)
{
	return (uint32_t *)(void *)(memory->card_memory + table_offset) + index;
}

static uint32_t page(void *context, uint32_t table_offset, uint32_t index)
{
	const uint32_t entry = pb_shared_read32(page_entry(context, table_offset, index));

	if (entry % PB_PAGE_BYTES != PB_ENGINE_PAGE_VALID)
		return 0;
	return entry - PB_ENGINE_PAGE_VALID;
}

static void page_clear(void *context, uint32_t table_offset, uint32_t index, uint32_t count)
{
	const struct pb_reference_memory *memory = context;
	struct pb_engine_translation *translation =
		(struct pb_engine_translation *)(void *)(memory->card_memory + memory->translation_offset);

	for (uint32_t i = 0; i < count; i++)
		pb_shared_write32(page_entry(memory, table_offset, index + i), 0);
	pb_shared_release();
	pb_shared_write32(&translation->cleared, pb_shared_read32(&translation->cleared) + 1u);
}

static bool clear(void *context, uint32_t offset, uint32_t bytes)
{
	const struct pb_reference_memory *memory = context;
	struct pb_engine_clear *unit =
		(struct pb_engine_clear *)(void *)(memory->card_memory + memory->clear_offset);
	const uint32_t request = pb_shared_read32(&unit->request);

	if (pb_shared_read32(&unit->done) != request)
		return false;
	pb_shared_acquire();
	if (bytes == 0)
		return true;
	pb_shared_write32(&unit->offset, offset);
	pb_shared_write32(&unit->bytes, bytes);
	pb_shared_release();
	pb_shared_write32(&unit->request, request + 1u);
	return true;
}

const struct pb_engine_memory_ops pb_reference_memory_ops = {
	.set_range = set_range,
	.page = page,
	.page_clear = page_clear,
	.clear = clear,
};
