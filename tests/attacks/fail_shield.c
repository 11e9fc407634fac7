/* A client of the lowest priority puts a submission that must fail (no such context) behind a long buffer. What has failed
 * completes in order, so the buffer before it is never recalled: no priority and no quantum gets the engine before it ends. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t latency(const char *name, bool bad, uint32_t alevel, uint32_t ms)
{
	struct pb_descriptor d; struct pb_fence f; struct pb_node_status n;
	uint64_t begin;
	uint32_t us;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = alevel});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	d = busy(&card, 0, 500, 2 * ms);
	card_queue_submit(&a, &d);
	d = card_nothing(&card, 2);
	if (bad) d.context = 0xdead0000;
	card_queue_submit(&a, &d);
	card_run(&card, 2000);
	d = busy(&vcard, 0, 1, 1000);
	begin = pb_sim_now(card.sim);
	card_queue_submit(&v, &d);
	while (card_queue_completed(&v) == 0 && pb_sim_now(card.sim) - begin < 100000000ull)
		pb_sim_step(card.sim);
	us = (uint32_t)(pb_sim_now(card.sim) - begin);
	pb_queue_fence(&a, &f);
	assert_int_equal(pb_node_query(&card.channel, 0, &n), PB_ERROR_OK);
	print_message("%s: the other (level %u) has a buffer of %u ms, packets of %u us: 1 ms of the victim (level 2) takes %u us%s; the other completed %u; the engine was stopped %u times\n", name, alevel, ms, 2 * ms, us, card_queue_completed(&v) ? "" : ": NOT DONE", f.completed, n.stops);
	card_leave(&victim.channel); card_stop(&card);
	return us;
}
/* The same against PREEMPT of another queue's work and against SUSPEND of the card. */
static void suspend(uint32_t ms, bool bad)
{
	struct pb_descriptor d; struct pb_channel admin; uint32_t tag, r[PB_REPLY_RESULTS]; uint64_t begin;
	const uint32_t args[PB_COMMAND_ARGUMENTS] = {0, 0, PB_STOP_RECALL | PB_STOP_INSIDE};
	card_start(&card);
	card_join(&card, &admin, 0);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 0});
	d = busy(&card, 0, 500, 2 * ms); card_queue_submit(&a, &d);
	d = card_nothing(&card, 2); if (bad) d.context = 0xdead0000; card_queue_submit(&a, &d);
	card_run(&card, 2000);
	assert_int_equal(pb_channel_begin(&admin, PB_COMMAND_SUSPEND, args, &tag), PB_ERROR_OK);
	begin = pb_sim_now(card.sim);
	while (pb_channel_finish(&admin, tag, r) == PB_ERROR_TIMEOUT && pb_sim_now(card.sim) - begin < 100000000ull) pb_sim_step(card.sim);
	print_message("SUSPEND of the card (recall, inside) beside a buffer of %u ms with %s behind it takes %u us\n", ms, bad ? "a wrong submission" : "an empty submission", (uint32_t)(pb_sim_now(card.sim) - begin));
	card_leave(&admin); card_stop(&card);
}
static void run(void **state)
{
	uint32_t good, bad; (void)state;
	good = latency("an empty submission behind it", false, 0, 500);
	bad = latency("a wrong one behind it", true, 0, 500);
	(void)latency("a wrong one behind it", true, 0, 5000);
	(void)latency("a wrong one behind it", true, 0, 40000);
	(void)latency("a wrong one behind it", true, 2, 5000);
	suspend(5000, false); suspend(5000, true);
	assert_true(bad < good + 12000);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
