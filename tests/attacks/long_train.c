/* A client with several long buffers in its queue (each can be stopped every millisecond) is not stopped at the end of its
 * quantum, nor of its share: its engine time is charged only when a buffer completes, and nobody else's work gets as far as the ring. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t latency(uint32_t train, uint32_t ms, uint32_t quantum, uint32_t levels)
{
	struct pb_descriptor d;
	uint64_t begin;
	uint32_t us;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2 - levels, .quantum = quantum});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	for (uint32_t i = 0; i < train; i++) { d = busy(&card, 0, 500, 2 * ms); card_queue_submit(&a, &d); }
	card_run(&card, 2000);
	d = busy(&vcard, 0, 1, 1000);
	begin = pb_sim_now(card.sim);
	card_queue_submit(&v, &d);
	while (card_queue_completed(&v) == 0 && pb_sim_now(card.sim) - begin < 60000000ull)
		pb_sim_step(card.sim);
	us = (uint32_t)(pb_sim_now(card.sim) - begin);
	print_message("the other has %u buffers of %u ms queued (packets of %u us), level %u: 1 ms of the victim takes %u us%s\n", train, ms, 2 * ms, 2 - levels, us, card_queue_completed(&v) ? "" : ": NOT DONE");
	card_leave(&victim.channel); card_stop(&card);
	return us;
}
static uint32_t gap(uint32_t train, uint32_t ms, uint32_t vtrain)
{
	struct pb_descriptor d;
	uint64_t begin, last, worst = 0;
	uint32_t n, seen = 0;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	begin = last = pb_sim_now(card.sim);
	while (pb_sim_now(card.sim) - begin < 20000000ull) {
		while (v.put - (n = card_queue_completed(&v)) < vtrain) { d = busy(&vcard, 0, 1, 1000); card_queue_submit(&v, &d); }
		while (a.put - card_queue_completed(&a) < train) { d = busy(&card, 0, 500, 2 * ms); card_queue_submit(&a, &d); }
		if (n != seen) { seen = n; last = pb_sim_now(card.sim); }
		if (pb_sim_now(card.sim) - last > worst) worst = pb_sim_now(card.sim) - last;
		pb_sim_step(card.sim);
	}
	print_message("both always have work, the other %u buffers of %u ms outstanding, the victim %u of 1 ms: longest time without a completion %u ms, %u ms of 20,000 in all\n", train, ms, vtrain, (uint32_t)(worst / 1000), n);
	card_leave(&victim.channel); card_stop(&card);
	return (uint32_t)worst;
}
static void run(void **state)
{
	uint32_t one, more; (void)state;
	one = latency(1, 500, 0, 0);
	(void)latency(2, 500, 0, 0); more = latency(3, 500, 0, 0); (void)latency(4, 500, 0, 0);
	(void)latency(4, 10000, 0, 0);
	(void)latency(4, 40000, 0, 0);
	(void)latency(4, 500, 0, 1); (void)latency(3, 500, 0, 1); (void)latency(3, 20000, 0, 2);
	(void)gap(4, 500, 4); (void)gap(4, 8000, 4); (void)gap(3, 8000, 4); (void)gap(2, 8000, 4); (void)gap(1, 8000, 4); (void)gap(4, 8000, 1);(void)gap(1, 8000, 1);
	assert_true(more < one + 12000);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
