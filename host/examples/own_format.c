/* SPDX-License-Identifier: MIT */
/*
 * An own patch format: a page number in 24 bits under a command byte, which no built-in format writes. The format is data;
 * the firmware checks it and then writes it as it writes its own.
 */
#include <stdio.h>

#include "example.h"
#include "patchbay/format.h"

#define COMMAND 0xa5000000u

static const struct pb_patch_format page_number = {
	.source = PB_FORMAT_ADDRESS,
	.bound = PB_FORMAT_INSIDE,
	.flags = PB_FORMAT_FITS |
		 PB_FORMAT_KEEP, /* a page number of more than 24 bits is an error, not cut off */
	.align = 4,
	.shift_right = 12,
	.mask = 0x00ffffffu,
};

int main(int argc, char **argv)
{
	static struct example example;
	static struct pb_queue queue;
	struct pb_patch_format wrong = page_number;
	struct example_buffer buffer;
	struct pb_memory named, target;
	struct pb_descriptor descriptor;
	uint32_t reason, word;

	example_open(&example, argc, argv);
	check(pb_queue_create(&queue, &example.channel, &example.system, 0, 16));
	named = example_allocate(&example, PB_PAGE_BYTES);
	target = example_allocate(&example, PB_PAGE_BYTES);

	/* What cannot be a format is refused, with the reason. */
	wrong.shift_right = 200;
	require(pb_format_set(&example.channel, PB_FORMAT_OWN, &wrong, &reason) == PB_ERROR_BAD_FORMAT,
		"a shift of 200 is refused");
	printf("refused: %s\n", pb_format_reason_meaning(reason));
	check(pb_format_set(&example.channel, PB_FORMAT_OWN, &page_number, &reason));

	/* A FILL whose value is the patched word, so that the engine shows it. */
	example_begin(&buffer, &example);
	example_word(&buffer, PB_PACKET(PB_PACKET_FILL, PB_PACKET_FILL_WORDS));
	example_address(&buffer, &target, PB_PATCH_FORMAT_ADDRESS64_WRITE, 2);
	example_word(&buffer, PB_PAGE_BYTES);
	example_address(&buffer, &named, PB_FORMAT_OWN, 0);
	example_word(&buffer, COMMAND | 0x00123456u);
	descriptor = example_describe(&buffer, &example);
	check(pb_queue_submit(&queue, &descriptor));
	example_wait(&queue);
	word = (uint32_t)((EXAMPLE_VIDEO_GPU + named.os_address - EXAMPLE_VIDEO_OS) >> 12);
	require(example_read(&target, 0) == (COMMAND | word), "the command byte with the page number");
	printf("patched: %#x\n", example_read(&target, 0));
	example_close(&example);
	return 0;
}
