/* SPDX-License-Identifier: MIT */
/* A link of a program in a virtual machine to the card, through the kernel's driver vfio-pci. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "hal/shared.h"
#include "host/link_message.h"
#include "host/link_pci.h"
#include "host/link_protocol.h"
#include "host/link_system.h"
#include "host/link_trace.h"
#include "patchbay/abi/channel.h"

struct link_vfio {
	struct pb_link link; /* first: what callers hold */
	int container;
	int group;
	int device;
	int interrupt;   /* eventfd of MSI-X vector 0 */
	int request;     /* eventfd by which the kernel asks for the device */
	off_t registers; /* where BAR 0 lies in `device` */
	bool gone;       /* the kernel has asked for the device; atomic: several threads may wait */
};

/* ---- operations ---- */

static struct link_vfio *link_of(struct pb_link *link)
{
	return (struct link_vfio *)(void *)link;
}

static void doorbell(struct pb_link *link)
{
	const struct link_vfio *card = link_of(link);
	const uint32_t value = PB_SOCKET_CARD << 16 | link->channel;
	ssize_t written;

	pb_shared_barrier();
	do {
		written = pwrite(card->device, &value, sizeof(value), card->registers + PB_PCI_DOORBELL);
	} while (written < 0 && errno == EINTR);
	/* Another error: the device is gone, which the next wait reports. */
}

static enum pb_error wait_interrupt(struct pb_link *link, uint64_t timeout_us)
{
	struct link_vfio *card = link_of(link);
	struct pollfd pollers[2] = {{.fd = card->interrupt, .events = POLLIN},
				    {.fd = card->request, .events = POLLIN}};
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000u),
					 .tv_nsec = (long)(timeout_us % 1000000u) * 1000};
	uint64_t rings;
	int got;

	if (__atomic_load_n(&card->gone, __ATOMIC_RELAXED))
		return PB_ERROR_NO_CARD;
	got = ppoll(pollers, 2, &timeout, NULL);
	if (got == 0)
		return PB_ERROR_TIMEOUT;
	if (got < 0)
		return errno == EINTR ? PB_ERROR_OK : PB_ERROR_NO_CARD;
	if (pollers[1].revents != 0) {
		__atomic_store_n(&card->gone, true, __ATOMIC_RELAXED);
		return PB_ERROR_NO_CARD;
	}
	/* Another thread may have read it. */
	(void)!read(card->interrupt, &rings, sizeof(rings));
	return PB_ERROR_OK;
}

static uint64_t now(struct pb_link *link)
{
	(void)link;
	return pb_clock_us();
}

static void close_link(struct pb_link *link)
{
	struct link_vfio *card = link_of(link);

	pb_link_trace_end(link);
	if (link->memory != NULL)
		(void)munmap(link->memory, link->memory_bytes);
	/* The kernel ends the device's interrupts with the device. */
	pb_message_drop(&card->device);
	pb_message_drop(&card->group);
	pb_message_drop(&card->container);
	pb_message_drop(&card->interrupt);
	pb_message_drop(&card->request);
	free(card);
}

static const struct pb_link_ops vfio_ops = {
	.doorbell = doorbell,
	.wait = wait_interrupt,
	.now = now,
	.close = close_link,
};

/* ---- opening ---- */

/* Reads a link of the device, such as its driver. @return the last part of what it names, in `target`; NULL: there is none */
static const char *named_by(const char *address, const char *name, char target[PB_PCI_PATH])
{
	char path[PB_PCI_PATH];
	ssize_t length;

	if (!pb_pci_path(PB_PCI_DEVICES, address, name, path))
		return NULL;
	length = readlink(path, target, PB_PCI_PATH - 1);
	if (length <= 0)
		return NULL;
	target[length] = '\0';
	return basename(target);
}

/* Opens the group of the device. A program opens a group once; vfio-pci must hold all of its devices. */
static enum pb_error open_group(struct link_vfio *card, const char *address)
{
	struct vfio_group_status status = {.argsz = sizeof(status)};
	char target[PB_PCI_PATH], path[PB_PCI_PATH];
	const char *name = named_by(address, "driver", target);

	if (name == NULL || strcmp(name, "vfio-pci") != 0)
		return PB_ERROR_UNSUPPORTED;
	name = named_by(address, "iommu_group", target);
	if (name == NULL || snprintf(path, sizeof(path), "/dev/vfio/%.20s", name) < 0)
		return PB_ERROR_UNSUPPORTED;
	card->group = open(path, O_RDWR | O_CLOEXEC);
	if (card->group < 0)
		return errno == EBUSY ? PB_ERROR_BUSY : PB_ERROR_SYSTEM;
	if (ioctl(card->group, VFIO_GROUP_GET_STATUS, &status) != 0)
		return PB_ERROR_SYSTEM;
	return (status.flags & VFIO_GROUP_FLAGS_VIABLE) != 0 ? PB_ERROR_OK : PB_ERROR_UNSUPPORTED;
}

static enum pb_error open_device(struct link_vfio *card, const char *address)
{
	card->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (card->container < 0)
		return PB_ERROR_SYSTEM;
	if (ioctl(card->container, VFIO_GET_API_VERSION) != VFIO_API_VERSION)
		return PB_ERROR_UNSUPPORTED;
	if (ioctl(card->group, VFIO_GROUP_SET_CONTAINER, &card->container) != 0 ||
	    ioctl(card->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) != 0)
		return PB_ERROR_SYSTEM;
	card->device = ioctl(card->group, VFIO_GROUP_GET_DEVICE_FD, address);
	return card->device >= 0 ? PB_ERROR_OK : PB_ERROR_SYSTEM;
}

static enum pb_error find_region(const struct link_vfio *card, uint32_t index,
				 struct vfio_region_info *region)
{
	*region = (struct vfio_region_info){.argsz = sizeof(*region), .index = index};
	return ioctl(card->device, VFIO_DEVICE_GET_REGION_INFO, region) == 0 ? PB_ERROR_OK : PB_ERROR_SYSTEM;
}

static enum pb_error map_memory(struct link_vfio *card)
{
	struct vfio_region_info region;
	enum pb_error error = find_region(card, VFIO_PCI_BAR2_REGION_INDEX, &region);
	void *mapped;

	if (error != PB_ERROR_OK)
		return error;
	if ((region.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0 || region.size > UINT32_MAX)
		return PB_ERROR_PROTOCOL;
	mapped = mmap(NULL, (size_t)region.size, PROT_READ | PROT_WRITE, MAP_SHARED, card->device,
		      (off_t)region.offset);
	if (mapped == MAP_FAILED)
		return PB_ERROR_SYSTEM;
	card->link.memory = mapped;
	card->link.memory_bytes = (uint32_t)region.size;
	return PB_ERROR_OK;
}

static enum pb_error read_channel(struct link_vfio *card)
{
	struct vfio_region_info region;
	enum pb_error error = find_region(card, VFIO_PCI_BAR0_REGION_INDEX, &region);
	uint32_t position;

	if (error != PB_ERROR_OK)
		return error;
	card->registers = (off_t)region.offset;
	if (region.size < PB_PCI_DOORBELL + sizeof(position))
		return PB_ERROR_PROTOCOL;
	if (pread(card->device, &position, sizeof(position), card->registers + PB_PCI_POSITION) !=
	    (ssize_t)sizeof(position))
		return PB_ERROR_SYSTEM;
	return pb_pci_set_channel(&card->link, position);
}

/* An interrupt of MSI-X is a write of the device to memory: vfio-pci leaves that switched off. */
static enum pb_error allow_writes(const struct link_vfio *card)
{
	struct vfio_region_info region;
	enum pb_error error = find_region(card, VFIO_PCI_CONFIG_REGION_INDEX, &region);
	const off_t place = (off_t)region.offset + PCI_COMMAND;
	uint16_t command;

	if (error != PB_ERROR_OK)
		return error;
	if (pread(card->device, &command, sizeof(command), place) != (ssize_t)sizeof(command))
		return PB_ERROR_SYSTEM;
	command |= PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY;
	return pwrite(card->device, &command, sizeof(command), place) == (ssize_t)sizeof(command)
		       ? PB_ERROR_OK
		       : PB_ERROR_SYSTEM;
}

/* Lets the kernel write to a new eventfd when the first interrupt of an index comes. */
static enum pb_error connect_interrupt(const struct link_vfio *card, uint32_t index, int *event)
{
	union {
		struct vfio_irq_set set;
		uint8_t bytes[sizeof(struct vfio_irq_set) + sizeof(*event)];
	} request = {.set = {.argsz = sizeof(request.bytes),
			     .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
			     .index = index,
			     .count = 1}};

	*event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (*event < 0)
		return PB_ERROR_SYSTEM;
	memcpy(request.set.data, event, sizeof(*event));
	if (ioctl(card->device, VFIO_DEVICE_SET_IRQS, &request.set) == 0)
		return PB_ERROR_OK;
	return errno == EINVAL ? PB_ERROR_PROTOCOL : PB_ERROR_SYSTEM;
}

static enum pb_error connect_card(struct link_vfio *card, const char *address)
{
	enum pb_error error = pb_pci_find(PB_PCI_DEVICES, address);

	if (error == PB_ERROR_OK)
		error = open_group(card, address);
	if (error == PB_ERROR_OK)
		error = open_device(card, address);
	if (error == PB_ERROR_OK)
		error = allow_writes(card);
	if (error == PB_ERROR_OK)
		error = connect_interrupt(card, VFIO_PCI_MSIX_IRQ_INDEX, &card->interrupt);
	if (error == PB_ERROR_OK)
		error = connect_interrupt(card, VFIO_PCI_REQ_IRQ_INDEX, &card->request);
	if (error == PB_ERROR_OK)
		error = read_channel(card);
	return error == PB_ERROR_OK ? map_memory(card) : error;
}

enum pb_error pb_link_open_vfio(const char *address, struct pb_link **link)
{
	struct link_vfio *card = calloc(1, sizeof(*card));
	enum pb_error error;

	*link = NULL;
	if (card == NULL)
		return PB_ERROR_HOST_MEMORY;
	*card = (struct link_vfio){.link = {.ops = &vfio_ops},
				   .container = -1,
				   .group = -1,
				   .device = -1,
				   .interrupt = -1,
				   .request = -1};
	error = connect_card(card, address);
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
