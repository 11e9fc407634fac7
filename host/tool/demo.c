/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/tool/demo_state.h"
#include "patchbay/host_trace.h"

/* Writes the vertices and the changing images of the frame. */
static bool write_changes(struct pb_demo *demo)
{
	bool written =
		pb_demo_write(demo, PB_DEMO_VERTICES, (const uint32_t *)(const void *)demo->scene.vertices);

	for (uint32_t i = 0; written && i < PB_SCENE_IMAGES; i++) {
		if (pb_scene_images[i].source != PB_SCENE_CHANGES)
			continue;
		pb_scene_texels((enum pb_scene_image)i, demo->frame, demo->scene.shrink,
				demo->expected[i].pixels);
		written = pb_demo_write(demo, i, demo->expected[i].pixels);
	}
	return written;
}

static bool run_frame(struct pb_demo *demo)
{
	pb_scene_make(&demo->scene, demo->frame);
	if (!write_changes(demo))
		return false;
	for (uint32_t pass = 0; pass < PB_SCENE_PASSES; pass++) {
		if (!demo->path->draw(demo, pass))
			return false;
		pb_demo_paint(demo, pass);
		/* While the card draws: the picture of the frame before. */
		if (!pb_demo_keep(demo))
			return false;
	}
	if (!demo->path->wait(demo))
		return false;
	pb_host_trace_frame(demo->options->link);
	return pb_demo_check(demo) && pb_demo_audit(demo) &&
	       (demo->path->keep_trace == NULL || demo->path->keep_trace(demo));
}

static bool run_frames(struct pb_demo *demo)
{
	bool progress = !demo->options->quiet && isatty(STDERR_FILENO) != 0;
	bool good = true;

	for (demo->frame = 0; good && demo->frame < demo->options->frames; demo->frame++) {
		if (progress)
			fprintf(stderr, "\rframe %u of %u", (unsigned)demo->frame + 1,
				(unsigned)demo->options->frames);
		good = run_frame(demo);
	}
	good = pb_demo_keep(demo) && good;
	if (progress)
		fprintf(stderr, "\n");
	return good;
}

static bool run(struct pb_demo *demo)
{
	bool good;

	if (!pb_demo_make_folder(demo) || !pb_demo_open(demo))
		return false;
	good = pb_demo_make_images(demo) && pb_demo_fill_memory(demo) && run_frames(demo);
	if (good)
		return pb_demo_show(demo);
	/* What the firmware did up to the failure. */
	(void)pb_demo_show_timeline(demo);
	return false;
}

static void print_last_line(const struct pb_demo *demo, bool good)
{
	if (!good) {
		printf("demo: failed\n");
		return;
	}
	printf("demo: ok %u frames, ", (unsigned)demo->frame);
	demo->path->print_figures(demo);
	printf("\n");
}

int pb_demo_run(const struct pb_demo_options *options)
{
	struct pb_demo *demo = calloc(1, sizeof(*demo));
	bool good;

	if (demo == NULL) {
		fprintf(stderr, "patchbay demo: out of memory\n");
		return 1;
	}
	demo->options = options;
	demo->path = options->wddm ? &pb_demo_wddm : &pb_demo_direct;
	good = run(demo);
	if (!options->quiet)
		demo->path->print_table(demo);
	print_last_line(demo, good);
	demo->path->close(demo);
	pb_demo_free_images(demo);
	free(demo->shadow);
	free(demo->read);
	free(demo);
	return good ? 0 : 1;
}
