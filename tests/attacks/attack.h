/* Common to the attack programs: an attacker on channel 1 (the fixture's) and a victim on channel 2. */
#include <string.h>
#include "tests/unit/card_queues.h"

static inline struct card as_card(const struct card *card, struct card_client *client)
{
	struct card other = *card;
	other.channel = client->channel;
	memcpy(other.segments, client->segments, sizeof(other.segments));
	other.context = client->context;
	other.link = client->channel.link;
	return other;
}
static inline void join(const struct card *card, struct card_client *client, uint32_t number)
{
	card_join(card, &client->channel, number);
	card_make_segments(&client->channel, client->segments);
	assert_int_equal(pb_context_create(&client->channel, &client->context), PB_ERROR_OK);
}
static inline void open_queue(struct pb_queue *q, struct card_client *client, uint32_t place, uint32_t node, uint32_t level)
{
	assert_int_equal(card_queue_open(q, &client->channel, &client->segments[0], &(struct card_queue_request){.place = place, .node = node, .level = level}), PB_ERROR_OK);
}
/* A buffer of n BUSY packets of us each. */
static inline struct pb_descriptor busy(const struct card *c, uint32_t slot, uint32_t n, uint32_t us)
{
	for (uint32_t i = 0; i < n; i++) {
		card_dma(c, slot)[2 * i] = PB_PACKET(PB_PACKET_BUSY, 2);
		card_dma(c, slot)[2 * i + 1] = us;
	}
	return card_descriptor(c, slot, 8 * n, 0, 0);
}
