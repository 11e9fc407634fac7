/* SPDX-License-Identifier: MIT */
/* The loader of mps2_an500: it lies above the firmware in the memory for code, and uses UART 0 as the firmware does. */
#include "boards/emulated_loader.h"
#include "hal/cortex_m/confine.h"
#include "hal/cortex_m/cortex_m.h"
#include "hal/halt.h"
#include "qemu/mcu/loader_cmsdk.h"

#define UART 0x40004000u
/** As boards/mps2_an500/loader/memory.ld has it. */
#define CODE       0x003c0000u
#define CODE_BYTES 0x4000u

const char pb_emulated_loader_board[] = "mps2_an500";
const uint32_t pb_emulated_loader_load = 0;

extern uint32_t pb_stack_top[];

/** A fault of the loader starts nothing. */
static void fault(void)
{
	pb_hal_halt();
}

struct loader_vectors {
	uint32_t *initial_stack;
	pb_cortex_m_handler handlers[15];
};

static const struct loader_vectors vectors __attribute__((section(".vectors"), used)) = {
	.initial_stack = pb_stack_top,
	.handlers = {pb_cortex_m_reset, fault, fault, fault, fault, fault, fault, fault, fault, fault, fault,
		     fault, fault, fault, fault},
};

void pb_emulated_loader_start(void)
{
	pb_cortex_m_confine(CODE, CODE_BYTES);
	pb_loader_cmsdk_start(UART);
}
