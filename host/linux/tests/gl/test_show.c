// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the driver shows of files that draw: fdinfo, debugfs. */
#include <drm/virtgpu_drm.h>
#include <errno.h>
#include <string.h>

#include "../shown.h"
#include "gl.h"

/* Least staging memory of a client; resources lie in pages of the guest. */
#define STAGING_KIB_MIN 128u

void fdinfo_says_who_draws(void)
{
	int fd = gl_open(), other = gl_open();
	struct gl_resource resource;
	uint64_t busy, before;
	int64_t start;

	CHECK(shown_key(fd, "drm-client-id", "") != shown_key(other, "drm-client-id", ""));
	CHECK_EQ(shown_key(fd, "drm-memory-vram", " KiB"), 0);
	CHECK_EQ(shown_key(fd, "drm-memory-system", " KiB"), 0);
	CHECK_EQ(gl_clear(other, true, false, false), 0);
	CHECK_EQ(gl_try_resource(fd, FORMAT_BGRA, 512, 256, &resource), 0);
	CHECK_EQ(shown_key(fd, "drm-memory-system", " KiB"), 512);
	CHECK(shown_key(fd, "drm-memory-vram", " KiB") >= STAGING_KIB_MIN);
	CHECK_EQ(shown_key(fd, "drm-engine-render", " ns"), 0);
	before = shown_key(other, "drm-engine-render", " ns");
	CHECK(before > 0);
	start = guest_now_ns();
	for (int i = 0; i < 10; i++)
		CHECK_EQ(gl_clear(fd, true, true, true), 0);
	busy = shown_key(fd, "drm-engine-render", " ns");
	CHECK(busy > 0 && busy <= (uint64_t)(guest_now_ns() - start));
	CHECK_EQ(shown_key(other, "drm-engine-render", " ns"), before);
}

/* The line of a file's client in debugfs; NULL: there is none. */
static const char *client_line(int fd)
{
	static char line[512];
	char wanted[64];
	const char *found;

	snprintf(wanted, sizeof(wanted), " file=%llu node=", (unsigned long long)shown_key(fd, "drm-client-id", ""));
	found = strstr(shown_debugfs("patchbay_queues"), wanted);
	if (found == NULL)
		return NULL;
	while (found[-1] != '\n' && strncmp(found, "gl=", 3) != 0)
		found--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(found, "\n"), found);
	return line;
}

void debugfs_says_what_a_client_does(void)
{
	int fd = gl_open();
	struct gl_resource resource;
	struct gl_stream stream = {.count = 0};

	CHECK(client_line(fd) == NULL);
	resource = gl_make_resource(fd);
	shown_has(client_line(fd), " fences=0 why=EMPTY ");
	gl_add_target(&stream, resource.number);
	gl_add_clear(&stream, false, true, true);
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
	gl_read_back(fd, &resource);
	shown_has(client_line(fd), " error=OK fences=0 why=EMPTY ");
	/* While its renderer rests, its submission is at the engine. */
	stream.count = 0;
	gl_add_clear(&stream, true, true, true);
	guest_await_host("renderers rest");
	CHECK_EQ(gl_execute(fd, &resource, stream.words, stream.count, NULL), 0);
	GUEST_UNTIL(strstr(client_line(fd), " fences=1 why=RUNNING ") != NULL);
	guest_await_host("renderers go-on");
	gl_read_back(fd, &resource);
	shown_has(client_line(fd), " fences=0 why=EMPTY ");
}
