/* SPDX-License-Identifier: MIT */
#include "tests/unit/host/residency_bench.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/unit.h"

#define SYSTEM_GPU 0x90000000u

static struct residency_bench *current;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	const size_t length = strlen(current->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(current->text + length, BENCH_TEXT - length, format, arguments);
	va_end(arguments);
}

static uint64_t wide(const uint32_t *words)
{
	return (uint64_t)words[1] << 32 | words[0];
}

static void say_address(uint64_t gpu_address)
{
	for (uint32_t i = 0; i < 3; i++) {
		const struct pb_residency_segment *segment = &current->segments[i];
		const uint64_t offset = gpu_address - segment->gpu_base;

		if (offset < segment->bytes) {
			say("%u.%u", (unsigned)segment->id, (unsigned)(offset / BENCH_PAGE));
			if (offset % BENCH_PAGE != 0)
				say("_%u", (unsigned)(offset % BENCH_PAGE));
			return;
		}
	}
	assert_in_range(gpu_address, BENCH_BACKING(1), BENCH_BACKING(BENCH_ALLOCATIONS) + 0xffff);
	say("%c", (char)('a' + (gpu_address - BENCH_BACKING(1)) / 0x10000));
	if (gpu_address % 0x10000 != 0)
		say("_%u", (unsigned)(gpu_address % 0x10000));
}

static void say_pages(uint32_t bytes)
{
	say("+%u", (unsigned)(bytes / BENCH_PAGE));
	if (bytes % BENCH_PAGE != 0)
		say("_%u", (unsigned)(bytes % BENCH_PAGE));
}

/* Maps pages that lie in a row, from the start of a backing store on. */
static void say_map(const uint32_t *words, const uint32_t *buffer)
{
	const uint32_t *list = buffer + (wide(&words[4]) - SYSTEM_GPU - current->setup.buffer.offset) / 4;

	for (uint32_t i = 0; i < words[3]; i++)
		assert_true(wide(list + 2u * i) == wide(list) + i * BENCH_PAGE);
	say_address(wide(list));
	say("=");
	say_address(wide(&words[1]));
	say("+%u", (unsigned)words[3]);
}

static void say_packet(const uint32_t *words, const uint32_t *buffer)
{
	switch (words[0]) {
	case 0x02000006:
		say_address(wide(&words[1]));
		say(">");
		say_address(wide(&words[3]));
		break;
	case 0x04000004:
		say("x");
		say_address(wide(&words[1]));
		say_pages(words[3]);
		break;
	case 0x05000006:
		say_map(words, buffer);
		break;
	case 0x06000004:
		say_address(wide(&words[1]));
		say("=+%u", (unsigned)words[3]);
		break;
	default:
		fail_msg("packet 0x%x", words[0]);
	}
}

static void say_paging(const struct pb_descriptor *descriptor)
{
	const uint32_t *buffer = (const uint32_t *)(const void *)current->setup.buffer.bytes_host;

	assert_int_equal(descriptor->flags, PB_FLAG_PAGING);
	assert_int_equal(descriptor->context, 0);
	assert_int_equal(descriptor->fence_id, current->logged[BENCH_PAGING]);
	assert_true(wide(&descriptor->dma_address_low) == current->setup.buffer.os_address);
	assert_int_equal(descriptor->dma_size, current->setup.buffer.bytes);
	assert_int_equal(descriptor->dma_segment | descriptor->dma_start | descriptor->allocation_count |
				 descriptor->patch_count | descriptor->patch_length,
			 0);
	say("P(");
	for (uint32_t at = 0; at < descriptor->dma_end / 4; at += buffer[at] & 0xffffff) {
		if (buffer[at] >> 24 == 0)
			continue; /* the page list of a MAP_APERTURE */
		if (current->text[strlen(current->text) - 1] != '(')
			say(" ");
		say_packet(&buffer[at], buffer);
	}
	say(") ");
}

static void say_entry(uint32_t handle, const struct pb_allocation *entry)
{
	const uint32_t id = (entry->flags & PB_ALLOCATION_SEGMENT_MASK) >> PB_ALLOCATION_SEGMENT_SHIFT;
	const bool written = (entry->flags & PB_ALLOCATION_WRITE) != 0;

	if ((entry->flags & PB_ALLOCATION_UNBIND) != 0) {
		assert_true(id == 0 && wide(&entry->address_low) == 0);
		return;
	}
	assert_in_range(id, 1, 3);
	say(" %c", (char)((written ? 'A' : 'a') + handle - 1));
	say_address(wide(&entry->address_low) - current->segments[id - 1].os_base +
		    current->segments[id - 1].gpu_base);
}

static void say_work(uint32_t queue, const struct pb_descriptor *descriptor)
{
	assert_int_equal(descriptor->flags, 0);
	say("W%u(%u-%u %u+%u f%u", (unsigned)queue - 1, (unsigned)descriptor->dma_start,
	    (unsigned)descriptor->dma_end, (unsigned)descriptor->patch_start,
	    (unsigned)descriptor->patch_length, (unsigned)descriptor->fence_id);
	if (descriptor->cookie != 0)
		say(" c%u", (unsigned)descriptor->cookie);
	for (uint32_t i = 1; i < descriptor->allocation_count; i++)
		say_entry(i, &current->allocations[i]);
	say(") ");
}

/* Each submission rings: it is written down while its lists are as they were meant. */
static void doorbell(struct pb_link *link)
{
	(void)link;
	for (uint32_t i = 0; i < 3; i++) {
		const struct pb_queue_page *page = fake_page(&current->fake, i);
		const struct pb_descriptor *ring = (const void *)(page + 1);

		for (; current->logged[i] != page->put; current->logged[i]++) {
			const struct pb_descriptor *descriptor =
				&ring[current->logged[i] % current->queues[i].entries];

			if (i == BENCH_PAGING)
				say_paging(descriptor);
			else
				say_work(i, descriptor);
		}
	}
}

static void tamper(struct fake_firmware *fake, enum fake_moment moment)
{
	if (moment == FAKE_COMPLETED)
		fake_page(fake, BENCH_PAGING)->fence.status = current->fail_paging;
	if (moment == FAKE_WAIT && current->release_at != 0 && --current->release_at == 0) {
		say("waited ");
		fake->stopped = 0;
	}
}

void residency_bench_start(struct residency_bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	current = bench;
	fake_start(&bench->fake);
	fake_open(&bench->fake, &bench->channel, &bench->system);
	bench->system.request.gpu_base = SYSTEM_GPU;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			pb_queue_create(&bench->queues[i], &bench->channel, &bench->system, i != 1, 4), 0);
	bench->segments[0] = (struct pb_residency_segment){1, 0, 0x800000000, 0x180000000, 0x4000, NULL};
	bench->segments[1] = (struct pb_residency_segment){2, 0, 0x20000000, 0xfffff000, 0x2000, NULL};
	bench->segments[2] = (struct pb_residency_segment){3, 1, 0x700000000, 0x380000000, 0x4000, NULL};
	bench->setup = (struct pb_residency_setup){
		.segments = bench->segments,
		.segment_count = 3,
		.allocations = bench->array,
		.allocation_count = BENCH_ALLOCATIONS,
		.queues = {&bench->queues[BENCH_WORK0], &bench->queues[BENCH_WORK1]},
		.paging = &bench->queues[BENCH_PAGING],
		.timeout_us = 1000000,
	};
	assert_int_equal(pb_memory_allocate(&bench->system, 4096, 4096, &bench->setup.buffer), 0);
	assert_int_equal(pb_residency_start(&bench->manager, &bench->setup), 0);
	bench->fake.tamper = tamper;
	bench->ops = *bench->fake.link.ops;
	bench->ops.doorbell = doorbell;
	bench->fake.link.ops = &bench->ops;
}

void residency_bench_stop(struct residency_bench *bench)
{
	assert_int_equal(bench->fake.violations, 0);
	fake_stop(&bench->fake);
}

void residency_bench_add(struct residency_bench *bench, uint32_t handle, uint64_t bytes, const char *segments)
{
	struct pb_residency_request request = {
		.bytes = bytes, .alignment = 256, .backing = BENCH_BACKING(handle)};
	uint32_t made = 0;

	for (uint32_t i = 0; segments[i] != '\0'; i++)
		request.segments[i] = (uint32_t)(segments[i] - '0');
	assert_int_equal(pb_residency_add(&bench->manager, &request, &made), PB_ERROR_OK);
	assert_int_equal(made, handle);
}

struct pb_residency_submission residency_bench_work(struct residency_bench *bench, const char *commands)
{
	struct pb_residency_submission work = {
		.descriptor = {.fence_id = 7, .dma_size = 4096, .allocation_count = BENCH_ALLOCATIONS + 1u},
		.allocations = bench->allocations,
		.locations = bench->locations,
	};
	uint32_t split = 0, operand = 0, count = 0;

	for (uint32_t i = 0; i <= BENCH_ALLOCATIONS; i++)
		bench->allocations[i] = (struct pb_allocation){.size_low = 4, .id = i};
	bench->allocations[0].flags = PB_ALLOCATION_UNBIND;
	for (; *commands != '\0'; commands++) {
		const uint32_t index = *commands == '0' ? 0 : (uint32_t)(tolower(*commands) - 'a') + 1u;

		if (*commands == ' ') {
			split += BENCH_COMMAND;
			operand = 0;
		}
		if (*commands == ' ' || *commands == '-')
			continue;
		if (isupper((unsigned char)*commands))
			bench->allocations[index].flags |= PB_ALLOCATION_WRITE;
		bench->locations[count++] = (struct pb_patch_location){
			.allocation_index = index,
			.patch_offset = split + 4u + 8u * operand++,
			.split_offset = split,
		};
	}
	work.descriptor.dma_end = split + BENCH_COMMAND;
	work.descriptor.patch_count = count;
	work.descriptor.patch_length = count;
	return work;
}

enum pb_error residency_bench_submit(struct residency_bench *bench, const char *commands)
{
	struct pb_residency_submission work = residency_bench_work(bench, commands);

	return pb_residency_submit(&bench->manager, 0, &work);
}

void residency_bench_expect(struct residency_bench *bench, const char *text)
{
	while (fake_serve(&bench->fake))
		continue;
	if (strcmp(bench->text, text) != 0)
		fail_msg("submitted:\n  %s\nexpected:\n  %s", bench->text, text);
	bench->text[0] = '\0';
}
