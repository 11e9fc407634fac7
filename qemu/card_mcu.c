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

/* Room for the emulator's name of a place to listen at. */
#define GDB_BYTES 256u

/* Has the MCU stand at reset until gdb lets it run. @return false: there is no room for that */
static bool wait_for_gdb(struct pb_machine_command *command, const char *gdb, char device[GDB_BYTES])
{
	static char stand[] = "-S";
	static char listen[] = "-gdb";
	const int length = gdb[0] == '/' ? snprintf(device, GDB_BYTES, "unix:%s,server=on,wait=off", gdb)
					 : snprintf(device, GDB_BYTES, "tcp:%s", gdb);
	size_t count = 0;

	while (command->argv[count] != NULL)
		count++;
	/* A comma would end the path. */
	if (length < 0 || (size_t)length >= GDB_BYTES || strchr(gdb, ',') != NULL ||
	    count + 3u > PB_MACHINE_ARGUMENTS)
		return false;
	command->argv[count++] = stand;
	command->argv[count++] = listen;
	command->argv[count++] = device;
	command->argv[count] = NULL;
	return true;
}

bool pb_card_mcu_start(struct pb_card_mcu *mcu, const struct pb_machine *machine,
		       const struct pb_machine_files *files, const char *gdb)
{
	char device[GDB_BYTES];
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
	if (gdb != NULL && !wait_for_gdb(&command, gdb, device)) {
		pb_card_say("%s is no place to listen for gdb: HOST:PORT, or a short path without a comma",
			    gdb);
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
