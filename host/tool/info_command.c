/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/info_command.h"

#include <argp.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/card_arguments.h"
#include "host/tool/card_failure.h"
#include "host/tool/json_number.h"
#include "host/tool/open_card.h"
#include "patchbay/patchbay.h"

enum option_key {
	KEY_JSON = 0x100,
	KEY_MEMORY,
};

struct arguments {
	struct pb_open_options card;
	bool json;
};

static const struct argp_option option_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print one JSON object", 0},
	{"memory", KEY_MEMORY, "FILE.bin", 0, "Read saved card memory, from its first byte on", 0},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_MEMORY:
		if (pb_names_card(&arguments->card))
			argp_error(state, "a card and --memory exclude each other; give one");
		arguments->card.memory = text;
		return 0;
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->card;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- words ---- */

/** Longest text of a capability's value. */
#define WORDS_BYTES 96u

static void add_word(char text[WORDS_BYTES], const char *word)
{
	const size_t length = strlen(text);

	(void)snprintf(text + length, WORDS_BYTES - length, "%s%s", length != 0 ? " " : "", word);
}

/** Names the bits of a mask; those without a name as a number. */
static void name_bits(uint32_t mask, const char *const *names, uint32_t count, char text[WORDS_BYTES])
{
	char rest[16];

	for (uint32_t bit = 0; bit < count; bit++) {
		if ((mask >> bit & 1u) == 0 || names[bit] == NULL)
			continue;
		add_word(text, names[bit]);
		mask &= ~(1u << bit);
	}
	(void)snprintf(rest, sizeof(rest), "0x%x", mask);
	if (mask != 0)
		add_word(text, rest);
}

/** Names the kind of each node. */
static void name_nodes(const struct pb_card_info *info, char text[WORDS_BYTES])
{
	const uint32_t kinds = info->capabilities[PB_CAPABILITY_NODE_KINDS];

	for (uint32_t n = 0; n < info->capabilities[PB_CAPABILITY_NODES] && n < 8u; n++) {
		const uint32_t kind = kinds >> 4u * n & 15u;

		add_word(text, kind == PB_NODE_3D ? "3D" : kind == PB_NODE_COPY ? "copy" : "?");
	}
}

/** Describes the value of a capability whose bits have meanings. @param text out; empty: the number says it */
static void describe(const struct pb_card_info *info, uint32_t key, char text[WORDS_BYTES])
{
	static const char *const segments[] = {"linear", "aperture", "host", "outer"};
	static const char *const encodings[17] = {
		[0] = "list", [1] = "compact", [2] = "grouped", [16] = "presumed"};
	static const char *const preemptions[] = {"between-buffers", "inside-buffers"};
	const uint32_t value = info->capabilities[key];

	text[0] = '\0';
	if (key == PB_CAPABILITY_NODE_KINDS)
		name_nodes(info, text);
	else if (key == PB_CAPABILITY_SEGMENT_KINDS)
		name_bits(value, segments, 4, text);
	else if (key == PB_CAPABILITY_PATCH_ENCODINGS)
		name_bits(value, encodings, 17, text);
	else if (key == PB_CAPABILITY_PREEMPTION)
		name_bits(value, preemptions, 2, text);
}

static void print_capability(const struct pb_card_info *info, uint32_t key)
{
	char words[WORDS_BYTES];

	describe(info, key, words);
	printf("  %-20s %u%s%s%s\n", pb_capability_name(key), info->capabilities[key],
	       words[0] != '\0' ? " (" : "", words, words[0] != '\0' ? ")" : "");
}

static void print_text(const struct pb_card_info *info)
{
	printf("build          %s\n", info->build);
	printf("interface      %u.%u\n", info->abi_version >> 16, info->abi_version & 0xffffu);
	printf("memory         %u bytes\n", info->memory_bytes);
	printf("boot stage     %s\n", pb_boot_stage_name(info->boot_stage));
	printf("waypoint       %s\n", pb_waypoint_name(info->waypoint));
	printf("heartbeat      %u\n", info->heartbeat);
	printf("incarnation    %u\n", info->incarnation);
	printf("MCU            %s, died %u times\n", pb_card_mcu_state(info->mcu_state), info->mcu_deaths);
	if (info->mcu_deaths != 0)
		printf("last death     stage %s, waypoint %s\n", pb_boot_stage_name(info->dead_stage),
		       pb_waypoint_name(info->dead_waypoint));
	if (info->fatal.valid != 0)
		printf("fatal record   kind %s, pc 0x%08x, lr 0x%08x, status 0x%08x, address 0x%08x, "
		       "waypoint %s\n",
		       pb_fatal_kind_name(info->fatal.kind), info->fatal.pc, info->fatal.lr,
		       info->fatal.status, info->fatal.address, pb_waypoint_name(info->fatal.waypoint));
	printf("capabilities\n");
	for (uint32_t key = 0; key < PB_CAPABILITY_KEYS; key++) {
		if (pb_capability_name(key)[0] != '?')
			print_capability(info, key);
	}
}

static cJSON *capabilities_json(const struct pb_card_info *info)
{
	cJSON *object = cJSON_CreateObject();

	for (uint32_t key = 0; key < PB_CAPABILITY_KEYS; key++) {
		if (pb_capability_name(key)[0] != '?')
			cJSON_AddNumberToObject(object, pb_capability_name(key), info->capabilities[key]);
	}
	return object;
}

static cJSON *fatal_json(const struct pb_fatal_record *fatal)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddNumberToObject(object, "kind", fatal->kind);
	cJSON_AddStringToObject(object, "kind_name", pb_fatal_kind_name(fatal->kind));
	cJSON_AddNumberToObject(object, "pc", fatal->pc);
	cJSON_AddNumberToObject(object, "lr", fatal->lr);
	cJSON_AddNumberToObject(object, "status", fatal->status);
	cJSON_AddNumberToObject(object, "address", fatal->address);
	cJSON_AddStringToObject(object, "waypoint", pb_waypoint_name(fatal->waypoint));
	return object;
}

static cJSON *death_json(const struct pb_card_info *info)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "stage", pb_boot_stage_name(info->dead_stage));
	cJSON_AddStringToObject(object, "waypoint", pb_waypoint_name(info->dead_waypoint));
	return object;
}

static void print_json(const struct pb_card_info *info)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "build", info->build);
	cJSON_AddNumberToObject(object, "abi_major", info->abi_version >> 16);
	cJSON_AddNumberToObject(object, "abi_minor", info->abi_version & 0xffffu);
	cJSON_AddNumberToObject(object, "memory_bytes", info->memory_bytes);
	cJSON_AddStringToObject(object, "boot_stage", pb_boot_stage_name(info->boot_stage));
	cJSON_AddStringToObject(object, "waypoint", pb_waypoint_name(info->waypoint));
	cJSON_AddNumberToObject(object, "heartbeat", info->heartbeat);
	cJSON_AddNumberToObject(object, "incarnation", info->incarnation);
	cJSON_AddStringToObject(object, "mcu_state", pb_card_mcu_state(info->mcu_state));
	cJSON_AddNumberToObject(object, "mcu_deaths", info->mcu_deaths);
	cJSON_AddItemToObject(object, "last_death",
			      info->mcu_deaths != 0 ? death_json(info) : cJSON_CreateNull());
	cJSON_AddItemToObject(object, "fatal",
			      info->fatal.valid != 0 ? fatal_json(&info->fatal) : cJSON_CreateNull());
	cJSON_AddItemToObject(object, "capabilities", capabilities_json(info));
	(void)pb_json_print(stdout, object);
}

int pb_info_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.doc = "Show what a card is, what it can do, and the state of its firmware.\v"
		       "Reads card memory only, so that it also works after the firmware died.\n\n"
		       "Exit code: 0 success; 1 there is no card, or it does not work; 2 wrong "
		       "arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {0};
	struct pb_open_card card;
	struct pb_card_info info;
	enum pb_error error;
	int code;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	code = pb_open_card(&arguments.card, PB_OPEN_READ, &card);
	if (code != 0)
		return code;
	error = pb_card_read_running(card.link, &info);
	if (error != PB_ERROR_OK)
		fprintf(stderr, "%s: %s: %s\n", argv[0], pb_error_name(error), pb_error_meaning(error));
	else if (arguments.json)
		print_json(&info);
	else
		print_text(&info);
	pb_close_card(&card);
	return error == PB_ERROR_OK ? 0 : 1;
}
