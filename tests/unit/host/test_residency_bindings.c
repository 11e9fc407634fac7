/* SPDX-License-Identifier: MIT */
/* Allocations whose contents are with the engine: what is bound, unbound and forgotten, and when. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/host/residency_bench.h"
#include "tests/unit/unit.h"

enum { A = 1, B, C };

/* Packets are written down as text; a packet takes this many bytes, so that two fit in the paging buffer. */
#define PACKET_BYTES 2000u

static struct {
	char text[256];
	uint64_t base;
	bool full; /* no packet ever fits */
} notes;

static enum pb_render_status put(struct pb_paging_buffer *buffer, char kind, uint32_t handle, uint64_t page)
{
	const size_t length = strlen(notes.text);

	if (buffer->dma_size < PACKET_BYTES || notes.full)
		return PB_RENDER_INSUFFICIENT_DMA_BUFFER;
	memset(buffer->dma_buffer, 0, PACKET_BYTES);
	buffer->dma_buffer[0] = PACKET_BYTES / 4;
	buffer->dma_buffer += PACKET_BYTES / 4;
	buffer->gpu_address += PACKET_BYTES;
	buffer->dma_size -= PACKET_BYTES;
	(void)snprintf(notes.text + length, sizeof(notes.text) - length, "%c%c%u ", kind,
		       (char)('a' + handle - 1), (unsigned)page);
	return PB_RENDER_SUCCESS;
}

static enum pb_render_status bind(void *context, uint32_t handle, uint64_t gpu_address,
				  struct pb_paging_buffer *buffer)
{
	assert_ptr_equal(context, &notes);
	return put(buffer, '+', handle, (gpu_address - notes.base) / BENCH_PAGE);
}

static enum pb_render_status unbind(void *context, uint32_t handle, struct pb_paging_buffer *buffer)
{
	assert_ptr_equal(context, &notes);
	return put(buffer, '-', handle, 0);
}

static enum pb_render_status forget(void *context, uint32_t handle, struct pb_paging_buffer *buffer)
{
	assert_ptr_equal(context, &notes);
	return put(buffer, 'x', handle, 0);
}

static const struct pb_residency_bindings bindings = {&notes, bind, unbind, forget};

/* Segment 1, of four pages, has bindings. */
static void start(struct residency_bench *bench)
{
	residency_bench_start(bench);
	memset(&notes, 0, sizeof(notes));
	notes.base = bench->segments[0].gpu_base;
	bench->segments[0].kind = PB_SEGMENT_OUTER;
	bench->segments[0].bindings = &bindings;
	assert_int_equal(pb_residency_start(&bench->manager, &bench->setup), PB_ERROR_OK);
	for (uint32_t handle = A; handle <= C; handle++)
		residency_bench_add(bench, handle, 0x2000, "1");
}

static void expect(const char *text)
{
	assert_string_equal(notes.text, text);
	notes.text[0] = '\0';
}

static void what_is_paged_is_bound_and_unbound(void **state)
{
	struct residency_bench bench;

	(void)state;
	start(&bench);
	assert_int_equal(residency_bench_submit(&bench, "ab"), PB_ERROR_OK);
	expect("+a0 +b2 ");
	/* Written to or not, nothing is transferred; the one used least recently goes. */
	assert_int_equal(residency_bench_submit(&bench, "Bc"), PB_ERROR_OK);
	expect("-a0 +c0 ");
	assert_int_equal(residency_bench_submit(&bench, "cA"), PB_ERROR_OK);
	expect("-b0 +a2 ");
	assert_int_equal(bench.manager.figures.bytes_in + bench.manager.figures.bytes_out, 0);
	residency_bench_stop(&bench);
}

/* An allocation that was never bound is unknown to the engine. */
static void what_was_bound_is_forgotten_once(void **state)
{
	struct residency_bench bench;
	uint32_t submissions;

	(void)state;
	start(&bench);
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_OK);
	assert_int_equal(residency_bench_submit(&bench, "bc"), PB_ERROR_OK);
	expect("+a0 +b2 -a0 +c0 ");
	submissions = bench.manager.figures.paging_submissions;
	assert_int_equal(pb_residency_remove(&bench.manager, A), PB_ERROR_OK);
	assert_int_equal(pb_residency_remove(&bench.manager, B), PB_ERROR_OK);
	expect("xa0 xb0 ");
	/* Their packets wait for the next paging buffer. */
	assert_int_equal(bench.manager.figures.paging_submissions, submissions);
	residency_bench_add(&bench, B, 0x1000, "1");
	assert_int_equal(pb_residency_remove(&bench.manager, B), PB_ERROR_OK);
	expect("");
	residency_bench_stop(&bench);
}

static void segments_with_and_without_bindings_do_not_mix(void **state)
{
	struct residency_bench bench;
	struct pb_residency_request request = {
		.bytes = 0x1000, .alignment = 4, .segments = {1, 2}, .backing = BENCH_BACKING(1)};
	uint32_t handle;

	(void)state;
	start(&bench);
	assert_int_equal(pb_residency_add(&bench.manager, &request, &handle), PB_ERROR_BAD_ARGUMENT);
	request.segments[1] = 0;
	assert_int_equal(pb_residency_add(&bench.manager, &request, &handle), PB_ERROR_OK);
	/* Outer memory needs bindings, an aperture has none. */
	bench.segments[0].bindings = NULL;
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_BAD_ARGUMENT);
	bench.segments[0].kind = PB_SEGMENT_APERTURE;
	bench.segments[0].bindings = &bindings;
	assert_int_equal(pb_residency_start(&bench.manager, &bench.setup), PB_ERROR_BAD_ARGUMENT);
	residency_bench_stop(&bench);
}

static void packets_that_never_fit_are_an_error(void **state)
{
	struct residency_bench bench;

	(void)state;
	start(&bench);
	notes.full = true;
	assert_int_equal(residency_bench_submit(&bench, "a"), PB_ERROR_BAD_ARGUMENT);
	residency_bench_stop(&bench);
}

UNIT_SUITE(test_residency_bindings)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_paged_is_bound_and_unbound),
		cmocka_unit_test(what_was_bound_is_forgotten_once),
		cmocka_unit_test(segments_with_and_without_bindings_do_not_mix),
		cmocka_unit_test(packets_that_never_fit_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
