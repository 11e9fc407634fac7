/* SPDX-License-Identifier: MIT */
#include "firmware/channel/reply.h"

#include <string.h>

#include "firmware/instance.h"

void pb_core_reply_open(struct pb_core_replies *replies, struct pb_channel_entry *entry)
{
	*replies = (struct pb_core_replies){0};
	pb_shared_write32(&entry->reply_put, 0);
}

bool pb_core_reply_has_room(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_replies *replies = &firmware->channels[c].replies;

	return pb_core_endpoint_read_get(firmware, c, &firmware->channels[c].endpoint.entry->reply_get,
					 replies->put, &replies->get) &&
	       pb_core_reply_fits(replies);
}

void pb_core_reply_write(struct pb_firmware *firmware, uint32_t c, const struct pb_reply *reply)
{
	const struct pb_core_endpoint *endpoint = &firmware->channels[c].endpoint;
	struct pb_core_replies *replies = &firmware->channels[c].replies;
	uint32_t *slot = &endpoint->rings->replies[replies->put % PB_LIMIT_CONTROL_ENTRIES].code;
	const uint32_t *word = &reply->code;

	for (const uint32_t *end = word + PB_CORE_REPLY_WORDS; word != end; word += 4, slot += 4)
		pb_shared_write_four(slot, word[0], word[1], word[2], word[3]);
	pb_shared_release();
	pb_shared_write32(&endpoint->entry->reply_put, ++replies->put);
	pb_core_interrupt_raise(firmware, c);
}

void pb_core_reply_defer(struct pb_core_replies *replies)
{
	replies->deferred++;
}

void pb_core_reply_deferred(struct pb_firmware *firmware, uint32_t c, uint32_t code, uint32_t tag,
			    enum pb_error error, const struct pb_core_outcome *outcome)
{
	struct pb_core_replies *replies = &firmware->channels[c].replies;
	struct pb_reply reply = {.code = code, .tag = tag, .error = error};

	if (outcome != NULL)
		memcpy(reply.results, outcome->words, sizeof(outcome->words));
	if (!pb_core_endpoint_is_open(&firmware->channels[c].endpoint) || replies->deferred == 0)
		return; /* the host that asked has left */
	replies->deferred--;
	pb_core_reply_write(firmware, c, &reply);
}
