/* SPDX-License-Identifier: MIT */
#include "tests/unit/hal/engine_bench.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* 0: not mapped. */
static const uint32_t places[] = {0x9000, 0x5000,  0x10000, 0x14000, 0x4000,
				  0xf000, 0x13000, 0x7000,  0,       0xb000};

static void raise_line(void *context)
{
	struct bench *bench = context;

	bench->interrupts++;
	if (bench->on_interrupt != NULL)
		bench->on_interrupt(bench);
}

uint32_t *bench_at(const struct bench *bench, uint32_t offset)
{
	return (uint32_t *)(void *)(bench->memory + offset);
}

struct pb_engine_range_entry *bench_range(const struct bench *bench, uint32_t channel, uint32_t index)
{
	return (struct pb_engine_range_entry *)(void *)(bench->memory + BENCH_RANGES) +
	       (size_t)PB_ENGINE_RANGES * channel + index;
}

static void start_registers(struct bench *bench, uint32_t offset)
{
	bench->registers = (struct pb_engine_registers *)(void *)(bench->memory + offset);
	memset(bench->registers, 0, 64);
	bench->registers->ring_offset = bench->ring;
	bench->registers->ring_slots = BENCH_SLOTS;
	bench->registers->range_offset = BENCH_RANGES;
	bench->registers->channels = BENCH_CHANNELS;
	bench->registers->dummy_offset = BENCH_DUMMY;
	bench->registers->translation_offset = BENCH_TRANSLATION;
	bench->registers->restore_offset = BENCH_RESTORE;
}

static void start_model(struct bench *bench, uint32_t registers_offset, uint32_t kind)
{
	bench->model = pb_engine_model_create(&(struct pb_engine_model_config){
		.memory = bench->memory,
		.memory_bytes = BENCH_BYTES,
		.registers_offset = registers_offset,
		.kind = kind,
		.interrupt = raise_line,
		.context = bench,
	});
	assert_non_null(bench->model);
}

void bench_map(const struct bench *bench, uint32_t page, uint32_t offset)
{
	*bench_at(bench, BENCH_TABLE + 4 * page) = offset | PB_ENGINE_PAGE_VALID;
}

void bench_start(struct bench *bench, uint32_t kind)
{
	memset(bench, 0, sizeof(*bench));
	bench->ring = BENCH_RING;
	bench->memory = malloc(BENCH_BYTES);
	assert_non_null(bench->memory);
	for (uint32_t i = 0; i < BENCH_BYTES; i++)
		bench->memory[i] = (uint8_t)(i * 7 + i / 256);
	start_registers(bench, BENCH_REGISTERS);
	memset(bench->memory + BENCH_TABLE, 0, 4 * BENCH_PAGES);
	memset(bench->memory + BENCH_RANGES, 0, BENCH_CHANNELS * BENCH_ROW_BYTES);
	*bench_range(bench, 1, 0) = (struct pb_engine_range_entry){AT(BENCH_RANGE0), 0xf000, BENCH_RANGE0};
	*bench_range(bench, 1, 1) = (struct pb_engine_range_entry){AT(BENCH_RANGE1), 0x4000, BENCH_RANGE1};
	*bench_range(bench, 1, 2) =
		(struct pb_engine_range_entry){ADDRESS(BENCH_RANGE2_GPU), BENCH_RANGE2_BYTES, BENCH_RANGE2};
	*bench_range(bench, 1, 4) = (struct pb_engine_range_entry){
		ADDRESS(BENCH_APERTURE), BENCH_PAGES * PB_PAGE_BYTES, BENCH_TABLE | PB_ENGINE_RANGE_PAGED};
	*bench_range(bench, 2, 0) =
		(struct pb_engine_range_entry){AT(BENCH_RANGE0), BENCH_OTHER_BYTES, BENCH_OTHER};
	/* Behind the table: what a channel beyond it must not get. */
	memcpy(bench_range(bench, BENCH_CHANNELS, 0), bench_range(bench, 1, 0), BENCH_ROW_BYTES);
	start_model(bench, BENCH_REGISTERS, kind);
}

void bench_start_other(struct bench *other, const struct bench *first, uint32_t kind)
{
	memset(other, 0, sizeof(*other));
	other->memory = first->memory;
	other->ring = BENCH_OTHER_RING;
	start_registers(other, BENCH_OTHER_NODE);
	start_model(other, BENCH_OTHER_NODE, kind);
}

void bench_stop_other(struct bench *other)
{
	pb_engine_model_destroy(other->model);
}

void bench_stop(struct bench *bench)
{
	pb_engine_model_destroy(bench->model);
	free(bench->memory);
}

struct pb_engine_slot *bench_next_slot(const struct bench *bench)
{
	return (struct pb_engine_slot *)(void *)(bench->memory + bench->ring) + bench->fed % BENCH_SLOTS;
}

void bench_feed(struct bench *bench, uint32_t owner, uint64_t address, uint32_t bytes)
{
	*bench_next_slot(bench) = (struct pb_engine_slot){
		PB_PACKET(0x20, 5),
		owner,
		ADDRESS(address),
		bytes,
		PB_PACKET(0x21, 2),
		bench->fed + 1,
		bench_next_slot(bench)->resume,
	};
	bench->fed++;
	bench->registers->tail = bench->fed;
}

void bench_store(const struct bench *bench, uint32_t offset, const uint32_t *words, size_t count)
{
	memcpy(bench->memory + offset, words, 4 * count);
}

void bench_scatter(const struct bench *bench)
{
	for (uint32_t page = 0; page < sizeof(places) / sizeof(places[0]); page++) {
		if (places[page] != 0)
			bench_map(bench, page, places[page]);
	}
}

uint32_t bench_place(uint32_t offset)
{
	return offset >= BENCH_LINEAR ? offset - BENCH_LINEAR : places[offset / 4096] + offset % 4096;
}

void bench_store_in(const struct bench *bench, uint32_t offset, const uint32_t *words, size_t count)
{
	for (uint32_t i = 0; i < count; i++)
		*bench_at(bench, bench_place(offset + 4 * i)) = words[i];
}

void bench_expect_fill(uint8_t *memory, uint32_t offset, uint32_t bytes, uint32_t value)
{
	for (uint32_t i = 0; i < bytes; i += 4)
		memcpy(memory + bench_place(offset + i), &value, 4);
}

void bench_keep(const struct bench *bench, uint8_t copy[BENCH_BYTES])
{
	memcpy(copy, bench->memory, BENCH_BYTES);
}

void bench_expect_memory(const struct bench *bench, const uint8_t expected[BENCH_BYTES])
{
	assert_memory_equal(bench->memory + BENCH_DATA, expected + BENCH_DATA, BENCH_DUMMY - BENCH_DATA);
	assert_memory_equal(bench->memory + BENCH_TABLE, expected + BENCH_TABLE, BENCH_BYTES - BENCH_TABLE);
}

void bench_run(struct bench *bench)
{
	for (uint32_t steps = 0; steps < 10000; steps++) {
		if (!pb_engine_model_step(bench->model, 100))
			return;
	}
	fail_msg("still running");
}

void bench_submit_as(struct bench *bench, uint32_t owner, const uint32_t *words, size_t count)
{
	bench_store(bench, BENCH_BUFFER, words, count);
	bench_feed(bench, owner, BENCH_GPU + BENCH_BUFFER, (uint32_t)(4 * count));
	bench_run(bench);
}

void bench_submit(struct bench *bench, const uint32_t *words, size_t count)
{
	bench_submit_as(bench, 1, words, count);
}

static void next_command(struct bench *bench, uint32_t op)
{
	bench->registers->command =
		((bench->registers->command & ~PB_ENGINE_COMMAND_OP_MASK) + PB_ENGINE_COMMAND_ONE) | op;
}

void bench_ask(struct bench *bench, uint32_t op)
{
	bench->registers->tail = 0;
	bench->fed = 0;
	next_command(bench, op);
}

void bench_resume(const struct bench *bench, const struct pb_engine_progress *progress)
{
	struct pb_engine_progress *to = (struct pb_engine_progress *)(void *)bench_at(bench, BENCH_RESTORE) +
					bench->fed % BENCH_SLOTS;

	*to = *progress;
	to->command = bench->registers->command;
	bench_next_slot(bench)->resume = bench->fed + 1;
}

void bench_expect_stop(const struct bench *bench, uint32_t sequence, uint32_t running)
{
	const struct pb_engine_registers *registers = bench->registers;

	assert_int_equal(registers->command_done, registers->command);
	assert_int_equal(registers->stop_sequence, sequence);
	assert_int_equal(registers->stop_running, running);
	assert_int_equal(registers->head, 0);
	assert_int_equal(registers->sequence, 0);
}

void bench_command(struct bench *bench, uint32_t op)
{
	uint32_t before = bench->interrupts;

	next_command(bench, op);
	pb_engine_model_step(bench->model, 0);
	assert_int_equal(bench->registers->command_done, bench->registers->command);
	assert_int_equal(bench->interrupts, before + 1);
}

void bench_reset(struct bench *bench)
{
	bench->registers->tail = 0;
	bench->fed = 0;
	bench_command(bench, PB_ENGINE_COMMAND_RESET);
}

void bench_expect_fault(const struct bench *bench, uint32_t code, uint64_t address)
{
	const struct pb_engine_registers *registers = bench->registers;

	assert_int_equal(registers->fault_code, code);
	assert_int_equal(registers->fault_sequence, bench->fed);
	assert_true(((uint64_t)registers->fault_address_high << 32 | registers->fault_address_low) ==
		    address);
	assert_int_equal(registers->sequence, bench->fed - 1);
	assert_int_equal(registers->head, bench->fed - 1);
}

void bench_expect_done(const struct bench *bench)
{
	assert_int_equal(bench->registers->fault_code, PB_ENGINE_FAULT_NONE);
	assert_int_equal(bench->registers->sequence, bench->fed);
	assert_int_equal(bench->registers->head, bench->fed);
}

uint32_t bench_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}
