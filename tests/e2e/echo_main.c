/* SPDX-License-Identifier: MIT */
/* The image that only echoes. */
#include "boards/board.h"
#include "tests/e2e/echo.h"

int main(void);

int main(void)
{
	static struct echo echo;

	echo_boot(&echo, pb_board_start());
	for (;;) {
		echo_pass(&echo);
		echo_idle(&echo);
	}
}
