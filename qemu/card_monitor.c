/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_monitor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Least time that the MCU may run between two probes. */
#define RUN_US 1000u

/* How a line begins that answers a command; other lines report events, or greet. */
static const char answer[] = "{\"return\"";

void pb_card_monitor_init(struct pb_card_monitor *monitor)
{
	*monitor = (struct pb_card_monitor){.socket = -1};
}

void pb_card_monitor_restart(struct pb_card_monitor *monitor)
{
	if (monitor->socket >= 0)
		close(monitor->socket);
	pb_card_monitor_init(monitor);
}

/* One that cannot be sent has no answer: the clock then waits for its proof for ever, as it must. */
static void ask(struct pb_card_monitor *monitor, const char *command, enum pb_card_monitor_state state)
{
	monitor->state = state;
	(void)send(monitor->socket, command, strlen(command), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void pb_card_monitor_connect(struct pb_card_monitor *monitor, int socket)
{
	monitor->socket = socket;
	ask(monitor, "{\"execute\":\"qmp_capabilities\"}\n", PB_CARD_MONITOR_GREETING);
}

static void take_answer(struct pb_card_monitor *monitor, uint64_t now)
{
	switch (monitor->state) {
	case PB_CARD_MONITOR_STOPPING:
		ask(monitor, "{\"execute\":\"cont\"}\n", PB_CARD_MONITOR_GOING_ON);
		break;
	case PB_CARD_MONITOR_GOING_ON:
		monitor->proven = true;
		monitor->next =
			now + (2 * (now - monitor->asked) > RUN_US ? 2 * (now - monitor->asked) : RUN_US);
		monitor->state = PB_CARD_MONITOR_READY;
		break;
	case PB_CARD_MONITOR_GREETING:
		monitor->state = PB_CARD_MONITOR_READY;
		break;
	case PB_CARD_MONITOR_OFF:
	case PB_CARD_MONITOR_READY:
	default:
		break;
	}
}

static void take_byte(struct pb_card_monitor *monitor, char byte, uint64_t now)
{
	if (byte == '\n') {
		monitor->matched = 0;
		monitor->skipping = false;
	} else if (!monitor->skipping) {
		monitor->skipping = byte != answer[monitor->matched++];
		if (monitor->skipping || monitor->matched < sizeof(answer) - 1)
			return;
		monitor->skipping = true;
		take_answer(monitor, now);
	}
}

bool pb_card_monitor_receive(struct pb_card_monitor *monitor, uint64_t now)
{
	char bytes[512];
	ssize_t got = recv(monitor->socket, bytes, sizeof(bytes), MSG_DONTWAIT);

	for (ssize_t i = 0; i < got; i++)
		take_byte(monitor, bytes[i], now);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

void pb_card_monitor_probe(struct pb_card_monitor *monitor, uint64_t now)
{
	if (monitor->state != PB_CARD_MONITOR_READY || now < monitor->next)
		return;
	monitor->asked = now;
	ask(monitor, "{\"execute\":\"stop\"}\n", PB_CARD_MONITOR_STOPPING);
}

bool pb_card_monitor_proof(struct pb_card_monitor *monitor)
{
	const bool proven = monitor->proven;

	monitor->proven = false;
	return proven;
}
