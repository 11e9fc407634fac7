/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/tool/demo_state.h"

/*
 * What a pass samples or takes vertices from. Targets are not in it: what they
 * hold before they are drawn is dead, and moving it would prove nothing.
 */
static uint32_t read_by(const struct pb_demo *demo, uint32_t pass)
{
	uint32_t used = PB_DEMO_BIT(PB_DEMO_VERTICES);

	for (uint32_t i = 0; i < PB_SCENE_IMAGES; i++) {
		if (pb_scene_images[i].source != PB_SCENE_DRAWN &&
		    pb_scene_uses(&demo->scene, pass, (enum pb_scene_image)i))
			used |= PB_DEMO_BIT(i);
	}
	return used;
}

/* Draws a pass while the copy node moves what only other passes read. */
static bool draw_pass(struct pb_demo *demo, uint32_t pass, uint32_t must)
{
	uint32_t idle = 0;

	for (uint32_t i = 0; i < PB_SCENE_PASSES; i++)
		idle |= read_by(demo, i);
	idle &= ~read_by(demo, pass);
	return pb_demo_draw(demo, pass) && pb_demo_move(demo, must & idle, idle) &&
	       pb_demo_wait(demo, PB_DEMO_3D) && pb_demo_wait(demo, PB_DEMO_COPY);
}

/* The frame's new contents, written by the host; all of it then moves before it is used. */
static uint32_t write_changes(struct pb_demo *demo)
{
	uint32_t changed = PB_DEMO_BIT(PB_DEMO_VERTICES);

	pb_demo_write(demo, PB_DEMO_VERTICES, (const uint32_t *)(const void *)demo->scene.vertices);
	for (uint32_t i = 0; i < PB_SCENE_IMAGES; i++) {
		if (pb_scene_images[i].source != PB_SCENE_CHANGES)
			continue;
		pb_scene_texels((enum pb_scene_image)i, demo->frame, demo->expected[i].pixels);
		pb_demo_write(demo, i, demo->expected[i].pixels);
		changed |= PB_DEMO_BIT(i);
	}
	return changed;
}

static bool move(struct pb_demo *demo, uint32_t must, uint32_t may)
{
	return pb_demo_move(demo, must, may) && pb_demo_wait(demo, PB_DEMO_COPY);
}

/*
 * The scene's first pass draws a texture of the second one: it moves in
 * between. The picture moves too, before it is read.
 */
static bool run_frame(struct pb_demo *demo)
{
	uint32_t changed;

	pb_scene_make(&demo->scene, demo->frame);
	changed = write_changes(demo);
	if (!move(demo, changed & read_by(demo, 0), read_by(demo, 0)))
		return false;
	for (uint32_t pass = 0; pass < PB_SCENE_PASSES; pass++) {
		if (!draw_pass(demo, pass, changed) ||
		    !move(demo, PB_DEMO_BIT(demo->scene.passes[pass].target), 0))
			return false;
		pb_demo_paint(demo, pass);
	}
	if (!pb_demo_check(demo) || !pb_demo_audit(demo))
		return false;
	pb_demo_free_left(demo);
	return true;
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
	if (progress)
		fprintf(stderr, "\n");
	return good;
}

static void print_table(const struct pb_demo *demo)
{
	printf("%-10s %12s %12s %12s %12s\n", "", "submissions", "patches", "fences", "errors");
	for (uint32_t i = 0; i < PB_DEMO_ENGINES; i++) {
		const struct pb_demo_queue *queue = &demo->queues[i];

		printf("%-10s %12u %12" PRIu64 " %12u %12u\n", queue->name, (unsigned)queue->submissions,
		       queue->fence.patches, (unsigned)queue->waited, (unsigned)queue->fence.errors);
	}
	printf("%u moves, %" PRIu64 " bytes moved\n", (unsigned)demo->moves, demo->bytes_moved);
}

static bool run(struct pb_demo *demo)
{
	return pb_demo_make_images(demo) && pb_demo_make_folder(demo) && pb_demo_open(demo) &&
	       pb_demo_make_shadows(demo) && pb_demo_fill_memory(demo) && run_frames(demo);
}

static void print_last_line(const struct pb_demo *demo, bool good)
{
	const struct pb_demo_queue *queues = demo->queues;

	if (good)
		printf("demo: ok %u frames, %u submissions, %" PRIu64 " patches, %u moves\n",
		       (unsigned)demo->frame,
		       (unsigned)(queues[PB_DEMO_3D].submissions + queues[PB_DEMO_COPY].submissions),
		       queues[PB_DEMO_3D].fence.patches + queues[PB_DEMO_COPY].fence.patches,
		       (unsigned)demo->moves);
	else
		printf("demo: failed\n");
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
	demo->random = 0x2545f491;
	good = run(demo);
	if (!options->quiet && demo->queue_count == PB_DEMO_ENGINES) {
		printf("pictures: %s/frame-NNNN.png\n", options->output);
		print_table(demo);
	}
	print_last_line(demo, good);
	pb_demo_close(demo);
	pb_demo_free_images(demo);
	pb_demo_free_shadows(demo);
	free(demo);
	return good ? 0 : 1;
}
