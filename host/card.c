/* SPDX-License-Identifier: MIT */
/* The boot block: read before the versions of firmware and library are known to fit. */
#include <string.h>

#include "host/internal.h"

/* Largest capability table accepted, in entries: bounds the time to read a damaged one. */
#define CAPABILITY_COUNT_LIMIT 256u

#define CAPABILITY_BIT(name, key, meaning) | UINT64_C(1) << (key)
/* One bit for each capability key that the library knows. */
static const uint64_t known_capabilities = 0 PB_CAPABILITIES(CAPABILITY_BIT);

static void read_capabilities(const struct pb_capability *table, uint32_t count, struct pb_card_info *info)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t key = pb_shared_read32(&table[i].key);

		if (key < PB_CAPABILITY_KEYS && (known_capabilities >> key & 1u) != 0)
			info->capabilities[key] = pb_shared_read32(&table[i].value);
	}
}

static void read_build(const struct pb_link *link, struct pb_card_info *info)
{
	uint32_t words[(sizeof(info->build) - 1) / sizeof(uint32_t)];

	pb_shared_copy_in(words, pb_at(link, PB_BOOT_OFFSET + offsetof(struct pb_boot_block, build)),
			  sizeof(words));
	for (uint32_t i = 0; i < sizeof(words); i++) {
		uint32_t byte = words[i / 4] >> i % 4 * 8 & 0xffu;

		if (byte == 0)
			break;
		info->build[i] = byte >= ' ' && byte <= '~' ? (char)byte : '?';
	}
}

void pb_card_state(const struct pb_link *link, struct pb_card_info *info)
{
	const struct pb_boot_block *block = pb_at(link, PB_BOOT_OFFSET);

	info->boot_stage = pb_shared_read32(&block->boot_stage);
	info->waypoint = pb_shared_read32(&block->waypoint);
	info->heartbeat = pb_shared_read32(&block->heartbeat);
	info->incarnation = pb_shared_read32(&block->incarnation);
	info->mcu_state = pb_shared_read32(&block->mcu_state);
	pb_shared_acquire(); /* mcu_state is written last at a death */
	info->mcu_deaths = pb_shared_read32(&block->mcu_deaths);
	info->dead_stage = pb_shared_read32(&block->dead_stage);
	info->dead_waypoint = pb_shared_read32(&block->dead_waypoint);
	/* The record may be half written until its `valid` word is 1. */
	memset(&info->fatal, 0, sizeof(info->fatal));
	if (pb_shared_read32(&block->fatal.valid) != 1)
		return;
	pb_shared_acquire();
	pb_shared_copy_in(&info->fatal, &block->fatal, sizeof(info->fatal));
	/* The next boot may have begun to clear the record; it clears `valid` first. */
	pb_shared_acquire();
	if (pb_shared_read32(&block->fatal.valid) != 1)
		memset(&info->fatal, 0, sizeof(info->fatal));
}

static enum pb_error read_layout(const struct pb_link *link, struct pb_card_info *info)
{
	const struct pb_boot_block *block = pb_at(link, PB_BOOT_OFFSET);
	uint32_t block_bytes = pb_shared_read32(&block->block_bytes);
	uint32_t memory_bytes = pb_shared_read32(&block->memory_bytes);
	uint32_t table = pb_shared_read32(&block->capability_offset);
	uint32_t table_count = pb_shared_read32(&block->capability_count);
	uint32_t directory = pb_shared_read32(&block->channel_directory_offset);
	uint32_t channels = pb_shared_read32(&block->channel_count);

	if (block_bytes < sizeof(*block) || memory_bytes < block_bytes || memory_bytes > link->memory_bytes)
		return PB_ERROR_PROTOCOL;
	if (table_count > CAPABILITY_COUNT_LIMIT ||
	    !pb_inside(link, table, table_count * sizeof(struct pb_capability)))
		return PB_ERROR_PROTOCOL;
	if (channels == 0 ||
	    !pb_inside(link, directory, (uint64_t)channels * sizeof(struct pb_channel_entry)))
		return PB_ERROR_PROTOCOL;
	info->memory_bytes = memory_bytes;
	info->channel_directory_offset = directory;
	info->channel_count = channels;
	read_capabilities(pb_at(link, table), table_count, info);
	return PB_ERROR_OK;
}

enum pb_error pb_card_read(const struct pb_link *link, struct pb_card_info *info)
{
	const struct pb_boot_block *block = pb_at(link, PB_BOOT_OFFSET);

	memset(info, 0, sizeof(*info));
	if (link->memory_bytes < sizeof(*block) || pb_shared_read32(&block->magic) != PB_BOOT_MAGIC)
		return PB_ERROR_NO_CARD;
	pb_shared_acquire();
	info->abi_version = pb_shared_read32(&block->abi_version);
	/* Only these two words have the same offset in every major version. */
	if (info->abi_version >> 16 != PB_ABI_MAJOR)
		return PB_ERROR_BAD_VERSION;
	read_build(link, info);
	pb_card_state(link, info);
	return read_layout(link, info);
}

uint32_t pb_card_pool_most(const struct pb_card_info *card)
{
	const uint32_t pool = card->capabilities[PB_CAPABILITY_POOL_BYTES];
	const uint64_t kept =
		(uint64_t)card->channel_count * card->capabilities[PB_CAPABILITY_POOL_BYTES_MIN];

	return kept < pool ? pool - (uint32_t)kept : 0;
}
