/* SPDX-License-Identifier: MIT */
/* GL packets on the model of an engine, with renderers that draw nothing. */
#include <stdlib.h>
#include <string.h>

#include "hal/engine/gl_packets.h"
#include "hal/engine_model/gl_null.h"
#include "patchbay/abi/boot.h"
#include "qemu/engine_gl.h"
#include "tests/unit/hal/engine_bench.h"
#include "tests/unit/unit.h"

#define OWNERS    3u
#define RESOURCES 4u
#define ARRAY(a)  (sizeof(a) / sizeof((a)[0]))

/* Pages of channel 1: range 0 is 15 pages from PAGE(1) on, range 1 adjoins it with 4, behind which is range 2's address. */
#define PAGE(n)     (uint32_t)((BENCH_GPU >> 12) + (n))
#define PAGE_END    PAGE(20)
#define AT_PAGE(n)  (BENCH_GPU + 4096u * (uint64_t)(n))
#define OWNER(c)    PB_ENGINE_OWNER(1, (c))
#define SHAPE       2, 67, 10, 8, 8, 1, 1, 0, 0, 0
#define BIND(owner, id, page, pages) PB_PACKET(PB_PACKET_GL_BIND, 15), owner, id, page, pages, SHAPE
#define UNBIND(owner, id, flags)     PB_PACKET(PB_PACKET_GL_UNBIND, 4), owner, id, flags
#define END(owner)                   PB_PACKET(PB_PACKET_GL_END, 2), owner
#define TRANSFER(flags, at, bytes, page)                                                                     \
	PB_PACKET(PB_PACKET_GL_TRANSFER, 15), flags, at, bytes, page, 0, 0, 0, 0, 8, 8, 1, 0, 0
#define CAPS(set, at, bytes) PB_PACKET(PB_PACKET_GL_CAPS, 6), set, 1, at, bytes
#define GL(words)            PB_PACKET(PB_PACKET_GL, 1 + (words))
/* Commands of a run, from public numbers of virgl: the header has the payload's length, the kind, and the number. */
#define COMMAND(number, kind, words) (uint32_t)((words) << 16 | (kind) << 8 | (number))
#define COPY_REGION(to, from)        COMMAND(17, 0, 13), to, 0, 0, 0, 0, from, 0, 0, 0, 0, 8, 8, 1
#define CLEAR_TEXTURE(page, color)   COMMAND(47, 0, 12), page, 0, 0, 0, 0, 8, 8, 1, color, 0, 0, 0
#define SURFACE(handle, page)        COMMAND(1, 8, 5), handle, page, 67, 0, 0
#define FRAMEBUFFER(surface)         COMMAND(5, 0, 3), 1, 0, surface
#define CLEAR                        COMMAND(7, 0, 8), 4, 0, 0, 0, 0, 0, 0, 0
#define TRANSFER3D(page)             COMMAND(43, 0, 13), page, 0, 0, 0, 0, 0, 0, 0, 8, 8, 1, 0, 1

struct gl_bench {
	struct bench bench;
	struct pb_gl_null_renderer renderers[OWNERS];
	uint32_t words[OWNERS * RESOURCES];
	uint32_t clock;
	struct pb_gl_null null;
	struct pb_engine_gl *gl;
	struct pb_engine_gl_node *node;
};

static void raise_line(void *context)
{
	struct bench *bench = context;

	bench->interrupts++;
}

static void start_node(struct gl_bench *gl, struct bench *bench, struct pb_engine_gl_node **node,
		       uint32_t registers, uint32_t kind)
{
	pb_engine_model_destroy(bench->model);
	*node = pb_engine_gl_node_create(gl->gl);
	bench->model = pb_engine_model_create(&(struct pb_engine_model_config){
		.memory = bench->memory,
		.memory_bytes = BENCH_BYTES,
		.registers_offset = registers,
		.kind = kind,
		.interrupt = raise_line,
		.context = bench,
		.gl_ops = &pb_engine_gl_ops,
		.gl = *node,
	});
}

static void start_kind(struct gl_bench *gl, uint32_t kind)
{
	static const struct pb_engine_gl_sizes sizes = {OWNERS, RESOURCES, 16, 2};

	memset(gl, 0, sizeof(*gl));
	bench_start(&gl->bench, kind);
	gl->null = (struct pb_gl_null){.renderers = gl->renderers,
				       .words = gl->words,
				       .resource_count = RESOURCES,
				       .clock = &gl->clock};
	gl->gl = pb_engine_gl_create(&pb_gl_null_renderers, &gl->null, &sizes);
	assert_non_null(gl->gl);
	start_node(gl, &gl->bench, &gl->node, BENCH_REGISTERS, kind);
}

static void start(struct gl_bench *gl)
{
	start_kind(gl, PB_NODE_3D);
}

static void stop(struct gl_bench *gl)
{
	bench_stop(&gl->bench);
	free(gl->node);
	pb_engine_gl_destroy(gl->gl);
}

/* Words are run for a context of channel 1, or for its paging queue. */
#define RUN(gl, owner, ...)                                                                                  \
	bench_submit_as(&(gl)->bench, owner, (const uint32_t[]){__VA_ARGS__},                                \
			sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
#define PAGE_IN(gl, ...) RUN(gl, BENCH_PAGING, __VA_ARGS__)

static void done(const struct gl_bench *gl)
{
	bench_expect_done(&gl->bench);
}

/* What a resource of context 0 contains, read through its page into memory. */
static void expect_content(struct gl_bench *gl, uint32_t owner, uint32_t page, uint32_t value)
{
	const struct bench *bench = &gl->bench;
	const uint32_t after = *bench_at(bench, BENCH_DATA + 64);

	RUN(gl, owner, TRANSFER(0, AT(BENCH_DATA), 64, page));
	done(gl);
	for (uint32_t i = 0; i < 64; i += 4)
		assert_int_equal(*bench_at(bench, BENCH_DATA + i), value);
	assert_int_equal(*bench_at(bench, BENCH_DATA + 64), after);
}

static void without_a_gl_engine_its_packets_are_unknown(void **state)
{
	(void)state;
	for (uint32_t opcode = PB_PACKET_GL; opcode <= PB_PACKET_GL_END; opcode++) {
		const uint32_t words[15] = {PB_PACKET(opcode, 15)};
		struct bench bench;

		bench_start(&bench, PB_NODE_3D);
		bench_submit_as(&bench, BENCH_PAGING, words, 15);
		bench_expect_fault(&bench, PB_ENGINE_FAULT_PACKET, BENCH_GPU + BENCH_BUFFER);
		bench_stop(&bench);
	}
}

static void pages_name_resources(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 2), BIND(OWNER(0), 8, PAGE(6), 1));
	done(&gl);
	expect_content(&gl, OWNER(0), PAGE(4), 0);
	STORE(&gl.bench, BENCH_DATA + 0x100, 0xabcd0001, 2, 3, 4);
	RUN(&gl, OWNER(0), TRANSFER(1, AT(BENCH_DATA + 0x100), 16, PAGE(4)),
	    GL(27), COPY_REGION(PAGE(6), PAGE(4)), CLEAR_TEXTURE(PAGE(4), 99));
	done(&gl);
	expect_content(&gl, OWNER(0), PAGE(6), 0xabcd0001);
	expect_content(&gl, OWNER(0), PAGE(4), 99);
	RUN(&gl, OWNER(0), CAPS(2, AT(BENCH_DATA), 8));
	done(&gl);
	assert_int_equal(*bench_at(&gl.bench, BENCH_DATA + 4), 2);
	stop(&gl);
}

static void contents_stay_when_a_resource_moves(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 2));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 5));
	PAGE_IN(&gl, UNBIND(OWNER(0), 7, 0), BIND(OWNER(0), 8, PAGE(4), 2));
	expect_content(&gl, OWNER(0), PAGE(4), 0);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(8), 2));
	expect_content(&gl, OWNER(0), PAGE(8), 5);
	/* To pages of its own, and without an UNBIND. */
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(9), 2));
	expect_content(&gl, OWNER(0), PAGE(9), 5);
	/* Destroyed, the identifier is free, and so are its pages. */
	PAGE_IN(&gl, UNBIND(OWNER(0), 7, 1), BIND(OWNER(0), 7, PAGE(10), 1));
	expect_content(&gl, OWNER(0), PAGE(10), 0);
	stop(&gl);
}

static void contexts_have_resources_of_their_own(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 1), BIND(OWNER(1), 7, PAGE(5), 1), BIND(OWNER(1), 8, PAGE(4), 1));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(4), 2));
	expect_content(&gl, OWNER(0), PAGE(4), 1);
	expect_content(&gl, OWNER(1), PAGE(4), 2);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(5), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(5));
	stop(&gl);
}

/* Resources of context 0: identifier 1 at page 4, 2 pages; 2 at page 6; 3 had page 7. */
#define FURNISHED                                                                                            \
	BIND(OWNER(0), 1, PAGE(4), 2), BIND(OWNER(0), 2, PAGE(6), 1), BIND(OWNER(0), 3, PAGE(7), 1),         \
		UNBIND(OWNER(0), 3, 0)
#define PACKET_AT BENCH_GPU + BENCH_BUFFER

/* One packet, and its fault; 0: none. */
static const struct {
	const char *name;
	uint32_t owner;
	uint32_t code;
	uint64_t address;
	uint32_t words[40];
} faults[] = {
	{"run_of_nothing", 1, 0, 0, {GL(0)}},
	{"run_at_unbound_page", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(7), {GL(13), CLEAR_TEXTURE(PAGE(7), 1)}},
	{"run_inside_a_resource", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(5), {GL(13), CLEAR_TEXTURE(PAGE(5), 1)}},
	{"run_outside_the_ranges", 1, PB_ENGINE_FAULT_ADDRESS, AT_PAGE(20), {GL(13), CLEAR_TEXTURE(PAGE(20), 1)}},
	{"second_operand", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(8), {GL(14), COPY_REGION(PAGE(4), PAGE(8))}},
	{"no_resource_where_one_is_needed", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(13), CLEAR_TEXTURE(0, 1)}},
	{"unknown_command", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(2), COMMAND(200, 0, 1), 0}},
	{"cut_off_command", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(2), COMMAND(7, 0, 8), 0}},
	{"transfer_inside_a_run", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(14), TRANSFER3D(PAGE(4))}},
	{"transfer_flags", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {TRANSFER(2, AT(BENCH_DATA), 4, PAGE(4))}},
	{"transfer_too_long", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT,
	 {TRANSFER(1, AT(BENCH_DATA), PB_GL_TRANSFER_BYTES_MAX + 4, PAGE(4))}},
	{"transfer_unaligned", 1, PB_ENGINE_FAULT_ALIGNMENT, PACKET_AT, {TRANSFER(1, AT(BENCH_DATA + 2), 4, PAGE(4))}},
	{"transfer_outside", 1, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU + 0xfffc, {TRANSFER(1, AT(0xfffc), 8, PAGE(4))}},
	{"transfer_page", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(8), {TRANSFER(1, AT(BENCH_DATA), 8, PAGE(8))}},
	{"transfer_of_unmapped_memory", 1, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE,
	 {TRANSFER(1, ADDRESS(BENCH_APERTURE), 8, PAGE(4))}},
	{"transfer_to_unmapped_memory", 1, PB_ENGINE_FAULT_PAGE, BENCH_APERTURE + 4,
	 {TRANSFER(0, ADDRESS(BENCH_APERTURE + 4), 8, PAGE(4))}},
	{"caps_too_long", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {CAPS(1, AT(BENCH_DATA), PB_GL_CAPS_BYTES_MAX + 4)}},
	{"caps_outside", 1, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU, {CAPS(1, AT(0), 4)}},
	{"caps_length", 1, PB_ENGINE_FAULT_PACKET, PACKET_AT, {PB_PACKET(PB_PACKET_GL_CAPS, 5)}},
	{"bind_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(8), 1)}},
	{"unbind_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {UNBIND(OWNER(0), 1, 0)}},
	{"end_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {END(OWNER(0))}},
	{"bind_for_another_channel", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT,
	 {BIND(PB_ENGINE_OWNER(2, 0), 9, PAGE(8), 1)}},
	{"bind_owner_bits", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0) | 0x100, 9, PAGE(8), 1)}},
	{"bind_no_identifier", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 0, PAGE(8), 1)}},
	{"bind_no_page", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, 0, 1)}},
	{"bind_no_pages", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(8), 0)}},
	{"bind_last_page_outside", BENCH_PAGING, PB_ENGINE_FAULT_ADDRESS, AT_PAGE(13), {BIND(OWNER(0), 9, PAGE(13), 4)}},
	{"bind_up_to_the_end", BENCH_PAGING, 0, 0, {BIND(OWNER(0), 9, PAGE(13), 3)}},
	{"bind_over_another", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(5), 1)}},
	{"bind_up_to_another", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(3), 2)}},
	{"bind_other_words", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT,
	 {PB_PACKET(PB_PACKET_GL_BIND, 15), OWNER(0), 1, PAGE(4), 2, 2, 67, 10, 8, 9, 1, 1, 0, 0, 0}},
	{"unbind_flags", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {UNBIND(OWNER(0), 1, 2)}},
	{"unbind_nothing", BENCH_PAGING, 0, 0, {UNBIND(OWNER(0), 77, 1)}},
	{"unbind_for_nobody", BENCH_PAGING, 0, 0, {UNBIND(OWNER(9), 1, 1)}},
	{"end_for_nobody", BENCH_PAGING, 0, 0, {END(OWNER(9))}},
};

static void each_rule_has_its_fault(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ARRAY(faults); i++) {
		struct gl_bench gl;

		start(&gl);
		PAGE_IN(&gl, FURNISHED);
		done(&gl);
		print_message("[ case     ] %s\n", faults[i].name);
		bench_submit_as(&gl.bench, faults[i].owner, faults[i].words, PB_PACKET_WORDS(faults[i].words[0]));
		if (faults[i].code == 0)
			done(&gl);
		else
			bench_expect_fault(&gl.bench, faults[i].code, faults[i].address);
		stop(&gl);
	}
}

static void a_copy_node_has_none_of_it(void **state)
{
	struct gl_bench gl;

	(void)state;
	start_kind(&gl, PB_NODE_COPY);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_NODE, PACKET_AT);
	stop(&gl);
}

/* A surface is set as the framebuffer; its resource loses its address; the next clear names no resource. */
static void what_was_bound_earlier_must_still_stand_somewhere(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	RUN(&gl, OWNER(0), GL(19), SURFACE(5, PAGE(4)), FRAMEBUFFER(5), CLEAR);
	done(&gl);
	PAGE_IN(&gl, UNBIND(OWNER(0), 1, 0), BIND(OWNER(0), 1, PAGE(9), 2));
	RUN(&gl, OWNER(0), GL(9), CLEAR);
	done(&gl);
	PAGE_IN(&gl, UNBIND(OWNER(0), 1, 0));
	RUN(&gl, OWNER(0), GL(9), CLEAR);
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(9));
	stop(&gl);
}

/* Behind a fault the owner is lost until GL_END, and no other one is. */
static void a_fault_loses_one_owner(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(1), 1, PAGE(5), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(5), 3));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(9), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(9));
	bench_reset(&gl.bench);
	expect_content(&gl, OWNER(1), PAGE(5), 3);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	/* The paging queue does not suffer. */
	PAGE_IN(&gl, BIND(OWNER(0), 2, PAGE(6), 1), UNBIND(OWNER(0), 1, 1));
	done(&gl);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(6), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	PAGE_IN(&gl, END(OWNER(0)), BIND(OWNER(0), 2, PAGE(6), 1));
	expect_content(&gl, OWNER(0), PAGE(6), 0);
	stop(&gl);
}

/* Steps of an engine whose renderer takes its time, on the card's clock. */
static bool step(struct gl_bench *gl, uint32_t microseconds)
{
	gl->clock += microseconds;
	return pb_engine_model_step(gl->bench.model, 200);
}

static void time_is_the_cards_clock_while_a_renderer_works(void **state)
{
	struct gl_bench gl;
	uint32_t time, progress;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	gl.null.delay = 5;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	assert_true(step(&gl, 0));
	time = gl.bench.registers->time;
	for (uint32_t i = 0; i < 4; i++) {
		progress = gl.bench.registers->progress;
		assert_true(pb_engine_gl_waits(gl.node));
		assert_true(step(&gl, 700));
		assert_int_equal(gl.bench.registers->time, time + 700 * (i + 1));
		/* The null renderer uses one microsecond in each poll. */
		assert_int_equal(gl.bench.registers->progress, progress + 1);
		assert_int_equal(gl.bench.registers->sequence, gl.bench.fed - 1);
	}
	while (step(&gl, 700))
		continue;
	done(&gl);
	assert_false(pb_engine_gl_waits(gl.node));
	stop(&gl);
}

/* STOP inside a buffer: between two packets, behind the renderer's answer; the rest runs later. */
static void a_stop_waits_for_the_packet_and_no_longer(void **state)
{
	static const uint32_t words[] = {GL(13), CLEAR_TEXTURE(PAGE(4), 1), GL(13), CLEAR_TEXTURE(PAGE(6), 2)};
	struct gl_bench gl;
	struct pb_engine_progress progress;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(0), 2, PAGE(6), 1));
	gl.null.delay = 3;
	bench_store(&gl.bench, BENCH_BUFFER, words, ARRAY(words));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, sizeof(words));
	step(&gl, 0);
	bench_ask(&gl.bench, PB_ENGINE_COMMAND_STOP_INSIDE);
	step(&gl, 100);
	assert_int_not_equal(gl.bench.registers->command_done, gl.bench.registers->command);
	for (uint32_t i = 0; i < 4; i++)
		step(&gl, 100);
	bench_expect_stop(&gl.bench, 1, 2);
	progress = gl.bench.registers->save;
	assert_int_equal(progress.offset, 56);
	expect_content(&gl, OWNER(0), PAGE(4), 1);
	expect_content(&gl, OWNER(0), PAGE(6), 0);
	bench_store(&gl.bench, BENCH_BUFFER, words, ARRAY(words));
	bench_resume(&gl.bench, &progress);
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, sizeof(words));
	bench_run(&gl.bench);
	expect_content(&gl, OWNER(0), PAGE(6), 2);
	stop(&gl);
}

static void a_reset_ends_the_renderer_that_works(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(1), 1, PAGE(4), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	gl.null.delay = UINT32_MAX;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	step(&gl, 1000);
	bench_reset(&gl.bench);
	assert_false(pb_engine_gl_waits(gl.node));
	gl.null.delay = 0;
	expect_content(&gl, OWNER(1), PAGE(4), 8);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	stop(&gl);
}

/* A renderer that never answers a paging packet costs its owner, not the queue that pages. */
static void paging_waits_for_a_renderer_so_long(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	gl.null.delay = UINT32_MAX;
	STORE(&gl.bench, BENCH_BUFFER, BIND(OWNER(0), 1, PAGE(4), 1));
	bench_feed(&gl.bench, BENCH_PAGING, BENCH_GPU + BENCH_BUFFER, 60);
	assert_true(step(&gl, 0));
	assert_true(step(&gl, PB_ENGINE_GL_PATIENCE_US));
	while (step(&gl, 1))
		continue;
	done(&gl);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	stop(&gl);
}

/* Progress of one packet ends with PB_ENGINE_GL_PROGRESS_US of processor time; time goes on. */
static enum pb_engine_gl_answer poll_busy(void *context, uint32_t renderer, uint32_t *used)
{
	(void)renderer;
	*used = *((const struct pb_gl_null *)context)->clock;
	return PB_ENGINE_GL_WORKS;
}

static void a_packet_without_end_makes_progress_for_so_long(void **state)
{
	struct pb_engine_gl_renderers renderers = pb_gl_null_renderers;
	struct gl_bench gl;
	uint32_t progress, time;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	renderers.poll = poll_busy;
	gl.gl->config.renderers = &renderers;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	step(&gl, 0);
	progress = gl.bench.registers->progress;
	time = gl.bench.registers->time;
	for (uint32_t i = 0; i < 30; i++)
		step(&gl, 100000);
	assert_int_equal(gl.bench.registers->progress - progress, PB_ENGINE_GL_PROGRESS_US);
	assert_int_equal(gl.bench.registers->time - time, 3000000);
	gl.gl->config.renderers = &pb_gl_null_renderers;
	stop(&gl);
}

static void a_closed_channel_leaves_nothing_to_the_next(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	pb_engine_gl_close(gl.gl, 2);
	expect_content(&gl, OWNER(0), PAGE(4), 8);
	pb_engine_gl_close(gl.gl, 1);
	RUN(&gl, OWNER(0), TRANSFER(0, AT(BENCH_DATA), 64, PAGE(4)));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(4));
	stop(&gl);
}

/* More owners, and more resources of one, than there is room for. */
static void what_has_no_room_costs_its_owner(void **state)
{
	struct gl_bench gl;

	(void)state;
	start(&gl);
	for (uint32_t i = 0; i <= OWNERS; i++)
		PAGE_IN(&gl, BIND(OWNER(i), 1, PAGE(4), 1));
	done(&gl);
	expect_content(&gl, OWNER(OWNERS - 1), PAGE(4), 0);
	RUN(&gl, OWNER(OWNERS), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	for (uint32_t i = 0; i <= RESOURCES; i++) {
		PAGE_IN(&gl, UNBIND(OWNER(0), i, 0), BIND(OWNER(0), i + 1, PAGE(4), 1));
		done(&gl);
	}
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	stop(&gl);
}

/* Two nodes, one owner: the second waits. */
static void one_node_at_a_time_is_in_a_renderer(void **state)
{
	struct pb_engine_gl_node *node;
	struct gl_bench gl;
	struct bench other;

	(void)state;
	start(&gl);
	bench_start_other(&other, &gl.bench, PB_NODE_3D);
	start_node(&gl, &other, &node, BENCH_OTHER_NODE, PB_NODE_3D);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	gl.null.delay = 4;
	STORE(&gl.bench, BENCH_BUFFER, GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_feed(&gl.bench, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	bench_feed(&other, OWNER(0), BENCH_GPU + BENCH_BUFFER, 56);
	step(&gl, 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(pb_engine_model_step(other.model, 200));
	assert_int_equal(other.registers->sequence, 0);
	while (step(&gl, 10))
		continue;
	done(&gl);
	while (pb_engine_model_step(other.model, 200))
		continue;
	bench_expect_done(&other);
	bench_stop_other(&other);
	free(node);
	stop(&gl);
}

UNIT_SUITE(test_engine_gl)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_gl_engine_its_packets_are_unknown),
		cmocka_unit_test(pages_name_resources),
		cmocka_unit_test(contents_stay_when_a_resource_moves),
		cmocka_unit_test(contexts_have_resources_of_their_own),
		cmocka_unit_test(each_rule_has_its_fault),
		cmocka_unit_test(a_copy_node_has_none_of_it),
		cmocka_unit_test(what_was_bound_earlier_must_still_stand_somewhere),
		cmocka_unit_test(a_fault_loses_one_owner),
		cmocka_unit_test(time_is_the_cards_clock_while_a_renderer_works),
		cmocka_unit_test(a_stop_waits_for_the_packet_and_no_longer),
		cmocka_unit_test(a_reset_ends_the_renderer_that_works),
		cmocka_unit_test(paging_waits_for_a_renderer_so_long),
		cmocka_unit_test(a_packet_without_end_makes_progress_for_so_long),
		cmocka_unit_test(a_closed_channel_leaves_nothing_to_the_next),
		cmocka_unit_test(what_has_no_room_costs_its_owner),
		cmocka_unit_test(one_node_at_a_time_is_in_a_renderer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
