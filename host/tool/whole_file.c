/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool pb_whole_file_begin(struct pb_whole_file *file, const char *path)
{
	const int length = snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", path);
	int descriptor;

	file->path = path;
	if (length < 0 || (size_t)length >= sizeof(file->temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	descriptor = mkostemp(file->temporary, O_CLOEXEC);
	if (descriptor < 0)
		return false;
	file->stream = fdopen(descriptor, "w");
	if (file->stream != NULL)
		return true;
	(void)close(descriptor);
	(void)unlink(file->temporary);
	return false;
}

static bool write_out(FILE *stream)
{
	const int descriptor = fileno(stream);

	return fflush(stream) == 0 && ferror(stream) == 0 && fchmod(descriptor, 0644) == 0 &&
	       fsync(descriptor) == 0;
}

bool pb_whole_file_end(struct pb_whole_file *file)
{
	bool good = write_out(file->stream);
	int reason = errno;

	if (fclose(file->stream) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(file->temporary, file->path) != 0) {
		good = false;
		reason = errno;
	}
	if (!good)
		(void)unlink(file->temporary);
	errno = reason;
	return good;
}
