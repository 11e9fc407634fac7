/* SPDX-License-Identifier: MIT */
/*
 * Memory with one writer: what only the host writes in its share, what only the firmware writes on the card; and
 * the cost of one pass, whatever a hostile host does.
 */
#include <string.h>

#include "hal/engine/registers.h"
#include "patchbay/abi/boot.h"
#include "tests/sim/hostile.h"
#include "tests/sim/inside.h"
#include "tests/sim/judge.h"
#include "tests/sim/submission.h"

static void check_words(struct pb_run *run, const struct pb_host *host)
{
	const struct pb_client *client = &host->client;
	const struct pb_channel_entry *entry = client->entry;

	if (pb_shared_read32(&entry->attach_request) != client->request ||
	    pb_shared_read32(&entry->control_put) != client->control_put ||
	    pb_shared_read32(&entry->reply_get) != client->reply_get ||
	    pb_shared_read32(&entry->kick_put) != client->kick_put ||
	    pb_shared_read32(&entry->rescan) != client->rescans ||
	    pb_shared_read32(&entry->event_get) != (client->unread ? 0 : client->event_get))
		pb_run_break(run, "channel %u: a word of its entry is not what its host wrote",
			     client->channel);
}

static void check_ranges(struct pb_run *run, const struct pb_host *host)
{
	for (uint32_t segment = 0; segment < PB_ENGINE_RANGES; segment++) {
		const bool revoked = segment == PB_REVOKED_SEGMENT && host->revocation >= PB_REVOCATION_DONE;
		const uint32_t wanted = segment < PB_SEGMENTS && !revoked ? host->bytes[segment] : 0;
		uint32_t offset;

		if (segment == PB_REVOKED_SEGMENT &&
		    (host->moving || host->revocation == PB_REVOCATION_ASKED))
			continue;
		if (pb_hostile_range(&run->world, host->client.channel, segment, &offset) != wanted ||
		    (wanted != 0 && run->world.memory + offset != host->memory[segment]))
			pb_run_break(run, "channel %u: the engines have another segment %u than it",
				     host->client.channel, segment);
	}
}

void pb_judge_share(struct pb_run *run, struct pb_host *host)
{
	const uint8_t *spoiled;

	if (!host->opened)
		return;
	check_words(run, host);
	check_ranges(run, host);
	spoiled = pb_submission_changed_byte(host);
	if (spoiled != NULL)
		pb_run_break(run, "channel %u: another component has written at %#x of its segment 0",
			     host->client.channel, (unsigned int)(spoiled - host->memory[0]));
}

void pb_judge_card_keep(struct pb_run *run)
{
	memcpy(run->boot_words, run->world.memory + PB_BOOT_OFFSET, sizeof(run->boot_words));
}

void pb_judge_card(struct pb_run *run)
{
	const struct pb_boot_block *boot = pb_world_boot_block(&run->world);

	if (!run->supervising)
		return;
	if (memcmp(run->boot_words, boot, sizeof(run->boot_words)) != 0)
		pb_run_break(run, "the boot block is not what the firmware wrote");
	if (pb_shared_read32(&boot->boot_stage) != PB_BOOT_STAGE_RUNNING ||
	    pb_shared_read32(&boot->fatal.valid) != 0)
		pb_run_break(run, "the firmware is at stage %u", pb_shared_read32(&boot->boot_stage));
}

/* ---- memory without an owner ---- */

static void set_owned(const struct pb_world *world, uint32_t channel, uint32_t segment,
		      bool owned[PB_WORLD_POOL_PAGES])
{
	const struct pb_engine_range_entry *entry =
		(const struct pb_engine_range_entry *)(const void *)(world->memory + PB_CARD_RANGES_OFFSET) +
		channel * PB_ENGINE_RANGES + segment;
	const uint32_t where = pb_shared_read32(&entry->memory_offset);
	const uint32_t offset = where & ~PB_ENGINE_RANGE_PAGED;
	uint32_t bytes = pb_shared_read32(&entry->bytes);

	if ((where & PB_ENGINE_RANGE_PAGED) != 0)
		bytes = PB_ENGINE_TABLE_BYTES(bytes);
	/* Host memory is no part of the pool. */
	if (offset >= world->memory_bytes)
		return;
	for (uint32_t at = offset; bytes != 0 && at < offset + bytes; at += PB_PAGE_BYTES)
		owned[(at - PB_CARD_POOL_OFFSET) / PB_PAGE_BYTES] = true;
}

static uint64_t sum_of(const struct pb_world *world, uint32_t page)
{
	const uint8_t *bytes = world->memory + PB_CARD_POOL_OFFSET + page * PB_PAGE_BYTES;
	uint64_t sum = 0, word;

	for (uint32_t i = 0; i < PB_PAGE_BYTES; i += (uint32_t)sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		sum = sum * 3u + word;
	}
	return sum;
}

void pb_judge_pool(struct pb_run *run)
{
	bool owned[PB_WORLD_POOL_PAGES] = {false};

	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		for (uint32_t segment = 0; segment < PB_ENGINE_RANGES; segment++)
			set_owned(&run->world, channel, segment, owned);
	}
	for (uint32_t page = 0; page < PB_WORLD_POOL_PAGES; page++) {
		/* A page of a segment that is gone has no owner, and is being cleared. */
		const bool cleared =
			pb_inside_owner(run->world.firmware, PB_CARD_POOL_OFFSET + page * PB_PAGE_BYTES);
		const bool free = !owned[page] && !run->world.reowned[page] && !cleared;
		const uint64_t sum = free ? sum_of(&run->world, page) : 0;

		/* It may have been cleared for a segment whose creation was cancelled. */
		if (free && run->pool_known[page] && sum != run->pool_sums[page] && sum != 0)
			pb_run_break(run, "page %u of the pool has no owner, and has changed", page);
		run->pool_known[page] = free;
		run->pool_sums[page] = sum;
		run->world.reowned[page] = false;
	}
}

void pb_judge_pool_forget(struct pb_run *run)
{
	memset(run->pool_known, 0, sizeof(run->pool_known));
}

void pb_judge_no_ranges(struct pb_run *run)
{
	for (uint32_t channel = 0; channel < PB_LIMIT_CHANNELS; channel++) {
		for (uint32_t segment = 0; segment < PB_ENGINE_RANGES; segment++) {
			const struct pb_engine_range_entry *table =
				(const struct pb_engine_range_entry *)(const void *)(run->world.memory +
										     PB_CARD_RANGES_OFFSET);

			if (pb_shared_read32(&table[channel * PB_ENGINE_RANGES + segment].bytes) != 0)
				pb_run_break(run, "the engines still have segment %u of channel %u", segment,
					     channel);
		}
	}
}

void pb_judge_pass(struct pb_run *run)
{
	if (!run->supervising)
		return; /* a boot clears the whole range table */
	if (run->world.touches > run->totals.touches_max)
		run->totals.touches_max = run->world.touches;
	if (run->world.touches > pb_world_touches.most)
		pb_run_break(run, "a pass took %u calls or accesses", run->world.touches);
}
