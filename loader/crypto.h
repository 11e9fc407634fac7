/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the loader needs of a cryptographic library; loader/crypto.c has it from BearSSL.
 */
#ifndef PB_LOADER_CRYPTO_H
#define PB_LOADER_CRYPTO_H

#include <stdint.h>

#include "hal/fuses.h"

/** Bytes of a SHA-256 digest, and of a signature. */
#define PB_DIGEST_BYTES    32u
#define PB_SIGNATURE_BYTES 64u

/** Computes the SHA-256 digest of a range. */
void pb_crypto_digest(const void *data, uint32_t bytes, uint8_t digest[PB_DIGEST_BYTES]);
/**
 * Verifies an ECDSA signature over P-256.
 * @param key the signer's point; one that is not on the curve verifies nothing
 * @return 1: it is right; any other value: it is not
 */
uint32_t pb_crypto_verify(const uint8_t key[PB_FUSES_KEY_BYTES], const uint8_t digest[PB_DIGEST_BYTES],
			  const uint8_t signature[PB_SIGNATURE_BYTES]);

#endif
