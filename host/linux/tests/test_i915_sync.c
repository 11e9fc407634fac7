// SPDX-License-Identifier: GPL-2.0 OR MIT
/* i915's uAPI: fences, contexts, the capture of relocations. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../patchbay_i915.h"
#include "guest.h"
#include "i915.h"
#include "shown.h"
#include "tests.h"

void i915_fences_go_in_and_out(void)
{
	int fd = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct batch first = good_batch(buffers, 2), second = good_batch(buffers, 1);
	struct drm_i915_gem_exec_fence fences[2] = {{.handle = guest_syncobj(fd), .flags = I915_EXEC_FENCE_SIGNAL}};

	first.args.flags |= I915_EXEC_FENCE_OUT | I915_EXEC_FENCE_ARRAY;
	first.args.num_cliprects = 1;
	first.args.cliprects_ptr = (uintptr_t)fences;
	CHECK_EQ(execute(fd, &first), 0);
	CHECK_EQ(guest_syncobj_wait(fd, fences[0].handle, 0, GUEST_PATIENCE), 0);
	CHECK_EQ(guest_fence_wait((int)(first.args.rsvd2 >> 32)), 0);
	CHECK_EQ(guest_fence_status((int)(first.args.rsvd2 >> 32)), 1);
	fences[1] = (struct drm_i915_gem_exec_fence){.handle = fences[0].handle, .flags = I915_EXEC_FENCE_WAIT};
	second.args.flags |= I915_EXEC_FENCE_IN | I915_EXEC_FENCE_ARRAY;
	second.args.num_cliprects = 1;
	second.args.cliprects_ptr = (uintptr_t)&fences[1];
	second.args.rsvd2 = first.args.rsvd2 >> 32;
	CHECK_EQ(execute(fd, &second), 0);
	wait_idle(fd, buffers[0].handle);
	fences[1].flags = 1u << 7;
	CHECK_EQ(execute(fd, &second), EINVAL);
	fences[1] = (struct drm_i915_gem_exec_fence){.handle = 999, .flags = I915_EXEC_FENCE_SIGNAL};
	CHECK_EQ(execute(fd, &second), ENOENT);
	close(fd);
}

/* A fence of another driver holds the batch back, and one of another file and queue that uses an object of its. */
void i915_foreign_fences_are_waited_for(void)
{
	int fd = open_i915(), other = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct buffer own[2] = {make_buffer(other, 4096)};
	struct batch batch = good_batch(buffers, 2), behind;
	struct drm_prime_handle prime = {.handle = buffers[0].handle, .flags = DRM_CLOEXEC | DRM_RDWR};
	struct guest_foreign foreign = guest_foreign();
	struct drm_i915_gem_busy busy = {.handle = buffers[0].handle};

	fill(&buffers[0]);
	batch.args.flags |= I915_EXEC_FENCE_IN;
	batch.args.rsvd2 = (uint32_t)foreign.file;
	CHECK_EQ(execute(fd, &batch), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime), 0);
	own[1].handle = prime.handle;
	fill(&own[0]);
	behind = good_batch(own, 2);
	CHECK_EQ(execute(other, &behind), 0);
	shown_has(shown_queue(fd, 0), " waiting=1 running=0 fences=1 ");
	shown_has(shown_queue(other, 0), " waiting=1 running=0 ");
	CHECK_EQ(own[0].map[3], POISON);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
	CHECK(busy.busy != 0);
	CHECK_EQ(buffers[0].map[3], POISON);
	guest_foreign_signal(&foreign);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(buffers[0].map[3], (uint32_t)batch.objects[0].offset + 8);
	wait_idle(other, own[0].handle);
	CHECK_EQ(own[0].map[5], (uint32_t)behind.objects[1].offset + 12);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
	CHECK_EQ(busy.busy, 0);
	close(fd);
}

void i915_contexts_are_queues(void)
{
	struct drm_i915_gem_context_create create = {0};
	struct drm_i915_gem_context_destroy destroy = {0};
	struct drm_i915_reset_stats stats = {0};
	int fd = open_i915();
	struct buffer buffers[2] = {make_buffer(fd, 4096), make_buffer(fd, 4096)};
	struct batch batch = good_batch(buffers, 2);

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create), 0);
	CHECK(create.ctx_id != 0);
	batch.args.rsvd1 = stats.ctx_id = destroy.ctx_id = create.ctx_id;
	CHECK_EQ(execute(fd, &batch), 0);
	wait_idle(fd, buffers[0].handle);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GET_RESET_STATS, &stats), 0);
	CHECK_EQ(stats.batch_active + stats.batch_pending, 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), ENOENT);
	CHECK_EQ(execute(fd, &batch), ENOENT);
	destroy.ctx_id = 0;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy), ENOENT);
	close(fd);
}

/* ---- capture ---- */

/* The program's own calculation, of another test's batches; its file begins as tests/data/README.txt says. */
void i915_captures_find_all_relocations(void)
{
	uint32_t header[8] = {0};
	int fd;

	CHECK_EQ(system("pbd-capture -o /tmp/dump pbd-test i915_relocations_are_written >/tmp/said"), 0);
	CHECK_EQ(system("grep -q '^captured: 6 submissions, 144 relocations, 0 wrong, 0 strays' /tmp/said"), 0);
	fd = open("/tmp/dump", O_RDONLY);
	CHECK_EQ(read(fd, header, sizeof(header)), sizeof(header));
	CHECK_EQ(header[0], 0x4d425553);
	CHECK_EQ(header[6], 6);
	close(fd);
}

/* Whether the dump has the word. */
static bool dump_has(uint32_t word)
{
	FILE *file = fopen("/tmp/dump", "rb");
	uint32_t got;
	bool found = false;

	CHECK(file != NULL);
	while (!found && fread(&got, sizeof(got), 1, file) == 1)
		found = got == word;
	fclose(file);
	return found;
}

/* A capture holds objects only while they are shown, and sees copies of memory. */
void i915_captures_hold_nothing(void)
{
	CHECK_EQ(system("pbd-capture -o /tmp/dump pbd-test i915_memory_of_the_caller_is_copied >/tmp/said"), 0);
	CHECK(dump_has(SIGN) && dump_has(SIGN + 19) && !dump_has(SIGN + 20));
	CHECK_EQ(system("pbd-capture pbd-test i915_relocations_follow_objects_that_move >/tmp/said"), 0);
}

static int next(int fd, void *record, uint32_t bytes, struct drm_patchbay_capture_next *got)
{
	*got = (struct drm_patchbay_capture_next){
		.record = (uintptr_t)record, .bytes = bytes, .timeout_ns = GUEST_PATIENCE};
	return guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, got);
}

/* A second reader is refused, memory is seen while a batch is stopped, and a reader that ends stops no one. */
void i915_captures_end_with_their_file(void)
{
	static uint8_t record[65536];
	int fd = open_i915(), other = open_i915(), batches = open_i915();
	struct buffer buffers[2] = {make_buffer(batches, 4096), make_buffer(batches, 4096)};
	struct drm_patchbay_capture_next got = {.timeout_ns = 1};
	struct drm_patchbay_capture_memory memory = {.address = 0x10000000, .data = (uintptr_t)record, .bytes = 4096};
	const int64_t start = guest_now_ns();
	int status;
	pid_t child;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, &got), ETIME);
	CHECK_EQ(next(other, record, sizeof(record), &got), EBUSY);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EBUSY);
	child = fork();
	if (child == 0) {
		close(fd);
		check_good(batches, buffers);
		_exit(0);
	}
	CHECK_EQ(next(fd, record, 16, &got), ENOSPC);
	CHECK(got.bytes > 16 && got.bytes < sizeof(record));
	CHECK_EQ(next(fd, record, sizeof(record), &got), 0);
	CHECK_EQ(got.phase, PATCHBAY_CAPTURE_PLACED);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EBUSY);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), 0);
	memory.address = 0x0ffff000;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	memory.address = ~0ull - 4095;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	memory.bytes = (1 << 20) + 1;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_MEMORY, &memory), EINVAL);
	close(fd);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	/* It did not wait for a reader in vain. */
	CHECK(guest_now_ns() - start < GUEST_PATIENCE / 2);
	close(other);
	close(batches);
}

/* The driver lets the device go while a batch is stopped, and finds it again. */
void i915_captures_end_with_the_device(void)
{
	static uint8_t record[65536];
	int fd = open_i915(), batches = open_i915();
	struct buffer buffers[2] = {make_buffer(batches, 4096), make_buffer(batches, 4096)};
	struct drm_patchbay_capture_next got = {.timeout_ns = 1};
	const int64_t start = guest_now_ns();
	struct batch batch = good_batch(buffers, 2);
	int status;
	pid_t child;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_CAPTURE_NEXT, &got), ETIME);
	child = fork();
	if (child == 0) {
		int error = execute(batches, &batch);

		_exit(error == 0 || error == ENODEV || error == EIO ? 0 : 1);
	}
	CHECK_EQ(next(fd, record, sizeof(record), &got), 0);
	CHECK_EQ(system("cd /sys/bus/pci/drivers/patchbay && ls | grep 0000: >/tmp/name && cat /tmp/name >unbind"), 0);
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	CHECK(guest_now_ns() - start < GUEST_PATIENCE / 2);
	CHECK_EQ(next(fd, record, sizeof(record), &got), ENODEV);
	CHECK_EQ(system("grep -q 1af4 /sys/bus/pci/devices/$(cat /tmp/name)/vendor"), 0);
	CHECK_EQ(system("cat /tmp/name >/sys/bus/pci/drivers/patchbay/bind"), 0);
	CHECK_EQ(system("grep -q 8086 /sys/bus/pci/devices/$(cat /tmp/name)/vendor"), 0);
	fd = open_i915();
	buffers[0] = make_buffer(fd, 4096);
	buffers[1] = make_buffer(fd, 4096);
	check_good(fd, buffers);
}
