/* SPDX-License-Identifier: MIT */
#include "firmware/observe/trace.h"

#include <string.h>

#include "firmware/instance.h"

#define SCHEMA_BYTES ((uint32_t)sizeof(PB_TRACE_SCHEMA) - 1u)
/** In whole words. */
static const char schema[(SCHEMA_BYTES + 4u) & ~3u] = PB_TRACE_SCHEMA;

void pb_core_trace_write(struct pb_firmware *firmware, uint32_t what, uint32_t first, uint32_t second)
{
	pb_core_trace_put(&firmware->trace, PB_CORE_TRACE_NOW(firmware), what, first, second);
}

/** The description of the ring, in front of the records. Pre: the board has room for a trace. */
static struct pb_trace_ring *ring_of(const struct pb_core_trace *trace)
{
	return &((struct pb_trace_ring *)(void *)trace->records)[-1];
}

PB_CORE_COLD void pb_core_trace_clock(struct pb_firmware *firmware)
{
	PB_CORE_TRACE(firmware, CLOCK, PB_TRACE_NONE, pb_core_clock(firmware), 0);
}

/** Sets the levels of all categories. @return false: one of them is not a level */
static bool set_levels(struct pb_core_trace *trace, uint32_t levels)
{
	uint32_t enabled = 0;

	for (uint32_t c = 0; c < PB_TRACE_CATEGORY_COUNT; c++) {
		const uint32_t level = levels >> 4u * c & 0xfu;

		if (level > PB_TRACE_LEVEL_MAX)
			return false;
		enabled |= ((1u << level) - 1u) << c * PB_TRACE_LEVEL_MAX;
	}
	if (levels >> 4u * PB_TRACE_CATEGORY_COUNT != 0)
		return false;
	trace->enabled = enabled;
	pb_shared_write32(&ring_of(trace)->levels, levels);
	return true;
}

void pb_core_trace_handle(struct pb_firmware *firmware, const struct pb_core_queue *queue, uint32_t event)
{
	const uint32_t object = pb_core_trace_queue(firmware->table.queues, queue);

	PB_STATIC_ASSERT(PB_CORE_TRACE_BIT_HANDLE == PB_CORE_TRACE_BIT_FREE, "one check for both");
	if ((firmware->trace.enabled & PB_CORE_TRACE_BIT_HANDLE) != 0)
		pb_core_trace_write(firmware, object + event, PB_HANDLE(object >> 16, queue->generation),
				    PB_TRACE_OF(queue->channel, pb_core_queue_node(queue),
						pb_core_queue_priority(queue)));
}

/** Writes HANDLE for the queues of the next slice of the table. */
static PB_CORE_COLD void list_queues(struct pb_firmware *firmware)
{
	struct pb_core_trace *trace = &firmware->trace;

	for (uint32_t i = 0; i < PB_SLICE_LISTED && trace->listed < firmware->table.count; i++) {
		const struct pb_core_queue *queue = &firmware->table.queues[trace->listed++];

		if (pb_core_queue_state(queue) != PB_CORE_QUEUE_FREE)
			pb_core_trace_handle(firmware, queue, PB_TRACE_HANDLE);
	}
}

void pb_core_trace_tick(struct pb_firmware *firmware)
{
	const struct pb_core_trace *trace = &firmware->trace;

	if (trace->records == NULL)
		return;
	pb_shared_write32(&ring_of(trace)->clock, PB_CORE_TRACE_NOW(firmware));
	if (firmware->telemetry.ticks % PB_TRACE_CLOCK_TICKS == 0)
		pb_core_trace_clock(firmware);
	list_queues(firmware);
}

bool pb_core_trace_change(struct pb_firmware *firmware, uint32_t levels)
{
	struct pb_core_trace *trace = &firmware->trace;
	/* A host that writes there falsifies this record, and nothing else. */
	const uint32_t before = pb_shared_read32(&ring_of(trace)->levels);

	if (!set_levels(trace, levels))
		return false;
	if (PB_TRACE_LEVELS_LIFE(before | levels) != 0)
		pb_core_trace_write(firmware, PB_TRACE_WHAT(PB_TRACE_LEVELS, PB_TRACE_NONE), levels, before);
	pb_core_trace_clock(firmware);
	trace->listed = 0;
	list_queues(firmware);
	return true;
}

static void write_schema(uint32_t *to)
{
	for (uint32_t at = 0; at < SCHEMA_BYTES; at += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, &schema[at], sizeof(word));
		pb_shared_write32(to++, word);
	}
}

static uint32_t largest_power_of_two(uint32_t limit)
{
	uint32_t power = 1;

	while (power <= limit / 2u)
		power *= 2u;
	return power;
}

void pb_core_trace_init(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	const uint32_t others = (uint32_t)sizeof(struct pb_trace_ring) + SCHEMA_BYTES + 3u;
	const uint32_t records = config->memory_bytes + (uint32_t)sizeof(struct pb_trace_ring);
	struct pb_core_trace *trace = &firmware->trace;
	struct pb_trace_ring *ring = pb_core_at(firmware, config->memory_bytes);
	uint32_t entries;

	if (config->trace_bytes < others + 2u * PB_TRACE_MARGIN * (uint32_t)sizeof(struct pb_trace_record))
		return;
	entries = largest_power_of_two((config->trace_bytes - others) /
				       (uint32_t)sizeof(struct pb_trace_record));
	trace->listed = UINT32_MAX; /* no list was asked for */
	trace->records = (uint8_t *)(ring + 1);
	trace->mask = (entries - 1u) * (uint32_t)sizeof(struct pb_trace_record);
	/* What the last boot has left stays readable. Any number would do. */
	trace->put = pb_shared_read32(&ring->put) / sizeof(struct pb_trace_record) *
		     (uint32_t)sizeof(struct pb_trace_record);
	pb_shared_write32(&ring->magic, 0);
	pb_shared_release();
	pb_shared_write32(&ring->version, PB_TRACE_VERSION);
	pb_shared_write32(&ring->record_bytes, sizeof(struct pb_trace_record));
	pb_shared_write32(&ring->entries, entries);
	pb_shared_write32(&ring->records_offset, records);
	pb_shared_write32(&ring->schema_offset, records + entries * (uint32_t)sizeof(struct pb_trace_record));
	pb_shared_write32(&ring->schema_bytes, SCHEMA_BYTES);
	write_schema((uint32_t *)(void *)(trace->records + entries * sizeof(struct pb_trace_record)));
	trace->clock = config->counter != NULL ? config->counter : config->clock;
	pb_shared_write32(&ring->clock_hertz, config->counter_hertz);
	(void)set_levels(trace, PB_TRACE_LEVELS_DEFAULT);
	pb_shared_release();
	pb_shared_write32(&ring->magic, PB_TRACE_MAGIC);
	/* Before all else: if nothing more comes of this boot, here is why. */
	pb_shared_write32(&firmware->boot.block->trace_offset, config->memory_bytes);
}
