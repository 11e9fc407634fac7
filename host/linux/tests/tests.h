/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The tests, in the order in which they run. */
#ifndef PBD_TESTS_H
#define PBD_TESTS_H

#define PBD_TESTS(X)                                                                                         \
	X(the_card_says_what_it_is)                                                                          \
	X(new_objects_are_zero)                                                                              \
	X(dumb_buffers_are_mapped)                                                                           \
	X(commands_run_on_each_node)                                                                         \
	X(a_rectangle_is_copied)                                                                             \
	X(triangles_are_drawn)                                                                               \
	X(bad_commands_are_refused)                                                                          \
	X(bad_arguments_are_refused)                                                                         \
	X(an_object_is_patched)                                                                              \
	X(a_bad_patch_costs_its_queue_alone)                                                                 \
	X(a_hang_costs_its_queue_alone)                                                                      \
	X(queues_end_with_their_files)                                                                       \
	X(a_card_has_contexts_for_hundreds_of_files)                                                         \
	X(contexts_return_while_others_work)                                                                 \
	X(contexts_return_though_the_worker_is_late)                                                         \
	X(high_priority_needs_the_right)                                                                     \
	X(a_file_may_close_with_work_in_flight)                                                              \
	X(waits_end_in_time)                                                                                 \
	X(timelines_order_queues)                                                                            \
	X(objects_order_their_users)                                                                         \
	X(a_sync_file_goes_in_and_out)                                                                       \
	X(a_failure_elsewhere_does_not_fail_a_waiter)                                                        \
	X(foreign_fences_are_waited_for_in_the_kernel)                                                       \
	X(many_fences_are_waited_for_at_once)                                                                \
	X(a_closed_file_still_waits_for_foreign_fences)                                                      \
	X(syncobj_arguments_are_checked)                                                                     \
	X(syncobjs_are_waited_for_by_any_and_all)                                                            \
	X(submissions_that_come_later_are_waited_for)                                                        \
	X(syncobjs_are_reset_and_signaled_together)                                                          \
	X(syncobjs_go_to_other_files)                                                                        \
	X(timelines_are_queried_and_transferred)                                                             \
	X(points_are_signaled_by_the_processor)                                                              \
	X(objects_that_are_freed_make_room)                                                                  \
	X(objects_keep_their_contents_when_they_move)                                                        \
	X(what_does_not_fit_is_refused)                                                                      \
	X(lists_that_wait_leave_room_for_others)                                                             \
	X(a_client_that_waits_for_vram_stops_no_other)                                                       \
	X(waiting_for_others_keeps_a_part_of_vram)                                                           \
	X(each_file_keeps_its_own_part_of_vram)                                                              \
	X(fences_of_others_keep_no_object_in_vram)                                                           \
	X(the_longest_lists_are_carried_out)                                                                 \
	X(four_processes_share_the_card)                                                                     \
	X(unneeded_contents_are_thrown_away)                                                                 \
	X(unneeded_contents_are_not_moved)                                                                   \
	X(unneeded_objects_make_room_in_memory)                                                              \
	X(objects_are_swapped_when_memory_is_short)                                                          \
	X(objects_of_other_drivers_are_used)                                                         \
	X(objects_of_other_drivers_order_their_users)                                                \
	X(fences_of_another_driver_come_with_its_object)                                             \
	X(objects_of_other_drivers_make_room)                                                        \
	X(objects_are_lent_to_other_drivers)                                                         \
	X(mappings_of_files_follow_their_objects)                                                    \
	X(fdinfo_says_who_works)                                                                             \
	X(fdinfo_says_where_objects_lie)                                                                     \
	X(debugfs_says_what_a_queue_waits_for)                                                               \
	X(debugfs_counts_memory_and_queues)                                                                  \
	X(tracepoints_follow_a_submission)                                                                   \
	X(arguments_of_chance_harm_no_other_file)                                                            \
	X(calls_of_chance_in_chains_harm_no_other_file)

/* The device comes and goes; the guest does that itself. */
#define PBD_LIFE(X)                                                                                          \
	X(objects_keep_their_contents_over_a_sleep)                                                          \
	X(submissions_that_wait_survive_a_sleep)                                                             \
	X(a_failed_queue_has_failed_after_a_sleep)                                                           \
	X(a_machine_sleeps_under_load)                                                                       \
	X(the_whole_machine_sleeps)                                                                          \
	X(the_module_loads_again)                                                                            \
	X(the_device_unbinds_under_load)                                                                     \
	X(the_device_is_removed_and_found_again)                                                             \
	X(fences_outlive_the_device)                                                                         \
	X(mappings_end_with_the_device)

/* A kernel of the project's own has what they need (scripts/linux --debug-kernel). */
#define PBD_DEBUG(X) X(sw_sync_fences_are_waited_for)

/* The machine below takes part: a line "HOST WORD" on the console asks for it. */
#define PBD_WITH_HOST(X)                                                                                     \
	X(flips_show_the_picture)                                                                            \
	X(damage_is_all_that_is_taken)                                                                       \
	X(each_mode_has_room_after_each_other)                                                               \
	X(the_picture_returns_after_a_sleep)                                                                 \
	X(pictures_of_another_driver_are_shown)                                                              \
	X(the_firmware_dies_and_returns)                                                                     \
	X(a_card_that_is_gone_ends_all_fences)                                                               \
	X(host_memory_survives_the_firmware)                                                                 \
	X(host_memory_of_others_is_left_alone)                                                               \
	X(load_runs_for_a_while)

/* The machine below wakes this one, and does something to the card before (scripts/linux run_sleep). */
#define PBD_WAKE(X)                                                                                          \
	X(a_machine_that_is_woken_is_as_before)                                                              \
	X(the_clock_wakes_the_machine)                                                                       \
	X(the_button_wakes_the_machine)                                                                      \
	X(others_draw_while_the_machine_sleeps)                                                              \
	X(the_firmware_dies_while_the_machine_sleeps)                                                        \
	X(another_card_starts_while_the_machine_sleeps)                                                      \
	X(a_machine_sleeps_when_memory_is_short)                                                             \
	X(a_machine_returns_from_disk_by_the_platform)                                                       \
	X(a_machine_returns_from_disk_by_a_shutdown)                                                         \
	X(a_machine_returns_from_disk_on_another_card)                                                       \
	X(a_machine_returns_from_disk_on_a_smaller_card)

/* Calls of which each allocation fails, with pbd_fail.ko (scripts/linux run_fail). */
#define PBD_FAIL_CALLS(X)                                                                                    \
	X(open)                                                                                              \
	X(create)                                                                                            \
	X(dumb)                                                                                              \
	X(queue_create)                                                                                      \
	X(queue_query)                                                                                       \
	X(submit)                                                                                            \
	X(submit_patches)                                                                                    \
	X(submit_syncs)                                                                                      \
	X(import)                                                                                            \
	X(lend)

/* Of these, those that use the display, and those that use i915's uAPI. */
#define PBD_FAIL_DISPLAY(X)                                                                                  \
	X(mode)                                                                                              \
	X(flip)                                                                                              \
	X(dirty)
#define PBD_FAIL_I915(X)                                                                                     \
	X(i915_create)                                                                                       \
	X(i915_context)                                                                                      \
	X(i915_execute)                                                                                      \
	X(i915_fences)

/* The card reaches this machine's memory (scripts/linux run_host). */
#define PBD_HOST(X)                                                                                          \
	X(engines_reach_host_memory)                                                                         \
	X(host_memory_takes_what_vram_cannot)                                                                \
	X(addresses_of_host_memory_are_used_again)                                                           \
	X(host_memory_is_patched)                                                                            \
	X(unneeded_contents_leave_host_memory)                                                               \
	X(the_engine_moves_objects)                                                                          \
	X(moves_are_waited_for)                                                                              \
	X(new_objects_in_host_memory_are_zero)                                                               \
	X(host_memory_survives_a_sleep)

/* With the module's parameter i915=1. */
#define PBD_I915(X)                                                                                          \
	X(i915_is_what_mesa_looks_for)                                                                       \
	X(i915_unneeded_buffers_are_thrown_away)                                                             \
	X(i915_relocations_are_written)                                                                      \
	X(i915_relocations_follow_objects_that_move)                                                         \
	X(i915_objects_make_room_for_each_other)                                                             \
	X(i915_processes_share_the_card)                                                                     \
	X(i915_long_lists_are_patched)                                                                       \
	X(i915_memory_of_the_caller_is_copied)                                                               \
	X(i915_memory_of_the_caller_is_not_copied_under_a_batch)                                             \
	X(i915_bad_batches_are_refused)                                                                      \
	X(i915_fences_go_in_and_out)                                                                         \
	X(i915_foreign_fences_are_waited_for)                                                                \
	X(i915_contexts_are_queues)                                                                          \
	X(i915_objects_are_mapped_by_gem_mmap)                                                               \
	X(i915_bad_mappings_are_refused)                                                                     \
	X(i915_parts_of_mappings_show_their_pages)                                                           \
	X(i915_mappings_of_files_follow_their_objects)                                                       \
	X(i915_mappings_of_two_processes_stay_apart)                                                         \
	X(i915_queries_have_limits)                                                                          \
	X(i915_caches_are_dropped)                                                                           \
	X(i915_captures_find_all_relocations)                                                                \
	X(i915_captures_hold_nothing)                                                                        \
	X(i915_captures_end_with_their_file)                                                                 \
	X(i915_batches_of_chance_harm_no_other_file)                                                         \
	X(i915_captures_end_with_the_device)                                                                 \
	X(i915_mappings_and_waits_end_with_the_device)

#define PBD_TEST_PROTOTYPE(name) void name(void);
PBD_TESTS(PBD_TEST_PROTOTYPE)
PBD_LIFE(PBD_TEST_PROTOTYPE)
PBD_WITH_HOST(PBD_TEST_PROTOTYPE)
PBD_DEBUG(PBD_TEST_PROTOTYPE)
PBD_WAKE(PBD_TEST_PROTOTYPE)
PBD_HOST(PBD_TEST_PROTOTYPE)
PBD_I915(PBD_TEST_PROTOTYPE)
#define PBD_FAIL_PROTOTYPE(name) void fail_##name(void);
PBD_FAIL_CALLS(PBD_FAIL_PROTOTYPE)
PBD_FAIL_DISPLAY(PBD_FAIL_PROTOTYPE)
PBD_FAIL_I915(PBD_FAIL_PROTOTYPE)
#undef PBD_FAIL_PROTOTYPE
PBD_TEST_PROTOTYPE(calls_that_need_no_memory_succeed_without)
PBD_TEST_PROTOTYPE(nothing_is_left_of_the_tests)
#undef PBD_TEST_PROTOTYPE

#endif
