/* SPDX-License-Identifier: MIT */
/* The state machines are functions of a header: this is a file that has them. */
#include "firmware/machine.h"
