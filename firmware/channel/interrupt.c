/* SPDX-License-Identifier: MIT */
#include "firmware/channel/interrupt.h"

#include "firmware/compiler.h"
#include "firmware/instance.h"
#include "hal/bits.h"

void pb_core_interrupt_raise(const struct pb_firmware *firmware, uint32_t channel)
{
	pb_shared_release();
	firmware->lines_ops->raise(firmware->lines_context, PB_LINE_CHANNEL(channel));
}

/** Raises the interrupt for completions that were held back. */
static void report(struct pb_firmware *firmware, uint32_t c)
{
	firmware->moderated &= ~(1u << c);
	firmware->channels[c].moderation.left = 0;
	pb_core_interrupt_raise(firmware, c);
	PB_CORE_TRACE(firmware, INTERRUPT, PB_TRACE_NONE, c, 0);
}

/** Holds back the first completion that an interrupt waits for; raises the interrupt at the last, or at each. */
static PB_CORE_COLD void moderate(struct pb_firmware *firmware, uint32_t c)
{
	struct pb_core_moderation *moderation = &firmware->channels[c].moderation;

	if (moderation->left != 0) {
		report(firmware, c);
	} else if (moderation->count <= 1u) {
		pb_core_interrupt_raise(firmware, c);
	} else {
		moderation->left = moderation->count - 1u;
		moderation->held_since = pb_core_clock(firmware);
		firmware->moderated |= 1u << c;
	}
}

PB_CORE_STEP void pb_core_interrupt_complete(struct pb_firmware *firmware, uint32_t c)
{
	uint32_t *left = &firmware->channels[c].moderation.left;

	if (*left > 1u)
		--*left;
	else
		moderate(firmware, c);
}

void pb_core_interrupt_tick(struct pb_firmware *firmware)
{
	const uint32_t clock = pb_core_clock(firmware);

	for (uint32_t left = firmware->moderated; left != 0; left &= left - 1u) {
		const uint32_t c = pb_bits_lowest(left);
		const struct pb_core_moderation *moderation = &firmware->channels[c].moderation;

		if (clock - moderation->held_since >= moderation->microseconds)
			report(firmware, c);
	}
}

void pb_core_interrupt_moderate(struct pb_firmware *firmware, uint32_t c, uint32_t count,
				uint32_t microseconds)
{
	struct pb_core_moderation *moderation = &firmware->channels[c].moderation;

	/* Those that are held back count. */
	if (moderation->left != 0)
		moderation->left = count > moderation->count - moderation->left
					   ? count - (moderation->count - moderation->left)
					   : 1u;
	firmware->moderations = (firmware->moderations & ~(1u << c)) | (uint32_t)(count > 1u) << c;
	moderation->count = count;
	moderation->microseconds = microseconds;
}

void pb_core_interrupt_open(struct pb_firmware *firmware, uint32_t c)
{
	firmware->channels[c].moderation.left = 0;
	pb_core_interrupt_moderate(firmware, c, 0, 0);
}
