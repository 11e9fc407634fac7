/* SPDX-License-Identifier: MIT */
/*
 * What the relocations of other drivers write, restated in a line or two each,
 * against the formats that docs/formats.md names for them, on the simulated card.
 */
#include <string.h>

#include "patchbay/format.h"
#include "tests/unit/card_fixture.h"
#include "tests/unit/host/peer_kernels.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define PLACES       8u
#define PLACE_BYTES  16u
#define BYTES        (PLACES * PLACE_BYTES)
#define OBJECTS      4u
#define ROUNDS       25u
#define OBJECT       (UINT64_C(1) << 20)
/* A segment whose GPU addresses reach across bit 47. */
#define HIGH_SEGMENT 4u
#define HIGH_OS      UINT64_C(0x20000000000)
#define HIGH_GPU     UINT64_C(0x7fff00000000)
#define HIGH_BYTES   UINT64_C(0x200000000)

/* One relocation: the sum is of address and offset, in 64 bits. */
struct relocation {
	uint64_t address;
	uint32_t offset;
	uint64_t sum;
	uint32_t id;
	uint32_t attribute;
};

struct peer {
	const char *name;
	void (*write)(uint8_t *at, const struct relocation *relocation);
	uint32_t bits;   /* of its addresses */
	bool any_offset; /* else inside the object */
	uint32_t formats[2];
	uint32_t second; /* where the second entry patches, from the first; 0: there is none */
};

static void put64(uint8_t *at, uint64_t value)
{
	peer_put32(at, (uint32_t)value);
	peer_put32(at + 4, (uint32_t)(value >> 32));
}

static void plain32(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)relocation->sum);
}

static void plain64(uint8_t *at, const struct relocation *relocation)
{
	put64(at, relocation->sum);
}

static void i915_64(uint8_t *at, const struct relocation *relocation)
{
	const uint64_t above = ~UINT64_C(0) << 48;
	uint64_t value = relocation->address + (uint64_t)(int64_t)(int32_t)relocation->offset;

	value = (value >> 47 & 1) != 0 ? value | above : value & ~above;
	put64(at, value);
}

static void nouveau_high(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)(relocation->sum >> 32));
}

static void uvd(uint8_t *at, const struct relocation *relocation)
{
	plain32(at, relocation);
	nouveau_high(at + 12, relocation);
}

static void msm_shift1(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)(relocation->sum >> 1));
}

static void host1x(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)(relocation->sum >> 8));
}

static void tegra_sector(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)((relocation->sum | UINT64_C(1) << 39) >> 8));
}

static void psb_2d(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (0xa0000000 & ~0x0fffffffu) | ((uint32_t)relocation->sum & 0x0fffffff));
}

/* The low part below a register number, the high byte into byte `byte` of another word. */
static void via(uint8_t *at, const struct relocation *relocation, uint32_t byte)
{
	at[0] = (uint8_t)relocation->sum;
	at[1] = (uint8_t)(relocation->sum >> 8);
	at[2] = (uint8_t)(relocation->sum >> 16);
	at[4 + byte] = (uint8_t)(relocation->sum >> 24);
}

static void via_0(uint8_t *at, const struct relocation *relocation)
{
	via(at, relocation, 0);
}

static void via_1(uint8_t *at, const struct relocation *relocation)
{
	via(at, relocation, 1);
}

static void via_2(uint8_t *at, const struct relocation *relocation)
{
	via(at, relocation, 2);
}

static void radeon_tiling(uint8_t *at, const struct relocation *relocation)
{
	static const uint32_t modes[4] = {0, 1, 2, 4};

	peer_put32(at, (peer_get32(at) & ~0xf00u) | modes[relocation->attribute] << 8);
}

static void object_number(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, relocation->id);
}

#define F(name) PB_PATCH_FORMAT_##name

static const struct peer peers[] = {
	{"WDDM, etnaviv, g2d", plain32, 32, false, {F(ADDRESS32)}, 0},
	{"the same, written to", plain32, 32, false, {F(ADDRESS32_WRITE)}, 0},
	{"WDDM 64, qxl", plain64, 40, false, {F(ADDRESS64)}, 0},
	{"the same, written to", plain64, 40, false, {F(ADDRESS64_WRITE)}, 0},
	{"i915 before gen 8", plain32, 32, true, {F(SUM32)}, 0},
	{"i915 from gen 8", i915_64, 48, true, {F(SUM64_CANONICAL)}, 0},
	{"nouveau LOW, msm", plain32, 40, true, {F(SUM32)}, 0},
	{"nouveau HIGH", nouveau_high, 40, true, {F(HIGH32)}, 0},
	{"UVD, VCE", uvd, 40, true, {F(SUM32), F(HIGH32)}, 12},
	{"msm, shifted", msm_shift1, 40, true, {F(SHIFT1)}, 0},
	{"host1x", host1x, 40, false, {F(SHIFT8)}, 0},
	{"tegra, sectors", tegra_sector, 39, true, {F(SHIFT8_SECTOR)}, 0},
	{"psb 2D", psb_2d, 28, false, {F(FIELD28)}, 0},
	{"via, plane 0", via_0, 32, true, {F(LOW24), F(HIGH8_0)}, 4},
	{"via, plane 1", via_1, 32, true, {F(LOW24), F(HIGH8_1)}, 4},
	{"via, plane 2", via_2, 32, true, {F(LOW24), F(HIGH8_2)}, 4},
	{"radeon tiling", radeon_tiling, 40, false, {F(TILING)}, 0},
	{"vmwgfx, qxl, VirtualBox DX", object_number, 40, false, {F(ID32)}, 0},
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8 | *seed << 24;
}

/* Writes allocation `index`. @return what a relocation to it starts from */
static struct relocation place_object(const struct card *card, const struct peer *peer, uint32_t index,
				      uint32_t *seed)
{
	const bool high = peer->bits > 40 && index % 2 != 0;
	const uint64_t bytes = high ? HIGH_BYTES : UINT64_C(1) << (peer->bits > 40 ? 40 : peer->bits);
	const uint64_t pages = (bytes - OBJECT) / 4096;
	const uint64_t place = ((uint64_t)next_random(seed) << 4 ^ next_random(seed)) % (pages + 1) * 4096;
	const uint32_t attribute = next_random(seed) % 4;

	card_allocation(card, index, high ? HIGH_OS + place : place, OBJECT,
			CARD_SEGMENT(high ? HIGH_SEGMENT : 3) | PB_ALLOCATION_WRITE |
				attribute << PB_ALLOCATION_ATTRIBUTE_SHIFT);
	return (struct relocation){
		.address = high ? HIGH_GPU + place : place,
		.id = 0xa110c000u + index, /* as the fixture names it */
		.attribute = attribute,
	};
}

/* Whether a format takes an offset at all. */
static bool has_offset(const struct peer *peer)
{
	return peer->formats[0] != F(TILING) && peer->formats[0] != F(ID32);
}

static uint32_t add_entries(const struct card *card, const struct peer *peer, uint32_t count, uint32_t place,
			    uint32_t object, uint32_t offset)
{
	for (uint32_t i = 0; i < (peer->second != 0 ? 2u : 1u); i++)
		card_patch(card, count++,
			   &(struct pb_patch_location){
				   .allocation_index = object,
				   .driver_id = peer->formats[i],
				   .allocation_offset = offset,
				   .patch_offset = place * PLACE_BYTES + (i == 1 ? peer->second : 0),
			   });
	return count;
}

static void check_peer(struct card *card, const struct peer *peer, uint32_t *seed)
{
	struct relocation objects[OBJECTS];
	uint8_t *dma = (uint8_t *)card_dma(card, 0);
	struct pb_descriptor descriptor;
	uint8_t expected[BYTES];
	uint32_t count = 0;

	for (uint32_t i = 0; i < BYTES; i++)
		dma[i] = expected[i] = (uint8_t)next_random(seed);
	for (uint32_t i = 0; i < OBJECTS; i++)
		objects[i] = place_object(card, peer, i, seed);
	for (uint32_t place = 0; place < PLACES; place++) {
		const uint32_t object = next_random(seed) % OBJECTS;
		struct relocation relocation = objects[object];

		if (has_offset(peer))
			relocation.offset =
				peer->any_offset ? next_random(seed) : next_random(seed) % (uint32_t)OBJECT;
		relocation.sum = relocation.address + relocation.offset;
		peer->write(expected + place * PLACE_BYTES, &relocation);
		count = add_entries(card, peer, count, place, object, relocation.offset);
	}
	descriptor = card_descriptor(card, 0, BYTES, OBJECTS, count);
	descriptor.flags = PB_FLAG_NULL_RENDERING;
	card_equal(peer->name, card_execute(card, 0, &descriptor).status, PB_ERROR_OK);
	if (memcmp(dma, expected, BYTES) != 0)
		fail_msg("%s: other bytes", peer->name);
}

static void start(struct card *card)
{
	const struct pb_segment_request request = {
		.id = HIGH_SEGMENT, .os_base = HIGH_OS, .gpu_base = HIGH_GPU, .size = HIGH_BYTES};
	struct pb_segment segment;

	card_start(card);
	assert_int_equal(pb_segment_create(&segment, &card->channel, &request), PB_ERROR_OK);
}

static void every_peer(void **state)
{
	struct card card;
	uint32_t seed = 3;

	(void)state;
	start(&card);
	for (uint32_t i = 0; i < COUNT(peers); i++) {
		for (uint32_t round = 0; round < ROUNDS; round++)
			check_peer(&card, &peers[i], &seed);
	}
	card_stop(&card);
}

/* ---- formats of a channel's own ---- */

static void msm_right(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)(relocation->sum >> 5) | 0x80000011);
}

static void msm_left(uint8_t *at, const struct relocation *relocation)
{
	peer_put32(at, (uint32_t)(relocation->sum << 3) | 0x5);
}

static void psb(uint8_t *at, const struct relocation *relocation)
{
	const uint32_t mask = 0x00fffff0;

	peer_put32(at, (0x7100000f & ~mask) | ((uint32_t)(relocation->sum >> 12 << 4) & mask));
}

static const struct own {
	struct peer peer;
	struct pb_patch_format format;
} owns[] = {
	{{"msm, to the right", msm_right, 40, true, {PB_FORMAT_OWN}, 0},
	 {.bound = PB_FORMAT_NONE, .align = 4, .shift_right = 5, .mask = ~0u, .or_value = {0x80000011}}},
	{{"msm, to the left", msm_left, 40, true, {PB_FORMAT_OWN + 15}, 0},
	 {.bound = PB_FORMAT_NONE, .align = 4, .shift_left = 3, .mask = ~0u, .or_value = {0x5}}},
	{{"psb", psb, 32, true, {PB_FORMAT_OWN + 7}, 0},
	 {.bound = PB_FORMAT_NONE,
	  .align = 4,
	  .shift_right = 12,
	  .shift_left = 4,
	  .mask = 0x00fffff0,
	  .background = 0x7100000f & ~0x00fffff0u}},
};

static void own_formats(void **state)
{
	struct card card;
	uint32_t seed = 4;

	(void)state;
	start(&card);
	for (uint32_t i = 0; i < COUNT(owns); i++) {
		uint32_t reason;

		assert_int_equal(
			pb_format_set(&card.channel, owns[i].peer.formats[0], &owns[i].format, &reason),
			PB_ERROR_OK);
		assert_int_equal(reason, PB_FORMAT_REASON_NONE);
	}
	for (uint32_t i = 0; i < COUNT(owns); i++) {
		for (uint32_t round = 0; round < ROUNDS; round++)
			check_peer(&card, &owns[i].peer, &seed);
	}
	card_stop(&card);
}

/* The firmware says why, and the number still means what it did. */
static void refused_formats(void **state)
{
	struct pb_patch_format bad = owns[2].format;
	struct card card;
	uint32_t seed = 5;
	uint32_t reason;

	(void)state;
	start(&card);
	assert_int_equal(pb_format_set(&card.channel, PB_FORMAT_OWN + 7, &owns[2].format, NULL), PB_ERROR_OK);
	bad.background |= bad.mask;
	assert_int_equal(pb_format_set(&card.channel, PB_FORMAT_OWN + 7, &bad, &reason), PB_ERROR_BAD_FORMAT);
	assert_string_equal(pb_format_reason_name(reason), "BACKGROUND");
	assert_int_equal(pb_format_set(&card.channel, PB_FORMAT_OWN - 1, &owns[2].format, &reason),
			 PB_ERROR_BAD_FORMAT);
	assert_string_equal(pb_format_reason_name(reason), "NUMBER");
	check_peer(&card, &owns[2].peer, &seed);
	card_stop(&card);
}

UNIT_SUITE(test_peer_formats)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_peer),
		cmocka_unit_test(own_formats),
		cmocka_unit_test(refused_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
