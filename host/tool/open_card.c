/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/open_card.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/link_trace.h"
#include "host/tool/board_image.h"
#include "host/tool/memory_file.h"
#include "host/tool/probe.h"
#include "patchbay/link_pci.h"
#include "qemu/card.h"
#include "qemu/machines.h"
#include "qemu/sim.h"

/** Channel used on a simulated card, whose only host is this process. */
#define SIM_CHANNEL 1u

static bool only_observes(enum pb_open_needs needs)
{
	return needs == PB_OPEN_READ || needs == PB_OPEN_ASK;
}

static int open_sim(uint32_t memory_bytes, enum pb_open_needs needs, struct pb_open_card *card)
{
	const uint32_t channel = only_observes(needs) ? PB_CHANNEL_ADMIN : SIM_CHANNEL;

	card->sim = pb_sim_create_with(0, memory_bytes != 0 ? memory_bytes - PB_CARD_MEMORY_BYTES : 0);
	if (card->sim == NULL || pb_link_open_sim(card->sim, channel, &card->link) != PB_ERROR_OK) {
		fprintf(stderr, "patchbay: out of memory for a simulated card\n");
		pb_sim_destroy(card->sim);
		return 1;
	}
	if (!only_observes(needs))
		pb_link_trace_begin(card->link);
	return 0;
}

/** Returns the exit code for what opening a link returned. Prints an error. */
static int opened(enum pb_error error, const char *name)
{
	if (error == PB_ERROR_OK)
		return 0;
	fprintf(stderr, "patchbay: %s: %s: %s%s%s\n", name, pb_error_name(error), pb_error_meaning(error),
		error == PB_ERROR_SYSTEM ? ": " : "", error == PB_ERROR_SYSTEM ? strerror(errno) : "");
	return 1;
}

static int open_socket(const char *path, enum pb_open_needs needs, struct pb_open_card *card)
{
	return opened(only_observes(needs) ? pb_link_open_observer(path, &card->link)
					   : pb_link_open_socket(path, &card->link),
		      path);
}

/** Opens the device that the card is in a virtual machine. */
static int open_device(const struct pb_open_options *options, struct pb_open_card *card)
{
	const char *address = options->vfio != NULL ? options->vfio : options->pci;
	const enum pb_error error = options->vfio != NULL ? pb_link_open_vfio(address, &card->link)
							  : pb_link_open_pci(address, &card->link);
	const char *text;

	switch ((uint32_t)error) {
	case PB_ERROR_BAD_ARGUMENT:
		text = "no address of a PCI device: give one as in 0000:00:04.0";
		break;
	case PB_ERROR_NO_CARD:
		text = "there is no ivshmem device";
		break;
	case PB_ERROR_BUSY:
		text = "a driver, or another program, uses the device";
		break;
	case PB_ERROR_UNSUPPORTED:
		text = "the driver vfio-pci does not hold the device with all of its IOMMU group";
		break;
	default:
		return opened(error, address);
	}
	fprintf(stderr, "patchbay: %s: %s\n", address, text);
	return 1;
}

static int open_probe(const struct pb_gdb_target *target, enum pb_open_needs needs, struct pb_open_card *card)
{
	const enum pb_probe_needs wanted = needs == PB_OPEN_READ  ? PB_PROBE_READ
					   : needs == PB_OPEN_ASK ? PB_PROBE_ASK
								  : PB_PROBE_CHANNEL;
	char message[PB_GDB_MESSAGE_BYTES];

	if (pb_open_probe(target, wanted, &card->link, message) == PB_ERROR_OK)
		return 0;
	fprintf(stderr, "patchbay: %s\n", message);
	return 1;
}

/** Builds a socket path of this process's own: the card refuses a path in use. @return false: it is too long */
static bool private_socket(char *path, size_t bytes)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	const int length = snprintf(path, bytes, "%s/patchbay-%ld.sock", folder != NULL ? folder : "/tmp",
				    (long)getpid());

	return length > 0 && (size_t)length < bytes;
}

/** Channel of a started card's first client: this process. */
#define OWN_CHANNEL 1u
/** Host memory of a started card: a file without a name, whose blocks exist when they are written. */
#define HOST_BYTES 0x4000000u

static void close_host(struct pb_open_card *card)
{
	if (card->host_memory == NULL)
		return;
	(void)munmap(card->host_memory, card->host_bytes);
	(void)close(card->host_file);
	card->host_memory = NULL;
}

/** Makes the file and maps it. @return false: the error was printed */
static bool make_host(struct pb_open_card *card)
{
	void *memory = MAP_FAILED;

	card->host_file = memfd_create("patchbay host memory", MFD_CLOEXEC);
	card->host_bytes = HOST_BYTES;
	if (card->host_file >= 0 && ftruncate(card->host_file, (off_t)HOST_BYTES) == 0)
		memory = mmap(NULL, HOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, card->host_file, 0);
	if (memory != MAP_FAILED) {
		card->host_memory = memory;
		return true;
	}
	fprintf(stderr, "patchbay: host memory: %s\n", strerror(errno));
	if (card->host_file >= 0)
		(void)close(card->host_file);
	return false;
}

/** Gives a card host memory in a file of this process, if its board can map files. @return false: the error was printed */
static bool add_host(const char *board, struct pb_card_options *options, struct pb_open_card *card)
{
	static char path[64];
	const struct pb_machine *machine = pb_machine_find(board);

	if (machine == NULL || machine->window_bytes < HOST_BYTES)
		return true;
	if (!make_host(card))
		return false;
	/* The card is a process of its own, and the emulator another one, which may be started again. */
	(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), card->host_file);
	options->host[options->host_count++] =
		(struct pb_card_host_option){.channel = OWN_CHANNEL, .path = path};
	return true;
}

static int start_own(const struct pb_card_options *options, enum pb_open_needs needs,
		     struct pb_open_card *card)
{
	if (pb_card_start(options, &card->pid) != 0) {
		card->pid = 0;
		return 1;
	}
	if (open_socket(card->socket, needs, card) == 0)
		return 0;
	pb_card_stop(card->pid);
	return 1;
}

static int open_own(const char *board, uint32_t memory_bytes, enum pb_open_needs needs,
		    struct pb_open_card *card)
{
	struct pb_card_options options = PB_CARD_OPTIONS_DEFAULT;
	char image[PATH_MAX];
	int code = 1;

	if (!pb_board_image(board, image, sizeof(image)))
		return 1;
	if (!private_socket(card->socket, sizeof(card->socket))) {
		fprintf(stderr, "patchbay: XDG_RUNTIME_DIR is too long for the path of a socket; set a "
				"shorter one\n");
		return 1;
	}
	options.board = board;
	options.image = image;
	options.socket = card->socket;
	if (memory_bytes != 0)
		options.memory_bytes = memory_bytes;
	options.quiet = true;
	if (needs != PB_OPEN_HOST_MEMORY || add_host(board, &options, card))
		code = start_own(&options, needs, card);
	if (code != 0)
		close_host(card);
	return code;
}

/* A saved card that is only read never lets a reader wait. */
static int open_memory(const char *path, enum pb_open_needs needs, struct pb_open_card *card)
{
	if (!pb_memory_file_open("patchbay", path, &card->dump))
		return 1;
	card->saved = (struct pb_link){.memory = card->dump.memory, .memory_bytes = card->dump.memory_bytes};
	card->link = needs == PB_OPEN_ASK ? pb_dump_link(&card->dump) : &card->saved;
	if (card->link != NULL)
		return 0;
	free(card->dump.memory);
	fprintf(stderr, "patchbay: %s: %s\n", path, strerror(errno));
	return 1;
}

bool pb_names_running_card(const struct pb_open_options *options)
{
	return options->socket != NULL || options->probe.stub != NULL || options->vfio != NULL ||
	       options->pci != NULL;
}

bool pb_names_card(const struct pb_open_options *options)
{
	return pb_names_running_card(options) || options->sim || options->board != NULL ||
	       options->memory != NULL;
}

int pb_open_card(const struct pb_open_options *options, enum pb_open_needs needs, struct pb_open_card *card)
{
	memset(card, 0, sizeof(*card));
	if (options->memory != NULL)
		return open_memory(options->memory, needs, card);
	if (options->sim)
		return open_sim(options->memory_bytes, needs, card);
	if (options->socket != NULL)
		return open_socket(options->socket, needs, card);
	if (options->probe.stub != NULL)
		return open_probe(&options->probe, needs, card);
	if (options->vfio != NULL || options->pci != NULL)
		return open_device(options, card);
	return open_own(options->board != NULL ? options->board : PB_DEFAULT_BOARD, options->memory_bytes,
			needs, card);
}

void pb_close_card(struct pb_open_card *card)
{
	if (card->sim != NULL)
		pb_link_trace_end_alone(card->link);
	if (card->link->ops != NULL)
		card->link->ops->close(card->link);
	else
		free(card->saved.memory);
	pb_sim_destroy(card->sim);
	if (card->pid != 0)
		pb_card_stop(card->pid);
	close_host(card);
}

enum pb_error pb_card_read_running(struct pb_link *link, struct pb_card_info *info)
{
	enum pb_error error = pb_card_read(link, info);

	/* A simulated card advances its boot only while a host waits on its link. */
	for (int tries = 0; link->ops != NULL && tries < 100 && error == PB_ERROR_OK &&
			    info->boot_stage < PB_BOOT_STAGE_RUNNING;
	     tries++) {
		(void)link->ops->wait(link, 10000);
		error = pb_card_read(link, info);
	}
	return error;
}

int pb_ask_card(const struct pb_open_options *options,
		int (*run)(const char *program, struct pb_link *link, void *context), const char *program,
		void *context)
{
	struct pb_open_card card;
	int code = pb_open_card(options, PB_OPEN_ASK, &card);

	if (code != 0)
		return code;
	code = run(program, card.link, context);
	pb_close_card(&card);
	return code;
}
