/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/link_protocol.h"
#include "host/update_protocol.h"
#include "qemu/card.h"
#include "qemu/card_say.h"
#include "qemu/mcu/layout.h"

/* Room for every host at once; one that comes while a slot is being freed waits there too. */
#define BACKLOG 32

static bool say_failed(const char *what, const char *path)
{
	pb_card_say("cannot %s %s: %s", what, path, strerror(errno));
	return false;
}

/* Joins directory and name. */
static bool set_path(char *path, const char *directory, const char *name)
{
	int length = snprintf(path, PB_CARD_PATH_BYTES, "%s%s", directory, name);

	if (length >= 0 && (size_t)length < PB_CARD_PATH_BYTES)
		return true;
	pb_card_say("the path %s%s is too long for a socket", directory, name);
	path[0] = '\0';
	return false;
}

static bool make_directory(struct pb_card_files *files, const char *directory)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (directory == NULL) {
		runtime = runtime != NULL && runtime[0] == '/' ? runtime : "/tmp";
		if (!set_path(files->directory, runtime, "/patchbay-XXXXXX"))
			return false;
		files->made_directory = mkdtemp(files->directory) != NULL;
		return files->made_directory || say_failed("make a directory", files->directory);
	}
	if (!set_path(files->directory, directory, ""))
		return false;
	files->made_directory = mkdir(directory, 0700) == 0;
	return files->made_directory || errno == EEXIST || say_failed("make directory", directory);
}

/* How much of the memory file is card memory and host memory, which the engines reach. */
static uint32_t used_bytes(const struct pb_machine *machine, uint32_t outer_bytes)
{
	const uint32_t host_end = machine->host_offset + machine->host_bytes;

	if (outer_bytes != 0)
		return machine->outer_offset + outer_bytes;
	return host_end > PB_CARD_MEMORY_BYTES ? host_end : PB_CARD_MEMORY_BYTES;
}

static bool make_memory(struct pb_card_files *files, const struct pb_machine *machine)
{
	struct pb_card_host_memory *host = &files->host;
	const uint32_t used = used_bytes(machine, files->outer_bytes);
	void *memory;

	if (!set_path(files->memory_path, files->directory, "/memory"))
		return false;
	/* A card that was killed may have left one; hosts that still map that keep it. */
	unlink(files->memory_path);
	files->memory_file = open(files->memory_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (files->memory_file < 0)
		return say_failed("make", files->memory_path);
	files->reading_file = open(files->memory_path, O_RDONLY | O_CLOEXEC);
	if (files->reading_file < 0)
		return say_failed("open", files->memory_path);
	/* Real blocks, so that a full disk shows here and not as a fault of whoever stores first. */
	errno = posix_fallocate(files->memory_file, 0, used);
	if (errno != 0)
		return say_failed("find room for", files->memory_path);
	if (machine->memory_file_bytes > used &&
	    ftruncate(files->memory_file, machine->memory_file_bytes) != 0)
		return say_failed("extend", files->memory_path);
	/* What lies between card memory and host memory is memory, too: a range that a host has forged may name it. */
	files->mapped = host->count != 0 ? (uint64_t)machine->window_offset + host->bytes : used;
	memory = mmap(NULL, files->mapped, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return say_failed("map", files->memory_path);
	files->memory = memory;
	if (mmap(memory, used, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, files->memory_file, 0) ==
	    MAP_FAILED)
		return say_failed("map", files->memory_path);
	files->host_offset = machine->host_offset;
	files->host_bytes = machine->host_bytes;
	if (host->count == 0)
		return true;
	files->host_offset = machine->window_offset;
	files->host_bytes = host->bytes;
	return pb_card_host_memory_map(host, files->memory + machine->window_offset) ||
	       say_failed("map", host->files[0].path);
}

static int new_socket(int flags)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
}

/* A regular file refuses a connection too, and is not a socket to be replaced. */
static bool is_socket(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Whether no process listens at a socket. */
static bool is_stale(const struct sockaddr_un *address)
{
	int probe = new_socket(SOCK_NONBLOCK);
	bool stale = probe >= 0 && connect(probe, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
		     errno == ECONNREFUSED;

	if (probe >= 0)
		close(probe);
	return stale;
}

/* Makes way at an address that is taken. @return false: errno is EEXIST, EADDRINUSE or the system's */
static bool remove_stale(const struct sockaddr_un *address)
{
	if (!is_socket(address->sun_path)) {
		errno = EEXIST;
		return false;
	}
	if (!is_stale(address)) {
		errno = EADDRINUSE;
		return false;
	}
	return unlink(address->sun_path) == 0;
}

static bool bind_socket(int listener, const struct sockaddr_un *address)
{
	mode_t others = umask(0177);
	bool bound = bind(listener, (const struct sockaddr *)address, sizeof(*address)) == 0;

	if (!bound && errno == EADDRINUSE && remove_stale(address))
		bound = bind(listener, (const struct sockaddr *)address, sizeof(*address)) == 0;
	umask(others);
	return bound;
}

/* Listens at a path. @return -1: not possible */
static int listen_at(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = new_socket(SOCK_NONBLOCK);

	memcpy(address.sun_path, path, strlen(path) + 1);
	if (listener >= 0 && bind_socket(listener, &address)) {
		if (listen(listener, BACKLOG) == 0)
			return listener;
		unlink(path);
	}
	if (errno == EEXIST)
		pb_card_say("%s exists and is no socket", path);
	else if (errno == EADDRINUSE)
		pb_card_say("another card listens at %s", path);
	else
		say_failed("listen at", path);
	if (listener >= 0)
		close(listener);
	return -1;
}

/* @param kept gets the path once something listens there: it is then ours to remove */
static bool make_socket(int *listener, char kept[PB_CARD_PATH_BYTES], const char *directory, const char *name)
{
	char path[PB_CARD_PATH_BYTES];

	if (!set_path(path, directory, name))
		return false;
	*listener = listen_at(path);
	if (*listener < 0)
		return false;
	memcpy(kept, path, sizeof(path));
	return true;
}

static bool make_sockets(struct pb_card_files *files, const struct pb_card_options *options)
{
	const char *socket = options->socket;

	if (options->flash != NULL &&
	    !make_socket(&files->admin_listener, files->admin_path, socket, PB_ADMIN_SUFFIX))
		return false;
	return make_socket(&files->socket_listener, files->socket_path, socket, "") &&
	       make_socket(&files->observe_listener, files->observe_path, socket, PB_SOCKET_OBSERVERS) &&
	       make_socket(&files->lines_listener, files->lines_path, files->directory, "/lines") &&
	       make_socket(&files->monitor_listener, files->monitor_path, files->directory, "/monitor");
}

const char *pb_card_memory_wrong(uint64_t bytes)
{
	if (bytes < PB_CARD_MEMORY_BYTES)
		return "the least is 16 MiB, which the firmware's layout takes";
	if (bytes > PB_CARD_MEMORY_BYTES_MAX)
		return "the most is 256 MiB";
	return (bytes & (bytes - 1u)) != 0 ? "it must be a power of two, which a PCI window needs" : NULL;
}

bool pb_card_files_make(struct pb_card_files *files, const struct pb_machine *machine,
			const struct pb_card_options *options)
{
	const char *wrong = pb_card_memory_wrong(options->memory_bytes);

	*files = (struct pb_card_files){
		.memory_file = -1,
		.reading_file = -1,
		.lines_listener = -1,
		.monitor_listener = -1,
		.socket_listener = -1,
		.observe_listener = -1,
		.admin_listener = -1,
	};
	if (wrong != NULL) {
		pb_card_say("no card has %u bytes of memory: %s", (unsigned)options->memory_bytes, wrong);
		return false;
	}
	if (options->memory_bytes != PB_CARD_MEMORY_BYTES && machine->outer_offset == 0) {
		pb_card_say("board %s has no room for card memory outside of its MCU's window",
			    machine->board);
		return false;
	}
	files->outer_offset = machine->outer_offset;
	files->outer_bytes = options->memory_bytes - PB_CARD_MEMORY_BYTES;
	if (pb_card_host_memory_open(&files->host, machine, options->host, options->host_count) &&
	    make_directory(files, options->directory) && make_sockets(files, options) &&
	    make_memory(files, machine))
		return true;
	pb_card_files_remove(files);
	return false;
}

static void close_and_remove(int file, const char *path)
{
	if (path[0] != '\0')
		unlink(path);
	if (file >= 0)
		close(file);
}

void pb_card_files_remove(struct pb_card_files *files)
{
	if (files->memory != NULL)
		munmap(files->memory, files->mapped);
	close_and_remove(files->socket_listener, files->socket_path);
	close_and_remove(files->admin_listener, files->admin_path);
	close_and_remove(files->observe_listener, files->observe_path);
	close_and_remove(files->lines_listener, files->lines_path);
	close_and_remove(files->monitor_listener, files->monitor_path);
	close_and_remove(files->memory_file, files->memory_path);
	close_and_remove(files->reading_file, "");
	pb_card_host_memory_close(&files->host);
	if (files->made_directory)
		rmdir(files->directory);
}
