/* A client runs one long buffer beside another and leaves. Whoever attaches to its channel next inherits its debt. */
#include "attack.h"
static struct card card, ccard;
static struct card_client bad, heir;
static struct pb_queue other, q, h;
static uint32_t heirs_wait(bool debt)
{
	struct pb_descriptor d;
	struct card bcard;
	uint64_t begin;
	uint32_t us;
	card_start(&card); /* channel 1: an honest client that always has work */
	card_queue_make(&other, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2});
	join(&card, &bad, 2);
	bcard = as_card(&card, &bad);
	open_queue(&q, &bad, 0, 0, 2);
	d = busy(&bcard, 0, 1, 90000); /* one packet, which cannot be stopped; within the limit of a hang */
	for (uint32_t i = 0; debt && i < 1; i++) {
		card_queue_submit(&q, &d);
		card_run(&card, 100);
		while (card_queue_completed(&q) < i + 1) {
			while (other.put - card_queue_completed(&other) < 4u) { struct pb_descriptor w = busy(&card, 0, 5, 200); card_queue_submit(&other, &w); }
			pb_sim_step(card.sim);
		}
	}
	card_leave(&bad.channel);
	join(&card, &heir, 2); /* the same channel, another client */
	ccard = as_card(&card, &heir);
	open_queue(&h, &heir, 0, 0, 2);
	d = busy(&ccard, 0, 5, 200);
	for (uint32_t i = 0; i < 40000; i++) {
		while (other.put - card_queue_completed(&other) < 4u) { struct pb_descriptor w = busy(&card, 0, 5, 200); card_queue_submit(&other, &w); }
		if (i == 1000) { begin = pb_sim_now(card.sim); card_queue_submit(&h, &d); }
		if (i > 1000 && card_queue_completed(&h) != 0) break;
		pb_sim_step(card.sim);
	}
	us = (uint32_t)(pb_sim_now(card.sim) - begin);
	print_message("debt %d: the first 1 ms of the channel's next client takes %u us\n", debt, us);
	card_leave(&heir.channel);
	card_stop(&card);
	return us;
}
static void inherits(void **state)
{
	uint32_t none = heirs_wait(false), some = heirs_wait(true); (void)state;
	assert_true(some < none + 12000);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(inherits)}; return cmocka_run_group_tests(tests, NULL, NULL); }
