/* SPDX-License-Identifier: MIT */
#include "host/tool/subm.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1u

#define FILE_HEADER_BYTES     32u
#define HEADER_BYTES          48u
#define OBJECT_BYTES          40u
#define RELOCATION_BYTES      40u
#define CONTENTS_HEADER_BYTES 8u

/** Object flags of i915: EXEC_OBJECT_WRITE. */
#define OBJECT_WRITE 4u
/** Object flags of nouveau: the domains that it is written in. */
#define OBJECT_WRITE_DOMAINS 0xff0000u
/** Flag in `placed` of a nouveau object: in video memory. */
#define PLACED_VRAM (UINT64_C(1) << 63)
/** Kind of a relocation: width in bytes, and nouveau's flags. */
#define KIND_WIDTH       0xffu
#define KIND_FLAGS_SHIFT 8u
#define KIND_FLAGS       ((PB_SUBM_LOW | PB_SUBM_HIGH | PB_SUBM_OR) << KIND_FLAGS_SHIFT)

static uint32_t get32(const uint8_t *from)
{
	return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static uint64_t get64(const uint8_t *from)
{
	return get32(from) | (uint64_t)get32(from + 4) << 32;
}

/** Sets reader->error to "FILE: ...". @return false, for the caller to return */
__attribute__((format(printf, 2, 3))) static bool fail(struct pb_subm_reader *reader, const char *format, ...)
{
	va_list arguments;
	int used = snprintf(reader->error, sizeof(reader->error), "%.160s: ", reader->path);
	size_t length = used > 0 ? (size_t)used : 0;

	va_start(arguments, format);
	(void)vsnprintf(reader->error + length, sizeof(reader->error) - length, format, arguments);
	va_end(arguments);
	return false;
}

/** Reads exactly `bytes` bytes. */
static bool read_exactly(struct pb_subm_reader *reader, void *to, size_t bytes, const char *what)
{
	const char *problem;
	size_t got = pb_subm_source_read(reader->source, to, bytes, &problem);

	if (problem != NULL)
		return fail(reader, "%s: %s", what, problem);
	if (got != bytes)
		return fail(reader, "%s: the file is cut off", what);
	return true;
}

static bool parse_file_header(struct pb_subm_reader *reader, const uint8_t *header)
{
	uint32_t version = get32(header + 4);
	uint32_t driver = get32(header + 8);

	if (memcmp(header, "SUBM", 4) != 0)
		return fail(reader, "not a SUBM file");
	if (version != VERSION)
		return fail(reader, "SUBM version %" PRIu32 " is unknown; this tool reads version %u",
			    version, VERSION);
	if (driver != PB_SUBM_I915 && driver != PB_SUBM_NOUVEAU)
		return fail(reader,
			    "driver %" PRIu32 " is unknown; this tool replays i915 (1) and nouveau (2)",
			    driver);
	reader->driver = (enum pb_subm_driver)driver;
	reader->chipset = get32(header + 12);
	reader->gen10 = get32(header + 16);
	reader->reloc_bits = get32(header + 20);
	reader->count = get32(header + 24);
	if (reader->reloc_bits != 32 && reader->reloc_bits != 64)
		return fail(reader, "relocations of %" PRIu32 " bits; they are 32 or 64", reader->reloc_bits);
	return true;
}

bool pb_subm_open(struct pb_subm_reader *reader, const char *path)
{
	uint8_t header[FILE_HEADER_BYTES];
	const char *problem;

	*reader = (struct pb_subm_reader){.path = path};
	reader->source = pb_subm_source_open(path, &problem);
	if (reader->source == NULL)
		return fail(reader, "%s", problem);
	if (read_exactly(reader, header, sizeof(header), "file header") && parse_file_header(reader, header))
		return true;
	pb_subm_close(reader);
	return false;
}

static bool parse_header(struct pb_subm_reader *reader, struct pb_subm_submission *submission,
			 const uint8_t *header)
{
	uint32_t total = get32(header);
	uint64_t needed;

	submission->driver = reader->driver;
	submission->index = reader->next;
	submission->object_count = get32(header + 4);
	submission->relocation_count = get32(header + 8);
	submission->contents_count = get32(header + 12);
	submission->batch_object_index = get32(header + 16);
	submission->batch_start = get32(header + 20);
	submission->batch_length = get32(header + 24);
	submission->context = get32(header + 28);
	submission->exec_flags = get64(header + 32);
	submission->sequence = get32(header + 40);
	submission->source = get32(header + 44);
	needed = HEADER_BYTES + (uint64_t)submission->object_count * OBJECT_BYTES +
		 (uint64_t)submission->relocation_count * RELOCATION_BYTES +
		 (uint64_t)submission->contents_count * CONTENTS_HEADER_BYTES;
	if (total > PB_SUBM_TOTAL_BYTES_MAX)
		return fail(reader, "submission %" PRIu32 ": %" PRIu32 " bytes; this tool takes %u",
			    reader->next, total, PB_SUBM_TOTAL_BYTES_MAX);
	if (needed > total)
		return fail(reader,
			    "submission %" PRIu32 ": its counts need %" PRIu64 " bytes, it has %" PRIu32,
			    reader->next, needed, total);
	if (submission->batch_object_index >= submission->object_count)
		return fail(reader, "submission %" PRIu32 ": batch object %" PRIu32 " of %" PRIu32,
			    reader->next, submission->batch_object_index, submission->object_count);
	submission->raw_bytes = total - HEADER_BYTES;
	return true;
}

/** Allocates the arrays that the header counts, each with one more element, so that none is empty. */
static bool make_room(struct pb_subm_reader *reader, struct pb_subm_submission *submission)
{
	pb_subm_submission_free(submission);
	submission->raw = malloc(submission->raw_bytes + 1);
	submission->objects = calloc((size_t)submission->object_count + 1, sizeof(*submission->objects));
	submission->relocations =
		calloc((size_t)submission->relocation_count + 1, sizeof(*submission->relocations));
	submission->contents = calloc((size_t)submission->contents_count + 1, sizeof(*submission->contents));
	if (submission->raw == NULL || submission->objects == NULL || submission->relocations == NULL ||
	    submission->contents == NULL)
		return fail(reader, "submission %" PRIu32 ": out of memory", reader->next);
	return true;
}

/** Interprets the fields of an object whose meaning differs between nouveau and i915. */
static void parse_nouveau_object(struct pb_subm_object *object)
{
	/* nouveau stores here whether the presumed address is valid. */
	object->alignment = 0;
	object->written = (object->flags & OBJECT_WRITE_DOMAINS) != 0;
	object->gart = (object->placed & PLACED_VRAM) == 0;
	object->placed &= ~PLACED_VRAM;
}

static bool parse_object(struct pb_subm_reader *reader, struct pb_subm_submission *submission, uint32_t i,
			 const uint8_t *from)
{
	struct pb_subm_object *object = &submission->objects[i];

	*object = (struct pb_subm_object){
		.handle = get32(from),
		.flags = get32(from + 4),
		.size = get64(from + 8),
		.alignment = get64(from + 16),
		.presumed_offset = get64(from + 24),
		.placed = get64(from + 32),
		.contents = PB_SUBM_NONE,
		.written = (get32(from + 4) & OBJECT_WRITE) != 0,
	};
	if (reader->driver == PB_SUBM_NOUVEAU)
		parse_nouveau_object(object);
	if (object->size == 0)
		return fail(reader, "submission %" PRIu32 ": object %" PRIu32 " has size 0", reader->next, i);
	if ((object->alignment & (object->alignment - 1)) != 0)
		return fail(reader,
			    "submission %" PRIu32 ": object %" PRIu32 ": alignment %" PRIu64
			    " is no power of two",
			    reader->next, i, object->alignment);
	return true;
}

static bool check_batch(struct pb_subm_reader *reader, const struct pb_subm_submission *submission)
{
	uint64_t size = submission->objects[submission->batch_object_index].size;

	if ((uint64_t)submission->batch_start + submission->batch_length <= size)
		return true;
	return fail(reader,
		    "submission %" PRIu32 ": the batch, %" PRIu32 " + %" PRIu32
		    " bytes, leaves its object of %" PRIu64,
		    reader->next, submission->batch_start, submission->batch_length, size);
}

/** Checks the next contents, `left` bytes before the end of the submission. @return NULL, or the error */
static const char *contents_problem(const struct pb_subm_submission *submission,
				    const struct pb_subm_contents *contents, size_t left)
{
	const struct pb_subm_object *object;

	if (contents->bytes > left)
		return "they leave the submission";
	if (contents->object >= submission->object_count)
		return "the object does not exist";
	object = &submission->objects[contents->object];
	if (object->contents != PB_SUBM_NONE)
		return "the object has contents already";
	if (contents->bytes > object->size)
		return "they are longer than the object";
	return NULL;
}

/** Parses the contents in [from, from + left), which must be used up. */
static bool parse_contents(struct pb_subm_reader *reader, struct pb_subm_submission *submission,
			   const uint8_t *from, size_t left)
{
	submission->contents_bytes = 0;
	for (uint32_t i = 0; i < submission->contents_count; i++) {
		struct pb_subm_contents *contents = &submission->contents[i];
		const char *problem;

		if (left < CONTENTS_HEADER_BYTES)
			return fail(reader,
				    "submission %" PRIu32 ": contents %" PRIu32 " leave the submission",
				    reader->next, i);
		left -= CONTENTS_HEADER_BYTES;
		*contents = (struct pb_subm_contents){.object = get32(from),
						      .bytes = get32(from + 4),
						      .data = from + CONTENTS_HEADER_BYTES};
		problem = contents_problem(submission, contents, left);
		if (problem != NULL)
			return fail(reader,
				    "submission %" PRIu32 ": contents %" PRIu32 " (object %" PRIu32
				    ", %" PRIu32 " bytes): %s",
				    reader->next, i, contents->object, contents->bytes, problem);
		left -= contents->bytes;
		from = contents->data + contents->bytes;
		submission->objects[contents->object].contents = i;
		submission->contents_bytes += contents->bytes;
	}
	if (left != 0)
		return fail(reader, "submission %" PRIu32 ": %zu bytes left over", reader->next, left);
	return true;
}

static bool kind_is_known(const struct pb_subm_reader *reader, uint32_t kind)
{
	if (reader->driver == PB_SUBM_NOUVEAU)
		return (kind & ~KIND_FLAGS) == 4;
	return kind == 4 || (kind == 8 && reader->reloc_bits == 64);
}

/** Checks a relocation. @return NULL, or the error */
static const char *relocation_problem(const struct pb_subm_reader *reader,
				      const struct pb_subm_submission *submission,
				      const struct pb_subm_relocation *relocation, uint32_t kind)
{
	uint32_t contents;
	uint64_t bytes;

	if (relocation->object >= submission->object_count)
		return "the patched object does not exist";
	if (relocation->target >= submission->object_count)
		return "the target object does not exist";
	if (!kind_is_known(reader, kind))
		return "kind is no width of this file's relocations";
	if (relocation->offset % 4 != 0)
		return "the offset is no multiple of 4";
	contents = submission->objects[relocation->object].contents;
	if (contents == PB_SUBM_NONE)
		return "the patched object has no contents";
	bytes = submission->contents[contents].bytes;
	if (relocation->offset > bytes || relocation->width > bytes - relocation->offset)
		return "the offset lies outside the contents";
	return NULL;
}

static bool parse_relocation(struct pb_subm_reader *reader, struct pb_subm_submission *submission, uint32_t i,
			     const uint8_t *from)
{
	struct pb_subm_relocation *relocation = &submission->relocations[i];
	uint32_t kind = get32(from + 28);
	const char *problem;

	*relocation = (struct pb_subm_relocation){
		.object = get32(from),
		.target = get32(from + 4),
		.offset = get64(from + 8),
		.delta = get32(from + 16),
		.read_domains = get32(from + 20),
		.write_domain = get32(from + 24),
		.width = kind & KIND_WIDTH,
		.flags = (kind & KIND_FLAGS) >> KIND_FLAGS_SHIFT,
		.presumed_offset = get64(from + 32),
	};
	problem = relocation_problem(reader, submission, relocation, kind);
	if (problem == NULL) {
		if (reader->driver == PB_SUBM_I915 && relocation->write_domain != 0)
			submission->objects[relocation->target].written = true;
		return true;
	}
	return fail(reader,
		    "submission %" PRIu32 ": relocation %" PRIu32 " (object %" PRIu32 ", target %" PRIu32
		    ", offset 0x%" PRIx64 ", kind 0x%" PRIx32 "): %s",
		    reader->next, i, relocation->object, relocation->target, relocation->offset, kind,
		    problem);
}

/** Parses objects and contents, then relocations, whose check needs both. */
static bool parse_body(struct pb_subm_reader *reader, struct pb_subm_submission *submission)
{
	const uint8_t *objects = submission->raw;
	const uint8_t *relocations = objects + (size_t)submission->object_count * OBJECT_BYTES;
	const uint8_t *contents = relocations + (size_t)submission->relocation_count * RELOCATION_BYTES;
	size_t left = submission->raw_bytes - (size_t)(contents - objects);

	for (uint32_t i = 0; i < submission->object_count; i++) {
		if (!parse_object(reader, submission, i, objects + (size_t)i * OBJECT_BYTES))
			return false;
	}
	if (!check_batch(reader, submission) || !parse_contents(reader, submission, contents, left))
		return false;
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		if (!parse_relocation(reader, submission, i, relocations + (size_t)i * RELOCATION_BYTES))
			return false;
	}
	return true;
}

static bool at_end(struct pb_subm_reader *reader)
{
	const char *problem;
	uint8_t byte;

	if (pb_subm_source_read(reader->source, &byte, 1, &problem) != 0)
		return fail(reader, "bytes left over behind the last of %" PRIu32 " submissions",
			    reader->count);
	if (problem != NULL)
		return fail(reader, "behind the last submission: %s", problem);
	return true;
}

int pb_subm_next(struct pb_subm_reader *reader, struct pb_subm_submission *submission)
{
	uint8_t header[HEADER_BYTES];
	char what[32];

	if (reader->next == reader->count)
		return at_end(reader) ? 0 : -1;
	(void)snprintf(what, sizeof(what), "submission %" PRIu32, reader->next);
	if (!read_exactly(reader, header, sizeof(header), what) ||
	    !parse_header(reader, submission, header) || !make_room(reader, submission) ||
	    !read_exactly(reader, submission->raw, submission->raw_bytes, what) ||
	    !parse_body(reader, submission))
		return -1;
	reader->next++;
	return 1;
}

void pb_subm_close(struct pb_subm_reader *reader)
{
	pb_subm_source_close(reader->source);
	reader->source = NULL;
}

void pb_subm_submission_free(struct pb_subm_submission *submission)
{
	free(submission->raw);
	free(submission->objects);
	free(submission->relocations);
	free(submission->contents);
	submission->raw = NULL;
	submission->objects = NULL;
	submission->relocations = NULL;
	submission->contents = NULL;
}
