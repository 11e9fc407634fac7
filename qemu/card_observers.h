/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The card's observers: accepts them, hands them card memory that they cannot map for writing, and passes their
 * questions to the card's administrator, one of each at a time (host/link_protocol.h). Never blocks.
 */
#ifndef PB_QEMU_CARD_OBSERVERS_H
#define PB_QEMU_CARD_OBSERVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "hal/card_admin/admin.h"
#include "host/link_protocol.h"
#include "patchbay/abi/channel.h"

/** Where an observer's place stands. */
enum pb_card_observer_state {
	PB_CARD_OBSERVER_FREE = 0,
	PB_CARD_OBSERVER_IDLE = 1,     /**< is here; its next question has not come whole */
	PB_CARD_OBSERVER_ASKS = 2,     /**< is here; its question waits for room at the administrator */
	PB_CARD_OBSERVER_ASKED = 3,    /**< is here; the firmware has its question */
	PB_CARD_OBSERVER_LEFT = 4,     /**< has left; the firmware has its last question */
	PB_CARD_OBSERVER_RESTORES = 5, /**< has left; the trace levels that it has set are to be set back */
};

/** One place. */
struct pb_card_observer {
	enum pb_card_observer_state state; /**< meaning of the rest */
	int socket;                        /**< -1: it has left */
	struct pb_command question;        /**< what has come of its question, or the card's own behind it */
	uint32_t bytes;                    /**< of that */
	bool traces;                       /**< it has set trace levels */
	uint32_t levels;                   /**< the last that it has set */
};

/** The caller's; only the functions below touch it. */
struct pb_card_observers {
	int listener;
	int epoll;
	int memory_file;             /**< opened for reading */
	struct pb_card_admin *admin; /**< asks the firmware */
	uint32_t levels; /**< trace levels from before the first observer that is here set others */
	struct pb_card_observer places[PB_SOCKET_OBSERVERS_MOST];
};

/**
 * Starts to serve. The descriptors stay the caller's.
 * @param memory_file of card memory, opened for reading only
 * @param admin asks the firmware; reports replies to questions by pb_card_observers_answer()
 */
bool pb_card_observers_start(struct pb_card_observers *observers, int listener, int epoll, int memory_file,
			     struct pb_card_admin *admin);
/** Leaves all observers. */
void pb_card_observers_stop(struct pb_card_observers *observers);
/** PB_CARD_WATCH_OBSERVERS: takes in those that wait; refuses them while all places are taken. */
void pb_card_observers_accept(struct pb_card_observers *observers);
/** PB_CARD_WATCH_OBSERVER: reads from an observer, and finds out whether it has left. */
void pb_card_observers_read(struct pb_card_observers *observers, uint32_t index);
/**
 * Passes on questions that wait. Call when the administrator may have room, or has lost the firmware: then every question
 * is answered with PB_ERROR_FIRMWARE_DEAD.
 */
void pb_card_observers_poll(struct pb_card_observers *observers);
/** Hands an observer the reply to its question. */
void pb_card_observers_answer(struct pb_card_observers *observers, uint32_t index,
			      const struct pb_reply *reply);

#endif
