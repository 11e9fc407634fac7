/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Options that `patchbay gl` and `patchbay run` share: what a program gets.
 */
#ifndef PB_HOST_TOOL_GL_ARGUMENTS_H
#define PB_HOST_TOOL_GL_ARGUMENTS_H

#include <argp.h>

#include "host/tool/gl_card.h"

/** The commands' argp child: --hang-limit, --priority, --video-memory and --weight. Its input is a struct pb_gl_card_options. */
extern const struct argp pb_gl_arguments;
/** Its initial values. */
#define PB_GL_CARD_OPTIONS_DEFAULT                                                                           \
	((struct pb_gl_card_options){                                                                        \
		.priority = PB_PRIORITY_NORMAL, .weight = 1, .memory_bytes = PB_GL_MEMORY_BYTES})

#endif
