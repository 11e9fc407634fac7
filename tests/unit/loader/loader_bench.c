/* SPDX-License-Identifier: MIT */
#include "tests/unit/loader/loader_bench.h"

#include <bearssl_ec.h>
#include <bearssl_hash.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/mcu/flash.h"
#include "tests/unit/unit.h"

/** Any two numbers less than the order of the curve are private keys. */
static uint8_t own_key[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, other_key[32] = {9, 8, 7, 6, 5, 4, 3, 2, 1};

static struct bench *current;

static void report(uint32_t slot, enum pb_loader_reason reason)
{
	assert_true(slot < PB_SLOTS);
	current->reported[slot] = reason;
}

static void lock(void)
{
}

static void public_key(uint8_t *secret, uint8_t key[PB_FUSES_KEY_BYTES])
{
	const br_ec_private_key private_key = {.curve = BR_EC_secp256r1, .x = secret, .xlen = 32};
	uint8_t point[BR_EC_KBUF_PUB_MAX_SIZE];
	br_ec_public_key made;

	assert_int_equal(br_ec_compute_pub(&br_ec_prime_i31, &made, point, &private_key), 65);
	memcpy(key, point + 1, PB_FUSES_KEY_BYTES);
}

void bench_start(struct bench *bench)
{
	static const struct pb_loader_ops ops = {.report = report, .lock = lock};
	uint8_t key[PB_FUSES_KEY_BYTES];

	memset(bench, 0, sizeof(*bench));
	current = bench;
	pb_flash_model_init(&bench->model, malloc(PB_CARD_FLASH_BYTES));
	assert_non_null(bench->model.bytes);
	public_key(own_key, key);
	pb_flash_model_new(&bench->model, key);
	bench->updater = (struct pb_updater){.slots = &bench->model.slots,
					     .fuses = &bench->model.fuses,
					     .board = BENCH_BOARD,
					     .load_address = BENCH_LOAD};
	bench->rules = (struct pb_verify_rules){.fuses = &bench->model.fuses,
						.board = BENCH_BOARD,
						.load_address = BENCH_LOAD,
						.image_bytes = sizeof(bench->staged_words)};
	bench->staged.words = bench->staged_words;
	bench->loader = (struct pb_loader){
		.slots = &bench->model.slots, .rules = &bench->rules, .ops = &ops, .image = &bench->staged};
}

void bench_stop(struct bench *bench)
{
	free(bench->model.bytes);
}

void bench_sign_again(struct bench_file *file, bool own)
{
	const br_ec_private_key key = {.curve = BR_EC_secp256r1, .x = own ? own_key : other_key, .xlen = 32};
	uint8_t digest[32];
	br_sha256_context context;

	br_sha256_init(&context);
	br_sha256_update(&context, file, PB_SIGNED_BYTES);
	br_sha256_out(&context, digest);
	assert_int_equal(br_ecdsa_i31_sign_raw(&br_ec_prime_i31, &br_sha256_vtable, digest, &key,
					       file->header.signature),
			 sizeof(file->header.signature));
}

void bench_sign(struct bench_file *file, uint32_t version, uint32_t tag)
{
	br_sha256_context context;

	for (uint32_t i = 0; i < BENCH_IMAGE_WORDS; i++)
		file->words[i] = i % 8u == 7u ? PB_FLASH_ERASED : tag * 0x9e3779b9u + i;
	file->header = (struct pb_signed_header){.magic = PB_SIGNED_MAGIC,
						 .version = PB_SIGNED_VERSION,
						 .image_bytes = sizeof(file->words),
						 .load_address = BENCH_LOAD,
						 .security_version = version,
						 .board = BENCH_BOARD};
	br_sha256_init(&context);
	br_sha256_update(&context, file->words, sizeof(file->words));
	br_sha256_out(&context, file->header.digest);
	bench_sign_again(file, true);
}

enum pb_update_error bench_write(struct bench *bench, const struct bench_file *file, uint32_t slot)
{
	return pb_update_write(&bench->updater, &file->header.magic, sizeof(*file), slot, PB_SLOT_NONE);
}

void bench_place(struct bench *bench, uint32_t slot, const struct bench_file *file, bool tried,
		 bool confirmed)
{
	const struct pb_slots *slots = &bench->model.slots;

	memset(bench->model.bytes + slots->offset[slot], 0xff, slots->bytes);
	memcpy(bench->model.bytes + pb_slot_image_offset(slots, slot), file, sizeof(*file));
	assert_true(pb_slot_mark_written(slots, slot, 1u + slot));
	assert_true(!tried || pb_slot_mark_tried(slots, slot));
	assert_true(!confirmed || pb_slot_mark_confirmed(slots, slot));
}

uint32_t bench_boot(struct bench *bench)
{
	struct pb_loader_choice choice;

	current = bench;
	memset(bench->reported, 0, sizeof(bench->reported));
	memset(bench->staged_words, 0, sizeof(bench->staged_words));
	pb_loader_choose(&bench->loader, &choice);
	if (choice.slot == PB_SLOT_NONE)
		return PB_SLOT_NONE;
	assert_int_equal(choice.first, PB_VERIFY_FIRST);
	assert_int_equal(choice.second, PB_VERIFY_SECOND);
	assert_int_equal(bench->reported[choice.slot], PB_LOADER_STARTED);
	return choice.slot;
}

uint32_t bench_counter(struct bench *bench)
{
	uint32_t value = UINT32_MAX;

	assert_true(bench->model.fuses.ops->counter(bench->model.fuses.context, &value));
	return value;
}
