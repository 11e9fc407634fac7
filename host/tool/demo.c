/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "host/tool/demo_state.h"

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
		if (!pb_demo_draw(demo, pass))
			return false;
		pb_demo_paint(demo, pass);
	}
	return pb_demo_wait(demo) && pb_demo_check(demo) && pb_demo_audit(demo);
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
		if (good)
			pb_demo_sheet_add(demo);
	}
	if (progress)
		fprintf(stderr, "\n");
	return good;
}

/* The demo never waits for the copy node, the memory manager does: read its fence record for the table. */
static void print_table(struct pb_demo *demo)
{
	const struct pb_residency_figures *figures = &demo->residency.figures;
	const uint32_t submissions[PB_DEMO_ENGINES] = {demo->submissions, figures->paging_submissions};

	printf("%-10s %12s %12s %12s\n", "", "submissions", "fences", "errors");
	for (uint32_t i = 0; i < PB_DEMO_ENGINES; i++) {
		struct pb_demo_queue *queue = &demo->queues[i];

		(void)pb_queue_fence(&queue->queue, &queue->fence);
		printf("%-10s %12u %12u %12u\n", queue->name, (unsigned)submissions[i],
		       (unsigned)queue->fence.completed, (unsigned)queue->fence.errors);
	}
	printf("%u evictions, %u page-ins, %" PRIu64 " bytes paged, %u splits\n",
	       (unsigned)figures->evictions, (unsigned)figures->page_ins,
	       figures->bytes_in + figures->bytes_out, (unsigned)figures->splits);
}

static bool run(struct pb_demo *demo)
{
	return pb_demo_make_folder(demo) && pb_demo_open(demo) && pb_demo_make_images(demo) &&
	       pb_demo_fill_memory(demo) && run_frames(demo) && pb_demo_show(demo);
}

static void print_last_line(const struct pb_demo *demo, bool good)
{
	const struct pb_residency_figures *figures = &demo->residency.figures;

	if (good)
		printf("demo: ok %u frames, %u submissions, %" PRIu64 " patches, %u moves\n",
		       (unsigned)demo->frame, (unsigned)(demo->submissions + figures->paging_submissions),
		       demo->queues[PB_DEMO_3D].fence.patches,
		       (unsigned)(figures->page_ins + figures->evictions));
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
	good = run(demo);
	if (!options->quiet && demo->queue_count == PB_DEMO_ENGINES)
		print_table(demo);
	print_last_line(demo, good);
	pb_demo_close(demo);
	pb_demo_free_images(demo);
	free(demo->shadow);
	free(demo);
	return good ? 0 : 1;
}
