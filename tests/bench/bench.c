/* SPDX-License-Identifier: MIT */
/*
 * Instruction counts of the submission path, measured inside the image without a host: this program is host,
 * engine and counter around the core and drivers that the board ships. Prints "key value" lines. A run with
 * any failure ends with an error instead of a figure.
 */
#include "tests/bench/bench.h"

#include "tests/bench/bench_board.h"

/** What the default log levels add, whether the host or the engine waits for it or not. */
static void measure_trace(const struct pb_bench_spans *untraced)
{
	struct pb_bench_spans traced;

	pb_bench_boot(true);
	traced = pb_bench_empty();
	pb_bench_print_span("trace_submit_instr", traced.submit_to_sleep - untraced->submit_to_sleep);
	pb_bench_print_span("trace_retire_instr", traced.retire_to_sleep - untraced->retire_to_sleep);
	pb_bench_boot(false);
}

int main(void);

int main(void)
{
	struct pb_bench_spans spans;

	pb_bench_boot(false);
	spans = pb_bench_empty();
	pb_bench_print_span("submit_instr", spans.submit);
	pb_bench_print_span("retire_instr", spans.retire);
	pb_bench_print_span("asleep_instr_per_submission", spans.submit_to_sleep + spans.retire_to_sleep);
	measure_trace(&spans);
	pb_bench_schedule();
	pb_bench_patches();
	pb_bench_fixed();
	pb_bench_delays();
	pb_bench_clients();
	pb_bench_saturated("sat_instr_per_submission", "sat_all_instr_per_submission");
	pb_bench_exit(0);
}
