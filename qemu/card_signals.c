/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

void pb_card_signals_block(struct pb_card_signals *signals)
{
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGHUP);
	sigprocmask(SIG_BLOCK, &ours, &signals->former);
	signals->file = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

void pb_card_signals_unblock(struct pb_card_signals *signals)
{
	struct signalfd_siginfo taken;

	/* Taken, or it would strike when the mask is back. */
	while (signals->file >= 0 && read(signals->file, &taken, sizeof(taken)) > 0)
		continue;
	if (signals->file >= 0)
		close(signals->file);
	signals->file = -1;
	sigprocmask(SIG_SETMASK, &signals->former, NULL);
}
