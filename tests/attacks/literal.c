/* Sentences taken literally: a wrong allocation list is executed if nothing is to be patched; a fence record names the first error only;
 * a wait for a value that is never submitted, and a SUSPEND behind it, never end; the card stays suspended when its admin leaves. */
#include "attack.h"
static struct card card;
static struct pb_queue q, t;
static void wrong_list(void **state)
{
	struct pb_descriptor d; struct pb_fence f; (void)state;
	card_start(&card);
	card_fill(card_dma(&card, 0), CARD_VIDEO_GPU, 4, 0x77);
	memset(card_bytes(&card, 0, CARD_ALLOCATIONS), 0xff, 24 * 4); /* reserved flags, no such segment, no size */
	d = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 4, 0);
	f = card_execute(&card, 0, &d);
	print_message("allocation list of garbage, no patches: status %u, word in video memory %x\n", f.status, card_word(&card, 1, 0));
	card_stop(&card);
}
static void second_error(void **state)
{
	struct pb_descriptor d; struct pb_fence f; (void)state;
	card_start(&card);
	card_allocation(&card, 0, CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	card_patch(&card, 0, &(struct pb_patch_location){.driver_id = 9999, .patch_offset = 4});
	card_patch(&card, 1, &(struct pb_patch_location){.driver_id = PB_PATCH_FORMAT_ADDRESS64, .patch_offset = 4});
	card_patch(&card, 2, &(struct pb_patch_location){.driver_id = PB_PATCH_FORMAT_ADDRESS64, .patch_offset = 400});
	card_fill(card_dma(&card, 0), 0, 4, 1);
	d = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, 1); d.fence_id = 1;
	f = card_execute(&card, 0, &d);
	(void)pb_context_clear(&card.channel, card.context);
	d = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, 3); d.patch_start = 1; d.patch_length = 2; d.fence_id = 2;
	f = card_execute(&card, 0, &d);
	print_message("second error: record has status %u (of the last), error %u, error's fence %u, entry %u, errors %u\n", f.status, f.error, f.error_fence_id, f.error_index, f.errors);
	card_stop(&card);
}
static void never_ends(void **state)
{
	struct pb_descriptor d; uint32_t tag, tag2, r[PB_REPLY_RESULTS], done; enum pb_error e; (void)state;
	card_start(&card);
	card_queue_make(&t, &card, &(struct card_queue_request){.place = 0, .node = 1, .level = 2});
	card_queue_make(&q, &card, &(struct card_queue_request){.place = 1, .node = 0, .level = 2});
	d = card_waiting_for(&card, 0, &t, 1000); card_queue_submit(&q, &d);
	card_run(&card, 1000);
	{ const uint32_t a[PB_COMMAND_ARGUMENTS] = {q.handle, q.put, 0}; assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_SUSPEND, a, &tag), PB_ERROR_OK); }
	card_run(&card, 60000000);
	e = pb_channel_finish(&card.channel, tag, r); done = card_queue_completed(&q);
	print_message("a minute later: wait ended %u, SUSPEND (drain) answered with %d\n", done, e);
	{ const uint32_t a[PB_COMMAND_ARGUMENTS] = {0, q.handle, q.put}; e = pb_channel_command(&card.channel, PB_COMMAND_RESET, a, r); print_message("RESET beside it: %d (BUSY is %d)\n", e, PB_ERROR_BUSY); }
	{ const uint32_t a[PB_COMMAND_ARGUMENTS] = {q.handle}; e = pb_channel_command(&card.channel, PB_COMMAND_RESUME, a, r); print_message("RESUME: %d\n", e); }
	(void)tag2;
	card_queue_close(&q);
	e = pb_channel_finish(&card.channel, tag, r); print_message("after QUEUE_DESTROY the SUSPEND is answered with %d (CANCELLED is %d)\n", e, PB_ERROR_CANCELLED);
	card_stop(&card);
}
static void admin_leaves(void **state)
{
	struct pb_channel admin; struct pb_descriptor d; enum pb_error e; (void)state;
	card_start(&card);
	card_join(&card, &admin, 0);
	e = pb_card_suspend(&admin, 0);
	card_leave(&admin);
	card_queue_make(&q, &card, &(struct card_queue_request){.place = 1, .node = 0, .level = 2});
	d = card_nothing(&card, 1); card_queue_submit(&q, &d);
	card_run(&card, 10000000);
	print_message("suspend %d, the admin has left; ten seconds later completed %u, why %u\n", e, card_queue_completed(&q), card_why(&q));
	card_stop(&card);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_list), cmocka_unit_test(second_error), cmocka_unit_test(never_ends), cmocka_unit_test(admin_leaves)}; return cmocka_run_group_tests(tests, NULL, NULL); }
