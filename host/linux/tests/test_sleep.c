// SPDX-License-Identifier: GPL-2.0 OR MIT
/* The machine sleeps, as far as its devices are concerned, and wakes up: what clients have is as before. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "hal/engine/packets.h"
#include "patchbay/abi/patch.h"
#include "shown.h"
#include "tests.h"

static void fill(int fd, uint32_t queue, const struct guest_object *object, uint32_t value)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, (uint32_t)object->size, value);
	guest_do(fd, &work);
}

/* Objects that the engine and the processor have written, in VRAM and out of it; a queue and its values. */
void objects_keep_their_contents_over_a_sleep(void)
{
	enum { OBJECTS = 12 };
	struct drm_patchbay_info info;
	struct guest_object objects[OBJECTS];
	int fd = guest_open();
	uint32_t in_vram = 0;
	uint64_t value;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		objects[i] = guest_object(fd, info.vram_bytes / 8 / 4096 * 4096, i % 2 ? PATCHBAY_GEM_PATCHABLE : 0);
		fill(fd, i % 2, &objects[i], 1000 + i);
		objects[i].words[1] = 2000 + i;
	}
	for (uint32_t i = 0; i < OBJECTS; i++)
		in_vram += guest_info(fd, objects[i].handle).place == PATCHBAY_PLACE_VRAM;
	CHECK(in_vram > 0 && in_vram < OBJECTS);
	value = guest_query(fd, 0).completed;
	CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		const struct drm_patchbay_gem_info now = guest_info(fd, objects[i].handle);

		/* Nothing keeps it in VRAM: the memory was left to others. */
		CHECK_EQ(now.place, PATCHBAY_PLACE_SYSTEM);
		CHECK_EQ(now.flags, 0);
		CHECK_EQ(objects[i].words[0], 1000 + i);
		CHECK_EQ(objects[i].words[1], 2000 + i);
		CHECK_EQ(objects[i].words[objects[i].size / 4 - 1], 1000 + i);
	}
	CHECK_EQ(guest_query(fd, 0).flags, 0);
	for (uint32_t i = 0; i < OBJECTS; i++)
		fill(fd, i % 2, &objects[i], 3000 + i);
	CHECK_EQ(guest_query(fd, 0).completed, value + OBJECTS / 2);
	for (uint32_t i = 0; i < OBJECTS; i++)
		CHECK_EQ(objects[i].words[1], 3000 + i);
}

/*
 * Submissions that wait for another driver's fence, behind one that does, and in another queue for both, are carried out
 * after the sleep, with the addresses that their objects have then.
 */
void submissions_that_wait_survive_a_sleep(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();
	struct guest_object target = guest_object(fd, 8192, PATCHBAY_GEM_PATCHABLE), copy = guest_object(fd, 8192, 0);
	struct guest_object shared;
	struct guest_foreign foreign = guest_foreign();

	fill(fd, 0, &copy, 1);
	fill(fd, 1, &target, 2);
	/* Of two files: their queues and contexts must not be mistaken for each other. */
	shared = guest_share(fd, &copy, other);
	fill(other, 0, &shared, 3);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH | PATCHBAY_SUBMIT_FENCE_IN;
	work.args.in_fence_fd = foreign.file;
	work.args.target = target.handle;
	work.args.end = 8192;
	guest_allocation(&work, copy.handle, false);
	work.patches[work.args.patch_count++] = (struct drm_patchbay_patch){
		.format = PB_PATCH_FORMAT_SUM32, .allocation_offset = 12, .patch_offset = 4096};
	CHECK_EQ(guest_submit(fd, &work), 0);
	guest_work_start(&work, 1);
	guest_allocation(&work, target.handle, false);
	guest_allocation(&work, copy.handle, true);
	guest_copy(&work, 0, 4096, 1, 0, 4);
	CHECK_EQ(guest_submit(fd, &work), 0);
	guest_work_start(&work, 1);
	guest_allocation(&work, shared.handle, true);
	guest_copy(&work, 0, 0, 0, 4, 4);
	CHECK_EQ(guest_submit(other, &work), 0);
	CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	shown_has(shown_queue(fd, 0), " waiting=1 running=0 fences=1 ");
	CHECK_EQ(guest_query(fd, 1).completed, 1);
	CHECK_EQ(copy.words[0], 3);
	CHECK_EQ(target.words[1024], 2);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(other, 1, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).errors + guest_query(fd, 1).errors + guest_query(other, 1).errors, 0);
	CHECK_EQ(target.words[1024], (uint32_t)guest_info(fd, copy.handle).address + 12);
	CHECK_EQ(copy.words[0], target.words[1024]);
	CHECK_EQ(copy.words[1], target.words[1024]);
	CHECK_EQ(copy.words[2], 3);
}

/* A failure is not forgotten: the queue is lost until it is cleared, and what waited in it or for it has failed. */
void a_failed_queue_has_failed_after_a_sleep(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object object = guest_object(fd, 4096, 0);
	struct guest_foreign foreign = guest_foreign();

	fill(fd, 1, &object, 1);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_UNSAFE;
	guest_command(&work, 0x31, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), 0);
	CHECK_EQ(guest_wait(fd, 0, 1, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).errors, 1);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN | PATCHBAY_SUBMIT_FENCE_OUT;
	work.args.in_fence_fd = foreign.file;
	guest_allocation(&work, object.handle, true);
	guest_fill(&work, 0, 0, 4, 9);
	CHECK_EQ(guest_submit(fd, &work), 0);
	CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	CHECK_EQ(guest_fence_status(work.args.out_fence_fd), -ECANCELED);
	guest_foreign_signal(&foreign);
	guest_work_start(&work, 0);
	guest_command(&work, PB_PACKET_NOP, 0, NULL);
	CHECK_EQ(guest_submit(fd, &work), EIO);
	CHECK_EQ(guest_clear(fd, 0), 0);
	guest_do(fd, &work);
	CHECK_EQ(guest_query(fd, 0).flags, 0);
	fill(fd, 1, &object, 2);
	CHECK_EQ(object.words[0], 2);
}

/* Objects of which all processes together have more than there is room for. No submission may fail. Counts the rounds. */
static void load(uint32_t seed, volatile uint32_t *rounds, const volatile uint32_t *enough)
{
	enum { OBJECTS = 3 };
	struct guest_object objects[OBJECTS];
	struct drm_patchbay_info info;
	int fd = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	for (uint32_t i = 0; i < OBJECTS; i++)
		objects[i] = guest_object(fd, info.vram_bytes / 8 / 4096 * 4096, i == 0 ? PATCHBAY_GEM_PATCHABLE : 0);
	for (uint32_t i = 0; *enough == 0; *rounds = ++i) {
		const struct guest_object *object = &objects[i % OBJECTS];
		const uint32_t last = (uint32_t)object->size / 4 - 1;

		CHECK_EQ(object->words[last], i < OBJECTS ? 0 : seed + i - OBJECTS);
		fill(fd, i % 2, object, seed + i);
		CHECK_EQ(guest_query(fd, i % 2).errors, 0);
		CHECK_EQ(object->words[last], seed + i);
	}
}

void a_machine_sleeps_under_load(void)
{
	enum { CHILDREN = 4, SLEEPS = 5 };
	volatile uint32_t *rounds[CHILDREN], *enough = guest_shared_word();
	pid_t children[CHILDREN];

	fflush(stdout);
	for (uint32_t i = 0; i < CHILDREN; i++) {
		rounds[i] = guest_shared_word();
		children[i] = fork();
		if (children[i] == 0) {
			load(i << 16, rounds[i], enough);
			_exit(0);
		}
	}
	/* Each one has done something before each sleep. */
	for (uint32_t i = 0; i < SLEEPS; i++) {
		for (uint32_t child = 0; child < CHILDREN; child++) {
			const uint32_t before = *rounds[child];

			GUEST_UNTIL(*rounds[child] != before);
		}
		CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	}
	*enough = 1;
	for (uint32_t i = 0; i < CHILDREN; i++) {
		int status;

		CHECK_EQ(waitpid(children[i], &status, 0), children[i]);
		CHECK_EQ(status, 0);
	}
}

/* The whole way to sleep in memory, with the bus asleep and interrupts off, but for the last step. */
void the_whole_machine_sleeps(void)
{
	struct guest_object object;
	int fd = guest_open();

	object = guest_object(fd, 65536, 0);
	fill(fd, 0, &object, 77);
	CHECK_EQ(guest_suspend("mem", "core"), 0);
	CHECK_EQ(object.words[16383], 77);
	fill(fd, 0, &object, 78);
	CHECK_EQ(guest_query(fd, 0).completed, 2);
	CHECK_EQ(object.words[16383], 78);
}
