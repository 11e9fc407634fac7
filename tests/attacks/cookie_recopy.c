/* A buffer with a cookie is known to be patched. Its segment is destroyed and made anew (same place), and the host writes the same
 * unpatched contents there again, with the same cookie: nothing is patched, and what is executed has the host's unpatched words. */
#include "attack.h"
static struct card card;
static void recopy(void **state)
{
	struct pb_descriptor d; struct pb_fence f; uint32_t first, second; (void)state;
	card_start(&card);
	/* the buffer lies in video memory, segment 1 */
	card_allocation(&card, 0, CARD_VIDEO_OS, 4096, CARD_SEGMENT(1) | PB_ALLOCATION_WRITE);
	card_patch(&card, 0, &(struct pb_patch_location){.driver_id = PB_PATCH_FORMAT_ADDRESS64_WRITE, .patch_offset = 4, .allocation_offset = 16});
	d = card_descriptor(&card, 0, PB_PACKET_FILL_WORDS * 4u, 1, 1);
	d.dma_segment = 1; d.dma_address_low = (uint32_t)(CARD_VIDEO_OS + 0x8000); d.dma_address_high = (uint32_t)((CARD_VIDEO_OS + 0x8000) >> 32);
	d.cookie = 7;
	card_fill((uint32_t *)(void *)card_bytes(&card, 1, 0x8000), 0, 4, 0x1111);
	f = card_execute(&card, 0, &d);
	first = f.status;
	{ struct pb_segment_request r = card.segments[1].request; assert_int_equal(pb_segment_destroy(&card.segments[1]), PB_ERROR_OK); assert_int_equal(pb_segment_create(&card.segments[1], &card.channel, &r), PB_ERROR_OK); }
	card_fill((uint32_t *)(void *)card_bytes(&card, 1, 0x8000), 0, 4, 0x1111);
	f = card_execute(&card, 0, &d);
	second = f.status;
	print_message("first %u; after the segment was made anew and the template copied again: status %u (fault), address in the buffer %x\n", first, second, card_word(&card, 1, 0x8004));
	card_stop(&card);
	assert_int_equal(second, 0);
}
int main(void) { const struct CMUnitTest tests[] = {cmocka_unit_test(recopy)}; return cmocka_run_group_tests(tests, NULL, NULL); }
