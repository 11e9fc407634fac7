/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_gdb_memory.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/link_system.h"

/* Flags of a page. */
#define FRESH     0x01u /* `copy` holds the MCU's words of the last halt that discarded the other pages */
#define READABLE  0x02u /* in `view`; implies FRESH */
#define WRITABLE  0x04u /* in `view`; implies READABLE, and `base` holds the MCU's words */
#define TOUCHED   0x08u /* accessed by the host since the last pb_gdb_memory_sync() */
#define TOUCHED_1 0x10u /* accessed by the host between the last two calls of pb_gdb_memory_sync() */

#define NO_PAGE UINT32_MAX
/* Largest number of pages read at once for consecutive misses. */
#define AHEAD_MOST 8u

/* All open copies. The handler runs only when this thread accesses a copy, so the list needs no lock. */
static struct pb_gdb_memory *all;
static struct sigaction former;

/* ---- one page ---- */

static uint32_t offset_of(const struct pb_gdb_memory *memory, uint32_t page)
{
	return page * memory->page_bytes;
}

/* Returns the bytes of card memory in a page; the last page may be partial. */
static uint32_t bytes_of(const struct pb_gdb_memory *memory, uint32_t page)
{
	const uint32_t left = memory->bytes - offset_of(memory, page);

	return left < memory->page_bytes ? left : memory->page_bytes;
}

static void protect(const struct pb_gdb_memory *memory, uint32_t page, int protection)
{
	/* Fails only if the kernel has no memory for the process's mappings. */
	if (mprotect(memory->view + offset_of(memory, page), memory->page_bytes, protection) != 0)
		abort();
}

static void let_read(struct pb_gdb_memory *memory, uint32_t page)
{
	memory->pages[page] |= READABLE | TOUCHED;
	protect(memory, page, PROT_READ);
}

static void let_write(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint32_t offset = offset_of(memory, page);

	memcpy(memory->base + offset, memory->copy + offset, memory->page_bytes);
	memory->pages[page] |= READABLE | WRITABLE | TOUCHED;
	protect(memory, page, PROT_READ | PROT_WRITE);
}

static void forget(struct pb_gdb_memory *memory, uint32_t page)
{
	if ((memory->pages[page] & READABLE) != 0)
		protect(memory, page, PROT_NONE);
	memory->pages[page] &= (uint8_t) ~(FRESH | READABLE | WRITABLE);
}

/* ---- exchange: the MCU is halted ---- */

static void fail(struct pb_gdb_memory *memory, enum pb_error error)
{
	if (memory->error == PB_ERROR_OK)
		memory->error = error;
}

static void read_page(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint32_t offset = offset_of(memory, page);
	const uint32_t bytes = bytes_of(memory, page);

	if (memory->error == PB_ERROR_OK)
		fail(memory,
		     pb_gdb_read(memory->gdb, memory->address + offset, memory->copy + offset, bytes));
	memory->figures.bytes_in += bytes;
	/* Set also after a failure: a wait reports the error, reads return the old words. */
	memory->pages[page] |= FRESH;
}

/* Returns whether the host has changed a word. */
static bool changed(const struct pb_gdb_memory *memory, uint32_t offset)
{
	return memcmp(memory->copy + offset, memory->base + offset, sizeof(uint32_t)) != 0;
}

static void write_run(struct pb_gdb_memory *memory, uint32_t first, uint32_t end)
{
	if (memory->error == PB_ERROR_OK)
		fail(memory,
		     pb_gdb_write(memory->gdb, memory->address + first, memory->copy + first, end - first));
	memcpy(memory->base + first, memory->copy + first, end - first);
	memory->figures.bytes_out += end - first;
}

static void write_page(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint32_t end = offset_of(memory, page) + bytes_of(memory, page);
	uint32_t at = offset_of(memory, page);

	while (at < end) {
		uint32_t first = at;

		while (at < end && changed(memory, at))
			at += (uint32_t)sizeof(uint32_t);
		if (at != first)
			write_run(memory, first, at);
		else
			at += (uint32_t)sizeof(uint32_t);
	}
}

/* Returns whether the host has changed any word. */
static bool any_changed(const struct pb_gdb_memory *memory)
{
	for (uint32_t page = 0; page < memory->page_count; page++) {
		const uint32_t offset = offset_of(memory, page);

		if ((memory->pages[page] & WRITABLE) != 0 &&
		    memcmp(memory->copy + offset, memory->base + offset, bytes_of(memory, page)) != 0)
			return true;
	}
	return false;
}

static void write_all(struct pb_gdb_memory *memory)
{
	for (uint32_t page = 0; page < memory->page_count; page++) {
		if ((memory->pages[page] & WRITABLE) != 0)
			write_page(memory, page);
	}
}

static uint64_t halt(struct pb_gdb_memory *memory)
{
	const uint64_t start = pb_clock_us();

	if (memory->error == PB_ERROR_OK)
		fail(memory, pb_gdb_halt(memory->gdb));
	memory->figures.halts++;
	return start;
}

static void resume(struct pb_gdb_memory *memory, uint64_t start)
{
	if (memory->error == PB_ERROR_OK)
		fail(memory, pb_gdb_resume(memory->gdb));
	memory->synced_us = pb_clock_us();
	memory->cost_us = memory->synced_us - start;
	memory->figures.halted_us += memory->cost_us;
}

enum pb_error pb_gdb_memory_push(struct pb_gdb_memory *memory)
{
	uint64_t start;

	if (!any_changed(memory))
		return memory->error;
	start = halt(memory);
	write_all(memory);
	resume(memory, start);
	return memory->error;
}

/* Discards a page. A page accessed in both of the last two periods is read again at once: it is likely to be needed. */
static void renew(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint8_t flags = memory->pages[page];

	forget(memory, page);
	memory->pages[page] &= (uint8_t) ~(TOUCHED | TOUCHED_1);
	if ((flags & TOUCHED) == 0)
		return;
	memory->pages[page] |= TOUCHED_1;
	if ((flags & TOUCHED_1) != 0)
		read_page(memory, page);
}

enum pb_error pb_gdb_memory_sync(struct pb_gdb_memory *memory)
{
	const uint64_t start = halt(memory);

	write_all(memory);
	for (uint32_t page = 0; page < memory->page_count; page++)
		renew(memory, page);
	resume(memory, start);
	return memory->error;
}

bool pb_gdb_memory_peek(const struct pb_gdb_memory *memory, uint32_t offset, uint32_t *word)
{
	if ((memory->pages[offset / memory->page_bytes] & FRESH) == 0)
		return false;
	memcpy(word, memory->copy + offset, sizeof(*word));
	return true;
}

/* ---- access by the host ---- */

/* Reads a page and, after consecutive misses, the pages behind it. */
static void read_ahead(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint32_t more = 2u * memory->ahead < AHEAD_MOST ? 2u * memory->ahead : AHEAD_MOST;

	memory->ahead = page == memory->ahead_end ? more : 1u;
	for (uint32_t i = 0; i < memory->ahead && page + i < memory->page_count; i++)
		read_page(memory, page + i);
	memory->ahead_end = page + memory->ahead;
}

/*
 * Reads a missing page. All other pages are older from then on and are discarded. One instruction may need up to four
 * pages, if it copies a word and both source and destination cross a page border. If these pages displace each other,
 * all of them are read at once.
 */
static void fetch(struct pb_gdb_memory *memory, uint32_t page)
{
	const uint64_t start = halt(memory);
	uint32_t others = 0; /* pages missed since this one was missed last */

	while (others < PB_GDB_PAGES_AT_ONCE - 1u && memory->missed[others] != page)
		others++;
	write_all(memory);
	for (uint32_t i = 0; i < memory->page_count; i++)
		forget(memory, i);
	read_ahead(memory, page);
	for (uint32_t i = 0; i < others && memory->missed[others] == page; i++) {
		if ((memory->pages[memory->missed[i]] & FRESH) == 0)
			read_page(memory, memory->missed[i]);
	}
	resume(memory, start);
	/* Move the page to the front of the list; the last one is dropped if the page was not in the list. */
	memmove(&memory->missed[1], &memory->missed[0], others * sizeof(memory->missed[0]));
	memory->missed[0] = page;
}

static void touch(struct pb_gdb_memory *memory, uint32_t page)
{
	if ((memory->pages[page] & READABLE) != 0) {
		let_write(memory, page);
		return;
	}
	if ((memory->pages[page] & FRESH) == 0)
		fetch(memory, page);
	let_read(memory, page);
}

/* Runs only at an access of this thread to a copy: not in the middle of a library function. So it may call any. */
static void handle(int signal, siginfo_t *information, void *context)
{
	const int error = errno;
	const uint8_t *address = information->si_addr;

	(void)signal;
	(void)context;
	for (struct pb_gdb_memory *memory = all; memory != NULL; memory = memory->next) {
		if (address < memory->view ||
		    address >= memory->view + (size_t)memory->page_count * memory->page_bytes)
			continue;
		touch(memory, (uint32_t)((size_t)(address - memory->view) / memory->page_bytes));
		errno = error;
		return;
	}
	/* A fault elsewhere: restore the former handler; the instruction faults again and reaches it. */
	(void)sigaction(SIGSEGV, &former, NULL);
	errno = error;
}

/* ---- open and close ---- */

static enum pb_error map(struct pb_gdb_memory *memory)
{
	const size_t bytes = (size_t)memory->page_count * memory->page_bytes;
	const int file = memfd_create("card memory", MFD_CLOEXEC);
	void *view = MAP_FAILED;
	void *copy = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)bytes) == 0) {
		view = mmap(NULL, bytes, PROT_NONE, MAP_SHARED, file, 0);
		copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	}
	if (file >= 0)
		close(file);
	memory->view = view == MAP_FAILED ? NULL : view;
	memory->copy = copy == MAP_FAILED ? NULL : copy;
	return memory->view != NULL && memory->copy != NULL ? PB_ERROR_OK : PB_ERROR_SYSTEM;
}

static void unmap(struct pb_gdb_memory *memory)
{
	const size_t bytes = (size_t)memory->page_count * memory->page_bytes;

	if (memory->view != NULL)
		munmap(memory->view, bytes);
	if (memory->copy != NULL)
		munmap(memory->copy, bytes);
	free(memory->base);
	free(memory->pages);
	memory->view = NULL;
}

static bool enlist(struct pb_gdb_memory *memory)
{
	struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};

	sigemptyset(&ours.sa_mask);
	if (all == NULL && sigaction(SIGSEGV, &ours, &former) != 0)
		return false;
	memory->next = all;
	all = memory;
	return true;
}

static void delist(const struct pb_gdb_memory *memory)
{
	struct pb_gdb_memory **at = &all;

	while (*at != memory)
		at = &(*at)->next;
	*at = memory->next;
	if (all == NULL)
		(void)sigaction(SIGSEGV, &former, NULL);
}

enum pb_error pb_gdb_memory_open(struct pb_gdb_memory *memory, struct pb_gdb *gdb, uint32_t address,
				 uint32_t bytes)
{
	enum pb_error error;

	*memory = (struct pb_gdb_memory){.gdb = gdb, .address = address, .bytes = bytes};
	memory->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	memory->page_count = (uint32_t)(((uint64_t)bytes + memory->page_bytes - 1) / memory->page_bytes);
	memset(memory->missed, 0xff, sizeof(memory->missed)); /* NO_PAGE */
	memory->ahead_end = NO_PAGE;
	memory->base = malloc((size_t)memory->page_count * memory->page_bytes);
	memory->pages = calloc(memory->page_count, 1);
	error = memory->base != NULL && memory->pages != NULL ? map(memory) : PB_ERROR_HOST_MEMORY;
	if (error == PB_ERROR_OK && !enlist(memory))
		error = PB_ERROR_SYSTEM;
	if (error == PB_ERROR_OK)
		resume(memory, pb_clock_us());
	else
		unmap(memory);
	return error;
}

void pb_gdb_memory_close(struct pb_gdb_memory *memory)
{
	(void)pb_gdb_memory_push(memory);
	delist(memory);
	unmap(memory);
}
