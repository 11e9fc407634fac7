/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A channel from its host's side, word for word as firmware/abi/channel.h has it. Nothing here waits: a schedule
 * decides what happens between a question and its answer, which a library that waits inside its calls cannot.
 */
#ifndef PB_TESTS_SIM_CLIENT_H
#define PB_TESTS_SIM_CLIENT_H

#include "firmware/abi/channel.h"
#include "tests/sim/world.h"

/** A question that has no answer yet. */
struct pb_question {
	uint32_t code; /**< enum pb_command_code; 0: the place is free */
	uint32_t tag;
	uint32_t object; /**< the asker's, for the answer */
	uint64_t asked;  /**< virtual time */
	uint64_t step;   /**< of the schedule, when it was asked: for the asker */
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
	/** Where its rings are: asked once, because a hostile host writes over its own copy of that, too. */
	uint32_t control_offset, reply_offset, kick_offset, event_offset;
	bool unread;      /**< events are looked at, but never taken out of the ring */
	uint32_t epoch;   /**< of the entry, when it was attached */
	uint32_t request; /**< the last attach or detach asked */
	struct pb_question questions[PB_LIMIT_CONTROL_ENTRIES];
};

/** A client of a card that has booted. */
void pb_client_init(struct pb_client *client, struct pb_world *world, uint32_t channel);
/** Asks for PB_ATTACH_OP_ATTACH or DETACH. */
void pb_client_ask(struct pb_client *client, uint32_t op);
/** Asks to attach as a host that has seen that incarnation. */
void pb_client_attach(struct pb_client *client, uint32_t incarnation);
/** Whether the last ask is answered. After an attach: the client may talk. */
bool pb_client_answered(struct pb_client *client);
/** Posts a command with so many arguments. @return false: no room */
bool pb_client_post(struct pb_client *client, uint32_t code, uint32_t object, const uint32_t *arguments,
		    uint32_t count);
/** The same for a QUERY of three arguments, with the step of the schedule in which it is asked. */
bool pb_client_query(struct pb_client *client, uint32_t object, uint64_t step, const uint32_t arguments[3]);
/** The next reply with its question, which is answered now. @return false: none is there */
bool pb_client_reply(struct pb_client *client, struct pb_reply *reply, struct pb_question *question);
/** Whether a question of that code about that object is open. */
bool pb_client_asks(const struct pb_client *client, uint32_t code, uint32_t object);
uint32_t pb_client_open_questions(const struct pb_client *client);
/** @return false: none is there */
bool pb_client_event(struct pb_client *client, struct pb_event *event);
/** Forgets what it has asked. */
void pb_client_forget(struct pb_client *client);
/** Says that a queue's put has moved: a kick and a ring, or a ring and the rescan word. */
void pb_client_kick(struct pb_client *client, uint32_t handle);

#endif
