/* SPDX-License-Identifier: MIT */
#include "tests/unit/telemetry_sample.h"

#include <stdbool.h>
#include <string.h>

struct pb_boot_block *sample_boot(uint8_t *memory)
{
	return (void *)(memory + PB_BOOT_OFFSET);
}

struct pb_telemetry *sample_card(uint8_t *memory)
{
	return (void *)(memory + SAMPLE_TELEMETRY);
}

struct pb_node_telemetry *sample_node(uint8_t *memory, uint32_t node)
{
	struct pb_node_telemetry *nodes = (void *)(memory + SAMPLE_TELEMETRY + sizeof(struct pb_telemetry));

	return &nodes[node];
}

static bool is_gauge(uint32_t tag)
{
	return tag >= PB_NODE_TAG_DEPTH && tag <= PB_NODE_TAG_STATE;
}

uint64_t sample_node_value(uint32_t node, uint32_t tag)
{
	if (tag == PB_NODE_TAG_STATE)
		return node; /* RUNNING and STOPPING */
	return (is_gauge(tag) ? 0 : (uint64_t)(tag + 1u) << 32) + 1000u * node + 7u * tag + 1u;
}

uint64_t sample_card_value(uint32_t tag)
{
	return ((uint64_t)tag << 32) + 5000u + tag;
}

/* No latency of more than 2^25 microseconds on node 0; node 1 has counted none of FEED. */
uint32_t sample_latency(uint32_t node, uint32_t latency, uint32_t bucket)
{
	if (node == 1)
		return latency == PB_LATENCY_FEED ? 0 : bucket == 0 ? UINT32_MAX : bucket;
	return bucket < 7u || bucket == 9u ? 0 : 10u * bucket + latency;
}

static void write_value(struct pb_telemetry_value *at, uint64_t value)
{
	*at = (struct pb_telemetry_value){.low = (uint32_t)value, .high = (uint32_t)(value >> 32)};
}

static void write_node(uint8_t *memory, uint32_t n)
{
	struct pb_node_telemetry *node = sample_node(memory, n);

	node->sequence = 40u + 2u * n;
	for (uint32_t tag = 0; tag < PB_NODE_VALUES; tag++)
		write_value(&node->values[tag],
			    tag < PB_NODE_TAG_COUNT ? sample_node_value(n, tag) : UINT64_MAX);
	for (uint32_t l = 0; l < PB_LATENCY_COUNT; l++)
		for (uint32_t b = 0; b < PB_LATENCY_BUCKETS; b++)
			node->latencies[l][b] = sample_latency(n, l, b);
}

static void write_account(uint8_t *memory, uint32_t channel)
{
	struct pb_channel_account *accounts = (void *)sample_node(memory, SAMPLE_NODES);

	for (uint32_t r = 0; r < PB_RESOURCES_USED; r++)
		accounts[channel].used[r] = 100u * channel + r;
	for (uint32_t r = 0; r < PB_RESOURCE_COUNT; r++)
		accounts[channel].limit[r] = 1000u * channel + 4096u + r;
}

void sample_write(uint8_t *memory)
{
	struct pb_boot_block *boot = sample_boot(memory);
	struct pb_telemetry *card = sample_card(memory);

	memset(memory, 0, SAMPLE_BYTES);
	*boot = (struct pb_boot_block){
		.magic = PB_BOOT_MAGIC,
		.abi_version = PB_ABI_VERSION,
		.block_bytes = sizeof(*boot),
		.memory_bytes = SAMPLE_BYTES,
		.channel_directory_offset = SAMPLE_DIRECTORY,
		.channel_count = 2,
		.build = "sample \"1\\0\"",
		.boot_stage = PB_BOOT_STAGE_RUNNING,
		.heartbeat = 4000000000u,
		.incarnation = SAMPLE_INCARNATION,
		.telemetry_offset = SAMPLE_TELEMETRY,
		.mcu_state = PB_MCU_RUNNING,
		.mcu_deaths = 2,
		.clock = 123456789,
	};
	for (uint32_t tag = 0; tag < PB_CARD_VALUES; tag++)
		write_value(&card->values[tag],
			    tag < PB_CARD_TAG_COUNT ? sample_card_value(tag) : UINT64_MAX);
	for (uint32_t n = 0; n < SAMPLE_NODES; n++)
		write_node(memory, n);
	for (uint32_t c = 0; c < SAMPLE_CHANNELS; c++)
		write_account(memory, c);
	card->channels = SAMPLE_CHANNELS;
	card->sequence = 12;
	card->nodes = SAMPLE_NODES;
	card->node_values = PB_NODE_TAG_COUNT;
	card->card_values = PB_CARD_TAG_COUNT;
	card->version = PB_TELEMETRY_VERSION;
}
