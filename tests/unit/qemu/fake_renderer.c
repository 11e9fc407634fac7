/* SPDX-License-Identifier: MIT */
/* Stands for a renderer's program, and answers as FAKE_RENDERER says. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qemu/gl/protocol.h"

static void answer(const struct pb_renderer_request *request, const char *how)
{
	struct pb_renderer_reply replies[2] = {{request->serial, PB_RENDERER_DONE}};
	size_t bytes = sizeof(replies[0]);

	if (strcmp(how, "refuses") == 0)
		replies[0].status = PB_RENDERER_REFUSED;
	else if (strcmp(how, "status") == 0)
		replies[0].status = 7;
	else if (strcmp(how, "serial") == 0)
		replies[0].serial++;
	else if (strcmp(how, "short") == 0)
		bytes = 4;
	else if (strcmp(how, "long") == 0)
		bytes = sizeof(replies);
	send(PB_RENDERER_SOCKET, replies, bytes, 0);
	if (strcmp(how, "twice") == 0)
		send(PB_RENDERER_SOCKET, replies, bytes, 0);
}

int main(void)
{
	const char *how = getenv("FAKE_RENDERER");
	struct pb_renderer_request request;

	while (recv(PB_RENDERER_SOCKET, &request, sizeof(request), 0) == (ssize_t)sizeof(request)) {
		if (strcmp(how, "ends") == 0)
			return 3;
		while (strcmp(how, "busy") == 0)
			(void)getppid();
		if (strcmp(how, "silent") != 0)
			answer(&request, how);
	}
	return 0;
}
