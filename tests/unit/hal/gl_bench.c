/* SPDX-License-Identifier: MIT */
#include "tests/unit/hal/gl_bench.h"

#include <stdlib.h>
#include <string.h>

#include "patchbay/abi/boot.h"
#include "tests/unit/unit.h"

static void raise_line(void *context)
{
	struct bench *bench = context;

	bench->interrupts++;
}

void gl_bench_start_node(struct gl_bench *gl, struct bench *bench, struct pb_engine_gl_node **node,
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

void gl_bench_start_kind(struct gl_bench *gl, uint32_t kind)
{
	static const struct pb_engine_gl_sizes sizes = {GL_OWNERS, GL_RESOURCES, 64, 2};

	memset(gl, 0, sizeof(*gl));
	bench_start(&gl->bench, kind);
	gl->null = (struct pb_gl_null){.renderers = gl->renderers,
				       .words = gl->words,
				       .resource_count = GL_RESOURCES,
				       .clock = &gl->clock};
	gl->gl = pb_engine_gl_create(&pb_gl_null_renderers, &gl->null, &sizes);
	assert_non_null(gl->gl);
	gl_bench_start_node(gl, &gl->bench, &gl->node, BENCH_REGISTERS, kind);
}

void gl_bench_start(struct gl_bench *gl)
{
	gl_bench_start_kind(gl, PB_NODE_3D);
}

void gl_bench_stop(struct gl_bench *gl)
{
	bench_stop(&gl->bench);
	free(gl->node);
	pb_engine_gl_destroy(gl->gl);
}

void gl_bench_done(const struct gl_bench *gl)
{
	bench_expect_done(&gl->bench);
}

/* What a resource of context 0 contains, read through its page into memory. */
void gl_bench_expect(struct gl_bench *gl, uint32_t owner, uint32_t page, uint32_t value)
{
	const struct bench *bench = &gl->bench;
	const uint32_t after = *bench_at(bench, BENCH_DATA + 64);

	RUN(gl, owner, TRANSFER(0, AT(BENCH_DATA), 64, page));
	gl_bench_done(gl);
	for (uint32_t i = 0; i < 64; i += 4)
		assert_int_equal(*bench_at(bench, BENCH_DATA + i), value);
	assert_int_equal(*bench_at(bench, BENCH_DATA + 64), after);
}
