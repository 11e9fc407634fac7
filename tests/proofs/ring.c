/* SPDX-License-Identifier: MIT */
/* What queues and rings count, as functions of headers: this is a file that has them. */
#include "firmware/core.h"
