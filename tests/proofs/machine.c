/* SPDX-License-Identifier: MIT */
/* Compiles the state machines, which are functions of headers. */
#include "firmware/channel/channel_machine.h"
#include "firmware/command/stop_machine.h"
#include "firmware/engine/node_machine.h"
#include "firmware/queue/queue_machine.h"
