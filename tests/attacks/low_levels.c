/* One client with a queue at each priority below its victim's: each priority has its own account of what it repays. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a[4], v;
static uint32_t share(uint32_t levels, uint32_t n, uint32_t us)
{
	struct pb_descriptor d;
	uint64_t end, window = 8000000;
	uint32_t done;
	card_start(&card);
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	for (uint32_t l = 0; l < levels; l++)
		card_queue_make(&a[l], &card, &(struct card_queue_request){.place = l, .node = 0, .level = 1 - l, .quantum = 65280});
	end = pb_sim_now(card.sim) + window;
	while (pb_sim_now(card.sim) < end) {
		while (v.put - (done = card_queue_completed(&v)) < 4u) { d = busy(&vcard, 0, 5, 200); card_queue_submit(&v, &d); }
		for (uint32_t l = 0; l < levels; l++)
			while (a[l].put - card_queue_completed(&a[l]) < 4u) { d = busy(&card, l, n, us); if (n == 0) { card_dma(&card, l)[0] = PB_PACKET(PB_PACKET_HANG, 1); d = card_descriptor(&card, l, 4, 0, 0); } card_queue_submit(&a[l], &d); (void)pb_context_clear(&card.channel, card.context); }
		pb_sim_step(card.sim);
	}
	print_message("%u lower priorities of one client, %u packets of %u us: the victim gets %u per mille of the engine\n", levels, n, us, (uint32_t)(done * 1000000ull / window));
	card_leave(&victim.channel);
	card_stop(&card);
	return (uint32_t)(done * 1000000ull / window);
}
static void levels(void **state)
{
	uint32_t alone; (void)state;
	alone = share(0, 1, 1);
	(void)share(1, 60, 1000); (void)share(2, 60, 1000);
	(void)share(1, 0, 0); (void)share(2, 0, 0);
	assert_true(share(2, 60, 1000) * 10 >= alone * 9);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(levels)}; return cmocka_run_group_tests(tests, NULL, NULL); }
