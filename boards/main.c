/* SPDX-License-Identifier: MIT */
#include "boards/board.h"

int main(void);

int main(void)
{
	struct pb_firmware *firmware = pb_firmware_instance();

	pb_firmware_init(firmware, pb_board_start());
	for (;;) {
		while (pb_firmware_pass(firmware))
			continue;
		pb_firmware_idle(firmware);
	}
}
