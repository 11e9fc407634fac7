/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What a card holds for ever: the public key that its images are signed with, and the counter below which no security
 * version runs. One-time programmable bits, a secure element, or a part of the flash that is locked.
 */
#ifndef PB_HAL_FUSES_H
#define PB_HAL_FUSES_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes of a key: the coordinates x and y of a point of P-256, most significant byte first. */
#define PB_FUSES_KEY_BYTES 64u
/** Largest value of the counter. */
#define PB_FUSES_COUNTER_MAX 1024u

/** Operations of a driver. Each returns whether it was carried out. */
struct pb_fuses_ops {
	/** Copies the public key. A card without a key returns bytes that are no point of the curve, or false. */
	bool (*key)(void *context, uint8_t key[PB_FUSES_KEY_BYTES]);
	/** Reads the counter. */
	bool (*counter)(void *context, uint32_t *value);
	/**
	 * Raises the counter to a value, at most PB_FUSES_COUNTER_MAX; it is never lowered. After a power cut it has some
	 * value from the old one to the new one. Optional: NULL where only a supervisor may raise it.
	 */
	bool (*raise)(void *context, uint32_t value);
};

/** The fuses of a card. */
struct pb_fuses {
	const struct pb_fuses_ops *ops; /**< the driver */
	void *context;                  /**< the driver's */
};

#endif
