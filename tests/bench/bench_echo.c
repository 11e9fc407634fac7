/* SPDX-License-Identifier: MIT */
/* The echoing firmware in the place of the firmware, while everything is busy. */
#include "tests/bench/bench.h"
#include "tests/bench/bench_board.h"
#include "tests/e2e/echo.h"

int main(void);

static struct echo echo;

struct pb_firmware *pb_firmware_instance(void)
{
	return (struct pb_firmware *)(void *)&echo;
}

void pb_firmware_init(struct pb_firmware *firmware, const struct pb_firmware_config *config)
{
	echo_boot((struct echo *)(void *)firmware, config);
}

bool pb_firmware_pass(struct pb_firmware *firmware)
{
	echo_pass((struct echo *)(void *)firmware);
	return false;
}

int main(void)
{
	pb_bench_saturated(NULL, "sat_echo_instr_per_submission");
	pb_bench_exit(0);
}
