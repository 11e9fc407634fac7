/* SPDX-License-Identifier: MIT */
#include "hal/start.h"

#include <stdint.h>
#include <string.h>

#include "hal/cpu.h"
#include "hal/halt.h"

/* From linker/sections.ld; words, so that they are copied word by word. */
extern uint32_t pb_data_start[], pb_data_end[], pb_data_load[], pb_bss_start[], pb_bss_end[];

int main(void);

_Noreturn void pb_start(void)
{
	memcpy(pb_data_start, pb_data_load, (size_t)(pb_data_end - pb_data_start) * sizeof(uint32_t));
	memset(pb_bss_start, 0, (size_t)(pb_bss_end - pb_bss_start) * sizeof(uint32_t));
	(void)main();
	pb_hal_halt();
}

_Noreturn void pb_hal_halt(void)
{
	pb_cpu_mask_interrupts();
	for (;;)
		pb_cpu_wait();
}
