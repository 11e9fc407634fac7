/* Eight equal clients with endless work that can be stopped after each millisecond. Seven name the longest quantum: what the eighth gets in the worst window of 500 ms. */
#include "attack.h"
static struct card card, cs[8];
static struct card_client clients[8];
static struct pb_queue q[8];
#define WINDOWS 4000
/* 1.25 MiB of system memory are enough, so that eight fit. */
static void small(struct card_client *c, struct pb_channel *ch, struct pb_segment *s, uint32_t *context)
{
	const struct pb_segment_request r = {.id = 0, .os_base = CARD_SYSTEM_OS, .gpu_base = CARD_SYSTEM_GPU, .size = CARD_SYSTEM_BYTES, .backing_bytes = 0x140000};
	(void)c;
	assert_int_equal(pb_segment_create(s, ch, &r), PB_ERROR_OK);
	assert_int_equal(pb_context_create(ch, context), PB_ERROR_OK);
}

static uint32_t worst(uint32_t quantum, uint32_t attackers)
{
	static uint32_t at[WINDOWS]; /* work of the victim, in ms, at each ms */
	uint64_t begin, now;
	uint32_t low = 1000000, filled = 0;
	struct pb_descriptor d;
	card_attach(&card);
	small(NULL, &card.channel, &card.segments[0], &card.context);
	cs[0] = card;
	for (uint32_t i = 0; i <= attackers; i++) {
		struct pb_channel *ch = &card.channel; struct pb_segment *s = &card.segments[0];
		if (i != 0) { card_join(&card, &clients[i].channel, i + 1); small(&clients[i], &clients[i].channel, &clients[i].segments[0], &clients[i].context); cs[i] = as_card(&card, &clients[i]); ch = &clients[i].channel; s = &clients[i].segments[0]; }
		assert_int_equal(card_queue_open(&q[i], ch, s, &(struct card_queue_request){.place = 0, .node = 0, .level = 2, .quantum = i == 0 ? 0 : quantum}), PB_ERROR_OK);
	}
	begin = pb_sim_now(card.sim);
	while (filled < WINDOWS) {
		for (uint32_t i = 0; i <= attackers; i++)
			while (q[i].put - card_queue_completed(&q[i]) < 4u) { d = busy(&cs[i], 0, i == 0 ? 1 : 500, 1000); card_queue_submit(&q[i], &d); }
		pb_sim_step(card.sim);
		now = (pb_sim_now(card.sim) - begin) / 1000;
		while (filled < WINDOWS && filled <= now) at[filled++] = card_queue_completed(&q[0]);
	}
	for (uint32_t w = 500; w + 500 < WINDOWS; w++) if (at[w + 500] - at[w] < low) low = at[w + 500] - at[w];
	print_message("%u others with a quantum of %u us: in the worst window of 500 ms the victim gets %u ms; its share is %u ms (%u per mille of it)\n", attackers, quantum, low, 500 / (attackers + 1), low * 1000 * (attackers + 1) / 500);
	for (uint32_t i = 1; i <= attackers; i++) card_leave(&clients[i].channel);
	card_stop(&card);
	return low * 1000 * (attackers + 1) / 500;
}
static void run(void **state)
{
	(void)state;
	(void)worst(0, 1); (void)worst(65280, 1); (void)worst(0, 3); (void)worst(65280, 3); (void)worst(0, 7); (void)worst(65280, 7);
	assert_true(worst(65280, 7) >= 900);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
