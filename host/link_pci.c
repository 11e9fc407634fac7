/* SPDX-License-Identifier: MIT */
/* A link of a program in a virtual machine to the card, through the kernel's files for a PCI device without a driver. */
#define _GNU_SOURCE
#include "host/link_pci.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_protocol.h"
#include "host/link_system.h"
#include "host/link_trace.h"
#include "patchbay/abi/channel.h"

/* Identity of QEMU's device. */
#define IVSHMEM_VENDOR 0x1af4u
#define IVSHMEM_DEVICE 0x1110u
/* Longest time without a look at card memory, in microseconds: no interrupt comes. */
#define POLL_US 1000u
/* BARs of a device, and characters that the kernel prints of each: start, end, flags. */
#define BARS      3u
#define BAR_CHARS 57u

struct link_pci {
	struct pb_link link; /* first: what callers hold */
	int enable;          /* file that keeps the device switched on; -1: it is not */
	int registers;       /* file of BAR 0, locked; -1: not open */
	uint8_t *page;       /* the page that BAR 0 begins in, mapped; NULL: not */
	uint32_t *doorbell;  /* a register in it */
};

/* A range of a BAR on the bus. */
struct bar {
	uint64_t start, bytes;
};

/* ---- what the kernel says of a device ---- */

/* DDDD:BB:DD.F, in hexadecimal digits: nothing that leads out of the folder of devices. */
static bool is_address(const char *text)
{
	static const char pattern[] = "xxxx:xx:xx.x";
	static const char digits[] = "0123456789abcdef";

	if (strlen(text) != strlen(pattern))
		return false;
	for (unsigned i = 0; pattern[i] != '\0'; i++) {
		if (pattern[i] == 'x' ? strchr(digits, text[i]) == NULL : text[i] != pattern[i])
			return false;
	}
	return true;
}

bool pb_pci_path(const char *devices, const char *address, const char *name, char path[PB_PCI_PATH])
{
	const int length = snprintf(path, PB_PCI_PATH, "%s/%s/%s", devices, address, name);

	return length > 0 && (unsigned)length < PB_PCI_PATH;
}

/* Opens a file of a device. @return descriptor; -1: errno holds the reason */
static int open_file(const char *devices, const char *address, const char *name, int flags)
{
	char path[PB_PCI_PATH];

	if (pb_pci_path(devices, address, name, path))
		return open(path, flags | O_CLOEXEC);
	errno = ENAMETOOLONG;
	return -1;
}

/* Reads the beginning of a file of a device as text. @return false: errno holds the reason */
static bool read_file(const char *devices, const char *address, const char *name, char *text, size_t bytes)
{
	const int file = open_file(devices, address, name, O_RDONLY);
	const ssize_t got = file >= 0 ? read(file, text, bytes - 1) : -1;
	const int reason = errno;

	if (file >= 0)
		(void)close(file);
	errno = reason;
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool has_number(const char *devices, const char *address, const char *name, unsigned long wanted)
{
	char text[32];

	return read_file(devices, address, name, text, sizeof(text)) && strtoul(text, NULL, 16) == wanted;
}

enum pb_error pb_pci_find(const char *devices, const char *address)
{
	if (!is_address(address))
		return PB_ERROR_BAD_ARGUMENT;
	return has_number(devices, address, "vendor", IVSHMEM_VENDOR) &&
			       has_number(devices, address, "device", IVSHMEM_DEVICE)
		       ? PB_ERROR_OK
		       : PB_ERROR_NO_CARD;
}

enum pb_error pb_pci_set_channel(struct pb_link *link, uint32_t position)
{
	if (position - 1u >= PB_SOCKET_CLIENTS)
		return PB_ERROR_PROTOCOL;
	link->channel = position;
	return PB_ERROR_OK;
}

static enum pb_error read_bars(const char *devices, const char *address, struct bar bars[BARS])
{
	char text[BARS * BAR_CHARS + 1];
	char *next = text;

	if (!read_file(devices, address, "resource", text, sizeof(text)))
		return PB_ERROR_SYSTEM;
	for (unsigned i = 0; i < BARS; i++) {
		const uint64_t start = strtoull(next, &next, 16);
		const uint64_t end = strtoull(next, &next, 16);

		(void)strtoull(next, &next, 16);
		if (start == 0 || end < start)
			return PB_ERROR_PROTOCOL;
		bars[i] = (struct bar){.start = start, .bytes = end - start + 1};
	}
	return PB_ERROR_OK;
}

/* ---- operations ---- */

static struct link_pci *link_of(struct pb_link *link)
{
	return (struct link_pci *)(void *)link;
}

static void doorbell(struct pb_link *link)
{
	const struct link_pci *card = link_of(link);

	pb_shared_barrier();
	pb_shared_write32(card->doorbell, PB_SOCKET_CARD << 16 | link->channel);
}

static enum pb_error wait_a_moment(struct pb_link *link, uint64_t timeout_us)
{
	const uint64_t us = timeout_us < POLL_US ? timeout_us : POLL_US;
	const struct timespec pause = {.tv_nsec = (long)us * 1000};

	(void)link;
	(void)nanosleep(&pause, NULL);
	return timeout_us <= POLL_US ? PB_ERROR_TIMEOUT : PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_clock_us();
}

static void close_link(struct pb_link *link)
{
	struct link_pci *card = link_of(link);

	pb_link_trace_end(link);
	if (link->memory != NULL)
		(void)munmap(link->memory, link->memory_bytes);
	if (card->page != NULL)
		(void)munmap(card->page, (size_t)sysconf(_SC_PAGESIZE));
	if (card->enable >= 0) {
		(void)!pwrite(card->enable, "0", 1, 0);
		(void)close(card->enable);
	}
	if (card->registers >= 0)
		(void)close(card->registers);
	free(card);
}

static const struct pb_link_ops pci_ops = {
	.doorbell = doorbell,
	.wait = wait_a_moment,
	.now = now,
	.close = close_link,
};

/* ---- opening ---- */

/* Locks the device against other programs, and switches it on. The kernel refuses that if a driver holds it. */
static enum pb_error take_device(struct link_pci *card, const char *devices, const char *address)
{
	int enable;

	card->registers = open_file(devices, address, "resource0", O_RDWR);
	if (card->registers < 0)
		return PB_ERROR_SYSTEM;
	if (flock(card->registers, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK ? PB_ERROR_BUSY : PB_ERROR_SYSTEM;
	enable = open_file(devices, address, "enable", O_WRONLY);
	if (enable < 0)
		return PB_ERROR_SYSTEM;
	if (pwrite(enable, "1", 1, 0) == 1) {
		card->enable = enable;
		return PB_ERROR_OK;
	}
	(void)close(enable);
	return errno == EBUSY ? PB_ERROR_BUSY : PB_ERROR_SYSTEM;
}

/* BAR 0 is smaller than a page, and need not begin with one: the kernel maps the whole page. */
static enum pb_error map_registers(struct link_pci *card, const struct bar *bar)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t offset = bar->start % page;
	void *mapped;

	if (bar->bytes < PB_PCI_DOORBELL + sizeof(uint32_t) ||
	    offset + PB_PCI_DOORBELL + sizeof(uint32_t) > page || offset % sizeof(uint32_t) != 0)
		return PB_ERROR_PROTOCOL;
	mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, card->registers, 0);
	if (mapped == MAP_FAILED)
		return PB_ERROR_SYSTEM;
	card->page = mapped;
	card->doorbell = (uint32_t *)(void *)(card->page + offset + PB_PCI_DOORBELL);
	return pb_pci_set_channel(
		&card->link, pb_shared_read32((uint32_t *)(void *)(card->page + offset + PB_PCI_POSITION)));
}

static enum pb_error map_memory(struct link_pci *card, const char *devices, const char *address,
				const struct bar *bar)
{
	int file;
	void *mapped;

	if (bar->start % (uint64_t)sysconf(_SC_PAGESIZE) != 0 || bar->bytes > UINT32_MAX)
		return PB_ERROR_PROTOCOL;
	file = open_file(devices, address, "resource2", O_RDWR);
	if (file < 0)
		return PB_ERROR_SYSTEM;
	mapped = mmap(NULL, (size_t)bar->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	(void)close(file);
	if (mapped == MAP_FAILED)
		return PB_ERROR_SYSTEM;
	card->link.memory = mapped;
	card->link.memory_bytes = (uint32_t)bar->bytes;
	return PB_ERROR_OK;
}

static enum pb_error connect_card(struct link_pci *card, const char *devices, const char *address)
{
	struct bar bars[BARS];
	enum pb_error error = pb_pci_find(devices, address);

	if (error == PB_ERROR_OK)
		error = take_device(card, devices, address);
	if (error == PB_ERROR_OK)
		error = read_bars(devices, address, bars);
	if (error == PB_ERROR_OK)
		error = map_registers(card, &bars[0]);
	return error == PB_ERROR_OK ? map_memory(card, devices, address, &bars[2]) : error;
}

enum pb_error pb_pci_open(const char *devices, const char *address, struct pb_link **link)
{
	struct link_pci *card = calloc(1, sizeof(*card));
	enum pb_error error;

	*link = NULL;
	if (card == NULL)
		return PB_ERROR_HOST_MEMORY;
	*card = (struct link_pci){.link = {.ops = &pci_ops}, .enable = -1, .registers = -1};
	error = connect_card(card, devices, address);
	if (error == PB_ERROR_OK) {
		pb_link_trace_begin(&card->link);
		*link = &card->link;
	} else {
		const int reason = errno;

		close_link(&card->link);
		errno = reason;
	}
	return error;
}

enum pb_error pb_link_open_pci(const char *address, struct pb_link **link)
{
	return pb_pci_open(PB_PCI_DEVICES, address, link);
}
