/* SPDX-License-Identifier: MIT */
#include "firmware/core.h"

/** Whether the event ring has room; a read index that makes no sense faults the channel. */
static bool has_room(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	uint32_t get = pb_shared_read32(&channel->entry->event_get);

	if (get - channel->event_get > channel->event_put - channel->event_get) {
		pb_core_channel_fault(firmware, c);
		return false;
	}
	channel->event_get = get;
	return channel->event_put - get < PB_LIMIT_EVENT_ENTRIES;
}

void pb_core_event(struct pb_firmware *firmware, uint32_t c, const struct pb_event *event)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_event *slot = &channel->events[channel->event_put % PB_LIMIT_EVENT_ENTRIES];
	const uint32_t number = channel->event_number++;

	pb_core_note(firmware, PB_CRASH_NOTE_EVENT, c, event->type);
	if (channel->state != PB_CORE_CHANNEL_OPEN)
		return;
	if (!has_room(firmware, c)) {
		pb_shared_write32(&channel->entry->events_dropped, ++channel->events_dropped);
		firmware->drops++;
		return;
	}
	pb_shared_write32(&slot->type, event->type);
	pb_shared_write32(&slot->epoch, channel->epoch);
	pb_shared_write32(&slot->queue, event->queue);
	pb_shared_write32(&slot->fence_id, event->fence_id);
	pb_shared_write32(&slot->error, event->error);
	pb_shared_write32(&slot->index, event->index);
	pb_shared_write32(&slot->detail, event->detail);
	pb_shared_write32(&slot->number, number);
	pb_shared_release();
	pb_shared_write32(&channel->entry->event_put, ++channel->event_put);
	pb_core_interrupt(firmware, c);
}
