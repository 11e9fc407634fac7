/* SPDX-License-Identifier: MIT */
/* Names and meanings of numbers, generated from the lists that define the numbers. */
#include "patchbay/names.h"

#include "patchbay/abi/boot.h"
#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"
#include "patchbay/abi/format.h"

#define PB_NAME_CASE(name, number, meaning)                                                                  \
	case (number):                                                                                       \
		return #name;
#define PB_MEANING_CASE(name, number, meaning)                                                               \
	case (number):                                                                                       \
		return (meaning);

const char *pb_error_name(uint32_t error)
{
	switch (error) {
		PB_ERRORS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_error_meaning(uint32_t error)
{
	switch (error) {
		PB_ERRORS(PB_MEANING_CASE)
	default:
		return "?";
	}
}

const char *pb_boot_stage_name(uint32_t stage)
{
	switch (stage) {
		PB_BOOT_STAGES(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_fatal_kind_name(uint32_t kind)
{
	switch (kind) {
		PB_FATAL_KINDS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_waypoint_name(uint32_t waypoint)
{
	switch (waypoint) {
		PB_WAYPOINTS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_event_name(uint32_t type)
{
	switch (type) {
		PB_EVENTS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_capability_name(uint32_t key)
{
	switch (key) {
		PB_CAPABILITIES(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_format_reason_name(uint32_t reason)
{
	switch (reason) {
		PB_FORMAT_REASONS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_format_reason_meaning(uint32_t reason)
{
	switch (reason) {
		PB_FORMAT_REASONS(PB_MEANING_CASE)
	default:
		return "?";
	}
}

const char *pb_priority_name(uint32_t priority)
{
	switch (priority) {
		PB_PRIORITY_LEVELS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_node_state_name(uint32_t state)
{
	switch (state) {
		PB_NODE_STATES(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_why_name(uint32_t why)
{
	switch (why) {
		PB_WHYS(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_why_meaning(uint32_t why)
{
	switch (why) {
		PB_WHYS(PB_MEANING_CASE)
	default:
		return "?";
	}
}

const char *pb_resource_name(uint32_t resource)
{
	switch (resource) {
		PB_RESOURCES(PB_NAME_CASE)
	default:
		return "?";
	}
}

const char *pb_command_name(uint32_t code)
{
	switch (code) {
		PB_COMMANDS(PB_NAME_CASE)
	default:
		return "?";
	}
}
