/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The handlers of control commands, which command/control.c dispatches to. A
 * handler checks the command's arguments and calls the module that does the
 * work; it has no state. CONTRIBUTING.md shows how to add one.
 */
#ifndef PB_FIRMWARE_COMMAND_HANDLERS_H
#define PB_FIRMWARE_COMMAND_HANDLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "patchbay/abi/channel.h"
#include "patchbay/abi/errors.h"

struct pb_firmware;

/** One command that is being carried out. */
struct pb_core_request {
	struct pb_firmware *firmware;
	uint32_t channel;                         /**< whose command it is */
	uint32_t tag;                             /**< for a reply that is deferred */
	uint32_t arguments[PB_COMMAND_ARGUMENTS]; /**< as many as the command has; read once */
	uint32_t *results;                        /**< PB_REPLY_RESULTS of them, 0 */
	bool repeated;                            /**< it was carried out before, with `again` */
	bool later;                               /**< set by the handler: the reply is deferred */
	bool again; /**< set by the handler: not now, the command stays in its ring */
};

/* command/objects.c: segments, contexts, queues, formats, and the channel's own settings */
enum pb_error pb_core_ping(struct pb_core_request *request);                    /**< PING */
enum pb_error pb_core_segment_create_command(struct pb_core_request *request);  /**< SEGMENT_CREATE */
enum pb_error pb_core_segment_destroy_command(struct pb_core_request *request); /**< SEGMENT_DESTROY */
enum pb_error pb_core_context_create_command(struct pb_core_request *request);  /**< CONTEXT_CREATE */
enum pb_error pb_core_context_destroy_command(struct pb_core_request *request); /**< CONTEXT_DESTROY */
enum pb_error pb_core_context_clear_command(struct pb_core_request *request);   /**< CONTEXT_CLEAR */
enum pb_error pb_core_queue_create_command(struct pb_core_request *request);    /**< QUEUE_CREATE */
enum pb_error pb_core_queue_destroy_command(struct pb_core_request *request);   /**< QUEUE_DESTROY */
enum pb_error pb_core_queue_clear_command(struct pb_core_request *request);     /**< QUEUE_CLEAR */
enum pb_error pb_core_format_set_command(struct pb_core_request *request);      /**< FORMAT_SET */
enum pb_error pb_core_moderate_command(struct pb_core_request *request);        /**< MODERATE */

/* command/stopping.c */
enum pb_error pb_core_preempt_command(struct pb_core_request *request); /**< PREEMPT */
enum pb_error pb_core_suspend_command(struct pb_core_request *request); /**< SUSPEND */
enum pb_error pb_core_resume_command(struct pb_core_request *request);  /**< RESUME */
enum pb_error pb_core_reset_command(struct pb_core_request *request);   /**< RESET */

/* command/admin.c */
enum pb_error pb_core_channel_close_command(struct pb_core_request *request); /**< CHANNEL_CLOSE */
enum pb_error pb_core_channel_grant_command(struct pb_core_request *request); /**< CHANNEL_GRANT */
enum pb_error pb_core_channel_quota_command(struct pb_core_request *request); /**< CHANNEL_QUOTA */
enum pb_error pb_core_host_grant_command(struct pb_core_request *request);    /**< HOST_GRANT */
enum pb_error pb_core_node_set_command(struct pb_core_request *request);      /**< NODE_SET */
enum pb_error pb_core_trace_command(struct pb_core_request *request);         /**< TRACE */

/* command/revoke.c */
enum pb_error pb_core_host_revoke_command(struct pb_core_request *request); /**< HOST_REVOKE */

/* command/query.c */
enum pb_error pb_core_query_command(struct pb_core_request *request); /**< QUERY */

#endif
