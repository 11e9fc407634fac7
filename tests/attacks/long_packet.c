/* The admin raises a node's hang limit to a second for long legal packets, and leaves the limit of an answer. Any other client's work, or PREEMPT, then has the honest submission blamed. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t status(const char *name, int attack, uint32_t answer)
{
	struct pb_channel admin; struct pb_descriptor d; struct pb_fence f;
	card_start(&card);
	card_join(&card, &admin, 0);
	assert_int_equal(card_command(&admin, PB_COMMAND_NODE_SET, 0, PB_NODE_SCHEDULED, 0, 1000000, answer), PB_ERROR_OK);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 2});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	d = busy(&vcard, 0, 1, 500000);
	card_queue_submit(&v, &d);
	card_run(&card, 1000);
	if (attack) { d = card_nothing(&card, 1); card_queue_submit(&a, &d); }
	card_run(&card, 100);
	if (attack == 2) { const uint32_t x[PB_COMMAND_ARGUMENTS] = {a.handle, a.put, 1, 0}; uint32_t tag; assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, x, &tag), PB_ERROR_OK); }
	card_run(&card, 3000000);
	pb_queue_fence(&v, &f);
	print_message("%s: one legal packet of 500 ms, hang limit 1 s, answer limit %u us: completed %u with status %u\n", name, answer ? answer : 100000, f.completed, f.status);
	card_leave(&admin); card_leave(&victim.channel); card_stop(&card);
	return f.status;
}
static void run(void **state)
{
	(void)state;
	(void)status("alone", 0, 0); (void)status("another client submits one empty buffer", 1, 0); (void)status("and preempts it", 2, 0); (void)status("another client submits one empty buffer", 1, 1000000);
	assert_int_equal(status("and preempts it", 2, 0), 0);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
