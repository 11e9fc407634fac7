/* SPDX-License-Identifier: MIT */
#include "firmware/channel/event.h"

#include "firmware/instance.h"

void pb_core_event_open(struct pb_core_events *events, struct pb_channel_entry *entry)
{
	*events = (struct pb_core_events){0};
	pb_shared_write32(&entry->event_put, 0);
	pb_shared_write32(&entry->events_dropped, 0);
}

/** Whether the event ring has room. A consumer index that moved back or beyond the ring faults the channel. */
static bool has_room(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_events *events = &firmware->channels[c].events;

	return pb_core_endpoint_read_get(firmware, c, &firmware->channels[c].endpoint.entry->event_get,
					 events->put, &events->get) &&
	       events->put - events->get < PB_LIMIT_EVENT_ENTRIES;
}

void pb_core_event(struct pb_firmware *firmware, uint32_t c, const struct pb_event *event)
{
	const struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;
	struct pb_core_events *events = &firmware->channels[c].events;
	const uint32_t number = events->number++;
	struct pb_event *slot = &endpoint->rings->events[events->put % PB_LIMIT_EVENT_ENTRIES];

	pb_core_note(firmware, PB_CRASH_NOTE_EVENT, c, event->type);
	if (!pb_core_endpoint_is_open(endpoint))
		return;
	if (!has_room(firmware, c)) {
		pb_shared_write32(&endpoint->entry->events_dropped, ++events->dropped);
		firmware->event_drops++;
		return;
	}
	pb_shared_write32(&slot->type, event->type);
	pb_shared_write32(&slot->epoch, endpoint->epoch);
	pb_shared_write32(&slot->queue, event->queue);
	pb_shared_write32(&slot->fence_id, event->fence_id);
	pb_shared_write32(&slot->error, event->error);
	pb_shared_write32(&slot->index, event->index);
	pb_shared_write32(&slot->detail, event->detail);
	pb_shared_write32(&slot->number, number);
	pb_shared_release();
	pb_shared_write32(&endpoint->entry->event_put, ++events->put);
	pb_core_interrupt_raise(firmware, c);
}
