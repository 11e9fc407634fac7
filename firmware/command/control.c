/* SPDX-License-Identifier: MIT */
#include "firmware/command/control.h"

#include "firmware/command/handlers.h"
#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/shared_burst.h"

/** The handler of each command, and how many of its arguments mean anything: beyond the first ones no other is read. */
static const struct {
	enum pb_error (*handle)(struct pb_core_request *request);
	uint32_t arguments;
} handlers[] = {
	[PB_COMMAND_PING] = {pb_core_ping, 0},
	[PB_COMMAND_SEGMENT_CREATE] = {pb_core_segment_create_command, 11},
	[PB_COMMAND_SEGMENT_DESTROY] = {pb_core_segment_destroy_command, 1},
	[PB_COMMAND_CONTEXT_CREATE] = {pb_core_context_create_command, 0},
	[PB_COMMAND_CONTEXT_DESTROY] = {pb_core_context_destroy_command, 1},
	[PB_COMMAND_CONTEXT_CLEAR] = {pb_core_context_clear_command, 1},
	[PB_COMMAND_QUEUE_CREATE] = {pb_core_queue_create_command, 6},
	[PB_COMMAND_QUEUE_DESTROY] = {pb_core_queue_destroy_command, 1},
	[PB_COMMAND_QUEUE_CLEAR] = {pb_core_queue_clear_command, 1},
	[PB_COMMAND_CHANNEL_CLOSE] = {pb_core_channel_close_command, 1},
	[PB_COMMAND_FORMAT_SET] = {pb_core_format_set_command, 13},
	[PB_COMMAND_PREEMPT] = {pb_core_preempt_command, 4},
	[PB_COMMAND_SUSPEND] = {pb_core_suspend_command, 3},
	[PB_COMMAND_RESUME] = {pb_core_resume_command, 1},
	[PB_COMMAND_RESET] = {pb_core_reset_command, 3},
	[PB_COMMAND_QUERY] = {pb_core_query_command, 3},
	[PB_COMMAND_TRACE] = {pb_core_trace_command, 3},
	[PB_COMMAND_CHANNEL_GRANT] = {pb_core_channel_grant_command, 4},
	[PB_COMMAND_NODE_SET] = {pb_core_node_set_command, 5},
	[PB_COMMAND_MODERATE] = {pb_core_moderate_command, 2},
	[PB_COMMAND_CHANNEL_QUOTA] = {pb_core_channel_quota_command, 3},
	[PB_COMMAND_HOST_GRANT] = {pb_core_host_grant_command, 5},
	[PB_COMMAND_HOST_REVOKE] = {pb_core_host_revoke_command, 4},
};
#define HANDLERS (sizeof(handlers) / sizeof(handlers[0]))
/* The first entry is a hole; every command of the list has its handler. */
#define COUNT_COMMAND(name, number, meaning) +1
PB_STATIC_ASSERT(HANDLERS == 1 PB_COMMANDS(COUNT_COMMAND), "one handler for each command");

/** The words of a command that are read at once: its code, its tag, and the first arguments. */
#define FIRST_WORDS     6u
#define FIRST_ARGUMENTS (FIRST_WORDS - 2u)

/** Reads the other arguments of a command, each once, and has it handled. */
static inline enum pb_error handle(struct pb_core_request *request, const struct pb_command *command,
				   uint32_t code)
{
	if (code == 0 || code >= HANDLERS)
		return PB_ERROR_BAD_COMMAND;
	for (uint32_t i = FIRST_ARGUMENTS; i < handlers[code].arguments; i++)
		request->arguments[i] = pb_shared_read32(&command->arguments[i]);
	return handlers[code].handle(request);
}

/** Clears the words of a reply. */
static inline void clear(uint32_t *words)
{
	words = pb_burst_put_four(words, 0, 0, 0, 0);
	words = pb_burst_put_four(words, 0, 0, 0, 0);
	words = pb_burst_put_four(words, 0, 0, 0, 0);
	(void)pb_burst_put_four(words, 0, 0, 0, 0);
}
PB_STATIC_ASSERT(PB_CORE_REPLY_WORDS == 16u, "a reply is four groups of four words");

/** Carries a command out, and sends its reply or defers it. @return false: not now, the command stays in its ring */
static bool carry_out(struct pb_firmware *firmware, uint32_t c, const struct pb_command *command)
{
	struct pb_reply reply;
	struct pb_core_request request;
	uint32_t words[FIRST_WORDS];

	(void)pb_shared_read_six(&command->code, words);
	request.tag = words[1];
	for (uint32_t i = 0; i < FIRST_ARGUMENTS; i++)
		request.arguments[i] = words[2u + i];
	request.firmware = firmware;
	request.channel = c;
	request.results = reply.results;
	request.repeated = firmware->channels[c].kicks.repeated;
	request.later = false;
	request.again = false;
	clear(&reply.code);
	reply.code = words[0];
	reply.tag = request.tag;
	pb_core_note(firmware, PB_CRASH_NOTE_COMMAND, c, reply.code);
	reply.error = handle(&request, command, reply.code);
	pb_core_control_repeat(&firmware->channels[c].kicks, request.again);
	if (request.again)
		return false;
	if (reply.error == PB_ERROR_NO_QUOTA)
		reply.results[0] = firmware->quotas.refused;
	PB_CORE_TRACE(firmware, COMMAND, PB_TRACE_NONE, reply.code, reply.error);
	if (request.later)
		pb_core_reply_defer(&firmware->channels[c].replies);
	else
		pb_core_reply_write(firmware, c, &reply);
	return true;
}

bool pb_core_control(struct pb_firmware *firmware, uint32_t c, uint32_t put)
{
	struct pb_core_channel *channel = &firmware->channels[c];
	struct pb_core_commands *commands = &channel->commands;
	const uint32_t get = commands->get;

	/* Forward, and within one ring of what was carried out. */
	if (put - commands->put > PB_LIMIT_CONTROL_ENTRIES - (commands->put - get)) {
		pb_core_endpoint_fault(firmware, c);
		return false;
	}
	commands->put = put;
	if (!pb_core_reply_has_room(firmware, c))
		return false;
	if (pb_core_segment_blocks_commands(&channel->memory) ||
	    !carry_out(firmware, c, &channel->endpoint.rings->control[get % PB_LIMIT_CONTROL_ENTRIES]))
		return true;
	commands->get = get + 1u;
	pb_shared_release();
	pb_shared_write32(&channel->endpoint.entry->control_get, get + 1u);
	return true;
}
