/* SPDX-License-Identifier: MIT */
#include "tests/target/semihost.h"

/** These three instructions mark a call: never compressed, never on two pages. */
uint32_t semihost_call(uint32_t operation, const void *arguments)
{
	register uint32_t a0 __asm__("a0") = operation;
	register const void *a1 __asm__("a1") = arguments;

	__asm__ volatile(".option push\n"
			 ".option norvc\n"
			 ".balign 16\n"
			 "slli x0, x0, 0x1f\n"
			 "ebreak\n"
			 "srai x0, x0, 7\n"
			 ".option pop\n"
			 : "+r"(a0)
			 : "r"(a1)
			 : "memory");
	return a0;
}
