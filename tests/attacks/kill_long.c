/* A client preempts its own empty submission behind another's long buffer, not inside. The engine is asked to stop at the
 * end of that buffer; after two seconds the buffer is blamed for not stopping: ENGINE_HANG, and its context is lost. */
#include "attack.h"
static struct card card, vcard;
static struct card_client victim;
static struct pb_queue a, v;
static uint32_t status(const char *name, int attack)
{
	struct pb_descriptor d; struct pb_fence f; bool lost = false;
	card_start(&card);
	card_queue_make(&a, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = attack == 3 ? 0 : 2});
	join(&card, &victim, 2);
	vcard = as_card(&card, &victim);
	open_queue(&v, &victim, 0, 0, 2);
	d = busy(&vcard, 0, 500, 6000); /* three seconds, which can be stopped every 6 ms */
	card_queue_submit(&v, &d);
	card_run(&card, 1000);
	if (attack) { d = card_nothing(&card, 1); card_queue_submit(&a, &d); card_run(&card, 50); }
	if (attack >= 2) { const uint32_t x[PB_COMMAND_ARGUMENTS] = {a.handle, a.put, 1, 0}; uint32_t tag; assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, x, &tag), PB_ERROR_OK); }
	card_run(&card, 5000000);
	pb_queue_fence(&v, &f);
	(void)pb_context_query(&victim.channel, victim.context, &lost);
	print_message("%s: the victim's legal buffer of 3 s has completed %u, status %u (%s), context lost %d\n", name, f.completed, f.status, pb_error_name(f.status), lost);
	card_leave(&victim.channel); card_stop(&card);
	return f.status;
}
static void run(void **state)
{
	(void)state;
	(void)status("alone", 0); (void)status("another client submits an empty buffer", 1);
	(void)status("another of the lowest priority submits one and preempts it", 3);
	assert_int_equal(status("another client submits one and preempts it", 2), 0);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
