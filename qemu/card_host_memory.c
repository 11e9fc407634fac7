/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_host_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "qemu/card_say.h"

/* What is wrong with the size of a file; NULL: nothing. */
static const char *wrong_size(uint64_t bytes, uint64_t room)
{
	if (bytes < PB_CARD_HOST_BYTES_MIN)
		return "is smaller than 1 MiB";
	if ((bytes & (bytes - 1u)) != 0)
		return "has a size that is no power of two, which a PCI window needs";
	return bytes > room ? "does not fit the board's window on host memory any more" : NULL;
}

static bool open_file(struct pb_card_host_file *file, uint64_t *end, uint64_t window)
{
	struct stat status;
	uint64_t bytes, offset;
	const char *wrong;

	file->file = open(file->path, O_RDWR | O_CLOEXEC);
	if (file->file < 0 || fstat(file->file, &status) != 0) {
		pb_card_say("cannot open host memory %s: %s", file->path, strerror(errno));
		return false;
	}
	if (!S_ISREG(status.st_mode)) {
		pb_card_say("host memory %s is no regular file", file->path);
		return false;
	}
	bytes = (uint64_t)status.st_size;
	offset = bytes != 0 ? (*end + bytes - 1u) / bytes * bytes : 0;
	wrong = wrong_size(bytes, offset < window ? window - offset : 0);
	if (wrong != NULL) {
		pb_card_say("host memory %s %s", file->path, wrong);
		return false;
	}
	file->bytes = (uint32_t)bytes;
	file->offset = (uint32_t)offset;
	*end = offset + bytes;
	return true;
}

bool pb_card_host_memory_open(struct pb_card_host_memory *host, const struct pb_machine *machine,
			      const struct pb_card_host_option *options, uint32_t count)
{
	uint64_t end = 0;

	*host = (struct pb_card_host_memory){.count = 0};
	if (count != 0 && machine->window_bytes == 0) {
		pb_card_say("board %s has no window for host memory in files", machine->board);
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct pb_card_host_file *file = &host->files[host->count++];

		*file = (struct pb_card_host_file){
			.channel = options[i].channel, .path = options[i].path, .file = -1};
		if (open_file(file, &end, machine->window_bytes)) {
			host->shares.offset[file->channel] = file->offset;
			host->shares.bytes[file->channel] = file->bytes;
			continue;
		}
		pb_card_host_memory_close(host);
		return false;
	}
	host->bytes = (uint32_t)end;
	host->shares.chosen = count != 0;
	return true;
}

/* What the signal handler may look at: the card's files, while they are mapped. */
static struct pb_card_host_memory *survivor;

/* Puts zeros in place of the file whose page is missing. Any other access is as fatal as ever. */
static void missing_page(int number, siginfo_t *info, void *context)
{
	const uint8_t *address = info->si_addr;

	(void)context;
	for (uint32_t i = 0; survivor != NULL && i < survivor->count; i++) {
		struct pb_card_host_file *file = &survivor->files[i];
		uint8_t *start = survivor->window + file->offset;

		if (address < start || address >= start + file->bytes ||
		    mmap(start, file->bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
			continue;
		file->struck = 1;
		return;
	}
	signal(number, SIG_DFL);
}

static void guard(struct pb_card_host_memory *host)
{
	struct sigaction action = {.sa_sigaction = missing_page, .sa_flags = SA_SIGINFO};

	survivor = host;
	sigaction(SIGBUS, &action, NULL);
}

/* Whether its owner has shortened a file. */
static bool is_short(const struct pb_card_host_file *file)
{
	struct stat status;

	return file->struck != 0 || fstat(file->file, &status) != 0 || status.st_size < (off_t)file->bytes;
}

/* Has memory of the card's own where a file was, which its owner may shorten again. */
static void replace(struct pb_card_host_memory *host, struct pb_card_host_file *file)
{
	const int own = memfd_create("patchbay lost host memory", MFD_CLOEXEC);

	pb_card_say("host memory %s was shortened: channel %u has lost it, and its client", file->path,
		    (unsigned)file->channel);
	file->lost = true;
	host->shares.bytes[file->channel] = 0;
	if (own < 0 || ftruncate(own, (off_t)file->bytes) != 0 ||
	    mmap(host->window + file->offset, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 own, 0) == MAP_FAILED) {
		pb_card_say("cannot replace it: %s", strerror(errno));
		if (own >= 0)
			close(own);
		return;
	}
	close(file->file);
	file->file = own;
	(void)snprintf(file->own, sizeof(file->own), "/proc/%ld/fd/%d", (long)getpid(), own);
	file->path = file->own;
}

uint32_t pb_card_host_memory_check(struct pb_card_host_memory *host)
{
	uint32_t lost = 0;

	for (uint32_t i = 0; i < host->count; i++) {
		struct pb_card_host_file *file = &host->files[i];

		if (file->lost || !is_short(file))
			continue;
		replace(host, file);
		lost |= 1u << file->channel;
	}
	return lost;
}

bool pb_card_host_memory_map(struct pb_card_host_memory *host, uint8_t *window)
{
	host->window = window;
	guard(host);
	for (uint32_t i = 0; i < host->count; i++) {
		const struct pb_card_host_file *file = &host->files[i];

		if (mmap(window + file->offset, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			 file->file, 0) == MAP_FAILED)
			return false;
	}
	return true;
}

void pb_card_host_memory_close(struct pb_card_host_memory *host)
{
	for (uint32_t i = 0; i < host->count; i++) {
		if (host->files[i].file >= 0)
			close(host->files[i].file);
	}
	host->count = 0;
	if (survivor != host)
		return;
	survivor = NULL;
	signal(SIGBUS, SIG_DFL);
}
