/* SPDX-License-Identifier: MIT */
/* Lifting addends out of command buffers: the entries, what is refused, and the bytes against the peers' kernels. */
#include <string.h>

#include "patchbay/format.h"
#include "tests/unit/host/peer_kernels.h"
#include "tests/unit/unit.h"

#define BYTES 64u

/* ---- entries ---- */

struct lifted {
	const char *name;
	enum pb_lift_kind kind;
	uint32_t place;
	uint8_t commands[8]; /* from there on */
	uint8_t after[8];
	uint32_t count;
	struct pb_patch_location entries[2];
};

static const struct lifted lifts[] = {
	{"base",
	 PB_LIFT_RADEON_BASE,
	 4,
	 {0x34, 0x12, 0, 0, 9, 9},
	 {0x34, 0x12, 0, 0, 9, 9},
	 1,
	 {{7, 0, 12, 0x123400, 4, 0}}},
	{"base, most",
	 PB_LIFT_RADEON_BASE,
	 60,
	 {0xff, 0xff, 0xff, 0},
	 {0xff, 0xff, 0xff, 0},
	 1,
	 {{7, 0, 12, 0xffffff00, 60, 0}}},
	{"event",
	 PB_LIFT_RADEON_EVENT,
	 8,
	 {0x47, 0x33, 0x22, 0x11, 0, 0xcc, 0xbb, 0xaa},
	 {0x44, 0x33, 0x22, 0x11, 0, 0xcc, 0xbb, 0xaa},
	 1,
	 {{7, 0, 14, 0x11223344, 8, 0}}},
	{"split, most",
	 PB_LIFT_RADEON_SPLIT,
	 56,
	 {0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff},
	 {0xff, 0xff, 0xff, 0xff, 0, 0xff, 0xff, 0xff},
	 1,
	 {{7, 0, 14, 0xfffffffc, 56, 0}}},
	{"vc4",
	 PB_LIFT_VC4,
	 5,
	 {0x78, 0x56, 0x34, 0x12},
	 {0x78, 0x56, 0x34, 0x12},
	 1,
	 {{7, 0, 18, 0x12345678, 5, 0}}},
	{"vc4, at the end",
	 PB_LIFT_VC4,
	 60,
	 {0xff, 0xff, 0xff, 0xff},
	 {0xff, 0xff, 0xff, 0xff},
	 1,
	 {{7, 0, 18, 0xffffffff, 60, 0}}},
	{"guest pointer",
	 PB_LIFT_VMWGFX_POINTER,
	 0,
	 {9, 0, 0, 0, 0x10, 0x32, 0x54, 0x76},
	 {9, 0, 0, 0, 0x10, 0x32, 0x54, 0x76},
	 2,
	 {{7, 0, 16, 0, 0, 0}, {7, 0, 0, 0x76543210, 4, 0}}},
};

static void entries_by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lifts) / sizeof(lifts[0]); i++) {
		const struct lifted *lift = &lifts[i];
		const uint32_t bytes = BYTES - lift->place < 8 ? BYTES - lift->place : 8;
		uint8_t commands[BYTES] = {0}, after[BYTES] = {0};
		struct pb_patch_location entries[PB_LIFT_ENTRIES_MAX];
		uint32_t count;

		print_message("%s\n", lift->name);
		memcpy(commands + lift->place, lift->commands, bytes);
		memcpy(after + lift->place, lift->after, bytes);
		assert_int_equal(pb_lift(lift->kind, 7, commands, BYTES, lift->place, entries, &count),
				 PB_ERROR_OK);
		assert_int_equal(count, lift->count);
		assert_memory_equal(entries, lift->entries, count * sizeof(entries[0]));
		assert_memory_equal(commands, after, BYTES);
	}
}

struct refusal {
	const char *name;
	enum pb_lift_kind kind;
	uint32_t bytes;
	uint32_t place;
	uint32_t words[2]; /* there */
	enum pb_error expected;
};

static const struct refusal refusals[] = {
	{"base, one too many", PB_LIFT_RADEON_BASE, 64, 4, {0x01000000, 0}, PB_ERROR_PATCH_OFFSET},
	{"base, negative", PB_LIFT_RADEON_BASE, 64, 4, {0xffffffff, 0}, PB_ERROR_PATCH_OFFSET},
	{"event, 4 GiB", PB_LIFT_RADEON_EVENT, 64, 4, {3, 1}, PB_ERROR_PATCH_OFFSET},
	{"split, 512 GiB", PB_LIFT_RADEON_SPLIT, 64, 4, {0, 0x80}, PB_ERROR_PATCH_OFFSET},
	{"base, unaligned", PB_LIFT_RADEON_BASE, 64, 2, {0}, PB_ERROR_PATCH_ALIGNMENT},
	{"event, unaligned", PB_LIFT_RADEON_EVENT, 64, 1, {0}, PB_ERROR_PATCH_ALIGNMENT},
	{"split, unaligned", PB_LIFT_RADEON_SPLIT, 64, 3, {0}, PB_ERROR_PATCH_ALIGNMENT},
	{"guest pointer, unaligned", PB_LIFT_VMWGFX_POINTER, 64, 2, {0}, PB_ERROR_PATCH_ALIGNMENT},
	{"base, behind the end", PB_LIFT_RADEON_BASE, 8, 8, {0}, PB_ERROR_PATCH_RANGE},
	{"base, far behind", PB_LIFT_RADEON_BASE, 8, 0xfffffffc, {0}, PB_ERROR_PATCH_RANGE},
	{"event, half", PB_LIFT_RADEON_EVENT, 8, 4, {0}, PB_ERROR_PATCH_RANGE},
	{"split, half", PB_LIFT_RADEON_SPLIT, 11, 4, {0}, PB_ERROR_PATCH_RANGE},
	{"vc4, cut", PB_LIFT_VC4, 8, 5, {0}, PB_ERROR_PATCH_RANGE},
	{"guest pointer, half", PB_LIFT_VMWGFX_POINTER, 4, 0, {0}, PB_ERROR_PATCH_RANGE},
	{"nothing there", PB_LIFT_VC4, 0, 0, {0}, PB_ERROR_PATCH_RANGE},
	{"no such kind", PB_LIFT_KINDS, 64, 4, {0}, PB_ERROR_BAD_ARGUMENT},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *refusal = &refusals[i];
		uint8_t commands[BYTES] = {0}, before[BYTES];
		struct pb_patch_location entry;
		uint32_t count = 99;

		print_message("%s\n", refusal->name);
		if (refusal->place <= BYTES - 8) {
			peer_put32(commands + refusal->place, refusal->words[0]);
			peer_put32(commands + refusal->place + 4, refusal->words[1]);
		}
		memcpy(before, commands, BYTES);
		assert_int_equal(
			pb_lift(refusal->kind, 7, commands, refusal->bytes, refusal->place, &entry, &count),
			refusal->expected);
		assert_int_equal(count, 99);
		assert_memory_equal(commands, before, BYTES);
	}
}

/* ---- bytes ---- */

static uint64_t source_value(const struct pb_patch_format *format, const struct peer_target *target)
{
	return format->source == PB_FORMAT_ID ? target->id : target->address;
}

/* One word under its mask; outside it, as these formats want it, the old bits or none. */
static void store(uint8_t *at, uint32_t value, uint32_t mask, bool keep)
{
	peer_put32(at, (value & mask) | (keep ? peer_get32(at) & ~mask : 0));
}

/* What include/patchbay/abi/format.h says of the formats that lifting uses; fails where it would refuse the entry. */
static void evaluate(const struct pb_patch_location *entry, const struct peer_target *target, uint8_t *buffer)
{
	const struct pb_patch_format *format = pb_format_builtin(entry->driver_id);
	const bool keep = (format->flags & PB_FORMAT_KEEP) != 0;
	const bool wide = (format->flags & PB_FORMAT_WIDE) != 0;
	const uint64_t owned = format->mask | (uint64_t)format->high_mask << 32;
	const uint64_t value =
		(source_value(format, target) + entry->allocation_offset) >> format->shift_right;

	assert_int_equal(entry->patch_offset % format->align, 0);
	assert_true(format->bound == PB_FORMAT_NONE || entry->allocation_offset < target->size);
	assert_true((format->flags & PB_FORMAT_FITS) == 0 || (value & ~owned) == 0);
	store(buffer + entry->patch_offset, (uint32_t)value, format->mask, keep);
	if (wide)
		store(buffer + entry->patch_offset + 4u * format->step, (uint32_t)(value >> 32),
		      format->high_mask, keep);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8 | *seed << 24;
}

/* An object somewhere below the limit, so that the last byte of what can be named lies below it too. */
static struct peer_target random_target(const struct peer_kernel *kernel, uint64_t size, uint32_t *seed)
{
	const uint64_t steps = (kernel->address_limit - size) / kernel->address_align;
	const uint64_t pick = (uint64_t)next_random(seed) << 16 ^ next_random(seed);

	return (struct peer_target){
		.address = pick % (steps + 1) * kernel->address_align,
		.size = size,
		.id = next_random(seed),
	};
}

/* Random bytes with an addend below 2^24 at the place, which all kinds can carry. */
static void random_commands(const struct peer_kernel *kernel, uint8_t *commands, uint32_t place,
			    uint32_t *seed)
{
	for (uint32_t i = 0; i < BYTES; i++)
		commands[i] = (uint8_t)next_random(seed);
	if (kernel->kind == PB_LIFT_RADEON_BASE)
		commands[place + 2] = commands[place + 3] = 0;
	else if (kernel->kind == PB_LIFT_VMWGFX_POINTER)
		commands[place + 7] = 0;
	else
		commands[place + (kernel->width == 8 ? 4 : 3)] = 0;
	if (kernel->width == 8 && kernel->kind != PB_LIFT_VMWGFX_POINTER)
		commands[place + 3] = 0;
}

static void check_bytes(const struct peer_kernel *kernel, uint32_t *seed)
{
	const uint32_t align = kernel->kind == PB_LIFT_VC4 ? 1 : 4;
	const uint32_t place = next_random(seed) % ((BYTES - kernel->width) / align + 1) * align;
	struct pb_patch_location entries[PB_LIFT_ENTRIES_MAX];
	uint8_t original[BYTES], ours[BYTES];
	uint32_t count;

	random_commands(kernel, original, place, seed);
	memcpy(ours, original, BYTES);
	assert_int_equal(pb_lift(kernel->kind, 3, ours, BYTES, place, entries, &count), PB_ERROR_OK);
	/* Patched, moved and patched again, and the same again in place: each time as if it were the first. */
	for (uint32_t move = 0; move < 4; move++) {
		const struct peer_target target = random_target(kernel, 1u << 24, seed);
		uint8_t theirs[BYTES];

		memcpy(theirs, original, BYTES);
		kernel->relocate(theirs + place, &target);
		for (uint32_t i = 0; i < 2 * count; i++)
			evaluate(&entries[i % count], &target, ours);
		assert_memory_equal(ours, theirs, BYTES);
	}
}

static void bytes_as_the_peers_write_them(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (uint32_t k = 0; k < PEER_KERNELS; k++) {
		print_message("%s\n", peer_kernels[k].name);
		for (uint32_t round = 0; round < 3000; round++)
			check_bytes(&peer_kernels[k], &seed);
	}
}

/* Why addends are lifted at all: what the peers do twice is not what they do once. */
static void peers_cannot_patch_again(void **state)
{
	const struct peer_target target = {.address = 0x12345600, .size = 0x10000, .id = 5};

	(void)state;
	for (uint32_t k = 0; k < PEER_KERNELS; k++) {
		uint8_t once[8] = {0x10}, twice[8];

		peer_kernels[k].relocate(once, &target);
		memcpy(twice, once, sizeof(once));
		peer_kernels[k].relocate(twice, &target);
		assert_memory_not_equal(once, twice, sizeof(once));
	}
}

UNIT_SUITE(test_host_lift)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_by_hand),
		cmocka_unit_test(refused),
		cmocka_unit_test(bytes_as_the_peers_write_them),
		cmocka_unit_test(peers_cannot_patch_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
