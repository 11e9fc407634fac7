/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/image_command.h"

#include <argp.h>
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/board_image.h"
#include "host/tool/firmware_image.h"
#include "host/tool/json_number.h"

enum option_key {
	KEY_JSON = 0x100,
	KEY_BOARD,
};

struct arguments {
	const char *path;
	const char *board;
	bool json;
};

/** Result of the check of a file. */
struct findings {
	struct pb_image_header header;
	bool has_header;
	bool good;
	char text[PB_FIRMWARE_IMAGE_TEXT_BYTES]; /**< the defect, if it is not good */
};

static const struct argp_option option_table[] = {
	{"json", KEY_JSON, NULL, 0, "Print one JSON object", 0},
	{"board", KEY_BOARD, "NAME", 0, "Refuse an image for another board", 0},
	{0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_JSON:
		arguments->json = true;
		return 0;
	case KEY_BOARD:
		arguments->board = pb_board_name(text);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->path != NULL)
			argp_error(state, "give one FILE");
		arguments->path = text;
		return 0;
	case ARGP_KEY_END:
		if (arguments->path == NULL)
			argp_error(state, "FILE is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void examine(const struct arguments *arguments, struct findings *findings)
{
	struct pb_firmware_image image;

	*findings = (struct findings){0};
	if (pb_firmware_image_read(arguments->path, &image, findings->text)) {
		findings->has_header = pb_firmware_image_header(&image, &findings->header, findings->text);
		findings->good =
			findings->has_header &&
			pb_firmware_image_check(&image, &findings->header, arguments->board, findings->text);
	}
	pb_firmware_image_free(&image);
}

/* Writes the build id as hex digits. */
static void write_build_id(const struct pb_image_header *header, char text[41])
{
	const uint8_t *bytes = (const uint8_t *)header->build_id;

	for (size_t i = 0; i < sizeof(header->build_id); i++)
		(void)snprintf(text + 2u * i, 3, "%02x", bytes[i]);
}

/* Copies a name of a header, which may be damaged; bytes that are not printable become '?'. */
static void write_name(const char name[32], char text[33])
{
	size_t i = 0;

	for (; i < 32u && name[i] != '\0'; i++)
		text[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	text[i] = '\0';
}

static void print_text(const struct pb_image_header *header)
{
	char board[33], release[33], build_id[41];

	write_name(header->board, board);
	write_name(header->release, release);
	write_build_id(header, build_id);
	printf("board          %s\n", board);
	printf("release        %s\n", release);
	printf("build id       %s\n", build_id);
	printf("load address   0x%08x\n", header->load_address);
	printf("size           %u bytes\n", header->image_bytes);
	printf("CRC-32         0x%08x\n", header->crc);
	printf("interface      %u.%u to %u.%u\n", header->abi_oldest >> 16, header->abi_oldest & 0xffffu,
	       header->abi_newest >> 16, header->abi_newest & 0xffffu);
	printf("card memory    0x%08x, %u bytes\n", header->card_memory, header->card_memory_bytes);
}

static void add_header(cJSON *object, const struct pb_image_header *header)
{
	char board[33], release[33], build_id[41];

	write_name(header->board, board);
	write_name(header->release, release);
	write_build_id(header, build_id);
	cJSON_AddStringToObject(object, "board", board);
	cJSON_AddStringToObject(object, "release", release);
	cJSON_AddStringToObject(object, "build_id", build_id);
	cJSON_AddNumberToObject(object, "load_address", header->load_address);
	cJSON_AddNumberToObject(object, "image_bytes", header->image_bytes);
	cJSON_AddNumberToObject(object, "crc", header->crc);
	cJSON_AddNumberToObject(object, "abi_oldest", header->abi_oldest);
	cJSON_AddNumberToObject(object, "abi_newest", header->abi_newest);
	cJSON_AddNumberToObject(object, "card_memory", header->card_memory);
	cJSON_AddNumberToObject(object, "card_memory_bytes", header->card_memory_bytes);
}

static void print_json(const struct findings *findings)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddBoolToObject(object, "good", findings->good);
	cJSON_AddItemToObject(object, "defect",
			      findings->good ? cJSON_CreateNull() : cJSON_CreateString(findings->text));
	if (findings->has_header)
		add_header(object, &findings->header);
	(void)pb_json_print(stdout, object);
}

int pb_image_command(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_table,
		.parser = parse,
		.args_doc = "FILE",
		.doc = "Check a firmware image and show its header.\v"
		       "FILE is an .elf or a .bin. Checked are the magic number, the header's version, size, "
		       "CRC, board and release, and whether it serves hosts of this version.\n\n"
		       "Exit code: 0 the image is good; 1 it is not; 2 wrong arguments.",
	};
	struct arguments arguments = {0};
	struct findings findings;

	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	examine(&arguments, &findings);
	if (arguments.json)
		print_json(&findings);
	else if (findings.has_header)
		print_text(&findings.header);
	if (!findings.good)
		fprintf(stderr, "%s: %s: %s\n", argv[0], arguments.path, findings.text);
	return findings.good ? 0 : 1;
}
