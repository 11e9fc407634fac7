/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The checks of pbd-kms that are not in kms.c. */
#ifndef PBD_KMS_CHECKS_H
#define PBD_KMS_CHECKS_H

/* Name of the driver whose device is checked. */
extern const char *kms_driver;

/* kms_events.c: events that are read. */
#define KMS_EVENTS(X)                                                                                        \
	X(events_are_read_whole)                                                                             \
	X(several_events_are_read_at_once)                                                                   \
	X(events_stay_when_the_buffer_is_bad)                                                                \
	X(reads_wait_for_events)

/* kms_state.c: fences of commits, property blobs, properties. */
#define KMS_STATES(X)                                                                                        \
	X(commits_give_fences)                                                                               \
	X(commits_wait_for_fences)                                                                           \
	X(commits_wait_for_fences_of_their_buffers)                                                          \
	X(bad_fences_of_commits_are_refused)                                                                 \
	X(blobs_are_made_and_destroyed)                                                                      \
	X(blobs_end_with_their_file)                                                                         \
	X(properties_have_limits)                                                                            \
	X(values_beyond_the_limits_are_refused)

/* kms_buffers.c: buffers as files, and fences in them. Any driver with dumb buffers. */
#define KMS_BUFFERS(X)                                                                                       \
	X(a_buffer_that_returns_has_its_handle)                                                              \
	X(handles_of_two_files_are_counted)                                                                  \
	X(bad_buffers_are_refused)                                                                           \
	X(a_buffer_is_mapped_by_its_file)                                                                    \
	X(a_mapping_outlives_handle_and_file)                                                                \
	X(fences_go_into_buffers_and_out)                                                                    \
	X(the_processor_waits_for_fences)

/* kms_files.c: files of the device, and its end. Any driver. The last one unbinds the device. */
#define KMS_FILES(X)                                                                                         \
	X(versions_are_reported)                                                                             \
	X(a_file_learns_who_it_is)                                                                           \
	X(one_file_is_master)                                                                                \
	X(a_master_authenticates_others)                                                                     \
	X(a_master_without_rights_may_return)                                                                \
	X(many_files_open_and_close)                                                                         \
	X(syncobjs_are_offered)                                                                              \
	X(the_device_unbinds_with_open_files)

#define KMS_PROTOTYPE(name) void name(void);
KMS_EVENTS(KMS_PROTOTYPE)
KMS_STATES(KMS_PROTOTYPE)
KMS_BUFFERS(KMS_PROTOTYPE)
KMS_FILES(KMS_PROTOTYPE)
#undef KMS_PROTOTYPE

#endif
