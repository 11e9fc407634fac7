/* SPDX-License-Identifier: MIT */
#include "firmware/core.h"

enum pb_error pb_core_context_create(struct pb_firmware *firmware, uint32_t channel, uint32_t *handle)
{
	for (uint32_t i = 0; i < PB_LIMIT_CONTEXTS; i++) {
		struct pb_core_context *context = &firmware->contexts[i];

		if (context->used)
			continue;
		context->used = true;
		context->lost = false;
		context->channel = (uint8_t)channel;
		if (++context->generation == 0)
			context->generation = 1;
		*handle = PB_HANDLE(i, context->generation);
		return PB_ERROR_OK;
	}
	return PB_ERROR_NO_SPACE;
}

enum pb_error pb_core_context_destroy(struct pb_firmware *firmware, uint32_t channel, uint32_t handle)
{
	struct pb_core_context *context = pb_core_context_find(firmware, channel, handle);

	if (context == NULL)
		return PB_ERROR_BAD_HANDLE;
	/* Coarse: any work of the channel may be this context's. */
	if (firmware->channels[channel].busy != 0)
		return PB_ERROR_BUSY;
	context->used = false;
	return PB_ERROR_OK;
}

void pb_core_context_lose(struct pb_firmware *firmware, const struct pb_core_work *work)
{
	/* Work whose context handle was bad has none to lose. */
	if (work->context < PB_LIMIT_CONTEXTS)
		firmware->contexts[work->context].lost = true;
}
