/* SPDX-License-Identifier: MIT */
/*
 * Injects events inside a pass where the firmware calls its IRQ lines and engines: world.c calls
 * pb_world_touch.
 */
#include "tests/sim/world.h"

const struct pb_world_touches pb_world_touches = {8, 96, "scripts/patchbay sim"};
