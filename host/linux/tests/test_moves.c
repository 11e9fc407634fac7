// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Moves that the engine carries out, and what becomes of objects in host memory when the machine sleeps or the card ends. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "objects.h"
#include "shown.h"
#include "tests.h"

/*
 * KiB in pages of the system that the file's objects have beside those that they lie in. Objects of others may move the
 * caller's at any time, so that only a zero says something: it was so for a moment.
 */
static uint64_t pages_left_over(int fd, const struct guest_object *objects, uint32_t count)
{
	uint64_t lie = 0;

	for (uint32_t i = 0; i < count; i++)
		if (guest_info(fd, objects[i].handle).place == PATCHBAY_PLACE_SYSTEM)
			lie += objects[i].size >> 10;
	return shown_key(fd, "drm-memory-system", " KiB") - lie;
}

/* Objects that go out of VRAM and come back, with the CPU at them in between: the engine alone moves them. */
void the_engine_moves_objects(void)
{
	enum { COUNT = 24, ROUNDS = 3 };
	static struct guest_object objects[COUNT];
	unsigned long long engine[2], cpu[2];
	int fd = guest_open();
	struct drm_patchbay_info before = object_card_info(fd);
	uint64_t bytes = before.vram_bytes * 3 / 2 / COUNT / 4096 * 4096;

	bytes_moved(&engine[0], &cpu[0]);
	for (uint32_t i = 0; i < COUNT; i++) {
		objects[i] = guest_object(fd, bytes, 0);
		object_fill(fd, i % 2, &objects[i], 0x900 + i);
	}
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			uint32_t next = (i * 7 + 5) % COUNT;

			CHECK_EQ(objects[i].words[bytes / 4 - 1], 0x900 + i);
			objects[i].words[1] = 0xa00 + i + round;
			object_copy(fd, i % 2, &objects[i], &objects[next]);
			CHECK_EQ(objects[next].words[1], 0xa00 + i + round);
			object_fill(fd, i % 2, &objects[next], 0x900 + next);
		}
	}
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_EQ(objects[i].words[2], 0x900 + i);
	/* Pages that they were moved in from are freed soon. */
	GUEST_UNTIL(pages_left_over(fd, objects, COUNT) == 0);
	bytes_moved(&engine[1], &cpu[1]);
	CHECK(object_card_info(fd).evictions >= before.evictions + COUNT);
	CHECK(engine[1] - engine[0] >= bytes * COUNT);
	CHECK_EQ(cpu[1], cpu[0]);
}

/* Keeps the node that moves busy, before all moves, which have a lower priority. @return the queue */
static uint32_t keep_busy(int fd, uint32_t milliseconds)
{
	struct drm_patchbay_queue_create create = {.node = 1, .priority = PATCHBAY_PRIORITY_REALTIME};
	static struct guest_work work;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_QUEUE_CREATE, &create), 0);
	for (uint32_t i = 0; i < milliseconds; i += 80) {
		guest_work_start(&work, create.queue);
		guest_busy(&work, 80000);
		CHECK_EQ(guest_submit(fd, &work), 0);
	}
	return create.queue;
}

/* Lets the firmware's processor go on as soon as the caller waits for it in the driver. */
static void continue_later(void)
{
	const pid_t caller = getpid(), child = fork();

	CHECK(child >= 0);
	if (child > 0)
		return;
	guest_until_in(caller, "pbd_");
	guest_ask_host("continue-mcu");
	_exit(0);
}

/*
 * Moves take time: whoever comes to an object meanwhile waits for them, the CPU as well as a submission that waits for
 * no fences of objects. The firmware stands still meanwhile, so that they are certainly still to be done.
 */
void moves_are_waited_for(void)
{
	static struct guest_work work;
	int fd = guest_open();
	uint64_t bytes = object_card_info(fd).patchable_bytes / 3 * 2 / 4096 * 4096;

	for (uint32_t round = 0; round < 4; round++) {
		/* Patchable ones lie in the window, which has no room for two of this size. */
		struct guest_object first = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);
		struct guest_object second = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);

		object_mark(&first, round);
		object_fill(fd, 0, &second, 0x33);
		CHECK_EQ(guest_info(fd, first.handle).place, PATCHBAY_PLACE_SYSTEM);
		CHECK_EQ(guest_info(fd, second.handle).place, PATCHBAY_PLACE_VRAM);
		/* The second one leaves, the first one comes in. */
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_EXPLICIT;
		guest_allocation(&work, first.handle, true);
		guest_fill(&work, 0, 8, 4, 0x44);
		guest_await_host("stop-mcu");
		CHECK_EQ(guest_submit(fd, &work), 0);
		CHECK_EQ(guest_info(fd, first.handle).place, PATCHBAY_PLACE_VRAM);
		CHECK_EQ(guest_info(fd, second.handle).place, PATCHBAY_PLACE_SYSTEM);
		CHECK_EQ(guest_wait(fd, 0, work.args.value, 0), ETIME);
		continue_later();
		if (round % 2 == 0) {
			CHECK_EQ(second.words[bytes / 4 - 1], 0x33);
			object_check_marks(&first, round);
		}
		CHECK_EQ(guest_wait(fd, 0, work.args.value, GUEST_PATIENCE), 0);
		CHECK_EQ(first.words[2], 0x44);
		object_check_marks(&first, round);
		object_check_all(&second, 0x33);
		guest_object_free(fd, &first);
		guest_object_free(fd, &second);
	}
}

/* New objects are zero, wherever they come to lie, also if nothing but an explicit submission writes to them at once. */
void new_objects_in_host_memory_are_zero(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();

	for (uint32_t round = 0; round < 8; round++) {
		struct guest_object object = guest_object(fd, MIB, round % 2 ? PATCHBAY_GEM_HOST : 0);

		if (round >= 2)
			(void)keep_busy(other, 160);
		/* The CPU may be first to be at it; what it writes stays. */
		if (round >= 4) {
			CHECK_EQ(object.words[MIB / 4 - 1], 0);
			object.words[5] = 0x55;
		}
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_EXPLICIT;
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 4096, 4, 9);
		guest_do(fd, &work);
		for (uint32_t i = 0; i < MIB / 4; i++)
			CHECK_EQ(object.words[i], i == 1024 ? 9 : i == 5 && round >= 4 ? 0x55 : 0);
		memset(object.words, 0xa5, object.size);
		guest_object_free(fd, &object);
	}
}

/* The machine sleeps: an object keeps what it has; one that a submission waits with keeps its addresses, too. */
void host_memory_survives_a_sleep(void)
{
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object waits = guest_object(fd, MIB, PATCHBAY_GEM_HOST), idle = guest_object(fd, MIB, PATCHBAY_GEM_HOST);
	struct guest_object vram = guest_object(fd, MIB, 0);
	struct guest_foreign foreign = guest_foreign();
	uint64_t address;

	object_mark(&waits, 21);
	object_mark(&idle, 22);
	object_copy(fd, 0, &idle, &vram);
	object_check_marks(&vram, 22);
	guest_work_start(&work, 1);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN;
	work.args.in_fence_fd = foreign.file;
	guest_allocation(&work, waits.handle, false);
	guest_allocation(&work, vram.handle, true);
	guest_copy(&work, 0, 0, 1, 0, MIB);
	CHECK_EQ(guest_submit(fd, &work), 0);
	address = guest_info(fd, waits.handle).address;
	CHECK_EQ(guest_info(fd, waits.handle).place, PATCHBAY_PLACE_HOST);
	CHECK_EQ(guest_suspend("freeze", "devices"), 0);
	CHECK_EQ(guest_info(fd, waits.handle).place, PATCHBAY_PLACE_HOST);
	CHECK_EQ(guest_info(fd, waits.handle).address, address);
	CHECK_EQ(guest_info(fd, idle.handle).place, PATCHBAY_PLACE_SYSTEM);
	object_check_marks(&idle, 22);
	object_check_marks(&vram, 22);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 1, work.args.value, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 1).errors, 0);
	object_check_marks(&vram, 21);
	object_copy(fd, 0, &idle, &waits);
	object_check_marks(&waits, 22);
}

/* The file that the card maps is another one than this machine's memory: nothing is done there, all goes on without. */
void host_memory_of_others_is_left_alone(void)
{
	int fd = guest_open();
	struct guest_object object = guest_object(fd, MIB, PATCHBAY_GEM_HOST);

	CHECK_EQ(object_card_info(fd).host_bytes, 0);
	object_fill(fd, 0, &object, 4);
	CHECK_EQ(guest_info(fd, object.handle).place, PATCHBAY_PLACE_VRAM);
	object_check_all(&object, 4);
}

/* ---- the end of the firmware ---- */

/*
 * An object is on its way out of VRAM, for another one, when the firmware dies: it is lost, and zero. The firmware stands still
 * from before the move on.
 */
static void die_under_a_move(int fd, const struct guest_object *out, const struct guest_object *in)
{
	static struct guest_work work;
	uint32_t restarts = object_card_info(fd).restarts, flags;

	object_fill(fd, 0, out, 0x22);
	guest_work_start(&work, 0);
	guest_allocation(&work, in->handle, true);
	guest_fill(&work, 0, 0, 4096, 0x33);
	guest_await_host("stop-mcu");
	CHECK_EQ(guest_submit(fd, &work), 0);
	CHECK_EQ(guest_info(fd, out->handle).place, PATCHBAY_PLACE_SYSTEM);
	guest_ask_host("kill-mcu");
	GUEST_UNTIL(object_card_info(fd).restarts != restarts);
	flags = guest_info(fd, out->handle).flags;
	CHECK_EQ(flags, PATCHBAY_GEM_LOST);
	object_check_all(out, 0);
	CHECK(guest_info(fd, in->handle).place != PATCHBAY_PLACE_VRAM);
}

/* An object in host memory keeps what it has when the firmware dies. One that is on its way out of VRAM is lost as a whole. */
void host_memory_survives_the_firmware(void)
{
	int fd = guest_open();
	uint64_t bytes = object_card_info(fd).patchable_bytes / 3 * 2 / 4096 * 4096;
	struct guest_object host = guest_object(fd, MIB, PATCHBAY_GEM_HOST);
	struct guest_object out = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);
	struct guest_object in = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);

	object_fill(fd, 0, &host, 0x11);
	die_under_a_move(fd, &out, &in);
	object_check_all(&host, 0x11);
	CHECK_EQ(guest_info(fd, host.handle).flags, 0);
	CHECK_EQ(guest_clear(fd, 0), 0);
	object_fill(fd, 0, &host, 0x12);
	CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_HOST);
	object_check_all(&host, 0x12);
}
