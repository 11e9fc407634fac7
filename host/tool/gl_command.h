/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `patchbay gl` and `patchbay run`: OpenGL programs on a card.
 */
#ifndef PB_HOST_TOOL_GL_COMMAND_H
#define PB_HOST_TOOL_GL_COMMAND_H

/** Runs `patchbay gl`: serves programs until it is interrupted. @return exit code */
int pb_gl_command(int argc, char **argv);
/** Runs `patchbay run`: runs one program. @return the program's exit code, or one of its own */
int pb_run_command(int argc, char **argv);

#endif
