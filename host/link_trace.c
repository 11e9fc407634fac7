/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_trace.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "patchbay/host_trace.h"

/** Events that are kept: the last ones. 3 MiB. */
#define ENTRIES 65536u

/** A traced link's ring. */
struct ring {
	struct pb_host_trace trace; /* first, so that one pointer is both */
	struct pb_lock lock;
	pthread_mutex_t mutex;
	bool shown; /**< pb_link_trace_write() has written the events */
	struct pb_host_event events[ENTRIES];
};

/** Whether a section of this process could not be written. */
static bool failed;

static struct ring *ring_of(struct pb_lock *lock)
{
	return (struct ring *)(void *)((char *)lock - offsetof(struct ring, lock));
}

static void acquire(struct pb_lock *lock)
{
	(void)pthread_mutex_lock(&ring_of(lock)->mutex);
}

static void release(struct pb_lock *lock)
{
	(void)pthread_mutex_unlock(&ring_of(lock)->mutex);
}

void pb_link_trace_begin(struct pb_link *link)
{
	const char *path = secure_getenv(PB_HOST_TRACE_VARIABLE);
	struct ring *ring;

	if (path == NULL || path[0] == '\0')
		return;
	ring = calloc(1, sizeof(*ring));
	if (ring == NULL) {
		fprintf(stderr, "%s: %s: this program is not traced\n", PB_HOST_TRACE_VARIABLE,
			strerror(errno));
		failed = true;
		return;
	}
	ring->lock = (struct pb_lock){acquire, release};
	(void)pthread_mutex_init(&ring->mutex, NULL);
	(void)pb_host_trace_begin(&ring->trace, ring->events, ENTRIES, &ring->lock);
	link->trace = &ring->trace;
}

static void put_wide(uint32_t *words, uint64_t value)
{
	words[0] = htole32((uint32_t)value);
	words[1] = htole32((uint32_t)(value >> 32));
}

static void put_event(uint32_t *words, const struct pb_host_event *event)
{
	const uint32_t rest[] = {event->kind,  event->queue,    event->node,
				 event->index, event->fence_id, event->reserved};

	put_wide(&words[0], event->time_us);
	put_wide(&words[2], event->value);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		words[4 + i] = htole32(rest[i]);
}

/** The ring of a link that pb_link_trace_begin() traces; NULL: it is not traced, or by its user's own ring. */
static struct ring *own_ring(const struct pb_link *link)
{
	const struct pb_host_trace *trace = link->trace;

	return trace != NULL && trace->lock != NULL && trace->lock->acquire == acquire ? ring_of(trace->lock)
										       : NULL;
}

/** Begins each section; not terminated. */
static const char magic[8] = PB_HOST_TRACE_MAGIC;

/** Makes the section of a link. @return its words, to be freed; NULL: out of memory */
static uint32_t *build(struct ring *ring, uint32_t channel, size_t *bytes)
{
	const struct pb_host_trace *trace = &ring->trace;
	uint32_t *words = calloc(PB_HOST_TRACE_HEAD_WORDS + (size_t)ENTRIES * PB_HOST_TRACE_EVENT_WORDS,
				 sizeof(*words));
	uint32_t *at;

	if (words == NULL)
		return NULL;
	at = &words[PB_HOST_TRACE_HEAD_WORDS];
	acquire(&ring->lock);
	for (uint32_t i = trace->get; i != trace->put; i++, at += PB_HOST_TRACE_EVENT_WORDS)
		put_event(at, &trace->events[i & (ENTRIES - 1u)]);
	words[4] = htole32(trace->put - trace->get);
	words[5] = htole32(trace->lost < UINT32_MAX ? (uint32_t)trace->lost : UINT32_MAX);
	release(&ring->lock);
	memcpy(words, magic, sizeof(magic));
	words[2] = htole32((uint32_t)getpid());
	words[3] = htole32(channel);
	(void)strncpy((char *)&words[PB_HOST_TRACE_NAME_WORD], program_invocation_short_name, 15);
	*bytes = (size_t)((char *)at - (char *)words);
	return words;
}

/** Appends bytes to the file, behind those of other processes, or none of them. @return 0, or the reason */
static int append(const char *path, const uint32_t *words, size_t bytes)
{
	const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	const char *at = (const char *)words;
	int reason = 0;
	off_t start;

	if (file < 0)
		return errno;
	(void)flock(file, LOCK_EX);
	start = lseek(file, 0, SEEK_END);
	while (bytes != 0 && reason == 0) {
		const ssize_t done = write(file, at, bytes);

		if (done > 0) {
			at += done;
			bytes -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			reason = done == 0 ? EIO : errno;
		}
	}
	/* Half a section would make those before it unreadable. A device has no size. */
	if (reason != 0 && start >= 0 && ftruncate(file, start) != 0 && errno != EINVAL)
		reason = errno;
	if (close(file) != 0 && reason == 0)
		reason = errno;
	return reason;
}

bool pb_link_trace_has_failed(void)
{
	return failed;
}

/** Removes the ring of a link. @param reason why its events are lost, and path where they should be; NULL: they are not */
static void end(struct pb_link *link, struct ring *ring, const char *path, const char *reason)
{
	if (reason != NULL) {
		fprintf(stderr, "%s: %s: %s: the events of this program are lost\n", PB_HOST_TRACE_VARIABLE,
			path, reason);
		failed = true;
	}
	link->trace = NULL;
	(void)pthread_mutex_destroy(&ring->mutex);
	free(ring);
}

void pb_link_trace_end(struct pb_link *link)
{
	const char *path = secure_getenv(PB_HOST_TRACE_VARIABLE);
	struct ring *ring = own_ring(link);
	int reason = ENOMEM;
	uint32_t *words;
	size_t bytes;

	if (ring == NULL)
		return;
	words = build(ring, link->channel, &bytes);
	if (words != NULL)
		reason = path != NULL ? append(path, words, bytes) : 0;
	free(words);
	end(link, ring, path != NULL ? path : "no path", reason != 0 ? strerror(reason) : NULL);
}

bool pb_link_trace_write(const struct pb_link *link, FILE *file)
{
	struct ring *ring = own_ring(link);
	uint32_t *words;
	size_t bytes;
	bool good;

	if (ring == NULL)
		return true;
	words = build(ring, link->channel, &bytes);
	good = words != NULL && fwrite(words, bytes, 1, file) == 1;
	ring->shown = good;
	free(words);
	return good;
}

void pb_link_trace_end_alone(struct pb_link *link)
{
	const char *path = secure_getenv(PB_HOST_TRACE_VARIABLE);
	struct ring *ring = own_ring(link);

	if (ring == NULL)
		return;
	end(link, ring, path != NULL ? path : "no path",
	    ring->shown || ring->trace.put == 0
		    ? NULL
		    : "a simulated card has its own clock, and no recording to import them into");
}
