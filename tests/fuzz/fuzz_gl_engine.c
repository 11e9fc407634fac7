/* SPDX-License-Identifier: MIT */
/*
 * Buffers for a GL engine whose renderers draw nothing: its packets with any operands, any virgl commands in a run, in
 * contexts and in the queue that pages. A packet goes on, ends or faults, and a RESET ends all that goes on. No memory
 * outside of the channel's ranges changes. A renderer is told of no resource but those of its owner that have an address.
 * Another channel's resource keeps its contents.
 *
 * Aims at: hal/engine_model/gl.c hal/engine_model/gl_owners.c hal/engine_model/gl_resources.c
 * Aims at: hal/engine_model/gl_run.c hal/engine_model/gl_null.c
 */
#include <stdlib.h>
#include <string.h>

#include "hal/gl/stream.h"
#include "patchbay/abi/boot.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/hal/gl_bench.h"

#define BUFFER_WORDS 2048u /* up to BENCH_DATA */
#define STEPS        3000u
/** Steps of an engine without progress: the first one of a packet may have none. */
#define STILL_MAX 3u
#define WITNESS   PB_ENGINE_OWNER(2, 0)
#define CONTENT   0x77aa0001u
#define ARRAY(a)  (sizeof(a) / sizeof((a)[0]))

static struct gl_bench gl;
static uint32_t words[BUFFER_WORDS];
static uint32_t count;

/* ---- what a renderer is told ---- */

/** The renderer's resource of that handle, which stands somewhere. */
static bool is_bound(uint32_t renderer, uint32_t handle)
{
	const struct pb_engine_gl_owner *owner = &gl.gl->config.owners[renderer];
	const uint32_t place = handle & 0xffffu;

	return owner->used && !owner->lost && place != 0 && place <= owner->fresh &&
	       owner->resources[place - 1u].handle == handle && owner->resources[place - 1u].id != 0 &&
	       owner->resources[place - 1u].bound;
}

static bool on_resource(void *context, const struct pb_gl_use *use, uint32_t *value)
{
	const uint32_t *renderer = context;

	(void)use;
	FUZZ_CHECK(is_bound(*renderer, *value));
	return true;
}

static void begin(void *context, uint32_t renderer, const struct pb_engine_gl_request *request)
{
	static const struct pb_gl_walk_ops ops = {.resource = on_resource};
	static uint32_t run[PB_GL_PACKET_WORDS_MAX];
	struct pb_gl_error error;

	if (request->kind == PB_ENGINE_GL_RUN) {
		memcpy(run, request->words, 4u * request->count);
		FUZZ_CHECK(pb_gl_walk(run, request->count, &ops, &renderer, &error) == PB_GL_STATUS_OK);
	} else if (request->kind != PB_ENGINE_GL_CAPS && request->kind != PB_ENGINE_GL_DESTROY) {
		FUZZ_CHECK(is_bound(renderer, request->resource));
	}
	pb_gl_null_renderers.begin(context, renderer, request);
}

/** No two resources of an owner have one identifier, or one page. */
static void check_bindings(void)
{
	for (uint32_t i = 0; i < GL_OWNERS * GL_RESOURCES * GL_RESOURCES; i++) {
		const struct pb_engine_gl_owner *owner = &gl.gl->config.owners[i % GL_OWNERS];
		const uint32_t x = i / GL_OWNERS % GL_RESOURCES, y = i / GL_OWNERS / GL_RESOURCES;
		const struct pb_engine_gl_resource *one, *other;

		if (!owner->used || x >= y || y >= owner->fresh)
			continue;
		one = &owner->resources[x];
		other = &owner->resources[y];
		FUZZ_CHECK(one->id == 0 || one->id != other->id);
		FUZZ_CHECK(!one->bound || !other->bound || one->page >= other->page + other->pages ||
			   other->page >= one->page + one->pages);
	}
}

/* ---- what is in a buffer ---- */

static void put(uint32_t word)
{
	if (count < BUFFER_WORDS)
		words[count++] = word;
}

/** Most often one of the channel's pages. */
static uint32_t page(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0xe0)
		return PAGE(kind % 24u);
	return kind < 0xf0 ? 0 : fuzz_number(input);
}

static uint32_t owner(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0xe0)
		return OWNER(kind % (GL_OWNERS + 1u));
	return kind < 0xf0 ? WITNESS : fuzz_number(input);
}

/** Most often one where the channel has memory, or an aperture of which some pages are mapped. */
static void put_address(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	const uint32_t offset = fuzz_number(input);
	uint64_t address = offset;

	if (kind < 0x70)
		address = BENCH_GPU + kind % 22u * PB_PAGE_BYTES + (offset & 0xffcu);
	else if (kind < 0xd0)
		address = BENCH_APERTURE + kind % 12u * PB_PAGE_BYTES + (offset & 0xffcu);
	else if (kind >= 0xf0)
		address = (uint64_t)fuzz_word(input) << 32 | offset;
	put((uint32_t)address);
	put((uint32_t)(address >> 32));
}

/** Operands by letter: an address, a number, a page, an owner, a small number, the words of a picture. */
static const struct {
	uint32_t header;
	const char *operands;
} packets[] = {
	{PB_PACKET(PB_PACKET_GL_BIND, PB_PACKET_GL_BIND_WORDS), "ospst"},
	{PB_PACKET(PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS), "sanpnnnnnnnnn"},
	{PB_PACKET(PB_PACKET_GL_TRANSFER, PB_PACKET_GL_TRANSFER_WORDS), "samps00000000"},
	{PB_PACKET(PB_PACKET_GL_UNBIND, PB_PACKET_GL_UNBIND_WORDS), "oss"},
	{PB_PACKET(PB_PACKET_GL_CAPS, PB_PACKET_GL_CAPS_WORDS), "ssam"},
	{PB_PACKET(PB_PACKET_GL_BIND, PB_PACKET_GL_BIND_WORDS), "onpnnnnnnnnnnn"},
	{PB_PACKET(PB_PACKET_GL_END, PB_PACKET_GL_END_WORDS), "o"},
	{PB_PACKET(PB_PACKET_INDIRECT, PB_PACKET_INDIRECT_WORDS), "am"},
};

static void put_operand(struct fuzz_input *input, char kind)
{
	static const uint32_t picture[] = {SHAPE};

	switch (kind) {
	case 'a':
		put_address(input);
		break;
	case 'p':
		put(page(input));
		break;
	case 'o':
		put(owner(input));
		break;
	case 'm':
		put(fuzz_below(input, 64) * 128u);
		break;
	case 's':
		put(fuzz_below(input, 5));
		break;
	case 't':
		for (uint32_t i = 0; i < ARRAY(picture); i++)
			put(picture[i]);
		break;
	case '0':
		put(0);
		break;
	default:
		put(fuzz_number(input));
	}
}

static void packet(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);
	const char *operand = packets[kind % ARRAY(packets)].operands;

	if (kind >= 0xf8) {
		put(fuzz_word(input));
		return;
	}
	put(packets[kind % ARRAY(packets)].header);
	for (; *operand != '\0'; operand++)
		put_operand(input, *operand);
}

/** A word of a virgl command: a page, or a number of anything. */
static uint32_t command_word(struct fuzz_input *input)
{
	const uint32_t kind = fuzz_byte(input);

	if (kind < 0x60)
		return PAGE(kind % 24u);
	return kind == 0xff ? fuzz_word(input) : kind % 32u;
}

/** Commands of lengths that they may have, most of them; behind them the header, which tells how long they are. */
static void run_of_commands(struct fuzz_input *input)
{
	const uint32_t start = count;

	put(0);
	for (uint32_t commands = 1u + fuzz_below(input, 6); commands != 0; commands--) {
		uint32_t header = fuzz_below(input, 64), length;

		if (header >= PB_GL_CREATE_OBJECT && header <= PB_GL_DESTROY_OBJECT)
			header |= fuzz_below(input, 13) << 8;
		length = pb_gl_operation_of(header)->length_min + fuzz_byte(input) % 16u / 15u;
		put(header | length << 16);
		for (; length != 0 && fuzz_more(input); length--)
			put(command_word(input));
	}
	words[start] = PB_PACKET(PB_PACKET_GL, count - start + fuzz_byte(input) / 255u);
}

/* ---- the engine ---- */

/** Memory that a guest cannot change: all but its ranges, the dummy page, and what is the engine's. */
static const struct {
	uint32_t first, end;
} outside[] = {
	{0, BENCH_REGISTERS + 64},
	{BENCH_REGISTERS + 192, BENCH_TRANSLATION + 64},
	{BENCH_TRANSLATION + 68, BENCH_RANGE0},
	{BENCH_RANGE2 + BENCH_RANGE2_BYTES, BENCH_DUMMY},
	{BENCH_TABLE + 4 * BENCH_PAGES, BENCH_BYTES},
};
static uint8_t before[BENCH_BYTES];

/** Only HANG makes no progress. */
static bool may_hang(void)
{
	for (uint32_t at = BENCH_RANGE0; at < BENCH_RANGE2 + BENCH_RANGE2_BYTES; at += 4u) {
		if (*bench_at(&gl.bench, at) == HANG)
			return true;
	}
	return false;
}

/** @return whether nothing is left to run. If not, the engine hangs, or makes progress still. */
static bool run(uint32_t steps)
{
	uint32_t still = 0;

	for (; steps != 0; steps--) {
		const uint32_t progress = gl.bench.registers->progress;

		gl.clock += 50u;
		if (!pb_engine_model_step(gl.bench.model, 200))
			return true;
		still = gl.bench.registers->progress == progress ? still + 1u : 0;
		if (still > STILL_MAX) {
			FUZZ_CHECK(!pb_engine_gl_waits(gl.node) && may_hang());
			return false;
		}
	}
	return false;
}

static void submit(uint32_t name, uint32_t at)
{
	memcpy(bench_at(&gl.bench, at), words, 4u * count);
	bench_feed(&gl.bench, name, BENCH_GPU + (at == BENCH_OTHER ? BENCH_RANGE0 : at), 4u * count);
	count = 0;
}

/** What was put together so far, for a context or for the queue that pages; perhaps a command meanwhile. */
static void submit_guest(struct fuzz_input *input)
{
	static const uint32_t commands[] = {PB_ENGINE_COMMAND_RESET, PB_ENGINE_COMMAND_STOP,
					    PB_ENGINE_COMMAND_STOP_INSIDE};
	const struct pb_engine_registers *registers = gl.bench.registers;
	const uint32_t kind = fuzz_byte(input);
	const uint32_t asked = fuzz_byte(input);
	bool ended;

	submit(kind < 0x80 ? BENCH_PAGING : OWNER(kind % (GL_OWNERS + 1u)), BENCH_BUFFER);
	if (asked % 4u != 3u) {
		(void)run(asked / 4u);
		bench_ask(&gl.bench, commands[asked % 4u]);
	}
	for (size_t i = 0; i < ARRAY(outside); i++)
		memcpy(before + outside[i].first, gl.bench.memory + outside[i].first,
		       outside[i].end - outside[i].first);
	ended = run(STEPS);
	for (size_t i = 0; i < ARRAY(outside); i++)
		FUZZ_CHECK(memcmp(before + outside[i].first, gl.bench.memory + outside[i].first,
				  outside[i].end - outside[i].first) == 0);
	FUZZ_CHECK(registers->fault_code <= PB_ENGINE_FAULT_RENDERER);
	FUZZ_CHECK(!ended || registers->command_done == registers->command);
	FUZZ_CHECK(!ended || registers->fault_code != 0 || registers->sequence == gl.bench.fed);
	check_bindings();
	if (!ended || registers->fault_code != 0)
		bench_reset(&gl.bench);
	FUZZ_CHECK(!pb_engine_gl_waits(gl.node));
}

/* ---- another channel ---- */

static void submit_witness(uint32_t privilege, const uint32_t *packet_words, uint32_t packet_count)
{
	count = packet_count;
	memcpy(words, packet_words, 4u * packet_count);
	submit(WITNESS | privilege, BENCH_OTHER);
	FUZZ_CHECK(run(STEPS));
	bench_expect_done(&gl.bench);
}

static void start_witness(void)
{
	static const uint32_t bind[] = {BIND(WITNESS, 1, PAGE(1), 1)};
	static const uint32_t fill[] = {GL(13), CLEAR_TEXTURE(PAGE(1), CONTENT)};

	submit_witness(PB_ENGINE_OWNER_PRIVILEGED, bind, ARRAY(bind));
	submit_witness(0, fill, ARRAY(fill));
}

static void check_witness(void)
{
	static const uint32_t read[] = {TRANSFER(0, AT(BENCH_RANGE0 + 0x800), 64, PAGE(1))};

	submit_witness(0, read, ARRAY(read));
	for (uint32_t i = 0; i < 64; i += 4)
		FUZZ_CHECK(*bench_at(&gl.bench, BENCH_OTHER + 0x800 + i) == CONTENT);
}

void fuzz_one(struct fuzz_input *input)
{
	static const struct pb_engine_gl_sizes sizes = {GL_OWNERS, GL_RESOURCES, 64, 2};
	struct pb_engine_gl_renderers renderers = pb_gl_null_renderers;

	renderers.begin = begin;
	memset(&gl, 0, sizeof(gl));
	bench_start(&gl.bench, PB_NODE_3D);
	bench_scatter(&gl.bench);
	gl.null = (struct pb_gl_null){.renderers = gl.renderers,
				      .words = gl.words,
				      .resource_count = GL_RESOURCES,
				      .delay = fuzz_below(input, 4),
				      .clock = &gl.clock};
	gl.gl = pb_engine_gl_create(&renderers, &gl.null, &sizes);
	FUZZ_CHECK(gl.gl != NULL);
	gl_bench_start_node(&gl, &gl.bench, &gl.node, BENCH_REGISTERS, PB_NODE_3D);
	start_witness();
	while (fuzz_more(input)) {
		const uint32_t kind = fuzz_below(input, 4);

		if (kind == 0)
			submit_guest(input);
		else if (kind == 1)
			run_of_commands(input);
		else
			packet(input);
	}
	submit_guest(input);
	check_witness();
	gl_bench_stop(&gl);
}
