/* SPDX-License-Identifier: MIT */
#include "tests/target/semihost.h"

uint32_t semihost_call(uint32_t operation, const void *arguments)
{
	register uint32_t r0 __asm__("r0") = operation;
	register const void *r1 __asm__("r1") = arguments;

	__asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}
