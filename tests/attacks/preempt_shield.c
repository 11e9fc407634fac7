/* A client of the lowest priority asks to have its own running submission preempted, but not inside: for as long as the
 * buffer makes progress (up to two seconds) the engine cannot be stopped for anybody else, whatever his priority. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t latency(const char *name, bool shield, uint32_t alevel, uint32_t vlevel, uint32_t total_ms)
{
	struct pb_descriptor d;
	uint64_t begin;
	uint32_t us, tag, r[PB_REPLY_RESULTS];
	struct pb_fence f;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = alevel});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, vlevel);
	d = busy(&card, 0, 500, 2 * total_ms);
	card_queue_submit(&a, &d);
	card_run(&card, 2000);
	if (shield) {
		const uint32_t args[PB_COMMAND_ARGUMENTS] = {a.handle, a.put, 1, 0};
		assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, args, &tag), PB_ERROR_OK);
	}
	card_run(&card, 500);
	d = busy(&vcard, 0, 1, 1000);
	begin = pb_sim_now(card.sim);
	card_queue_submit(&v, &d);
	while (card_queue_completed(&v) == 0 && pb_sim_now(card.sim) - begin < 10000000)
		pb_sim_step(card.sim);
	us = (uint32_t)(pb_sim_now(card.sim) - begin);
	card_run(&card, 2500000);
	pb_queue_fence(&a, &f);
	print_message("%s: levels %u against %u, buffer of %u ms in packets of %u us: the victim's 1 ms takes %u us; attacker completed %u, status %u, preempt reply %d\n", name, alevel, vlevel, total_ms, 2 * total_ms, us, f.completed, f.status, shield ? (int)pb_channel_finish(&card.channel, tag, r) : -1);
	card_leave(&victim.channel);
	card_stop(&card);
	return us;
}
static void shield(void **state)
{
	uint32_t plain, shielded; (void)state;
	plain = latency("no request", false, 0, 2, 1000);
	shielded = latency("PREEMPT of its own queue", true, 0, 2, 1000);
	(void)latency("no request", false, 0, 2, 1900);
	(void)latency("PREEMPT of its own queue", true, 0, 2, 1900);
	(void)latency("PREEMPT of its own queue", true, 0, 2, 4000);
	(void)latency("no request", false, 2, 2, 1900);
	(void)latency("PREEMPT of its own queue", true, 2, 2, 1900);
	assert_true(shielded < plain + 12000);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(shield)}; return cmocka_run_group_tests(tests, NULL, NULL); }
