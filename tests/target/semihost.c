/* SPDX-License-Identifier: MIT */
#include "tests/target/semihost.h"

#define SYS_OPEN          0x01u
#define SYS_WRITE         0x05u
#define SYS_GET_CMDLINE   0x15u
#define SYS_EXIT_EXTENDED 0x20u

#define OPEN_WRITE       4u /* mode "w": of the console's name, its output */
#define APPLICATION_EXIT 0x20026u

void semihost_write(const char *text, size_t bytes)
{
	static const char console[] = ":tt";
	static bool is_open;
	static uint32_t handle;

	if (!is_open) {
		const uintptr_t open[] = {(uintptr_t)console, OPEN_WRITE, sizeof(console) - 1};

		handle = semihost_call(SYS_OPEN, open);
		is_open = true;
	}
	const uintptr_t write[] = {handle, (uintptr_t)text, bytes};
	(void)semihost_call(SYS_WRITE, write);
}

bool semihost_command_line(char *line, size_t bytes)
{
	const uintptr_t block[] = {(uintptr_t)line, bytes};

	return semihost_call(SYS_GET_CMDLINE, block) == 0;
}

_Noreturn void semihost_exit(uint32_t status)
{
	const uintptr_t block[] = {APPLICATION_EXIT, status};

	for (;;)
		(void)semihost_call(SYS_EXIT_EXTENDED, block);
}
