/* The seventh breach by another way: a faulted queue whose first submission has begun loses accepted work after a PREEMPT that lets it end. */
#include "attack.h"
static struct card card, vcard;
static struct card_client other;
static struct pb_queue q, h;
static uint32_t run_one(bool faulted)
{
	struct pb_descriptor d; uint32_t tag, r[PB_REPLY_RESULTS], done; enum pb_error e;
	struct pb_queue_page *page;
	card_start(&card);
	card_queue_make(&q, &card, &(struct card_queue_request){.place = 0, .node = 0, .level = 0});
	join(&card, &other, 2); vcard = as_card(&card, &other); open_queue(&h, &other, 0, 0, 2);
	d = busy(&card, 0, 400, 100); card_queue_submit(&q, &d);
	card_run(&card, 3000);
	d = busy(&vcard, 0, 10, 1000); card_queue_submit(&h, &d); /* a higher priority stops it inside */
	card_run(&card, 1000);
	for (uint32_t i = 0; i < 2; i++) { d = card_nothing(&card, 5 + i); card_queue_submit(&q, &d); }
	card_run(&card, 500);
	page = (struct pb_queue_page *)(void *)q.memory.bytes_host;
	if (faulted) { page->put = 100; pb_sim_doorbell(card.sim, 1); { const uint32_t a[PB_COMMAND_ARGUMENTS] = {0}; (void)a; } (void)card_command(&card.channel, PB_COMMAND_PING, 0, 0, 0, 0, 0); card_run(&card, 6000); }
	{ const uint32_t a[PB_COMMAND_ARGUMENTS] = {q.handle, 1, 9, 0}; assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, a, &tag), PB_ERROR_OK); }
	card_run(&card, 2000000);
	e = pb_channel_finish(&card.channel, tag, r);
	done = page->fence.completed;
	print_message("faulted %d (error %u): PREEMPT up to the first of 3 answered %d, returned %u; two seconds later %u of 3 completed\n", faulted, page->fence.error, e, r[3], done);
	card_leave(&other.channel); card_stop(&card);
	return done;
}
static void run(void **state) { (void)state; assert_int_equal(run_one(false), 3); assert_int_equal(run_one(true), 3); }
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(run)}; return cmocka_run_group_tests(tests, NULL, NULL); }
