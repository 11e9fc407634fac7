// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-capture [-o FILE] PROGRAM [ARGUMENT...]: runs a program beside the driver with i915=1, and holds each relocation of
 * each EXECBUFFER2 of any process against a calculation of its own. What it knows of right and wrong, it takes from the
 * list of objects and relocations and from card memory, not from the driver:
 *
 *   placed   the patched objects are read; each word that a relocation names is set to what is surely wrong
 *   done     the objects are read again: each such word must be address(target) + delta, all others as before
 *
 * -o writes the submissions to a SUBM file (tests/data/README.txt), with the contents as the program left them: `patchbay
 * replay FILE` runs them on any board. The driver and the program need no GPU. Needs CAP_SYS_ADMIN.
 *
 * Exit status: that of the program; 125 if a word was wrong, 126 if nothing was captured, 127 if it could not begin.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../patchbay_i915.h"

#define HEADER_WORDS 12
#define OBJECT_WORDS 10
#define RELOCATION_WORDS 10
#define MEMORY_BYTES_MAX (1u << 20)
#define WRONG_SHOWN 20

/* An object of a submission. */
struct object {
	uint64_t size, address;
	uint32_t used;	   /* bytes from the start that matter for a replay; 0: it is not patched */
	uint8_t *before;   /* as the program left it */
	uint8_t *expected; /* when all is patched */
	uint8_t *found;
};

struct relocation {
	uint32_t object, target, delta;
	uint64_t offset;
};

struct submission {
	const uint32_t *words; /* of the record */
	uint32_t bytes;
	uint32_t object_count, relocation_count, batch;
	struct object *objects;
	struct relocation *relocations;
};

struct capture {
	int fd;
	FILE *file;
	uint32_t *record;
	uint32_t room;
	struct submission submission; /* that is placed and not done */
	bool open;
	uint64_t submissions, relocations, most_relocations, most_objects, wrong, strays, failed, moved;
};

static void *allocate(size_t bytes)
{
	void *memory = calloc(1, bytes + 1);

	if (!memory) {
		fprintf(stderr, "pbd-capture: out of memory\n");
		_exit(127);
	}
	return memory;
}

static uint64_t wide(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

static uint32_t get(const uint8_t *from)
{
	uint32_t word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static void put(uint8_t *to, uint32_t word)
{
	memcpy(to, &word, sizeof(word));
}

/* ---- card memory ---- */

static void memory(const struct capture *capture, uint64_t address, uint8_t *data, uint64_t bytes, uint32_t flags)
{
	while (bytes != 0) {
		struct drm_patchbay_capture_memory part = {
			.address = address,
			.data = (uintptr_t)data,
			.bytes = bytes < MEMORY_BYTES_MAX ? (uint32_t)bytes : MEMORY_BYTES_MAX,
			.flags = flags,
		};

		if (ioctl(capture->fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &part) != 0) {
			if (errno == EAGAIN || errno == EINTR)
				continue;
			fprintf(stderr, "pbd-capture: card memory at 0x%llx: %s\n", (unsigned long long)address,
				strerror(errno));
			_exit(127);
		}
		address += part.bytes;
		data += part.bytes;
		bytes -= part.bytes;
	}
}

/* ---- a submission ---- */

static void parse(struct submission *submission, const uint32_t *words, uint32_t bytes)
{
	const uint32_t *from = words + HEADER_WORDS;

	submission->words = words;
	submission->bytes = bytes;
	submission->object_count = words[1];
	submission->relocation_count = words[2];
	submission->batch = words[4];
	submission->objects = allocate(words[1] * sizeof(*submission->objects));
	submission->relocations = allocate(words[2] * sizeof(*submission->relocations));
	for (uint32_t i = 0; i < words[1]; i++, from += OBJECT_WORDS) {
		submission->objects[i].size = wide(from + 2);
		submission->objects[i].address = wide(from + 8);
	}
	for (uint32_t i = 0; i < words[2]; i++, from += RELOCATION_WORDS)
		submission->relocations[i] = (struct relocation){
			.object = from[0], .target = from[1], .offset = wide(from + 2), .delta = from[4]};
}

static void release(struct submission *submission)
{
	for (uint32_t i = 0; i < submission->object_count; i++) {
		free(submission->objects[i].before);
		free(submission->objects[i].expected);
		free(submission->objects[i].found);
	}
	free(submission->objects);
	free(submission->relocations);
	memset(submission, 0, sizeof(*submission));
}

/* Counts for each object how much of it a replay needs. */
static void measure(struct submission *submission)
{
	const uint32_t start = submission->words[5], length = submission->words[6];
	struct object *batch = &submission->objects[submission->batch];

	batch->used = length != 0 ? start + length : (uint32_t)batch->size;
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct relocation *relocation = &submission->relocations[i];
		struct object *object = &submission->objects[relocation->object];

		if (object->used < relocation->offset + 4)
			object->used = (uint32_t)relocation->offset + 4;
	}
}

static uint32_t value(const struct submission *submission, const struct relocation *relocation)
{
	return (uint32_t)(submission->objects[relocation->target].address + relocation->delta);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct object *first = *(const struct object *const *)a, *second = *(const struct object *const *)b;

	return first->address < second->address ? -1 : first->address > second->address;
}

/* No two objects may lie in one place, or their addresses would say nothing. */
static void check_overlaps(struct capture *capture, struct submission *submission)
{
	struct object **sorted = allocate(submission->object_count * sizeof(*sorted));

	for (uint32_t i = 0; i < submission->object_count; i++)
		sorted[i] = &submission->objects[i];
	qsort(sorted, submission->object_count, sizeof(*sorted), compare_addresses);
	for (uint32_t i = 1; i < submission->object_count; i++)
		if (sorted[i - 1]->address + sorted[i - 1]->size > sorted[i]->address && capture->failed++ < WRONG_SHOWN)
			printf("pbd-capture: two objects at 0x%llx\n", (unsigned long long)sorted[i]->address);
	free(sorted);
}

/* Reads the patched objects, calculates what they must become, and poisons each word that will be patched. */
static void placed(struct capture *capture, struct submission *submission)
{
	measure(submission);
	check_overlaps(capture, submission);
	for (uint32_t i = 0; i < submission->object_count; i++) {
		struct object *object = &submission->objects[i];

		if (object->used == 0)
			continue;
		object->before = allocate(object->size);
		object->expected = allocate(object->size);
		object->found = allocate(object->size);
		memory(capture, object->address, object->before, object->size, 0);
		memcpy(object->expected, object->before, object->size);
	}
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct relocation *relocation = &submission->relocations[i];

		put(submission->objects[relocation->object].expected + relocation->offset,
		    value(submission, relocation));
	}
	for (uint32_t i = 0; i < submission->object_count; i++)
		if (submission->objects[i].used != 0)
			memcpy(submission->objects[i].found, submission->objects[i].expected,
			       submission->objects[i].size);
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct relocation *relocation = &submission->relocations[i];
		const struct object *object = &submission->objects[relocation->object];

		put(object->found + relocation->offset, ~get(object->expected + relocation->offset));
	}
	for (uint32_t i = 0; i < submission->object_count; i++)
		if (submission->objects[i].used != 0)
			memory(capture, submission->objects[i].address, submission->objects[i].found,
			       submission->objects[i].size, PATCHBAY_CAPTURE_WRITE);
}

static void compare_words(struct capture *capture, struct submission *submission)
{
	for (uint32_t i = 0; i < submission->relocation_count; i++) {
		const struct relocation *relocation = &submission->relocations[i];
		const struct object *object = &submission->objects[relocation->object];
		const uint32_t found = get(object->found + relocation->offset);
		const uint32_t expected = get(object->expected + relocation->offset);

		if (found == expected)
			continue;
		if (capture->wrong++ < WRONG_SHOWN)
			printf("pbd-capture: submission %llu, relocation %u (object %u, offset 0x%llx): 0x%08x, "
			       "not 0x%08x\n",
			       (unsigned long long)capture->submissions, i, relocation->object,
			       (unsigned long long)relocation->offset, found, expected);
		/* It is counted once. */
		put(object->found + relocation->offset, expected);
	}
}

/* Compares what the firmware has left with what was calculated. */
static void done(struct capture *capture, struct submission *submission, int status)
{
	capture->submissions++;
	capture->relocations += submission->relocation_count;
	if (submission->relocation_count > capture->most_relocations)
		capture->most_relocations = submission->relocation_count;
	if (submission->object_count > capture->most_objects)
		capture->most_objects = submission->object_count;
	if (status != 0 && capture->failed++ < WRONG_SHOWN)
		printf("pbd-capture: submission %llu: %s\n", (unsigned long long)capture->submissions,
		       strerror(-status));
	for (uint32_t i = 0; i < submission->object_count; i++)
		if (submission->objects[i].used != 0)
			memory(capture, submission->objects[i].address, submission->objects[i].found,
			       submission->objects[i].size, 0);
	compare_words(capture, submission);
	for (uint32_t i = 0; i < submission->object_count; i++) {
		const struct object *object = &submission->objects[i];

		if (object->used != 0 && memcmp(object->found, object->expected, object->size) != 0)
			capture->strays++;
	}
}

/* ---- the file ---- */

static void write_or_die(struct capture *capture, const void *data, size_t bytes)
{
	if (fwrite(data, 1, bytes, capture->file) == bytes)
		return;
	fprintf(stderr, "pbd-capture: the file: %s\n", strerror(errno));
	_exit(127);
}

/* The driver's number, the PCI id, 10 x the generation, bits of a relocation. */
static void write_header(struct capture *capture)
{
	const uint32_t words[8] = {0x4d425553, 1, 1, 0x0412, 75, 32, (uint32_t)capture->submissions, 0};

	write_or_die(capture, words, sizeof(words));
}

static void write_submission(struct capture *capture, const struct submission *submission)
{
	uint32_t header[HEADER_WORDS];

	memcpy(header, submission->words, sizeof(header));
	header[0] = submission->bytes;
	header[3] = 0;
	for (uint32_t i = 0; i < submission->object_count; i++) {
		const uint32_t used = submission->objects[i].used;

		header[0] += used != 0 ? 8 + used : 0;
		header[3] += used != 0;
	}
	header[10] = (uint32_t)capture->submissions;
	write_or_die(capture, header, sizeof(header));
	write_or_die(capture, submission->words + HEADER_WORDS, submission->bytes - sizeof(header));
	for (uint32_t i = 0; i < submission->object_count; i++) {
		const uint32_t words[2] = {i, submission->objects[i].used};

		if (words[1] == 0)
			continue;
		write_or_die(capture, words, sizeof(words));
		write_or_die(capture, submission->objects[i].before, words[1]);
	}
}

/* ---- the loop ---- */

/* Waits for the next submission. @return 0, or the errno */
static int next(struct capture *capture, struct drm_patchbay_capture_next *args)
{
	for (;;) {
		args->record = (uintptr_t)capture->record;
		args->bytes = capture->room;
		args->timeout_ns = 50000000;
		if (ioctl(capture->fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, args) == 0)
			return 0;
		if (errno != ENOSPC)
			return errno;
		free(capture->record);
		capture->room = args->bytes;
		capture->record = allocate(capture->room);
	}
}

static void take(struct capture *capture, const struct drm_patchbay_capture_next *args)
{
	if (args->phase == PATCHBAY_CAPTURE_PLACED) {
		if (capture->open)
			release(&capture->submission);
		/* The record is the submission's until it is done. */
		uint32_t *words = allocate(args->bytes);

		memcpy(words, capture->record, args->bytes);
		parse(&capture->submission, words, args->bytes);
		placed(capture, &capture->submission);
		capture->open = true;
	} else if (capture->open) {
		void *words = (void *)capture->submission.words;

		done(capture, &capture->submission, args->status);
		if (capture->file)
			write_submission(capture, &capture->submission);
		release(&capture->submission);
		free(words);
		capture->open = false;
	}
}

/* Serves the driver until the program has ended and nothing is shown any more. @return its status */
static int serve(struct capture *capture, pid_t child)
{
	struct drm_patchbay_capture_next args = {0};
	int status = 0;
	bool ended = false;

	for (;;) {
		const int error = next(capture, &args);

		if (error == 0) {
			take(capture, &args);
			continue;
		}
		if (error != ETIME && error != EINTR) {
			fprintf(stderr, "pbd-capture: %s\n", strerror(error));
			return 127;
		}
		if (ended)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		ended = waitpid(child, &status, WNOHANG) == child;
	}
}

static int open_driver(void)
{
	for (int i = 0; i < 8; i++) {
		char path[32], name[16] = "";
		struct drm_version version = {.name = name, .name_len = sizeof(name) - 1};
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", 128 + i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (ioctl(fd, DRM_IOCTL_VERSION, &version) == 0 && strcmp(name, "i915") == 0)
			return fd;
		close(fd);
	}
	return -1;
}

static pid_t start(struct capture *capture, char **argv)
{
	struct drm_patchbay_capture_next args = {.timeout_ns = 1};
	pid_t child;

	/* The first call begins the capture. */
	if (ioctl(capture->fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, &args) != 0 && errno != ETIME) {
		fprintf(stderr, "pbd-capture: the driver does not capture: %s\n", strerror(errno));
		_exit(127);
	}
	child = fork();
	if (child == 0) {
		execvp(argv[0], argv);
		fprintf(stderr, "pbd-capture: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	struct capture capture = {.fd = open_driver(), .room = 1 << 16};
	const char *path = NULL;
	int first = 1, status;

	if (argc > 2 && strcmp(argv[1], "-o") == 0) {
		path = argv[2];
		first = 3;
	}
	if (first >= argc || argv[first][0] == '-') {
		fprintf(stderr, "pbd-capture [-o FILE] PROGRAM [ARGUMENT...]\n");
		return 127;
	}
	capture.file = path ? fopen(path, "wb") : NULL;
	if (capture.fd < 0 || (path && !capture.file)) {
		fprintf(stderr, "pbd-capture: %s\n", capture.fd < 0 ? "no driver with i915=1" : strerror(errno));
		return 127;
	}
	capture.record = allocate(capture.room);
	if (capture.file)
		write_header(&capture);
	status = serve(&capture, start(&capture, argv + first));
	if (capture.file) {
		rewind(capture.file);
		write_header(&capture);
	}
	if (capture.file && fclose(capture.file) != 0)
		status = 127;
	printf("captured: %llu submissions, %llu relocations, %llu wrong, %llu strays, %llu failed; at most %llu "
	       "relocations, %llu objects\n",
	       (unsigned long long)capture.submissions, (unsigned long long)capture.relocations,
	       (unsigned long long)capture.wrong, (unsigned long long)capture.strays,
	       (unsigned long long)capture.failed, (unsigned long long)capture.most_relocations,
	       (unsigned long long)capture.most_objects);
	if (capture.wrong || capture.strays || capture.failed)
		return 125;
	return status == 0 && capture.submissions == 0 ? 126 : status;
}
