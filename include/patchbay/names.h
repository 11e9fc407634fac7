/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Names and meanings of the numbers in shared memory, for people. Each function
 * returns a constant string, and "?" for a number that is not in its list.
 */
#ifndef PB_HOST_NAMES_H
#define PB_HOST_NAMES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the name of an enum pb_error, such as "PATCH_RANGE". */
const char *pb_error_name(uint32_t error);
/** Returns the meaning of an enum pb_error, in one phrase. */
const char *pb_error_meaning(uint32_t error);
/** Returns the name of an enum pb_boot_stage, such as "RUNNING". */
const char *pb_boot_stage_name(uint32_t stage);
/** Returns the name of an enum pb_fatal_kind, such as "ASSERT". */
const char *pb_fatal_kind_name(uint32_t kind);
/** Returns the name of an enum pb_waypoint. */
const char *pb_waypoint_name(uint32_t waypoint);
/** Returns the name of an enum pb_event_type, such as "PREEMPTED". */
const char *pb_event_name(uint32_t type);
/** Returns the name of an enum pb_capability_key, such as "NODES". */
const char *pb_capability_name(uint32_t key);
/** Returns the name of an enum pb_priority, such as "NORMAL". */
const char *pb_priority_name(uint32_t priority);
/** Returns the name of an enum pb_node_state, such as "RUNNING". */
const char *pb_node_state_name(uint32_t state);
/** Returns the name of an enum pb_command_code, such as "PING". */
const char *pb_command_name(uint32_t code);
/** Returns the name of an enum pb_resource, such as "QUEUES". */
const char *pb_resource_name(uint32_t resource);
/** Returns the name of an enum pb_why, such as "WAITING". */
const char *pb_why_name(uint32_t why);
/** Returns the meaning of an enum pb_why, in one phrase. */
const char *pb_why_meaning(uint32_t why);
/** Returns the name of an enum pb_format_reason, such as "SHIFT". */
const char *pb_format_reason_name(uint32_t reason);
/** Returns the meaning of an enum pb_format_reason, in one phrase. */
const char *pb_format_reason_meaning(uint32_t reason);

#ifdef __cplusplus
}
#endif

#endif
