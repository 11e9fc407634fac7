// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the driver shows of itself: fdinfo, debugfs, tracepoints. Each value is held against what the test knows. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "guest.h"
#include "hal/engine/packets.h"
#include "patchbay/abi/format.h"
#include "shown.h"
#include "tests.h"

static void write_whole(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* ---- fdinfo ---- */

static void work_on(int fd, uint32_t queue, const struct guest_object *object, uint32_t rounds)
{
	static struct guest_work work;

	for (uint32_t i = 0; i < rounds; i++) {
		guest_work_start(&work, queue);
		guest_allocation(&work, object->handle, true);
		guest_fill(&work, 0, 0, (uint32_t)object->size, i);
		guest_do(fd, &work);
	}
}

/* The name of the PCI device as sysfs has it. */
static void pci_name(int fd, char *name, size_t bytes)
{
	char path[96], link[256];
	struct stat status;
	ssize_t length;

	CHECK_EQ(fstat(fd, &status), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(status.st_rdev), minor(status.st_rdev));
	length = readlink(path, link, sizeof(link) - 1);
	CHECK(length > 0);
	link[length] = 0;
	snprintf(name, bytes, "%s", strrchr(link, '/') + 1);
}

void fdinfo_says_who_works(void)
{
	int fd = guest_open(), other = guest_open(), twin = dup(fd);
	struct guest_object object = guest_object(fd, 1 << 18, 0);
	char name[64], wanted[96], path[64];
	uint64_t before, busy;
	int64_t start;

	pci_name(fd, name, sizeof(name));
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(wanted, sizeof(wanted), "drm-pdev:\t%s\n", name);
	CHECK(strstr(shown_file(path), wanted) != NULL);
	CHECK(strstr(shown_file(path), "drm-driver:\tpatchbay\n") != NULL);
	CHECK(shown_key(fd, "drm-client-id", "") != shown_key(other, "drm-client-id", ""));
	CHECK_EQ(shown_key(fd, "drm-client-id", ""), shown_key(twin, "drm-client-id", ""));
	CHECK_EQ(shown_key(fd, "drm-engine-render", " ns"), 0);
	CHECK_EQ(shown_key(fd, "drm-engine-copy", " ns"), 0);

	start = guest_now_ns();
	work_on(fd, 0, &object, 10);
	busy = shown_key(fd, "drm-engine-render", " ns");
	CHECK(busy > 0);
	CHECK(busy <= (uint64_t)(guest_now_ns() - start));
	CHECK_EQ(shown_key(fd, "drm-engine-copy", " ns"), 0);
	CHECK_EQ(shown_key(twin, "drm-engine-render", " ns"), busy);
	CHECK_EQ(shown_key(other, "drm-engine-render", " ns"), 0);
	CHECK_EQ(shown_key(other, "drm-engine-copy", " ns"), 0);

	/* It stands while nothing is done, and rises with what is done. */
	guest_sleep_ms(1);
	CHECK_EQ(shown_key(fd, "drm-engine-render", " ns"), busy);
	before = busy;
	start = guest_now_ns();
	work_on(fd, 0, &object, 10);
	work_on(fd, 1, &object, 1);
	busy = shown_key(fd, "drm-engine-render", " ns");
	CHECK(busy > before);
	CHECK(busy - before <= (uint64_t)(guest_now_ns() - start));
	CHECK(shown_key(fd, "drm-engine-copy", " ns") > 0);
	CHECK_EQ(shown_key(other, "drm-engine-render", " ns"), 0);
}

/* Against GEM_INFO, object for object. */
void fdinfo_says_where_objects_lie(void)
{
	enum { OBJECTS = 12 };
	static struct guest_object objects[OBJECTS];
	struct drm_patchbay_info info;
	struct drm_patchbay_gem_create empty = {.size = 1 << 20};
	uint64_t vram = 0, pages = 0;
	int fd = guest_open(), other = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	/* Together a half more than there is room for. */
	for (uint32_t i = 0; i < OBJECTS; i++) {
		objects[i] = guest_object(fd, info.vram_bytes / 8 / 4096 * 4096, 0);
		work_on(fd, 0, &objects[i], 1);
	}
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_CREATE, &empty), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct drm_patchbay_gem_info object = guest_info(fd, objects[i].handle);

		if (object.place == PATCHBAY_PLACE_VRAM)
			vram += object.size;
		else
			pages += object.size;
	}
	CHECK(vram != 0 && pages != 0);
	CHECK_EQ(shown_key(fd, "drm-memory-vram", " KiB"), vram >> 10);
	CHECK_EQ(shown_key(fd, "drm-memory-system", " KiB"), pages >> 10);
	CHECK_EQ(shown_key(other, "drm-memory-vram", " KiB"), 0);
	CHECK_EQ(shown_key(other, "drm-memory-system", " KiB"), 0);
}

/* ---- debugfs ---- */

void debugfs_says_what_a_queue_waits_for(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0), target = guest_object(fd, 4096, PATCHBAY_GEM_PATCHABLE);
	struct guest_foreign foreign = guest_foreign();
	struct drm_patchbay_sync sync = {.handle = guest_syncobj(fd), .point = 1};

	CHECK(shown_queue(fd, 0) == NULL);
	work_on(fd, 0, &object, 3);
	shown_has(shown_queue(fd, 0), " value=3 completed=3 waiting=0 running=0 fences=0 why=");
	shown_has(shown_queue(fd, 0), "put=3 admitted=3 retired=3");

	/* Two submissions; the kernel waits for a fence of another driver for the first one. */
	for (uint32_t i = 0; i < 2; i++) {
		guest_work_start(&work, 0);
		if (i == 0) {
			work.args.flags |= PATCHBAY_SUBMIT_FENCE_IN;
			work.args.in_fence_fd = foreign.file;
			work.args.out_syncs = (uintptr_t)&sync;
			work.args.out_count = 1;
		}
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 0, 4, i);
		CHECK_EQ(guest_submit(fd, &work), 0);
	}
	shown_has(shown_queue(fd, 0), " value=5 completed=3 waiting=2 running=0 fences=1");
	shown_has(shown_queue(fd, 0), "put=3 admitted=3 retired=3");
	/* The other queue waits for that submission. It enters the ring behind it, so that nothing in a ring waits for the kernel. */
	guest_work_start(&work, 1);
	work.args.in_syncs = (uintptr_t)&sync;
	work.args.in_count = 1;
	guest_command(&work, PB_PACKET_NOP, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	shown_has(shown_queue(fd, 1), " value=1 completed=0 waiting=1 running=0 fences=0 ");
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 1, 1, GUEST_PATIENCE), 0);
	shown_has(shown_queue(fd, 0), " value=5 ");
	shown_has(shown_queue(fd, 1), " value=1 completed=1 waiting=0 running=0 ");

	/* What failed, why, and at which entry of its list. */
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = target.handle;
	work.args.end = 4096;
	guest_allocation(&work, object.handle, false);
	work.args.patch_count = 1;
	work.patches[0] = (struct drm_patchbay_patch){.format = PB_PATCH_FORMAT_ADDRESS64, .patch_offset = 8192};
	guest_do(fd, &work);
	shown_has(shown_queue(fd, 0), " lost value=6 completed=6 ");
	shown_has(shown_queue(fd, 0), " failed=6 error=PATCH_RANGE entry=0 ");
}

void debugfs_counts_memory_and_queues(void)
{
	struct drm_patchbay_info info;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 1 << 20, 0);
	uint32_t queues, contexts, before;
	unsigned long long bytes, used;
	const char *text;

	CHECK_EQ(sscanf(strstr(shown_debugfs("patchbay_card"), "\nchannel: "), "\nchannel: queues=%u contexts=", &before), 1);
	work_on(fd, 0, &object, 1);
	work_on(fd, 1, &object, 1);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	text = shown_debugfs("patchbay_memory");
	CHECK_EQ(sscanf(text, "window: bytes=%llu used=%llu", &bytes, &used), 2);
	CHECK_EQ(bytes, info.patchable_bytes);
	CHECK(used >= (1 << 20) && used <= info.vram_used);
	text = shown_debugfs("patchbay_card");
	shown_has(text, "card: state=up ");
	CHECK_EQ(sscanf(strstr(text, "\nchannel: "), "\nchannel: queues=%u contexts=%u", &queues, &contexts), 2);
	/* One queue and one context more for each node that the file has used. */
	CHECK_EQ(queues, before + 2);
	CHECK(contexts >= queues);
	for (uint32_t node = 0; node < info.nodes; node++) {
		char wanted[32];

		snprintf(wanted, sizeof(wanted), "\nnode%u: state=", node);
		shown_has(text, wanted);
	}
}

/* ---- tracepoints ---- */

#define TRACING "/sys/kernel/tracing/"

struct record {
	double time;
	unsigned int card_us;
	int detail;
};

/* The record of a value of the file; it must be there once. */
static struct record record_of(const char *event, uint64_t file, uint64_t value)
{
	char wanted[96], text[64];
	const char *trace = shown_file(TRACING "trace"), *found, *at;
	struct record record;

	snprintf(wanted, sizeof(wanted), ": patchbay_%s: file=%llu node=0 queue=0x", event, (unsigned long long)file);
	snprintf(text, sizeof(text), " value=%llu ", (unsigned long long)value);
	for (found = strstr(trace, wanted); found != NULL; found = strstr(found + 1, wanted)) {
		const char *number = strstr(found, " value=");

		if (strncmp(number, text, strlen(text)) == 0)
			break;
	}
	if (found == NULL)
		printf("  no %s of value %llu\n", event, (unsigned long long)value);
	CHECK(found != NULL);
	for (at = found; at[-1] != ' '; at--)
		;
	record.time = strtod(at, NULL);
	CHECK_EQ(sscanf(strstr(found, " card_us="), " card_us=%u detail=%d", &record.card_us, &record.detail), 2);
	return record;
}

static void follow(uint64_t file, uint64_t value, int result)
{
	const struct record submit = record_of("submit", file, value), ring = record_of("ring", file, value),
			    signal = record_of("signal", file, value);

	CHECK(submit.time > 0);
	CHECK(submit.time <= ring.time && ring.time <= signal.time);
	/* On the card's clock as well, which may wrap around. */
	CHECK((int32_t)(ring.card_us - submit.card_us) >= 0);
	CHECK((int32_t)(signal.card_us - ring.card_us) >= 0);
	CHECK_EQ(submit.detail, 0);
	CHECK_EQ(ring.detail, (value - 1) % 32);
	CHECK_EQ(signal.detail, result);
}

void tracepoints_follow_a_submission(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, PATCHBAY_GEM_PATCHABLE);
	uint64_t file = shown_key(fd, "drm-client-id", "");

	write_whole(TRACING "trace", "");
	write_whole(TRACING "events/patchbay/enable", "1");
	work_on(fd, 0, &object, 4);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = object.handle;
	work.args.end = 4096;
	guest_allocation(&work, object.handle, false);
	work.args.patch_count = 1;
	work.patches[0] = (struct drm_patchbay_patch){.format = PB_PATCH_FORMAT_ADDRESS64, .patch_offset = 8192};
	guest_do(fd, &work);
	write_whole(TRACING "events/patchbay/enable", "0");
	work_on(fd, 1, &object, 1);
	for (uint64_t value = 1; value <= 4; value++)
		follow(file, value, 0);
	follow(file, 5, -EIO);
	/* Nothing more was recorded than five submissions of three records. */
	{
		const char *trace = shown_file(TRACING "trace");
		uint32_t count = 0;

		for (const char *at = trace; (at = strstr(at, ": patchbay_")) != NULL; at++)
			count++;
		CHECK_EQ(count, 15);
	}
}
