/* SPDX-License-Identifier: MIT */
#include "host/tool/trace_import.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "host/tool/trace_file.h"
#include "host/tool/trace_host.h"

static int complain(const char *program, const char *file, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", program, file, why);
	return 1;
}

/**
 * Finds the first of `count` numbers of guests that the trace has no events of yet.
 * @return NULL, or why the trace cannot be read, or takes no more
 */
static const char *find_number(FILE *file, uint32_t count, uint32_t *guest)
{
	struct pb_trace_data data;
	const char *wrong = pb_trace_file_read(file, &data);
	const uint64_t next = data.guest_end;

	pb_trace_data_free(&data);
	if (wrong == NULL && next + count > UINT32_MAX)
		return "the trace has no number for another guest";
	*guest = (uint32_t)next;
	return wrong;
}

static bool copy(FILE *from, FILE *to)
{
	char bytes[65536];
	size_t count;

	rewind(from);
	while ((count = fread(bytes, 1, sizeof(bytes), from)) != 0) {
		if (fwrite(bytes, count, 1, to) != 1)
			return false;
	}
	return ferror(from) == 0;
}

/** Writes the events of a guest, or each event of hosts with the number of its section. */
static bool write_events(FILE *joined, uint32_t number, const struct pb_guest_trace *guest,
			 const struct pb_trace_host *host)
{
	bool good = pb_trace_file_guest(joined, number, guest->events, guest->count);

	for (size_t i = 0; good && i < host->count; i++)
		good = pb_trace_file_guest(joined, number + host->numbers[i], &host->events[i], 1);
	return good;
}

static int write_joined(const char *program, const struct pb_trace_import *files, FILE *trace,
			const struct pb_guest_trace *guest, const struct pb_trace_host *host)
{
	uint32_t number;
	/* A guest has one number, each section of a host's file another one. */
	const char *wrong = find_number(trace, host->sections != 0 ? host->sections : 1u, &number);
	int reason = 0;
	FILE *joined;

	if (wrong != NULL)
		return complain(program, files->trace, wrong);
	joined = fopen(files->joined, "wb");
	if (joined == NULL)
		return complain(program, files->joined, strerror(errno));
	errno = 0;
	if (!copy(trace, joined) || !write_events(joined, number, guest, host))
		reason = errno != 0 ? errno : EIO;
	if (fclose(joined) != 0 && reason == 0)
		reason = errno;
	return reason == 0 ? 0 : complain(program, files->joined, strerror(reason));
}

static int read_guest(const char *program, const char *path, struct pb_guest_trace *guest,
		      struct pb_trace_host *host)
{
	FILE *file = fopen(path, "r");
	const char *wrong;

	if (file == NULL)
		return complain(program, path, strerror(errno));
	if (pb_trace_host_is(file)) {
		wrong = pb_trace_host_read(file, host);
		(void)fclose(file);
		return wrong == NULL ? 0 : complain(program, path, wrong);
	}
	wrong = pb_guest_trace_read(file, guest);
	(void)fclose(file);
	if (wrong == NULL)
		return 0;
	fprintf(stderr, "%s: %s:%" PRIu32 ": %s\n", program, path, guest->line, wrong);
	return 1;
}

/** Whether both paths lead to one file, also by links. */
static bool is_same_file(const char *one, const char *other)
{
	struct stat first, second;

	return stat(one, &first) == 0 && stat(other, &second) == 0 && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

int pb_trace_import(const char *program, const struct pb_trace_import *files)
{
	struct pb_guest_trace guest = {.events = NULL};
	struct pb_trace_host host = {.events = NULL};
	FILE *trace = fopen(files->trace, "rb");
	int code;

	if (trace == NULL)
		return complain(program, files->trace, strerror(errno));
	/* It would be emptied before it is read. */
	if (is_same_file(files->joined, files->trace) || is_same_file(files->joined, files->guest)) {
		(void)fclose(trace);
		return complain(program, files->joined, "is also read: give another file to write");
	}
	code = read_guest(program, files->guest, &guest, &host);
	if (code == 0)
		code = write_joined(program, files, trace, &guest, &host);
	if (code == 0 && host.sections != 0)
		printf("%zu events of hosts, %" PRIu64 " lost\n", host.count, host.lost);
	else if (code == 0)
		printf("%zu events of the guest, %" PRIu64 " lost\n", guest.count, guest.lost);
	pb_guest_trace_free(&guest);
	pb_trace_host_free(&host);
	(void)fclose(trace);
	return code;
}
