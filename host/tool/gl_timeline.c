/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/tool/ddi_calls.h"
#include "host/tool/trace_export.h"
#include "patchbay/names.h"

bool pb_gl_timeline_begin(struct pb_gl_timeline *timeline, const char *program, const char *socket)
{
	const enum pb_error error = pb_link_open_observer(socket, &timeline->link);

	timeline->program = program;
	timeline->good = false;
	if (error != PB_ERROR_OK) {
		fprintf(stderr, "%s: %s: %s\n", program, socket, pb_error_name(error));
		return false;
	}
	timeline->good = pb_trace_keep_begin(&timeline->keeper, timeline->link);
	if (!timeline->good)
		fprintf(stderr, "%s: a temporary file cannot be written: %s\n", program, strerror(errno));
	return timeline->good;
}

void pb_gl_timeline_keep(struct pb_gl_timeline *timeline)
{
	timeline->good = timeline->good && pb_trace_keep(&timeline->keeper);
}

static bool write_page(const char *path, const struct pb_trace_data *data)
{
	struct pb_timeline page = {0};
	FILE *file = fopen(path, "w");
	bool good = file != NULL;

	good = good && pb_timeline_build(data, &page) && pb_trace_export_page(file, data, &page);
	if (file != NULL)
		good = fclose(file) == 0 && good;
	pb_timeline_free(&page);
	return good;
}

bool pb_gl_timeline_write(struct pb_gl_timeline *timeline, const char *path)
{
	static const struct pb_ddi_record no_calls;
	struct pb_trace_data data = {0};
	bool good = timeline->good && pb_trace_keep_read(&timeline->keeper, &no_calls, &data) &&
		    write_page(path, &data);

	if (!good)
		fprintf(stderr, "%s: %s cannot be written: %s\n", timeline->program, path, strerror(errno));
	pb_trace_data_free(&data);
	pb_trace_keep_end(&timeline->keeper);
	timeline->link->ops->close(timeline->link);
	return good;
}
