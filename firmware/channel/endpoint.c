/* SPDX-License-Identifier: MIT */
#include "firmware/channel/endpoint.h"

#include <stddef.h>

#include "firmware/assert.h"
#include "firmware/instance.h"

#define DIRECTORY_BYTES (PB_LIMIT_CHANNELS * (uint32_t)sizeof(struct pb_channel_entry))

void pb_core_endpoint_show(struct pb_firmware *firmware, uint32_t c, enum pb_error error)
{
	const struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;
#define SHOWN(name, shown, meaning) PB_CHANNEL_##shown,
	static const uint8_t shown[] = {PB_CORE_CHANNEL_STATES(SHOWN)};
#undef SHOWN

	if (!firmware->boot.booting) {
		pb_core_note(firmware, PB_CRASH_NOTE_CHANNEL, c, shown[endpoint->state]);
		PB_CORE_TRACE(firmware, CHANNEL, PB_TRACE_NONE, c, shown[endpoint->state]);
	}
	pb_shared_write32(&endpoint->entry->epoch, endpoint->epoch);
	pb_shared_write32(&endpoint->entry->error, error);
	pb_shared_write32(&endpoint->entry->state, shown[endpoint->state]);
}

/** Shows the host its rings. The firmware never reads the offsets back. @param rings where they lie in card memory */
static void show_rings(struct pb_channel_entry *entry, uint32_t rings)
{
	pb_shared_write32(&entry->control_offset, rings + offsetof(struct pb_core_rings, control));
	pb_shared_write32(&entry->reply_offset, rings + offsetof(struct pb_core_rings, replies));
	pb_shared_write32(&entry->event_offset, rings + offsetof(struct pb_core_rings, events));
	pb_shared_write32(&entry->kick_offset, rings + offsetof(struct pb_core_rings, kicks));
	pb_shared_write32(&entry->control_entries, PB_LIMIT_CONTROL_ENTRIES);
	pb_shared_write32(&entry->kick_entries, PB_LIMIT_KICK_ENTRIES);
	pb_shared_write32(&entry->event_entries, PB_LIMIT_EVENT_ENTRIES);
}

void pb_core_endpoint_answer(struct pb_core_endpoint *endpoint, uint32_t request)
{
	endpoint->attach_done = request;
	pb_shared_release();
	pb_shared_write32(&endpoint->entry->attach_done, request);
}

void pb_core_endpoint_init(struct pb_firmware *firmware)
{
	const struct pb_firmware_config *config = firmware->config;
	struct pb_channel_entry *directory = pb_core_at(firmware, config->channels_offset);

	PB_ASSERT(config->channels_offset + DIRECTORY_BYTES +
			  PB_LIMIT_CHANNELS * sizeof(struct pb_core_rings) <=
		  config->pool_offset);
	for (uint32_t c = 0; c < PB_LIMIT_CHANNELS; c++) {
		struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;
		const uint32_t rings = config->channels_offset + DIRECTORY_BYTES +
				       c * (uint32_t)sizeof(struct pb_core_rings);

		endpoint->entry = &directory[c];
		endpoint->rings = pb_core_at(firmware, rings);
		endpoint->kicks = endpoint->rings->kicks;
		show_rings(endpoint->entry, rings);
		pb_core_endpoint_show(firmware, c, PB_ERROR_OK);
		/* What stands in the request word was asked of the last incarnation. */
		pb_core_endpoint_answer(endpoint, pb_shared_read32(&endpoint->entry->attach_request));
	}
}

uint32_t pb_core_endpoint_step(struct pb_core_endpoint *endpoint, enum pb_core_channel_event event)
{
	const struct pb_core_step step =
		pb_core_channel_next((enum pb_core_channel_state)endpoint->state, event);

	PB_ASSERT(step.action != PB_CORE_CHANNEL_ACTION_IMPOSSIBLE);
	endpoint->state = step.state;
	return step.action;
}

void pb_core_endpoint_new_epoch(struct pb_core_endpoint *endpoint)
{
	endpoint->epoch++;
}

void pb_core_endpoint_fault(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;

	(void)pb_core_endpoint_step(endpoint, PB_CORE_CHANNEL_EVENT_FAULT);
	firmware->endpoint_counts.faults++;
	pb_core_endpoint_show(firmware, c, PB_ERROR_RING_FAULT);
	pb_core_interrupt_raise(firmware, c);
}

bool pb_core_endpoint_read_get(struct pb_firmware *firmware, uint32_t c, const uint32_t *word, uint32_t put,
			       uint32_t *get)
{
	const uint32_t now = pb_shared_read32(word);

	if (now - *get > put - *get) {
		pb_core_endpoint_fault(firmware, c);
		return false;
	}
	*get = now;
	return true;
}
