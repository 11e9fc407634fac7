/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The host side of one channel, as include/patchbay/abi/channel.h defines it. No call waits: the schedule decides
 * what happens between a command and its reply.
 */
#ifndef PB_TESTS_SIM_CLIENT_H
#define PB_TESTS_SIM_CLIENT_H

#include "patchbay/abi/channel.h"
#include "tests/sim/world.h"

/** A command that has no reply yet. */
struct pb_question {
	uint32_t code; /**< enum pb_command_code; 0: the slot is free */
	uint32_t tag;
	uint32_t object; /**< chosen by the caller, returned with the reply */
	uint64_t asked;  /**< virtual time */
	uint64_t step;   /**< step of the schedule in which the command was posted */
	uint32_t arguments[PB_COMMAND_ARGUMENTS];
};

struct pb_client {
	struct pb_world *world;
	uint32_t channel;
	struct pb_channel_entry *entry;
	uint32_t control_put;
	uint32_t reply_get;
	uint32_t kick_put;
	uint32_t rescans;
	uint32_t event_get;
	uint32_t next_tag;
	/** Offsets of its rings: queried once, because a hostile host overwrites its own copy of them. */
	uint32_t control_offset, reply_offset, kick_offset, event_offset;
	bool unread;      /**< events are polled, but never removed from the ring */
	bool patient;     /**< asks for a rescan only if the kick ring is full */
	uint32_t epoch;   /**< epoch of the channel entry when it was attached */
	uint32_t request; /**< number of the last attach or detach request */
	struct pb_question questions[PB_LIMIT_CONTROL_ENTRIES];
};

/** Initialises a client. Pre: the card has booted. */
void pb_client_init(struct pb_client *client, struct pb_world *world, uint32_t channel);
/** Requests PB_ATTACH_OP_ATTACH or PB_ATTACH_OP_DETACH. */
void pb_client_ask(struct pb_client *client, uint32_t op);
/** Requests an attach as a host that has seen that incarnation. */
void pb_client_attach(struct pb_client *client, uint32_t incarnation);
/** Whether the last request is answered. After an attach the client may post commands. */
bool pb_client_answered(struct pb_client *client);
/** Posts a command with `count` arguments. @return false: no room */
bool pb_client_post(struct pb_client *client, uint32_t code, uint32_t object, const uint32_t *arguments,
		    uint32_t count);
/** Posts a QUERY of three arguments and notes the step of the schedule. */
bool pb_client_query(struct pb_client *client, uint32_t object, uint64_t step, const uint32_t arguments[3]);
/** Removes the next reply and its command from the list of open ones. @return false: there is no reply */
bool pb_client_reply(struct pb_client *client, struct pb_reply *reply, struct pb_question *question);
/** Whether a command with that code about that object has no reply yet. */
bool pb_client_asks(const struct pb_client *client, uint32_t code, uint32_t object);
uint32_t pb_client_open_questions(const struct pb_client *client);
/** Removes the next event from the ring. @return false: there is none */
bool pb_client_event(struct pb_client *client, struct pb_event *event);
/** Forgets all open commands. */
void pb_client_forget(struct pb_client *client);
/** Announces a new put index: by kick ring and doorbell, or by doorbell and the rescan word. */
void pb_client_kick(struct pb_client *client, uint32_t handle);

#endif
