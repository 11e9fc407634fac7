/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The names of numbers on the wire, for people.
 */
#ifndef PB_HOST_NAMES_H
#define PB_HOST_NAMES_H

#include <stdint.h>

/** Name of an error, such as "PATCH_RANGE"; "?" for a number not in the list. */
const char *pb_error_name(uint32_t error);
/** What it means, in one phrase. */
const char *pb_error_meaning(uint32_t error);
/** Name of enum pb_boot_stage, such as "RUNNING"; "?" for a number not in the list. */
const char *pb_boot_stage_name(uint32_t stage);
/** The same of enum pb_fatal_kind. */
const char *pb_fatal_kind_name(uint32_t kind);
/** The same of enum pb_waypoint. */
const char *pb_waypoint_name(uint32_t waypoint);
/** The same of enum pb_event_type. */
const char *pb_event_name(uint32_t type);
/** The same of enum pb_capability_key. */
const char *pb_capability_name(uint32_t key);
/** The same of enum pb_priority. */
const char *pb_priority_name(uint32_t priority);
/** The same of enum pb_node_state. */
const char *pb_node_state_name(uint32_t state);
/** Name of enum pb_command_code, such as "PING"; "?" for a number not in the list. */
const char *pb_command_name(uint32_t code);
/** Name of enum pb_why, such as "WAITING"; "?" for a number not in the list. */
const char *pb_why_name(uint32_t why);
/** What it means, in one phrase; "?" for a number not in the list. */
const char *pb_why_meaning(uint32_t why);
/** Name of enum pb_format_reason, such as "SHIFT"; "?" for a number not in the list. */
const char *pb_format_reason_name(uint32_t reason);
/** What it means, in one phrase. */
const char *pb_format_reason_meaning(uint32_t reason);

#endif
