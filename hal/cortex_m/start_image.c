/* SPDX-License-Identifier: MIT */
#include "hal/start_image.h"

#include "hal/cortex_m/confine.h"

/*
 * In assembly: nothing of the stack may be used once the image is there, and no compiler may merge the two comparisons.
 * The regions of the memory protection unit are off, as after a reset; VTOR gets the image's vectors, the stack pointer
 * its first word. References: Armv7-M Architecture Reference Manual, B3.2.5 (VTOR), B1.5.5 (reset), B3.5 (MPU).
 */
_Static_assert(PB_CORTEX_M_LOADER_REGIONS == 5, "the regions that are turned off");

__asm__(".syntax unified\n"
	".section .text.pb_hal_start_image, \"ax\", %progbits\n"
	"	b .\n" /* whoever runs into this function stops here */
	"	b .\n"
	".balign 4\n"
	".global pb_hal_start_image\n"
	".type pb_hal_start_image, %function\n"
	".thumb_func\n"
	"pb_hal_start_image:\n"
	"	ldr r4, =0x99aacccf\n"
	"	cmp r3, r4\n"
	"	bne .Lwrong\n"
	"	mvn r5, r3\n"
	"	mvn r4, r4\n"
	"	cmp r5, r4\n"
	"	bne .Lwrong\n"
	"	mov r4, r0\n"
	".Lcopy:\n"
	"	ldr r5, [r1], #4\n"
	"	str r5, [r4], #4\n"
	"	subs r2, #1\n"
	"	bne .Lcopy\n"
	"	ldr r5, =0xe000ed08\n"
	"	str r0, [r5]\n"
	"	dsb\n"
	"	isb\n"
	"	ldr r5, =0xe000ed94\n" /* MPU_CTRL, then MPU_RNR, MPU_RBAR, MPU_RASR */
	"	movs r3, #0\n"
	"	str r3, [r5]\n"
	"	movs r4, #4\n"
	".Lregions:\n"
	"	str r4, [r5, #4]\n"
	"	str r3, [r5, #12]\n"
	"	subs r4, #1\n"
	"	bpl .Lregions\n"
	"	dsb\n"
	"	isb\n"
	"	ldr r1, [r0]\n"
	"	ldr r2, [r0, #4]\n"
	"	msr msp, r1\n"
	"	bx r2\n"
	".Lwrong:\n"
	"	b .Lwrong\n"
	"	b .Lwrong\n"
	".ltorg\n"
	".size pb_hal_start_image, . - pb_hal_start_image\n"
	".text\n");
