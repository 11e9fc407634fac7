/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <stdlib.h>

#include "host/tool/card_arguments.h"
#include "host/tool/demo.h"
#include "host/tool/open_card.h"
#include "host/tool/scene.h"

#define FRAMES_MAX 9999u /* the file names have four digits */

/* Above all characters: there are no short options. */
enum key { KEY_FRAMES = 0x100, KEY_OUTPUT, KEY_NO_PATCHES, KEY_WDDM, KEY_QUIET };

struct arguments {
	struct pb_open_options open;
	struct pb_demo_options demo;
};

static const struct argp_option command_options[] = {
	{"frames", KEY_FRAMES, "N", 0, "Frames to draw, from 1 (default 72)", 0},
	{"output", KEY_OUTPUT, "DIR", 0,
	 "Folder for frame-NNNN.png, frames.png and timeline.html (default build/demo)", 0},
	{"no-patches", KEY_NO_PATCHES, NULL, 0,
	 "Submit with empty patch lists: shows that the pictures depend on patching; must fail", 0},
	{"wddm", KEY_WDDM, NULL, 0,
	 "Draw as a WDDM kernel does: through the functions of the miniport, with preemptions and a timeout "
	 "on the "
	 "way. Takes the whole card, so give a board or simulate",
	 0},
	{"quiet", KEY_QUIET, NULL, 0, "Print errors and the last line only", 0},
	{0},
};

static uint32_t parse_frames(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long frames;

	errno = 0;
	frames = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || *text == '-' || frames < 1 || frames > FRAMES_MAX)
		argp_error(state, "--frames %s: give a number from 1 to %u", text, FRAMES_MAX);
	return (uint32_t)frames;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->open;
		return 0;
	case KEY_NO_PATCHES:
		arguments->demo.without_patches = true;
		return 0;
	case KEY_FRAMES:
		arguments->demo.frames = parse_frames(value, state);
		return 0;
	case KEY_OUTPUT:
		arguments->demo.output = value;
		return 0;
	case KEY_WDDM:
		arguments->demo.wddm = true;
		return 0;
	case KEY_QUIET:
		arguments->demo.quiet = true;
		return 0;
	case ARGP_KEY_END:
		if (arguments->demo.wddm && pb_names_running_card(&arguments->open))
			argp_error(state, "--wddm takes the whole card, its admin channel included, which a "
					  "running card's "
					  "supervisor has: give --board or --sim, not --card or --link");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int pb_demo_command(int argc, char **argv)
{
	static const struct argp parser = {
		.options = command_options,
		.parser = parse,
		.doc = "Render an animation on the card in about a quarter of the video memory that it "
		       "needs, and compare every frame with one drawn without the card.\v"
		       "Exit code: 0 all frames are right; 1 a frame is wrong, the card failed, or a "
		       "picture cannot be written; 2 wrong arguments.",
		.children = pb_card_arguments,
	};
	struct arguments arguments = {.demo = {.frames = PB_SCENE_PERIOD, .output = "build/demo"}};
	struct pb_open_card card;
	int code;

	argp_err_exit_status = 2;
	argp_parse(&parser, argc, argv, 0, NULL, &arguments);
	code = pb_open_card(&arguments.open, arguments.demo.wddm ? PB_OPEN_HOST_MEMORY : PB_OPEN_LINK, &card);
	if (code != 0)
		return code;
	arguments.demo.link = card.link;
	arguments.demo.host_memory = card.host_memory;
	code = pb_demo_run(&arguments.demo);
	pb_close_card(&card);
	return code;
}
