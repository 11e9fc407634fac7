/* SPDX-License-Identifier: MIT */
#include "firmware/core.h"

enum pb_error pb_core_context_create(struct pb_firmware *firmware, uint32_t channel, uint32_t *handle)
{
	for (uint32_t i = 0; i < PB_LIMIT_CONTEXTS; i++) {
		uint32_t *context = &firmware->contexts[i];
		uint32_t generation = (*context >> 16) + 1u;

		if ((*context & PB_CORE_CONTEXT_USED) != 0)
			continue;
		if (generation > UINT16_MAX)
			generation = 1;
		*context = PB_CORE_CONTEXT(generation, channel) | PB_CORE_CONTEXT_USED;
		*handle = PB_HANDLE(i, generation);
		return PB_ERROR_OK;
	}
	return PB_ERROR_NO_SPACE;
}

enum pb_error pb_core_context_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	uint32_t *context = pb_core_context_find(firmware, channel, handle);

	if (context == NULL)
		return PB_ERROR_BAD_HANDLE;
	/* Coarse: any work of the channel may be this context's. */
	if (firmware->channels[channel].busy != 0)
		return PB_ERROR_BUSY;
	*context &= ~PB_CORE_CONTEXT_USED;
	return PB_ERROR_OK;
}

bool pb_core_context_is_of(uint32_t context, uint32_t channel)
{
	return (context & PB_CORE_CONTEXT_USED) != 0 && (context >> 8 & 0xffu) == channel;
}

void pb_core_context_lose(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	/* Work whose context handle was bad has none to lose. */
	if (work->context < PB_LIMIT_CONTEXTS)
		firmware->contexts[work->context] |= PB_CORE_CONTEXT_LOST;
}
