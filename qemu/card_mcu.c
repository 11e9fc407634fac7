/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "qemu/card_mcu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "qemu/card_say.h"

/* In the child: gives the MCU nothing of the card but standard error, and turns into it. */
static _Noreturn void become(char *const *argv, pid_t card, int failure)
{
	sigset_t none;
	int reason;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Its own group: Ctrl-C at a terminal is for the card, which then ends the MCU. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == card && null >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(null, STDOUT_FILENO) >= 0 && close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		execvp(argv[0], argv);
	reason = errno;
	if (write(failure, &reason, sizeof(reason)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits until the child has turned into the MCU. @return 0, or the errno of its failure */
static int await_exec(int failure)
{
	int reason = 0;

	return read(failure, &reason, sizeof(reason)) == (ssize_t)sizeof(reason) ? reason : 0;
}

static void say_why(const struct pb_machine *machine, int reason)
{
	if (reason == ENOENT)
		pb_card_say("%s is not installed; Debian package %s has it", machine->program,
			    machine->package);
	else
		pb_card_say("cannot start %s: %s", machine->program, strerror(reason));
}

static bool spawn(struct pb_card_mcu *mcu, char *const *argv, int *reason)
{
	pid_t card = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		*reason = errno;
		return false;
	}
	mcu->pid = fork();
	if (mcu->pid == 0)
		become(argv, card, ends[1]);
	*reason = errno;
	close(ends[1]);
	if (mcu->pid > 0)
		*reason = await_exec(ends[0]);
	else
		mcu->pid = 0;
	close(ends[0]);
	return *reason == 0;
}

bool pb_card_mcu_start(struct pb_card_mcu *mcu, const struct pb_machine *machine,
		       const struct pb_machine_files *files)
{
	struct pb_machine_command command;
	int reason;

	*mcu = (struct pb_card_mcu){.pid = 0, .process = -1};
	if (access(files->image, R_OK) != 0) {
		pb_card_say("no firmware image at %s: %s", files->image, strerror(errno));
		return false;
	}
	if (!pb_machine_command(&command, machine, files)) {
		pb_card_say("the paths are too long for a command line");
		return false;
	}
	if (spawn(mcu, command.argv, &reason)) {
		mcu->process = pidfd_open(mcu->pid, 0);
		if (mcu->process >= 0)
			return true;
		reason = errno;
	}
	say_why(machine, reason);
	pb_card_mcu_stop(mcu);
	return false;
}

int pb_card_mcu_collect(struct pb_card_mcu *mcu)
{
	int status = 0;

	while (waitpid(mcu->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (mcu->process >= 0)
		close(mcu->process);
	*mcu = (struct pb_card_mcu){.pid = 0, .process = -1};
	return status;
}

void pb_card_mcu_stop(struct pb_card_mcu *mcu)
{
	/* It has nothing to save. */
	if (mcu->pid > 0 && kill(mcu->pid, SIGKILL) == 0)
		pb_card_mcu_collect(mcu);
}

void pb_card_mcu_status(int status, char *text, size_t bytes)
{
	if (WIFSIGNALED(status))
		snprintf(text, bytes, "signal %d", WTERMSIG(status));
	else
		snprintf(text, bytes, "exit status %d", WEXITSTATUS(status));
}
