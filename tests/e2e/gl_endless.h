/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A fragment shader whose draw does not end while a test runs, for tests of hangs: here, and in a Linux guest.
 */
#ifndef PB_TESTS_E2E_GL_ENDLESS_H
#define PB_TESTS_E2E_GL_ENDLESS_H

/** TGSI text. llvmpipe ends a loop after 65,535 rounds: many of them, in each of many pixels, take hours. */
#define E2E_GL_ENDLESS                                                                                       \
	"FRAG\n"                                                                                             \
	"PROPERTY FS_COLOR0_WRITES_ALL_CBUFS 1\n"                                                            \
	"DCL OUT[0], COLOR\n"                                                                                \
	"DCL TEMP[0..1]\n"                                                                                   \
	"IMM[0] FLT32 {0.5, 1000.0, 0.25, 1.0}\n"                                                            \
	"  0: MOV TEMP[0], IMM[0]\n"                                                                         \
	"  1: BGNLOOP :9\n"                                                                                  \
	"  2:   SIN TEMP[0].x, TEMP[0].xxxx\n"                                                               \
	"  3:   SIN TEMP[0].z, TEMP[0].xxxx\n"                                                               \
	"  4:   ADD TEMP[0].x, TEMP[0].zzzz, IMM[0].zzzz\n"                                                  \
	"  5:   FSLT TEMP[1].x, IMM[0].yyyy, TEMP[0].xxxx\n"                                                 \
	"  6:   UIF TEMP[1].xxxx :8\n"                                                                       \
	"  7:     BRK\n"                                                                                     \
	"  8:   ENDIF\n"                                                                                     \
	"  9: ENDLOOP :1\n"                                                                                  \
	" 10: MOV OUT[0], TEMP[0]\n"                                                                         \
	" 11: END\n"

#endif
