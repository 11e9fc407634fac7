/* SPDX-License-Identifier: MIT */
#include "loader/start.h"

#include "hal/start_image.h"

_Static_assert((PB_VERIFY_FIRST ^ PB_VERIFY_SECOND) == PB_START_IMAGE_TOKEN, "the token is both verdicts");

_Noreturn void pb_loader_start(const struct pb_loader *loader, const struct pb_loader_choice *choice)
{
	const struct pb_staged_image *image = loader->image;
	const uint32_t first = choice->first, second = choice->second;

	loader->ops->lock();
	if (first != PB_VERIFY_FIRST)
		pb_loader_refuse();
	if (second != PB_VERIFY_SECOND)
		pb_loader_refuse();
	/* Of the words that were compared, not of constants: whoever jumped here has others. */
	pb_hal_start_image(image->header.load_address, image->words,
			   image->header.image_bytes / (uint32_t)sizeof(uint32_t), first ^ second);
}
