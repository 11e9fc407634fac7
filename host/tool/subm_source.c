/* SPDX-License-Identifier: MIT */
#include "host/tool/subm_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/** The captures are compressed with a window of 128 MiB. */
#define WINDOW_LOG 27

struct pb_subm_source {
	FILE *file;
	ZSTD_DStream *stream; /**< NULL for a plain file */
	ZSTD_inBuffer input;
	size_t expected; /**< last result of zstd: not 0 inside a frame */
	uint8_t buffer[65536];
};

/** Refills the input buffer. @return false: end of the file, or `problem` */
static bool fill(struct pb_subm_source *source, const char **problem)
{
	source->input.pos = 0;
	source->input.size = fread(source->buffer, 1, sizeof(source->buffer), source->file);
	if (source->input.size == 0 && ferror(source->file) != 0)
		*problem = strerror(errno);
	return source->input.size != 0;
}

static const char *start_zstd(struct pb_subm_source *source)
{
	static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};

	if (source->input.size < sizeof(magic) || memcmp(source->buffer, magic, sizeof(magic)) != 0)
		return NULL;
	source->stream = ZSTD_createDStream();
	if (source->stream == NULL)
		return "out of memory";
	if (ZSTD_isError(ZSTD_DCtx_setParameter(source->stream, ZSTD_d_windowLogMax, WINDOW_LOG)) != 0)
		return "this zstd library cannot take large windows";
	return NULL;
}

struct pb_subm_source *pb_subm_source_open(const char *path, const char **problem)
{
	struct pb_subm_source *source = calloc(1, sizeof(*source));

	if (source == NULL) {
		*problem = "out of memory";
		return NULL;
	}
	*problem = NULL;
	source->input.src = source->buffer;
	source->file = fopen(path, "rb");
	if (source->file == NULL)
		*problem = strerror(errno);
	else if (fill(source, problem))
		*problem = start_zstd(source);
	if (*problem == NULL)
		return source;
	pb_subm_source_close(source);
	return NULL;
}

static size_t read_plain(struct pb_subm_source *source, ZSTD_outBuffer *output)
{
	size_t here = source->input.size - source->input.pos;
	size_t wanted = output->size - output->pos;
	size_t bytes = here < wanted ? here : wanted;

	memcpy((uint8_t *)output->dst + output->pos, source->buffer + source->input.pos, bytes);
	source->input.pos += bytes;
	output->pos += bytes;
	return 0;
}

size_t pb_subm_source_read(struct pb_subm_source *source, void *to, size_t bytes, const char **problem)
{
	ZSTD_outBuffer output = {.dst = to, .size = bytes};

	*problem = NULL;
	while (output.pos < output.size) {
		size_t before = output.pos;

		/* zstd may have output left without needing input: call it first. */
		if (source->stream == NULL)
			source->expected = read_plain(source, &output);
		else if (source->expected != 0 || source->input.pos < source->input.size)
			source->expected = ZSTD_decompressStream(source->stream, &output, &source->input);
		if (ZSTD_isError(source->expected) != 0) {
			*problem = ZSTD_getErrorName(source->expected);
			break;
		}
		if (output.pos != before || source->input.pos < source->input.size)
			continue;
		if (!fill(source, problem)) {
			if (*problem == NULL && source->expected != 0)
				*problem = "the compressed data is cut off";
			break;
		}
	}
	return output.pos;
}

void pb_subm_source_close(struct pb_subm_source *source)
{
	if (source == NULL)
		return;
	if (source->file != NULL)
		(void)fclose(source->file);
	ZSTD_freeDStream(source->stream);
	free(source);
}
