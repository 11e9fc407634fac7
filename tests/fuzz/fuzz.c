/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};

	fuzz_one(&input);
	return 0;
}

uint32_t fuzz_word(struct fuzz_input *input)
{
	uint32_t word = 0;

	for (uint32_t i = 0; i < 4; i++)
		word |= fuzz_byte(input) << 8u * i;
	return word;
}

uint32_t fuzz_below(struct fuzz_input *input, uint32_t bound)
{
	return fuzz_byte(input) % bound;
}

uint32_t fuzz_number(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0x80) /* small ones */
		return kind;
	if (kind < 0xa0) /* powers of two */
		return 1u << (kind - 0x80);
	if (kind < 0xc0) /* right below them */
		return (1u << (kind - 0xa0)) - 1u;
	if (kind < 0xe0) /* pages */
		return (kind - 0xc0) << 12;
	if (kind < 0xf0) /* from the top */
		return 0u - (kind - 0xdfu);
	return fuzz_word(input);
}

void fuzz_bytes(struct fuzz_input *input, void *to, size_t bytes)
{
	const size_t there = bytes < input->left ? bytes : input->left;

	memset(to, 0, bytes);
	if (there != 0)
		memcpy(to, input->at, there);
	input->at += there;
	input->left -= there;
}

_Noreturn void fuzz_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}
