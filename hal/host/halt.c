/* SPDX-License-Identifier: MIT */
#include "hal/halt.h"

#include <stdlib.h>

_Noreturn void pb_hal_halt(void)
{
	abort();
}

void pb_hal_fault(void)
{
}
