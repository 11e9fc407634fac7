/* SPDX-License-Identifier: MIT */
#include "firmware/queue/context.h"

#include "firmware/compiler.h"

static bool is_of(uint32_t context, uint32_t channel)
{
	return (context & PB_CORE_CONTEXT_USED) != 0 && (context >> 8 & 0xffu) == channel;
}

/** A context has changed: none is known until one is found anew. */
static void forget(struct pb_core_contexts *contexts)
{
	contexts->known_channel = PB_LIMIT_CHANNELS;
}

/** Frees context i: it becomes the first of the free ones. The generation stays, for the handle of the next one. */
PB_CORE_COLD static void release(struct pb_core_contexts *contexts, uint32_t i)
{
	const uint32_t behind = (contexts->free - i - 1u) % PB_LIMIT_CONTEXTS;

	contexts->at[i] = (contexts->at[i] & ~0xffffu) | behind << PB_CORE_CONTEXT_BEHIND_SHIFT;
	contexts->free = i;
	forget(contexts);
}

void pb_core_context_init(struct pb_core_contexts *contexts, uint32_t *words)
{
	contexts->at = words;
	forget(contexts);
}

const uint32_t *pb_core_context_find(const struct pb_core_contexts *contexts, uint32_t channel,
				     uint32_t handle)
{
	const uint32_t index = PB_HANDLE_INDEX(handle);

	if (index >= PB_LIMIT_CONTEXTS ||
	    (contexts->at[index] & ~PB_CORE_CONTEXT_LOST) !=
		    (PB_CORE_CONTEXT(PB_HANDLE_GENERATION(handle), channel) | PB_CORE_CONTEXT_USED))
		return NULL;
	return &contexts->at[index];
}

PB_CORE_COLD enum pb_error pb_core_context_look_up(struct pb_core_contexts *contexts, uint32_t channel,
						   uint32_t handle)
{
	const uint32_t *context = pb_core_context_find(contexts, channel, handle);

	if (context == NULL)
		return PB_ERROR_BAD_CONTEXT;
	if ((*context & PB_CORE_CONTEXT_LOST) != 0)
		return PB_ERROR_CONTEXT_LOST;
	contexts->known_channel = channel;
	contexts->known = handle;
	return PB_ERROR_OK;
}

uint32_t pb_core_context_create(struct pb_core_contexts *contexts, uint32_t channel)
{
	const uint32_t i = contexts->free;
	const uint32_t word = contexts->at[i];
	uint32_t generation = (word >> 16) + 1u;

	/* The generation is a multiple of the limit there. */
	contexts->free = (i + 1u + (word >> PB_CORE_CONTEXT_BEHIND_SHIFT)) % PB_LIMIT_CONTEXTS;
	if (generation > UINT16_MAX)
		generation = 1;
	contexts->at[i] = PB_CORE_CONTEXT(generation, channel) | PB_CORE_CONTEXT_USED;
	return PB_HANDLE(i, generation);
}

void pb_core_context_destroy(struct pb_core_contexts *contexts, uint32_t handle)
{
	release(contexts, PB_HANDLE_INDEX(handle));
}

enum pb_error pb_core_context_clear(struct pb_core_contexts *contexts, uint32_t channel, uint32_t handle)
{
	if (pb_core_context_find(contexts, channel, handle) == NULL)
		return PB_ERROR_BAD_HANDLE;
	contexts->at[PB_HANDLE_INDEX(handle)] &= ~PB_CORE_CONTEXT_LOST;
	return PB_ERROR_OK;
}

void pb_core_context_lose(struct pb_core_contexts *contexts, const struct pb_core_submission *submission)
{
	if (submission->context >= PB_LIMIT_CONTEXTS)
		return;
	contexts->at[submission->context] |= PB_CORE_CONTEXT_LOST;
	forget(contexts);
}

void pb_core_context_free_some(struct pb_core_contexts *contexts, uint32_t channel, uint32_t from,
			       uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (is_of(contexts->at[i], channel))
			release(contexts, i);
	}
}
