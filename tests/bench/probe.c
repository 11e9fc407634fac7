/* SPDX-License-Identifier: MIT */
/*
 * A plugin of QEMU that follows the marked spans of a bench image: the bus transactions in a range of addresses, or the
 * address of each instruction. The image stores to the first of two words, the mark, to begin a span, and to the second to
 * end it. A span that is not ended, as the start of the image clears the words, is forgotten.
 *
 *   -plugin probe.so,mark=ADDRESS,from=ADDRESS,bytes=SIZE[,trace=FILE]
 *
 * At the end of each span "bus READS WRITES" goes to standard error. All accesses of one instruction are one transaction:
 * LDM and STRD are bursts. With a file, each span goes there: the number of its instructions and their addresses, four bytes
 * each; bit 0 of an address tells that the instruction accessed the range.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is used of QEMU's plugin interface, version 1: Debian has no package with its header ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*translate)(uint64_t id, struct qemu_plugin_tb *block);
typedef void (*executed)(unsigned int cpu, void *context);
typedef void (*accessed)(unsigned int cpu, uint32_t info, uint64_t address, void *context);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, translate callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, executed callback,
					    int flags, void *context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, accessed callback, int flags,
				      int kinds, void *context);
bool qemu_plugin_mem_is_store(uint32_t info);

extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments);

int qemu_plugin_version __attribute__((visibility("default"))) = 1;

/* ---- spans ---- */

#define MOST_ADDRESSES 0x100000u /* behind them a span is cut off */
#define ACCESS         1u        /* in an address: the instruction accesses the range */

static uint64_t mark, from, bytes;
static uint64_t reads, writes;
static bool inside; /* a span has begun */
static bool fresh;  /* the instruction has not accessed the range yet */
static FILE *trace;
static uint32_t addresses[MOST_ADDRESSES]; /* of the instructions of the span */
static uint32_t address_count;

static void begin_instruction(unsigned int cpu, void *context)
{
	(void)cpu;
	fresh = true;
	if (inside && address_count != MOST_ADDRESSES)
		addresses[address_count++] = (uint32_t)(uintptr_t)context;
}

static void begin(void)
{
	inside = true;
	reads = 0;
	writes = 0;
	address_count = 0;
}

/** A span in the file: its number of instructions, and their addresses. */
static void end(void)
{
	if (!inside)
		return;
	inside = false;
	fprintf(stderr, "bus %llu %llu\n", (unsigned long long)reads, (unsigned long long)writes);
	if (trace == NULL)
		return;
	fwrite(&address_count, sizeof(address_count), 1, trace);
	fwrite(addresses, sizeof(addresses[0]), address_count, trace);
	fflush(trace);
}

static void access_memory(unsigned int cpu, uint32_t info, uint64_t address, void *context)
{
	const bool is_store = qemu_plugin_mem_is_store(info);

	(void)cpu;
	(void)context;
	if (is_store && address == mark)
		begin();
	if (is_store && address == mark + sizeof(uint32_t))
		end();
	if (!inside || !fresh || address - from >= bytes)
		return;
	fresh = false;
	if (address_count != 0)
		addresses[address_count - 1u] |= ACCESS;
	if (is_store)
		writes++;
	else
		reads++;
}

static void follow(uint64_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

		qemu_plugin_register_vcpu_insn_exec_cb(
			instruction, begin_instruction, QEMU_PLUGIN_CB_NO_REGS,
			(void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction));
		qemu_plugin_register_vcpu_mem_cb(instruction, access_memory, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int count,
							       char **arguments)
{
	(void)info;
	for (int i = 0; i < count; i++) {
		const char *value = strchr(arguments[i], '=');

		if (value == NULL)
			return -1;
		value++;
		if (strncmp(arguments[i], "mark=", 5) == 0)
			mark = strtoull(value, NULL, 0);
		else if (strncmp(arguments[i], "from=", 5) == 0)
			from = strtoull(value, NULL, 0);
		else if (strncmp(arguments[i], "bytes=", 6) == 0)
			bytes = strtoull(value, NULL, 0);
		else if (strncmp(arguments[i], "trace=", 6) == 0)
			trace = fopen(value, "wb");
		else
			return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, follow);
	return 0;
}
