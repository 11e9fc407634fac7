/* A client whose queue is served and at once waits again keeps the credit of each round: an idle flow keeps its credit if
 * it goes idle by a wait. Later it spends all of it in one go, and its equal gets nothing meanwhile. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, s, v;
static uint32_t starve(bool hoard, uint64_t hoard_us, uint64_t window_us)
{
	struct pb_descriptor d;
	uint64_t end, next = 0, last, gap = 0;
	uint32_t signalled = 0, queued = 0, v0, vc, rounds;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2});
	card_queue_make(&s, &card, &(struct card_queue_request){.place = 1, .node = 1, .level = 2});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	end = pb_sim_now(card.sim) + hoard_us;
	while (pb_sim_now(card.sim) < end) {
		while (v.put - card_queue_completed(&v) < 4u) { d = busy(&vcard, 0, 5, 200); card_queue_submit(&v, &d); }
		if (hoard) {
			/* the k-th descriptor waits for the k-th value of a queue on another node */
			while (queued - card_queue_completed(&a) < 2u) {
				d = card_waiting_for(&card, queued % 1000, &s, ++queued); card_queue_submit(&a, &d);
			}
			if (pb_sim_now(card.sim) >= next && signalled < queued - 1u) {
				d = card_nothing(&card, 0); card_queue_submit(&s, &d); signalled++;
				next = pb_sim_now(card.sim) + 3000;
			}
		}
		pb_sim_step(card.sim);
	}
	rounds = card_queue_completed(&a);
	/* let every wait end, then flood with work */
	while (hoard && signalled < queued) { d = card_nothing(&card, 0); card_queue_submit(&s, &d); signalled++; card_run(&card, 1000); }
	v0 = card_queue_completed(&v);
	last = pb_sim_now(card.sim);
	end = last + window_us;
	while (pb_sim_now(card.sim) < end) {
		while (v.put - (vc = card_queue_completed(&v)) < 4u) { d = busy(&vcard, 0, 5, 200); card_queue_submit(&v, &d); }
		while (a.put - card_queue_completed(&a) < 4u) { d = busy(&card, 1, 5, 200); card_queue_submit(&a, &d); }
		if (vc != v0 + 0u) { static uint32_t seen; if (vc != seen) { if (pb_sim_now(card.sim) - last > gap) gap = pb_sim_now(card.sim) - last; seen = vc; last = pb_sim_now(card.sim); } }
		pb_sim_step(card.sim);
	}
	if (pb_sim_now(card.sim) - last > gap) gap = pb_sim_now(card.sim) - last;
	vc = card_queue_completed(&v) - v0;
	print_message("hoard %d for %u ms (%u rounds): in the next %u ms the victim gets %u %% of the engine (50 is fair); longest time without a completion %u ms\n", hoard, (uint32_t)(hoard_us / 1000), rounds, (uint32_t)(window_us / 1000), (uint32_t)(vc * 100000ull / window_us), (uint32_t)(gap / 1000));
	card_leave(&victim.channel);
	card_stop(&card);
	return (uint32_t)(vc * 100000ull / window_us);
}
static void hoard(void **state)
{
	uint32_t a1, a2; (void)state;
	a1 = starve(false, 2000000, 1000000);
	a2 = starve(true, 2000000, 1000000);
	(void)starve(true, 10000000, 5000000);
	assert_true(a2 * 10 >= a1 * 9);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(hoard)}; return cmocka_run_group_tests(tests, NULL, NULL); }
