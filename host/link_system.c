/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/link_system.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

uint64_t pb_clock_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

enum pb_error pb_connect_unix(const char *path, int *to)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*to = -1;
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return PB_ERROR_SYSTEM;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	*to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*to < 0)
		return PB_ERROR_SYSTEM;
	if (connect(*to, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return PB_ERROR_OK;
	return errno == ENOENT || errno == ECONNREFUSED ? PB_ERROR_NO_CARD : PB_ERROR_SYSTEM;
}
