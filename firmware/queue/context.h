/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Contexts: whose submissions are cancelled together when one of them fails.
 * The owner of struct pb_core_contexts; main loop only.
 */
#ifndef PB_FIRMWARE_QUEUE_CONTEXT_H
#define PB_FIRMWARE_QUEUE_CONTEXT_H

#include "firmware/queue/in_flight.h"
#include "patchbay/abi/base.h"
#include "patchbay/abi/channel.h"

/*
 * A context; and below, a free one. The free ones are a list: behind context i comes i + 1 + behind, modulo
 * PB_LIMIT_CONTEXTS, so that words of zeros are a list of all.
 *
 *   31          16 15        8 7     2 1 0
 *  +--------------+-----------+-------+-+-+
 *  |  generation  |  channel  |   0   |L|U|   U: used  L: lost
 *  +--------------+-----------+-------+-+-+
 *  |  generation  |       behind      |0|0|
 *  +--------------+-------------------+-+-+
 */
#define PB_CORE_CONTEXT_USED                 1u
#define PB_CORE_CONTEXT_LOST                 2u
#define PB_CORE_CONTEXT_BEHIND_SHIFT         2u
#define PB_CORE_CONTEXT(generation, channel) ((uint32_t)(generation) << 16 | (uint32_t)(channel) << 8)

/** Instead of a context's index in pb_core_submission. */
#define PB_CORE_CONTEXT_NONE   PB_LIMIT_CONTEXTS        /**< its handle named none */
#define PB_CORE_CONTEXT_PAGING (PB_LIMIT_CONTEXTS + 1u) /**< a paging buffer */

/** The state of this module. */
struct pb_core_contexts {
	uint32_t
		known_channel; /**< whose context was found last and is not lost; PB_LIMIT_CHANNELS: none is known */
	uint32_t known;        /**< the handle of that context */
	uint32_t free;         /**< the first free context, if there is one */
	uint32_t *at;          /**< PB_CORE_CONTEXT, PB_LIMIT_CONTEXTS of them; set at boot */
};

/** All contexts are free, and none is known. Once, at boot. @param words PB_LIMIT_CONTEXTS zeros, for these contexts alone */
void pb_core_context_init(struct pb_core_contexts *contexts, uint32_t *words);

/** CONTEXT_CREATE, in a fixed number of steps. Pre: the channel's quota has a context for it, so that one is free. @return its handle */
uint32_t pb_core_context_create(struct pb_core_contexts *contexts, uint32_t channel);
/** Frees a context. Pre: the handle names one, and nothing of its channel is in flight. */
void pb_core_context_destroy(struct pb_core_contexts *contexts, uint32_t handle);
/** CONTEXT_CLEAR: its submissions are executed again. @return OK or BAD_HANDLE */
enum pb_error pb_core_context_clear(struct pb_core_contexts *contexts, uint32_t channel, uint32_t handle);
/** Cancels the context's submissions from here on, until its host clears it. A submission without context loses none. */
void pb_core_context_lose(struct pb_core_contexts *contexts, const struct pb_core_submission *submission);
/** Frees the contexts [from, to) that belong to a channel. */
void pb_core_context_free_some(struct pb_core_contexts *contexts, uint32_t channel, uint32_t from,
			       uint32_t to);
/**
 * Finds a context of a channel for a submission, and remembers it if it is not lost.
 * @return OK, CONTEXT_LOST, or BAD_CONTEXT: the handle names none
 */
/*@
  requires \valid(contexts) && channel < PB_LIMIT_CHANNELS;
  assigns contexts->known, contexts->known_channel;
  ensures results: \result == PB_ERROR_OK || \result == PB_ERROR_CONTEXT_LOST || \result == PB_ERROR_BAD_CONTEXT;
  ensures index: \result != PB_ERROR_BAD_CONTEXT ==> handle % 0x10000 < PB_LIMIT_CONTEXTS;
*/
enum pb_error pb_core_context_look_up(struct pb_core_contexts *contexts, uint32_t channel, uint32_t handle);
/** Finds a context of a channel. @return its word, or NULL: the handle names none */
const uint32_t *pb_core_context_find(const struct pb_core_contexts *contexts, uint32_t channel,
				     uint32_t handle);

/** Whether a handle names the context that is known, of this channel: it exists, and is not lost. */
/*@
  requires \valid_read(contexts);
  assigns \nothing;
  ensures known: \result ==> handle == contexts->known && channel == contexts->known_channel;
  ensures unknown: !\result ==> handle != contexts->known || channel != contexts->known_channel;
*/
static inline bool pb_core_context_is_known(const struct pb_core_contexts *contexts, uint32_t channel,
					    uint32_t handle)
{
	/*@ assert handles: (uint32_t)(handle ^ contexts->known) == (handle ^ contexts->known); */
	/*@ assert one: (uint32_t)(handle ^ contexts->known) == 0 <==> handle == contexts->known; */
	/*@ assert channels: (uint32_t)(channel ^ contexts->known_channel) == (channel ^ contexts->known_channel); */
	/*@ assert its: (uint32_t)(channel ^ contexts->known_channel) == 0 <==> channel == contexts->known_channel; */
	return ((handle ^ contexts->known) | (channel ^ contexts->known_channel)) == 0;
}

/** Whether a submission's context is lost. */
static inline bool pb_core_context_is_lost(const struct pb_core_contexts *contexts,
					   const struct pb_core_submission *submission)
{
	return submission->context < PB_LIMIT_CONTEXTS &&
	       (contexts->at[submission->context] & PB_CORE_CONTEXT_LOST) != 0;
}

/** Cancels a submission whose context was lost after it was admitted. @return whether it was */
static inline bool pb_core_context_cancel_if_lost(const struct pb_core_contexts *contexts,
						  struct pb_core_submission *submission)
{
	if (submission->status != PB_ERROR_OK || !pb_core_context_is_lost(contexts, submission))
		return false;
	pb_core_submission_fail(submission, PB_ERROR_CONTEXT_LOST, PB_INDEX_NONE, 0);
	return true;
}

#endif
