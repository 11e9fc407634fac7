/* SPDX-License-Identifier: MIT */
/* Arm application note AN547, sections 3 and 4: UART 1, and the receive interrupt of UART 0. */
#include "tests/bench/bench_board.h"
#include "tests/bench/cmsdk.h"

const struct pb_bench_cmsdk pb_bench_cmsdk = {
	.uart = 0x59304000u,
	.receive_interrupt = 33u,
	.megahertz = 32u,
};

/*
 * Alarms belong to measurements that this board does not run; only the calibration waits for one. It rings when it is
 * started.
 */

static uint32_t alarms;

const uint32_t *pb_bench_board_alarms(void)
{
	return &alarms;
}

void pb_bench_board_alarm_start(void)
{
	alarms = 1;
}

void pb_bench_board_alarm_stop(void)
{
	alarms = 0;
}

bool pb_bench_board_alarm_rang(uint32_t *counter)
{
	*counter = pb_bench_board_counter();
	return false;
}
