/* SPDX-License-Identifier: MIT */
/*
 * The main program of an image that is one unit suite. The build sets SUITE to
 * the name of its function.
 */
#include <stddef.h>

#include "tests/unit/unit.h"

int SUITE(void);
int main(void);

/** An image gets no arguments. */
const char *unit_argument(int number)
{
	(void)number;
	return NULL;
}

int main(void)
{
	return SUITE();
}
