/* SPDX-License-Identifier: MIT */
/* Compiles the index functions of queues and rings, which are functions of headers. */
#include "firmware/instance.h"
