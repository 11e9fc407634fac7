/* SPDX-License-Identifier: MIT */
/* GL packets on the model of an engine, with renderers that draw nothing. */
#include "patchbay/abi/boot.h"
#include "tests/unit/hal/gl_bench.h"
#include "tests/unit/unit.h"

#define ARRAY(a) (sizeof(a) / sizeof((a)[0]))

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
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 2), BIND(OWNER(0), 8, PAGE(6), 1));
	gl_bench_done(&gl);
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 0);
	STORE(&gl.bench, BENCH_DATA + 0x100, 0xabcd0001, 2, 3, 4);
	RUN(&gl, OWNER(0), TRANSFER(1, AT(BENCH_DATA + 0x100), 16, PAGE(4)), GL(27),
	    COPY_REGION(PAGE(6), PAGE(4)), CLEAR_TEXTURE(PAGE(4), 99));
	gl_bench_done(&gl);
	gl_bench_expect(&gl, OWNER(0), PAGE(6), 0xabcd0001);
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 99);
	RUN(&gl, OWNER(0), CAPS(2, AT(BENCH_DATA), 8));
	gl_bench_done(&gl);
	assert_int_equal(*bench_at(&gl.bench, BENCH_DATA + 4), 2);
	gl_bench_stop(&gl);
}

static void contents_stay_when_a_resource_moves(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 2));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 5));
	PAGE_IN(&gl, UNBIND(OWNER(0), 7, 0), BIND(OWNER(0), 8, PAGE(4), 2));
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 0);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(8), 2));
	gl_bench_expect(&gl, OWNER(0), PAGE(8), 5);
	/* To pages of its own, and without an UNBIND. */
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(9), 2));
	gl_bench_expect(&gl, OWNER(0), PAGE(9), 5);
	/* Destroyed, the identifier is free, and so are its pages. */
	PAGE_IN(&gl, UNBIND(OWNER(0), 7, 1), BIND(OWNER(0), 7, PAGE(10), 1));
	gl_bench_expect(&gl, OWNER(0), PAGE(10), 0);
	gl_bench_stop(&gl);
}

static void contexts_have_resources_of_their_own(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 7, PAGE(4), 1), BIND(OWNER(1), 7, PAGE(5), 1),
		BIND(OWNER(1), 8, PAGE(4), 1));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(4), 2));
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 1);
	gl_bench_expect(&gl, OWNER(1), PAGE(4), 2);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(5), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(5));
	gl_bench_stop(&gl);
}

/* Resources of context 0: identifier 1 at page 4, 2 pages; 2 at page 6; 3 had page 7. */
#define FURNISHED                                                                                            \
	BIND(OWNER(0), 1, PAGE(4), 2), BIND(OWNER(0), 2, PAGE(6), 1), BIND(OWNER(0), 3, PAGE(7), 1),         \
		UNBIND(OWNER(0), 3, 0)

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
	{"run_outside_the_ranges",
	 1,
	 PB_ENGINE_FAULT_ADDRESS,
	 AT_PAGE(20),
	 {GL(13), CLEAR_TEXTURE(PAGE(20), 1)}},
	{"second_operand", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(8), {GL(14), COPY_REGION(PAGE(4), PAGE(8))}},
	{"no_resource_where_one_is_needed",
	 1,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {GL(13), CLEAR_TEXTURE(0, 1)}},
	{"unknown_command", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(2), COMMAND(200, 0, 1), 0}},
	{"cut_off_command", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(2), COMMAND(7, 0, 8), 0}},
	{"transfer_inside_a_run", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {GL(14), TRANSFER3D(PAGE(4))}},
	{"transfer_flags", 1, PB_ENGINE_FAULT_VALUE, PACKET_AT, {TRANSFER(2, AT(BENCH_DATA), 4, PAGE(4))}},
	{"transfer_too_long",
	 1,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {TRANSFER(1, AT(BENCH_DATA), PB_GL_TRANSFER_BYTES_MAX + 4, PAGE(4))}},
	{"transfer_unaligned",
	 1,
	 PB_ENGINE_FAULT_ALIGNMENT,
	 PACKET_AT,
	 {TRANSFER(1, AT(BENCH_DATA + 2), 4, PAGE(4))}},
	{"transfer_outside",
	 1,
	 PB_ENGINE_FAULT_ADDRESS,
	 BENCH_GPU + 0xfffc,
	 {TRANSFER(1, AT(0xfffc), 8, PAGE(4))}},
	{"transfer_page", 1, PB_ENGINE_FAULT_PAGE, AT_PAGE(8), {TRANSFER(1, AT(BENCH_DATA), 8, PAGE(8))}},
	{"transfer_of_unmapped_memory",
	 1,
	 PB_ENGINE_FAULT_PAGE,
	 BENCH_APERTURE,
	 {TRANSFER(1, ADDRESS(BENCH_APERTURE), 8, PAGE(4))}},
	{"transfer_to_unmapped_memory",
	 1,
	 PB_ENGINE_FAULT_PAGE,
	 BENCH_APERTURE + 4,
	 {TRANSFER(0, ADDRESS(BENCH_APERTURE + 4), 8, PAGE(4))}},
	{"caps_too_long",
	 1,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {CAPS(1, AT(BENCH_DATA), PB_GL_CAPS_BYTES_MAX + 4)}},
	{"caps_outside", 1, PB_ENGINE_FAULT_ADDRESS, BENCH_GPU, {CAPS(1, AT(0), 4)}},
	{"caps_length", 1, PB_ENGINE_FAULT_PACKET, PACKET_AT, {PB_PACKET(PB_PACKET_GL_CAPS, 5)}},
	{"bind_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(8), 1)}},
	{"unbind_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {UNBIND(OWNER(0), 1, 0)}},
	{"end_without_privilege", 1, PB_ENGINE_FAULT_PRIVILEGE, PACKET_AT, {END(OWNER(0))}},
	{"bind_for_another_channel",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {BIND(PB_ENGINE_OWNER(2, 0), 9, PAGE(8), 1)}},
	{"bind_owner_bits",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {BIND(OWNER(0) | 0x100, 9, PAGE(8), 1)}},
	{"bind_no_identifier",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {BIND(OWNER(0), 0, PAGE(8), 1)}},
	{"bind_no_page", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, 0, 1)}},
	{"bind_no_pages", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {BIND(OWNER(0), 9, PAGE(8), 0)}},
	{"bind_last_page_outside",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_ADDRESS,
	 AT_PAGE(13),
	 {BIND(OWNER(0), 9, PAGE(13), 4)}},
	{"bind_up_to_the_end", BENCH_PAGING, 0, 0, {BIND(OWNER(0), 9, PAGE(13), 3)}},
	{"bind_over_another",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {BIND(OWNER(0), 9, PAGE(5), 1)}},
	{"bind_up_to_another",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {BIND(OWNER(0), 9, PAGE(3), 2)}},
	{"bind_other_words",
	 BENCH_PAGING,
	 PB_ENGINE_FAULT_VALUE,
	 PACKET_AT,
	 {PB_PACKET(PB_PACKET_GL_BIND, 15), OWNER(0), 1, PAGE(4), 2, 2, 67, 10, 8, 9, 1, 1, 0, 0, 0}},
	{"unbind_flags", BENCH_PAGING, PB_ENGINE_FAULT_VALUE, PACKET_AT, {UNBIND(OWNER(0), 1, 2)}},
	{"unbind_nothing", BENCH_PAGING, 0, 0, {UNBIND(OWNER(0), 77, 1)}},
	{"unbind_for_no_owner", BENCH_PAGING, 0, 0, {UNBIND(OWNER(9), 1, 1)}},
	{"end_for_no_owner", BENCH_PAGING, 0, 0, {END(OWNER(9))}},
};

static void each_rule_has_its_fault(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ARRAY(faults); i++) {
		struct gl_bench gl;

		gl_bench_start(&gl);
		PAGE_IN(&gl, FURNISHED);
		gl_bench_done(&gl);
		print_message("[ case     ] %s\n", faults[i].name);
		bench_submit_as(&gl.bench, faults[i].owner, faults[i].words,
				PB_PACKET_WORDS(faults[i].words[0]));
		if (faults[i].code == 0)
			gl_bench_done(&gl);
		else
			bench_expect_fault(&gl.bench, faults[i].code, faults[i].address);
		gl_bench_stop(&gl);
	}
}

static void a_copy_node_has_none_of_it(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start_kind(&gl, PB_NODE_COPY);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_NODE, PACKET_AT);
	gl_bench_stop(&gl);
}

/* A surface is set as the framebuffer; its resource loses its address; the next clear names no resource. */
static void what_was_bound_earlier_must_still_stand_somewhere(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 2));
	RUN(&gl, OWNER(0), GL(19), SURFACE(5, PAGE(4)), FRAMEBUFFER(5), CLEAR);
	gl_bench_done(&gl);
	PAGE_IN(&gl, UNBIND(OWNER(0), 1, 0), BIND(OWNER(0), 1, PAGE(9), 2));
	RUN(&gl, OWNER(0), GL(9), CLEAR);
	gl_bench_done(&gl);
	PAGE_IN(&gl, UNBIND(OWNER(0), 1, 0));
	RUN(&gl, OWNER(0), GL(9), CLEAR);
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(9));
	gl_bench_stop(&gl);
}

/* Behind a fault the owner is lost until GL_END, and no other one is. */
static void a_fault_loses_one_owner(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1), BIND(OWNER(1), 1, PAGE(5), 1));
	RUN(&gl, OWNER(1), GL(13), CLEAR_TEXTURE(PAGE(5), 3));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(9), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(9));
	bench_reset(&gl.bench);
	gl_bench_expect(&gl, OWNER(1), PAGE(5), 3);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	/* The paging queue does not suffer. */
	PAGE_IN(&gl, BIND(OWNER(0), 2, PAGE(6), 1), UNBIND(OWNER(0), 1, 1));
	gl_bench_done(&gl);
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(6), 1));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	PAGE_IN(&gl, END(OWNER(0)), BIND(OWNER(0), 2, PAGE(6), 1));
	gl_bench_expect(&gl, OWNER(0), PAGE(6), 0);
	gl_bench_stop(&gl);
}

static void a_closed_channel_leaves_nothing_to_the_next(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	PAGE_IN(&gl, BIND(OWNER(0), 1, PAGE(4), 1));
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	pb_engine_gl_close(gl.gl, 2);
	gl_bench_expect(&gl, OWNER(0), PAGE(4), 8);
	pb_engine_gl_close(gl.gl, 1);
	RUN(&gl, OWNER(0), TRANSFER(0, AT(BENCH_DATA), 64, PAGE(4)));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_PAGE, AT_PAGE(4));
	gl_bench_stop(&gl);
}

/* More owners, and more resources of one, than there is room for. */
static void what_has_no_room_costs_its_owner(void **state)
{
	struct gl_bench gl;

	(void)state;
	gl_bench_start(&gl);
	for (uint32_t i = 0; i <= GL_OWNERS; i++)
		PAGE_IN(&gl, BIND(OWNER(i), 1, PAGE(4), 1));
	gl_bench_done(&gl);
	gl_bench_expect(&gl, OWNER(GL_OWNERS - 1), PAGE(4), 0);
	RUN(&gl, OWNER(GL_OWNERS), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	bench_reset(&gl.bench);
	for (uint32_t i = 0; i <= GL_RESOURCES; i++) {
		PAGE_IN(&gl, UNBIND(OWNER(0), i, 0), BIND(OWNER(0), i + 1, PAGE(4), 1));
		gl_bench_done(&gl);
	}
	RUN(&gl, OWNER(0), GL(13), CLEAR_TEXTURE(PAGE(4), 8));
	bench_expect_fault(&gl.bench, PB_ENGINE_FAULT_RENDERER, PACKET_AT);
	gl_bench_stop(&gl);
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
		cmocka_unit_test(a_closed_channel_leaves_nothing_to_the_next),
		cmocka_unit_test(what_has_no_room_costs_its_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
