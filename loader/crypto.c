/* SPDX-License-Identifier: MIT */
#include "loader/crypto.h"

#include <bearssl_ec.h>
#include <bearssl_hash.h>
#include <string.h>

void pb_crypto_digest(const void *data, uint32_t bytes, uint8_t digest[PB_DIGEST_BYTES])
{
	br_sha256_context context;

	br_sha256_init(&context);
	br_sha256_update(&context, data, bytes);
	br_sha256_out(&context, digest);
}

uint32_t pb_crypto_verify(const uint8_t key[PB_FUSES_KEY_BYTES], const uint8_t digest[PB_DIGEST_BYTES],
			  const uint8_t signature[PB_SIGNATURE_BYTES])
{
	/* An uncompressed point. */
	uint8_t point[1u + PB_FUSES_KEY_BYTES] = {4};
	const br_ec_public_key public_key = {.curve = BR_EC_secp256r1, .q = point, .qlen = sizeof(point)};

	memcpy(point + 1, key, PB_FUSES_KEY_BYTES);
	return br_ecdsa_i31_vrfy_raw(&br_ec_prime_i31, digest, PB_DIGEST_BYTES, &public_key, signature,
				     PB_SIGNATURE_BYTES);
}
