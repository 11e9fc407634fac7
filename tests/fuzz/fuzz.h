/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What every fuzz target starts from: bytes of a case, taken one after the
 * other as the target asks for them, and checks that end the program.
 */
#ifndef PB_TESTS_FUZZ_FUZZ_H
#define PB_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is left of a case. All that it has not got reads as 0. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/** One case, from a state that no case before it has touched. Each target has its own. */
void fuzz_one(struct fuzz_input *input);

static inline uint32_t fuzz_byte(struct fuzz_input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

static inline bool fuzz_more(const struct fuzz_input *input)
{
	return input->left != 0;
}

/** Four bytes, low one first. */
uint32_t fuzz_word(struct fuzz_input *input);
/** One byte for a number below `bound`, which is 256 at most. */
uint32_t fuzz_below(struct fuzz_input *input, uint32_t bound);
/** One byte for a number on an edge of something, or a byte that says "any", and four of it. */
uint32_t fuzz_number(struct fuzz_input *input);
/** As many bytes as there are, up to `bytes`; the rest are 0. */
void fuzz_bytes(struct fuzz_input *input, void *to, size_t bytes);

#define FUZZ_CHECK(condition)                                                                                \
	do {                                                                                                 \
		if (!(condition))                                                                            \
			fuzz_failed(#condition, __FILE__, __LINE__);                                         \
	} while (0)
_Noreturn void fuzz_failed(const char *condition, const char *file, int line);

#endif
