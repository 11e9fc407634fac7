/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU that counts the instructions of an MCU while it runs in real time. A block of instructions costs one
 * addition, so that the MCU is hardly slower.
 *
 *   -plugin count.so,to=FILE,idle=ADDRESS-END[,idle=ADDRESS-END...]
 *
 * FILE, of 16 bytes, is mapped: the first eight bytes count instructions, the others those in the given ranges, where the
 * firmware polls because it has nothing to do. Whoever wants them reads the file at any time. A block that an interrupt
 * leaves early counts as a whole.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what is used of QEMU's plugin interface, version 1: Debian has no package with its header ---- */

struct qemu_plugin_tb;

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void (*translate)(uint64_t id, struct qemu_plugin_tb *block);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, enum qemu_plugin_op operation,
					      void *to, uint64_t value);

extern const int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments);

const int qemu_plugin_version __attribute__((visibility("default"))) = 1;

/* ---- counters ---- */

#define RANGES_MAX 8u

enum { BUSY, IDLE, COUNTERS };

static struct {
	uint64_t from, end;
} ranges[RANGES_MAX];
static uint32_t range_count;
static uint64_t *counters;

static bool is_idle(uint64_t address)
{
	for (uint32_t i = 0; i < range_count; i++) {
		if (address >= ranges[i].from && address < ranges[i].end)
			return true;
	}
	return false;
}

static void count_block(uint64_t id, struct qemu_plugin_tb *block)
{
	const unsigned which = is_idle(qemu_plugin_tb_vaddr(block)) ? IDLE : BUSY;

	(void)id;
	qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &counters[which],
						 qemu_plugin_tb_n_insns(block));
}

static bool map_file(const char *path)
{
	const int file = open(path, O_RDWR | O_CLOEXEC);
	void *mapped = MAP_FAILED;

	if (file >= 0)
		mapped =
			mmap(NULL, COUNTERS * sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	if (mapped != MAP_FAILED)
		counters = mapped;
	return mapped != MAP_FAILED;
}

static bool add_range(const char *text)
{
	char *end;

	if (range_count == RANGES_MAX)
		return false;
	ranges[range_count].from = strtoull(text, &end, 0);
	if (*end != '-')
		return false;
	ranges[range_count++].end = strtoull(end + 1, &end, 0);
	return *end == '\0';
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int count,
							       char **arguments)
{
	(void)info;
	for (int i = 0; i < count; i++) {
		bool good = false;

		if (strncmp(arguments[i], "to=", 3) == 0)
			good = map_file(arguments[i] + 3);
		else if (strncmp(arguments[i], "idle=", 5) == 0)
			good = add_range(arguments[i] + 5);
		if (!good)
			return -1;
	}
	if (counters == NULL)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
	return 0;
}
