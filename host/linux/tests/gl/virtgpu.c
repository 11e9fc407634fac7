// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * pbd-gl [NAME...]: tests of the driver's OpenGL (module parameter virtgpu=1), without an OpenGL library: commands of the
 * virgl protocol are written by hand, as pbd-test writes its own. A line "ok NAME MILLISECONDS" or "FAIL ..." for each.
 */
#include "gl.h"

#define ROW(name) {#name, name}
static const struct guest_test tests[] = {
	ROW(the_engine_says_what_it_is),
	ROW(a_triangle_reads_back),
	ROW(transfers_go_both_ways),
	ROW(fences_go_in_and_out),
	ROW(wrong_arguments_are_refused),
	ROW(a_wrong_stream_costs_its_file_alone),
	ROW(a_resource_that_cannot_be_costs_its_file_alone),
	ROW(a_renderer_may_rest),
	ROW(a_hang_costs_its_file_alone),
	ROW(fdinfo_says_who_draws),
	ROW(debugfs_says_what_a_client_does),
	ROW(files_see_what_others_draw),
	ROW(files_change_parts_of_a_picture),
	ROW(what_a_file_drew_outlives_it),
	ROW(a_writer_that_fails_costs_no_reader),
	ROW(a_writer_that_hangs_costs_no_reader),
	ROW(what_cannot_be_shared_is_refused),
	ROW(a_name_shares_a_resource),
	ROW(files_share_by_chance),
	ROW(files_take_turns),
	ROW(many_files_draw),
	ROW(a_file_may_close_while_it_draws),
	ROW(arguments_of_chance_harm_no_other_file),
	ROW(a_resource_is_shown),
	ROW(a_resource_of_another_file_is_shown),
	ROW(the_device_unbinds_while_files_draw),
	ROW(files_draw_when_the_firmware_is_back),
	ROW(what_is_drawn_ends_with_the_card),
};

int main(int argc, char **argv)
{
	return guest_run(tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
