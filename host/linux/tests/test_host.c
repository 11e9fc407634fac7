// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Host memory: objects in pages of this machine that the engines reach. The machine's memory is a file that the card maps. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "objects.h"
#include "patchbay/abi/patch.h"
#include "shown.h"
#include "tests.h"

/* Engines read in place what the CPU writes, page for page, and the CPU what engines write; nothing is moved for it. */
void engines_reach_host_memory(void)
{
	unsigned long long engine[2], cpu[2];
	int fd = guest_open();
	struct drm_patchbay_info info = object_card_info(fd);
	struct guest_object host = guest_object(fd, 3 * MIB, PATCHBAY_GEM_HOST), vram = guest_object(fd, 3 * MIB, 0);
	struct guest_object other = guest_object(fd, 3 * MIB, PATCHBAY_GEM_HOST);

	CHECK(info.host_bytes >= 16 * MIB);
	object_mark(&host, 1);
	CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_SYSTEM);
	object_fill(fd, 0, &vram, 5);
	bytes_moved(&engine[0], &cpu[0]);
	for (uint32_t node = 0; node < 2; node++) {
		object_mark(&host, node);
		object_copy(fd, node, &host, &vram);
		CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_HOST);
		CHECK_EQ(guest_info(fd, vram.handle).place, PATCHBAY_PLACE_VRAM);
		CHECK(guest_info(fd, host.handle).address != 0);
		object_check_marks(&vram, node);
		object_mark(&vram, 7 + node);
		object_copy(fd, node, &vram, &other);
		object_check_marks(&other, 7 + node);
		object_check_marks(&host, node);
		object_copy(fd, node, &other, &host);
		object_check_marks(&host, 7 + node);
	}
	CHECK_EQ(object_card_info(fd).host_used, 6 * MIB);
	CHECK_EQ(shown_key(fd, "drm-memory-host", " KiB"), 6 * 1024);
	bytes_moved(&engine[1], &cpu[1]);
	CHECK_EQ(engine[1], engine[0]);
	CHECK_EQ(cpu[1], cpu[0]);
	guest_object_free(fd, &other);
	CHECK_EQ(object_card_info(fd).host_used, 3 * MIB);
}

/* What has no room in VRAM is used where it lies. */
void host_memory_takes_what_vram_cannot(void)
{
	static struct guest_object parts[6];
	static struct guest_work work;
	int fd = guest_open();
	uint64_t vram = object_card_info(fd).vram_bytes, bytes = vram / 4 / 4096 * 4096;
	struct guest_object large = guest_object(fd, vram + 4096, 0);
	uint32_t in_vram = 0;

	object_mark(&large, 3);
	object_fill(fd, 0, &large, 0x77);
	CHECK_EQ(guest_info(fd, large.handle).place, PATCHBAY_PLACE_HOST);
	object_check_all(&large, 0x77);
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
		object_check_all(&parts[i], 100 + i);
	}
	CHECK(in_vram < 6);
}

/* The aperture is full: who was not used for longest leaves it, and comes back at another address. */
void addresses_of_host_memory_are_used_again(void)
{
	enum { COUNT = 12 };
	static struct guest_object objects[COUNT];
	int fd = guest_open();
	uint64_t bytes = object_card_info(fd).host_bytes / (COUNT - 2) / 4096 * 4096, addresses[COUNT];
	uint32_t moved_ones = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		objects[i] = guest_object(fd, bytes, PATCHBAY_GEM_HOST);
		object_fill(fd, i % 2, &objects[i], 0x500 + i);
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

/* Memory is short: an idle object that is not needed leaves host memory, another one stays. */
void unneeded_contents_leave_host_memory(void)
{
	int fd = guest_open(), drop = open("/proc/sys/vm/drop_caches", O_WRONLY);
	struct guest_object host = guest_object(fd, MIB, PATCHBAY_GEM_HOST), kept = guest_object(fd, MIB, PATCHBAY_GEM_HOST);
	struct drm_patchbay_gem_madvise advise = {.handle = host.handle, .advice = PATCHBAY_GEM_DONTNEED};

	object_fill(fd, 0, &host, 0x66);
	object_fill(fd, 1, &kept, 0x67);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &advise), 0);
	CHECK_EQ(advise.retained, 1);
	CHECK_EQ(object_card_info(fd).host_used, 2 * MIB);
	CHECK_EQ(write(drop, "2", 1), 1);
	CHECK_EQ(guest_info(fd, host.handle).place, PATCHBAY_PLACE_NONE);
	CHECK_EQ(guest_info(fd, kept.handle).place, PATCHBAY_PLACE_HOST);
	CHECK_EQ(object_card_info(fd).host_used, MIB);
	advise.advice = PATCHBAY_GEM_WILLNEED;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_GEM_MADVISE, &advise), 0);
	CHECK_EQ(advise.retained, 0);
	object_check_all(&host, 0);
	object_fill(fd, 0, &host, 0x68);
	object_check_all(&host, 0x68);
	object_check_all(&kept, 0x67);
	close(drop);
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
	CHECK_EQ(guest_wait(fd, 0, work.args.value, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_query(fd, 0).error_index, 77);
}
