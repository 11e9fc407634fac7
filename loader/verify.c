/* SPDX-License-Identifier: MIT */
#include "loader/verify.h"

#include <string.h>

#include "loader/crypto.h"

#define HEADER_WORDS ((uint32_t)(sizeof(struct pb_signed_header) / sizeof(uint32_t)))

/** Returns whether a header has a size that can be loaded. The magic number alone tells an update from noise. */
static bool is_possible(const struct pb_signed_header *header, const struct pb_verify_rules *rules,
			uint32_t room)
{
	return header->magic == PB_SIGNED_MAGIC && header->version == PB_SIGNED_VERSION &&
	       header->load_address == rules->load_address &&
	       header->security_version <= PB_FUSES_COUNTER_MAX && header->image_bytes != 0 &&
	       header->image_bytes % sizeof(uint32_t) == 0 && header->image_bytes <= rules->image_bytes &&
	       header->image_bytes <= room;
}

enum pb_loader_reason pb_verify_stage(const struct pb_slots *slots, uint32_t slot,
				      const struct pb_verify_rules *rules, struct pb_staged_image *image)
{
	const struct pb_flash *flash = slots->flash;
	const uint32_t offset = pb_slot_image_offset(slots, slot);
	const uint32_t room = pb_slot_image_bytes(slots) - (uint32_t)sizeof(image->header);
	uint32_t *header = &image->header.magic;

	if (!flash->ops->read(flash->context, offset, header, HEADER_WORDS))
		return PB_LOADER_BAD_FLASH;
	if (!is_possible(&image->header, rules, room))
		return PB_LOADER_BAD_HEADER;
	if (!flash->ops->read(flash->context, offset + (uint32_t)sizeof(image->header), image->words,
			      image->header.image_bytes / (uint32_t)sizeof(uint32_t)))
		return PB_LOADER_BAD_FLASH;
	return PB_LOADER_STARTED;
}

/** Checks what the header says. */
static enum pb_loader_reason check_header(const struct pb_verify_rules *rules,
					  const struct pb_signed_header *header)
{
	char board[sizeof(header->board)] = {0};

	if (!is_possible(header, rules, rules->image_bytes))
		return PB_LOADER_BAD_HEADER;
	strncpy(board, rules->board, sizeof(board) - 1u);
	return memcmp(header->board, board, sizeof(board)) == 0 ? PB_LOADER_STARTED : PB_LOADER_BAD_BOARD;
}

/** Checks that the header was signed with the card's key. */
static enum pb_loader_reason check_signature(const struct pb_verify_rules *rules,
					     const struct pb_signed_header *header)
{
	uint8_t key[PB_FUSES_KEY_BYTES] = {0}, digest[PB_DIGEST_BYTES] = {0};

	if (!rules->fuses->ops->key(rules->fuses->context, key))
		return PB_LOADER_BAD_FLASH;
	pb_crypto_digest(header, PB_SIGNED_BYTES, digest);
	return pb_crypto_verify(key, digest, header->signature) == 1u ? PB_LOADER_STARTED
								      : PB_LOADER_BAD_SIGNATURE;
}

/** Checks that the image is the one whose digest was signed. */
static enum pb_loader_reason check_image(const struct pb_staged_image *image)
{
	uint8_t digest[PB_DIGEST_BYTES] = {0};

	pb_crypto_digest(image->words, image->header.image_bytes, digest);
	return memcmp(digest, image->header.digest, sizeof(digest)) == 0 ? PB_LOADER_STARTED
									 : PB_LOADER_BAD_DIGEST;
}

/** Checks that the image is not older than what the card has run. */
static enum pb_loader_reason check_version(const struct pb_verify_rules *rules,
					   const struct pb_signed_header *header)
{
	uint32_t least = UINT32_MAX;

	if (!rules->fuses->ops->counter(rules->fuses->context, &least))
		return PB_LOADER_BAD_FLASH;
	return header->security_version >= least ? PB_LOADER_STARTED : PB_LOADER_OLD_VERSION;
}

uint32_t pb_verify_check(const struct pb_verify_rules *rules, const struct pb_staged_image *image,
			 uint32_t yes)
{
	enum pb_loader_reason reason = check_header(rules, &image->header);

	if (reason == PB_LOADER_STARTED)
		reason = check_signature(rules, &image->header);
	if (reason == PB_LOADER_STARTED)
		reason = check_version(rules, &image->header);
	if (reason == PB_LOADER_STARTED)
		reason = check_image(image);
	return reason == PB_LOADER_STARTED ? yes : (uint32_t)reason;
}
