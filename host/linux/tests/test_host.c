// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Host memory: objects in pages of this machine that the engines reach, and moves that the engine carries out. The
 * machine's memory is a file that the card maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "patchbay/abi/patch.h"
#include "tests.h"

#define PAGE_WORDS 1024u
#define MIB	   (1u << 20)

static struct drm_patchbay_info card_info(int fd)
{
	struct drm_patchbay_info info;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	return info;
}

/* Numbers of a line of debugfs. */
static void memory_line(const char *format, unsigned long long *first, unsigned long long *second)
{
	char line[256];
	FILE *file = popen("cat /sys/kernel/debug/dri/*/patchbay_memory", "r");
	int found = 0;

	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file) != NULL)
		found += sscanf(line, format, first, second) == 2;
	pclose(file);
	CHECK(found > 0);
}

/* Bytes that the engine has moved, and the CPU. */
static void moved(unsigned long long *engine, unsigned long long *cpu)
{
	memory_line("moved: engine=%llu cpu=%llu", engine, cpu);
}

/* Pages of the system that objects have. */
static uint64_t pages_held(void)
{
	unsigned long long held, purgeable;

	memory_line("pages: held=%llu purgeable=%llu", &held, &purgeable);
	return held;
}

static uint32_t word_of(uint32_t seed, uint64_t i)
{
	return (uint32_t)i * 2654435761u + seed;
}

/* The first and the last word of each page. */
static void mark(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += i % PAGE_WORDS == 0 ? PAGE_WORDS - 1 : 1)
		object->words[i] = word_of(seed, i);
}

static void check_marks(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += i % PAGE_WORDS == 0 ? PAGE_WORDS - 1 : 1)
		CHECK_EQ(object->words[i], word_of(seed, i));
}

static void check_all(const struct guest_object *object, uint32_t value)
{
	for (uint64_t i = 0; i < object->size / 4; i++)
		CHECK_EQ(object->words[i], value);
}

static void copy(int fd, uint32_t queue, const struct guest_object *from, const struct guest_object *to)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, from->handle, false);
	guest_allocation(&work, to->handle, true);
	guest_copy(&work, 0, 0, 1, 0, (uint32_t)from->size);
	guest_do(fd, &work);
}

static void fill(int fd, uint32_t queue, const struct guest_object *object, uint32_t value)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, (uint32_t)object->size, value);
	guest_do(fd, &work);
}

/* Engines read in place what the CPU writes, page for page, and the CPU what engines write; nothing is moved for it. */
void engines_reach_host_memory(void)
{
	unsigned long long engine[2], cpu[2];
	int fd = guest_open();
	struct drm_patchbay_info info = card_info(fd);
	struct guest_object host = guest_object(fd, 3 * MIB, PATCHBAY_GEM_HOST), vram = guest_object(fd, 3 * MIB, 0);
	struct guest_object other = guest_object(fd, 3 * MIB, PATCHBAY_GEM_HOST);

	CHECK(info.host_bytes >= 16 * MIB);
	mark(&host, 1);
	CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_SYSTEM);
	fill(fd, 0, &vram, 5);
	moved(&engine[0], &cpu[0]);
	for (uint32_t node = 0; node < 2; node++) {
		mark(&host, node);
		copy(fd, node, &host, &vram);
		CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_HOST);
		CHECK_EQ(guest_info(fd, vram.handle).place, PATCHBAY_PLACE_VRAM);
		CHECK(guest_info(fd, host.handle).address != 0);
		check_marks(&vram, node);
		mark(&vram, 7 + node);
		copy(fd, node, &vram, &other);
		check_marks(&other, 7 + node);
		check_marks(&host, node);
		copy(fd, node, &other, &host);
		check_marks(&host, 7 + node);
	}
	CHECK_EQ(card_info(fd).host_used, 6 * MIB);
	moved(&engine[1], &cpu[1]);
	CHECK_EQ(engine[1], engine[0]);
	CHECK_EQ(cpu[1], cpu[0]);
	guest_object_free(fd, &other);
	CHECK_EQ(card_info(fd).host_used, 3 * MIB);
}

/* What has no room in VRAM is used where it lies. */
void host_memory_takes_what_vram_cannot(void)
{
	static struct guest_object parts[6];
	static struct guest_work work;
	int fd = guest_open();
	uint64_t vram = card_info(fd).vram_bytes, bytes = vram / 4 / 4096 * 4096;
	struct guest_object large = guest_object(fd, vram + 4096, 0);
	uint32_t in_vram = 0;

	mark(&large, 3);
	fill(fd, 0, &large, 0x77);
	CHECK_EQ(guest_info(fd, large.handle).place, PATCHBAY_PLACE_HOST);
	check_all(&large, 0x77);
	/* One submission with one and a half times what VRAM has. */
	guest_work_start(&work, 1);
	for (uint32_t i = 0; i < 6; i++) {
		parts[i] = guest_object(fd, bytes, 0);
		guest_allocation(&work, parts[i].handle, true);
		guest_fill(&work, i, 0, (uint32_t)bytes, 100 + i);
	}
	guest_do(fd, &work);
	for (uint32_t i = 0; i < 6; i++) {
		in_vram += guest_info(fd, parts[i].handle).place == PATCHBAY_PLACE_VRAM;
		check_all(&parts[i], 100 + i);
	}
	CHECK(in_vram < 6);
}

/* The aperture is full: who was not used for longest leaves it, and comes back at another address. */
void addresses_of_host_memory_are_used_again(void)
{
	enum { COUNT = 12 };
	static struct guest_object objects[COUNT];
	int fd = guest_open();
	uint64_t bytes = card_info(fd).host_bytes / (COUNT - 2) / 4096 * 4096, addresses[COUNT];
	uint32_t moved_ones = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		objects[i] = guest_object(fd, bytes, PATCHBAY_GEM_HOST);
		fill(fd, i % 2, &objects[i], 0x500 + i);
		addresses[i] = guest_info(fd, objects[i].handle).address;
	}
	CHECK_EQ(guest_info(fd, objects[0].handle).place, PATCHBAY_PLACE_SYSTEM);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct guest_object *next = &objects[(i + 5) % COUNT];
		static struct guest_work work;

		CHECK_EQ(objects[i].words[bytes / 4 - 1], 0x500 + i);
		guest_work_start(&work, i % 2);
		guest_allocation(&work, objects[i].handle, false);
		guest_allocation(&work, next->handle, true);
		guest_copy(&work, 0, 4096, 1, 8192, 4);
		guest_do(fd, &work);
		CHECK_EQ(next->words[2048], 0x500 + i);
		CHECK_EQ(next->words[2049], 0x500 + (i + 5) % COUNT);
		moved_ones += guest_info(fd, objects[i].handle).address != addresses[i];
	}
	CHECK(moved_ones > 0);
}

/* The firmware patches an object there, across its pages, and names the entry that is wrong. */
void host_memory_is_patched(void)
{
	enum { COUNT = 400 };
	static struct guest_work work;
	int fd = guest_open();
	struct guest_object target = guest_object(fd, 16 * 4096, PATCHBAY_GEM_HOST | PATCHBAY_GEM_PATCHABLE);
	struct guest_object other = guest_object(fd, 4096, 0);

	memset(target.words, 0xee, target.size);
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_PATCH;
	work.args.target = target.handle;
	work.args.end = (uint32_t)target.size;
	guest_allocation(&work, target.handle, true);
	guest_allocation(&work, other.handle, false);
	for (uint32_t i = 0; i < COUNT; i++)
		work.patches[work.args.patch_count++] = (struct drm_patchbay_patch){
			.allocation_index = i % 2,
			.format = PB_PATCH_FORMAT_SUM32,
			.allocation_offset = i,
			.patch_offset = i * 160,
		};
	guest_do(fd, &work);
	CHECK_EQ(guest_info(fd, target.handle).place, PATCHBAY_PLACE_HOST);
	for (uint32_t i = 0, word = 0; word < target.size / 4; word++) {
		uint32_t expected = 0xeeeeeeee;

		if (i < COUNT && word == i * 40) {
			expected = (uint32_t)guest_info(fd, i % 2 ? other.handle : target.handle).address + i;
			i++;
		}
		CHECK_EQ(target.words[word], expected);
	}
	work.patches[77].patch_offset = (uint32_t)target.size;
	CHECK_EQ(guest_submit(fd, &work), 0);
	CHECK_EQ(guest_wait(fd, 0, work.args.value, 5 * GUEST_SECOND), 0);
	CHECK_EQ(guest_query(fd, 0).error_index, 77);
}

/* Objects that go out of VRAM and come back, with the CPU at them in between: the engine alone moves them. */
void the_engine_moves_objects(void)
{
	enum { COUNT = 24, ROUNDS = 3 };
	static struct guest_object objects[COUNT];
	unsigned long long engine[2], cpu[2];
	int fd = guest_open();
	struct drm_patchbay_info before = card_info(fd);
	uint64_t bytes = before.vram_bytes * 3 / 2 / COUNT / 4096 * 4096, outside = 0, held = pages_held();
	const int64_t end = guest_now_ns() + 10 * GUEST_SECOND;

	moved(&engine[0], &cpu[0]);
	for (uint32_t i = 0; i < COUNT; i++) {
		objects[i] = guest_object(fd, bytes, 0);
		fill(fd, i % 2, &objects[i], 0x900 + i);
	}
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < COUNT; i++) {
			uint32_t next = (i * 7 + 5) % COUNT;

			CHECK_EQ(objects[i].words[bytes / 4 - 1], 0x900 + i);
			objects[i].words[1] = 0xa00 + i + round;
			copy(fd, i % 2, &objects[i], &objects[next]);
			CHECK_EQ(objects[next].words[1], 0xa00 + i + round);
			fill(fd, i % 2, &objects[next], 0x900 + next);
		}
	}
	for (uint32_t i = 0; i < COUNT; i++)
		CHECK_EQ(objects[i].words[2], 0x900 + i);
	for (uint32_t i = 0; i < COUNT; i++)
		outside += guest_info(fd, objects[i].handle).place != PATCHBAY_PLACE_VRAM;
	/* Pages that they were moved in from are freed soon. */
	while (pages_held() > held + outside * (bytes / 4096) && guest_now_ns() < end)
		guest_sleep_ms(20);
	CHECK(pages_held() <= held + outside * (bytes / 4096));
	moved(&engine[1], &cpu[1]);
	CHECK(card_info(fd).evictions >= before.evictions + COUNT);
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

/*
 * Moves take time: whoever comes to an object meanwhile waits for them, the CPU as well as a submission that waits for
 * no fences of objects.
 */
void moves_are_waited_for(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();
	uint64_t bytes = card_info(fd).patchable_bytes / 3 * 2 / 4096 * 4096;
	uint32_t seen[2] = {0, 0};

	/* As often as it takes to come in time, on a machine that is busy. */
	for (uint32_t round = 0; round < 40 && (seen[0] < 2 || seen[1] < 2); round++) {
		/* Patchable ones lie in the window, which has no room for two of this size. */
		struct guest_object first = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);
		struct guest_object second = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);

		mark(&first, round);
		fill(fd, 0, &second, 0x33);
		CHECK_EQ(guest_info(fd, first.handle).place, PATCHBAY_PLACE_SYSTEM);
		CHECK_EQ(guest_info(fd, second.handle).place, PATCHBAY_PLACE_VRAM);
		(void)keep_busy(other, 320);
		/* The second one leaves, the first one comes in; all of that is still to be done when this returns. */
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_EXPLICIT;
		guest_allocation(&work, first.handle, true);
		guest_fill(&work, 0, 8, 4, 0x44);
		CHECK_EQ(guest_submit(fd, &work), 0);
		CHECK_EQ(guest_info(fd, first.handle).place, PATCHBAY_PLACE_VRAM);
		CHECK_EQ(guest_info(fd, second.handle).place, PATCHBAY_PLACE_SYSTEM);
		seen[round % 2] += guest_wait(fd, 0, work.args.value, 0) == ETIME;
		if (round % 2 == 0) {
			CHECK_EQ(second.words[bytes / 4 - 1], 0x33);
			check_marks(&first, round);
		}
		CHECK_EQ(guest_wait(fd, 0, work.args.value, 5 * GUEST_SECOND), 0);
		CHECK_EQ(first.words[2], 0x44);
		check_marks(&first, round);
		check_all(&second, 0x33);
		guest_object_free(fd, &first);
		guest_object_free(fd, &second);
	}
	CHECK(seen[0] >= 2 && seen[1] >= 2);
}

/* New objects are zero, wherever they come to lie, also if nothing but an explicit submission writes to them at once. */
void new_objects_in_host_memory_are_zero(void)
{
	static struct guest_work work;
	int fd = guest_open(), other = guest_open();

	for (uint32_t round = 0; round < 6; round++) {
		struct guest_object object = guest_object(fd, MIB, round % 2 ? PATCHBAY_GEM_HOST : 0);

		if (round >= 2)
			(void)keep_busy(other, 80);
		guest_work_start(&work, 0);
		work.args.flags = PATCHBAY_SUBMIT_EXPLICIT;
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 4096, 4, 9);
		guest_do(fd, &work);
		for (uint32_t i = 0; i < MIB / 4; i++)
			CHECK_EQ(object.words[i], i == 1024 ? 9 : 0);
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

	mark(&waits, 21);
	mark(&idle, 22);
	copy(fd, 0, &idle, &vram);
	check_marks(&vram, 22);
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
	check_marks(&idle, 22);
	check_marks(&vram, 22);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_wait(fd, 1, work.args.value, 10 * GUEST_SECOND), 0);
	CHECK_EQ(guest_query(fd, 1).errors, 0);
	check_marks(&vram, 21);
	copy(fd, 0, &idle, &waits);
	check_marks(&waits, 22);
}

/* The file that the card maps is another one than this machine's memory: nothing is done there, all goes on without. */
void host_memory_of_others_is_left_alone(void)
{
	int fd = guest_open();
	struct guest_object object = guest_object(fd, MIB, PATCHBAY_GEM_HOST);

	CHECK_EQ(card_info(fd).host_bytes, 0);
	fill(fd, 0, &object, 4);
	CHECK_EQ(guest_info(fd, object.handle).place, PATCHBAY_PLACE_VRAM);
	check_all(&object, 4);
}

/* ---- the end of the firmware ---- */

static void wait_for_return(int fd, uint32_t restarts)
{
	const int64_t end = guest_now_ns() + 30 * GUEST_SECOND;

	while (card_info(fd).restarts == restarts) {
		CHECK(guest_now_ns() < end);
		guest_sleep_ms(20);
	}
}

/* Submits until the firmware does not answer. */
static void submit_until_dead(int fd, const struct guest_object *object)
{
	static struct guest_work work;

	do {
		guest_work_start(&work, 1);
		guest_allocation(&work, object->handle, true);
		guest_fill(&work, 0, 0, 4, 1);
	} while (guest_submit(fd, &work) == 0 && guest_wait(fd, 1, work.args.value, GUEST_SECOND / 5) == 0);
}

/*
 * The firmware is dead, which the driver does not know yet, when an object is to leave VRAM for another one.
 * @return whether that object was lost; then it is zero, else it has all that it had
 */
static bool die_under_a_move(int fd, const struct guest_object *out, const struct guest_object *in)
{
	static struct guest_work work;
	int other = guest_open();
	struct guest_object probe = guest_object(other, 4096, 0);
	uint32_t restarts = card_info(fd).restarts, flags;

	fill(fd, 0, out, 0x22);
	printf("HOST kill-mcu\n");
	fflush(stdout);
	submit_until_dead(other, &probe);
	guest_work_start(&work, 0);
	guest_allocation(&work, in->handle, true);
	guest_fill(&work, 0, 0, 4096, 0x33);
	(void)guest_submit(fd, &work);
	wait_for_return(fd, restarts);
	close(other);
	flags = guest_info(fd, out->handle).flags;
	check_all(out, flags & PATCHBAY_GEM_LOST ? 0 : 0x22);
	CHECK(guest_info(fd, in->handle).place != PATCHBAY_PLACE_VRAM);
	return flags & PATCHBAY_GEM_LOST;
}

/* An object in host memory keeps what it has when the firmware dies. One that is on its way out of VRAM is lost as a whole. */
void host_memory_survives_the_firmware(void)
{
	int fd = guest_open();
	uint64_t bytes = card_info(fd).patchable_bytes / 3 * 2 / 4096 * 4096;
	struct guest_object host = guest_object(fd, MIB, PATCHBAY_GEM_HOST);
	bool lost = false;

	/* As often as it takes to come in time. */
	for (uint32_t round = 0; round < 6 && !lost; round++) {
		struct guest_object out = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);
		struct guest_object in = guest_object(fd, bytes, PATCHBAY_GEM_PATCHABLE);

		fill(fd, 0, &host, 0x11 + round);
		lost = die_under_a_move(fd, &out, &in);
		check_all(&host, 0x11 + round);
		CHECK_EQ(guest_info(fd, host.handle).flags, 0);
		CHECK_EQ(guest_clear(fd, 0), 0);
		fill(fd, 0, &host, 0x12);
		CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_HOST);
		check_all(&host, 0x12);
		guest_object_free(fd, &out);
		guest_object_free(fd, &in);
	}
	CHECK(lost);
}
