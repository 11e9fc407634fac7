/* SPDX-License-Identifier: MIT */
#include "boards/board.h"
#include "boards/image.h"
#include "hal/halt.h"
#include "patchbay/abi/boot.h"

int main(void);

/** Reports a damaged image and halts; no other code of it is run. */
static _Noreturn void refuse(struct pb_firmware *firmware, uint32_t crc)
{
	const uint32_t start = (uint32_t)(uintptr_t)pb_image_start;
	const struct pb_fatal_record record = {
		.kind = PB_FATAL_BAD_IMAGE,
		.pc = start,
		.status = crc,
		.address = start + PB_IMAGE_HEADER_OFFSET,
	};

	pb_firmware_refuse(firmware, pb_board_start(), &record);
	pb_hal_halt();
}

int main(void)
{
	struct pb_firmware *firmware = pb_firmware_instance();
	uint32_t crc;

	if (!pb_image_whole(pb_image_start, pb_image_end, &crc))
		refuse(firmware, crc);
	pb_firmware_init(firmware, pb_board_start());
	for (;;) {
		while (pb_firmware_pass(firmware))
			continue;
		pb_firmware_idle(firmware);
	}
}
