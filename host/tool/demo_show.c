/* SPDX-License-Identifier: MIT */
/* Results of the demo for people: all frames on one sheet, and a timeline of the firmware's trace. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/demo_state.h"
#include "host/tool/trace_cause.h"
#include "host/tool/trace_export.h"
#include "host/tool/trace_guest.h"
#include "host/tool/trace_keep.h"
#include "host/tool/trace_record.h"
#include "patchbay/trace.h"

/** Largest number of frames on the sheet; of more frames, equally spaced ones are shown. */
#define TILES_MAX 72u
#define COLUMNS   8u
/** A tile's pixel is the mean of SHRINK x SHRINK pixels of the frame. */
#define SHRINK 2u

static uint32_t tiles(const struct pb_demo *demo)
{
	return demo->options->frames < TILES_MAX ? demo->options->frames : TILES_MAX;
}

bool pb_demo_sheet_make(struct pb_demo *demo)
{
	const uint32_t columns = tiles(demo) < COLUMNS ? tiles(demo) : COLUMNS;

	demo->sheet.width = columns * (demo->found.width / SHRINK);
	demo->sheet.height = (tiles(demo) + COLUMNS - 1u) / COLUMNS * (demo->found.height / SHRINK);
	demo->sheet.pixels = calloc((size_t)demo->sheet.width * demo->sheet.height, sizeof(uint32_t));
	return demo->sheet.pixels != NULL;
}

static uint32_t mean(const struct pb_image *image, uint32_t x, uint32_t y)
{
	uint32_t result = 0;

	for (uint32_t shift = 0; shift < 32u; shift += 8u) {
		uint32_t sum = 0;

		for (uint32_t i = 0; i < SHRINK * SHRINK; i++)
			sum += image->pixels[(y + i / SHRINK) * image->width + x + i % SHRINK] >> shift &
			       0xffu;
		result |= sum / (SHRINK * SHRINK) << shift;
	}
	return result;
}

void pb_demo_sheet_add(struct pb_demo *demo, uint32_t frame)
{
	const uint32_t width = demo->found.width / SHRINK, height = demo->found.height / SHRINK;
	const uint32_t tile = (uint32_t)((uint64_t)frame * tiles(demo) / demo->options->frames);
	uint32_t *corner =
		demo->sheet.pixels + tile / COLUMNS * height * demo->sheet.width + tile % COLUMNS * width;

	for (uint32_t y = 0; y < height; y++) {
		for (uint32_t x = 0; x < width; x++)
			corner[y * demo->sheet.width + x] = mean(&demo->found, x * SHRINK, y * SHRINK);
	}
}

static bool fail(const char *path, const char *why)
{
	fprintf(stderr, "patchbay demo: %s: %s\n", path, why);
	return false;
}

static bool write_page(FILE *file, struct pb_trace_data *data)
{
	struct pb_timeline timeline;
	bool written = pb_timeline_build(data, &timeline) && pb_trace_guest_join(data, &timeline);

	if (written) {
		pb_trace_order_calls(data, &timeline);
		written = pb_trace_export_page(file, data, &timeline);
	}
	pb_timeline_free(&timeline);
	return written;
}

/* Records the trace to a temporary file and reads it, as the commands of patchbay trace do. */
static bool read_now(struct pb_link *link, struct pb_trace_data *data)
{
	FILE *records = tmpfile();
	const struct pb_trace_recording recording = {
		.program = "patchbay demo", .name = "a temporary file", .file = records};
	bool read = records != NULL && pb_trace_record(&recording, link) == 0 &&
		    pb_trace_keep_host(records, link);

	memset(data, 0, sizeof(*data));
	if (read) {
		rewind(records);
		read = pb_trace_file_read(records, data) == NULL;
	}
	if (records != NULL)
		(void)fclose(records);
	return read;
}

static bool write_timeline(struct pb_demo *demo, FILE *file)
{
	struct pb_trace_data data;
	const bool read = demo->path->keep_trace != NULL ? demo->path->read_trace(demo, &data)
							 : read_now(demo->options->link, &data);
	const bool written = read && write_page(file, &data);

	pb_trace_data_free(&data);
	return written;
}

bool pb_demo_show_timeline(struct pb_demo *demo)
{
	struct pb_link *link = demo->options->link;
	struct pb_trace trace;
	char path[PATH_MAX];
	FILE *file;
	int reason = 0;

	if (pb_trace_open(&trace, link) == PB_ERROR_UNSUPPORTED)
		return true; /* the board has no trace */
	(void)snprintf(path, sizeof(path), "%s/timeline.html", demo->options->output);
	file = fopen(path, "w");
	if (file == NULL)
		return fail(path, strerror(errno));
	errno = 0;
	if (!write_timeline(demo, file))
		reason = errno != 0 ? errno : EIO;
	if (fclose(file) != 0)
		reason = errno;
	if (reason != 0)
		return fail(path, strerror(reason));
	if (!demo->options->quiet)
		printf("timeline: %s\n", path);
	return true;
}

bool pb_demo_show(struct pb_demo *demo)
{
	char path[PATH_MAX];
	int error;

	(void)snprintf(path, sizeof(path), "%s/frames.png", demo->options->output);
	error = pb_image_write_png(&demo->sheet, path);
	if (error != 0)
		return fail(path, strerror(error));
	if (!demo->options->quiet)
		printf("pictures: %s/frame-NNNN.png, all of them: %s\n", demo->options->output, path);
	return pb_demo_show_timeline(demo);
}
