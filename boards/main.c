/* SPDX-License-Identifier: MIT */
#include "boards/board.h"
#include "boards/image.h"
#include "hal/halt.h"
#include "hal/protect.h"
#include "patchbay/abi/boot.h"

int main(void);

/** Card memory that a refusal may write: the boot block and the capability table behind it. */
#define REFUSAL_BYTES 0x400u

/** Reports why the image does not run, and halts. */
static _Noreturn void refuse(struct pb_firmware *firmware, const struct pb_firmware_config *config,
			     const struct pb_fatal_record *record)
{
	pb_firmware_refuse(firmware, config, record);
	pb_hal_write_back((uintptr_t)config->memory, REFUSAL_BYTES);
	pb_hal_halt();
}

/** Refuses to run a damaged image. Nothing else of it has run. */
static _Noreturn void refuse_image(struct pb_firmware *firmware, uint32_t crc)
{
	const uint32_t start = (uint32_t)(uintptr_t)pb_image_start;
	const struct pb_fatal_record record = {
		.kind = PB_FATAL_BAD_IMAGE,
		.pc = start,
		.status = crc,
		.address = start + PB_IMAGE_HEADER_OFFSET,
	};

	refuse(firmware, pb_board_start(), &record);
}

/** Refuses to run where stray accesses are not stopped, or hosts do not see what the CPU stores. */
static void check_memory(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	const struct pb_protection *protection = pb_hal_protection();
	const uintptr_t memory = (uintptr_t)config->memory;
	const struct pb_fatal_record unprotected = {
		.kind = PB_FATAL_UNPROTECTED, .status = protection->has, .address = protection->needs};
	const struct pb_fatal_record cached = {.kind = PB_FATAL_CACHED_MEMORY, .address = (uint32_t)memory};

	if (protection->has < protection->needs)
		refuse(firmware, config, &unprotected);
	if (pb_hal_may_cache(memory, config->memory_bytes + config->trace_bytes))
		refuse(firmware, config, &cached);
}

int main(void)
{
	struct pb_firmware *firmware = pb_firmware_instance();
	const struct pb_firmware_config *config;
	uint32_t crc;

	if (!pb_image_whole(pb_image_start, pb_image_end, &crc))
		refuse_image(firmware, crc);
	config = pb_board_start();
	check_memory(firmware, config);
	pb_firmware_init(firmware, config);
	for (;;) {
		while (pb_firmware_pass(firmware))
			continue;
		pb_firmware_idle(firmware);
	}
}
