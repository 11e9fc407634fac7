/* Is the time of hangs and resets charged when the victim keeps only one, two or three submissions outstanding? */
#include "attack.h"
#include "hal/engine_model/model.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t share(uint32_t depth, int kind, uint32_t adepth)
{
	struct pb_descriptor d;
	uint64_t end, window = 10000000;
	uint32_t done = 0;
	card_start(&card);
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2});
	end = pb_sim_now(card.sim) + window;
	while (pb_sim_now(card.sim) < end) {
		while (v.put - (done = card_queue_completed(&v)) < depth) { d = busy(&vcard, 0, 5, 200); card_queue_submit(&v, &d); }
		while (kind && a.put - card_queue_completed(&a) < adepth) {
			d = busy(&card, 0, 1, 90000);
			if (kind == 2) { card_dma(&card, 0)[0] = PB_PACKET(PB_PACKET_HANG, 1); d = card_descriptor(&card, 0, 4, 0, 0); }
			card_queue_submit(&a, &d); (void)pb_context_clear(&card.channel, card.context);
		}
		pb_sim_step(card.sim);
	}
	print_message("victim keeps %u outstanding, attacker %s, %u outstanding (%u done): victim gets %u per mille\n", depth, kind == 0 ? "idle" : kind == 1 ? "90 ms packets" : "hangs", adepth, card_queue_completed(&a), (uint32_t)(done * 1000000ull / window));
	card_leave(&victim.channel);
	card_stop(&card);
	return (uint32_t)(done * 1000000ull / window);
}
static void run(void **state)
{
	(void)state;
	for (uint32_t k = 1; k <= 4; k++)
		for (int kind = 0; kind < 3; kind++)
			for (uint32_t ad = 1; ad <= 2; ad++)
				share(k, kind, ad);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
