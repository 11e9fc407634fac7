/* SPDX-License-Identifier: MIT */
/*
 * What a driver says of itself: the words of each answer, at offsets written by hand, and nothing behind the struct of the
 * OS's version.
 */
#include <string.h>

#include "patchbay/trace.h"
#include "tests/wddm/wddm_world.h"

#define GARBAGE      0xa5
#define GARBAGE_WORD 0xa5a5a5a5u
#define CPU_ADDRESS  UINT64_C(0xfd000000)

static struct vm vm;
static struct pb_segment aperture;
static struct pb_wddm_adapter adapter;
static union {
	uint8_t bytes[1024];
	uint32_t words[256];
	uint64_t longs[128];
} answer;

/** Whether the structs are those of 64-bit Windows; else they are those of 32-bit Windows. */
#define WIDE (sizeof(void *) == 8)

static const struct {
	const char *name;
	uint32_t version;
	uint32_t caps_bytes;   /**< on 64-bit Windows; 8 less on 32-bit Windows */
	uint32_t caps_version; /**< DXGK_DRIVERCAPS.WDDMVersion; 0: there is none */
	bool win8;
} systems[] = {
	{"Vista", 0x1052, 336, 0, false},         {"Windows 7", 0x2005, 528, 0x1000, false},
	{"Windows 8", 0x300e, 544, 0x1200, true}, {"WDDM 1.3", 0x4002, 552, 0x1300, true},
	{"later", 0x5023, 552, 0x1300, true},
};

#define SYSTEMS (sizeof(systems) / sizeof(systems[0]))

/** Returns a little-endian number. */
static uint64_t number_at(const void *memory, uint32_t offset, uint32_t bytes)
{
	uint64_t number = 0;

	for (uint32_t i = bytes; i-- > 0;)
		number = number << 8 | ((const uint8_t *)memory)[offset + i];
	return number;
}

/** Segments 1 and 2 with memory, 3 an aperture; paging on node 1. */
static void start(uint32_t version)
{
	vm_start(&vm, 100);
	memset(&adapter, 0, sizeof(adapter));
	aperture = (struct pb_segment){.request = {3, 0x4000000, 0, 0x10000, 0, PB_SEGMENT_APERTURE}};
	adapter.config = vm.adapter.config;
	adapter.config.interface_version = version;
	adapter.config.paging_node = 1;
	adapter.config.cpu_address = CPU_ADDRESS;
	adapter.config.segments[2] = adapter.config.segments[VM_EDGE];
	adapter.config.segments[3] = &aperture;
	adapter.config.segments[VM_EDGE] = NULL;
}

static uint32_t query(uint32_t type, uint32_t bytes)
{
	const struct pb_dxgkarg_queryadapterinfo arguments = {
		.Type = type, .pOutputData = answer.bytes, .OutputDataSize = bytes};

	return pb_wddm_query_adapter_info(&adapter, &arguments);
}

static void caps_are_those_of_the_version(void **state)
{
	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		const char *name = systems[s].name;
		/* The only SIZE_T of the struct and its padding. */
		const uint32_t less = WIDE ? 0 : 8;
		const uint32_t bytes = systems[s].caps_bytes - less;

		start(systems[s].version);
		memset(answer.bytes, GARBAGE, sizeof(answer));
		card_equal(name, query(1, bytes - 1), 0xc0000023);
		card_equal(name, answer.words[0], GARBAGE_WORD);
		card_equal(name, query(1, bytes + 8), 0);
		card_equal(name, answer.longs[0], CARD_SYSTEM_OS + CARD_SYSTEM_BYTES - 1);
		card_equal(name, answer.words[2], 4);
		card_equal(name, WIDE ? answer.longs[2] : answer.words[3], 0x10000);
		card_equal(name, number_at(answer.bytes, 0x34 - less, 4),
			   systems[s].version < 0x2005 ? 0x2 : 0x020000fa);
		card_equal(name, number_at(answer.bytes, 0x3c - less, 4), systems[s].win8 ? 2 : 0);
		card_equal(name, number_at(answer.bytes, 0x40 - less, 4), systems[s].win8 ? 5 : 1);
		card_equal(name, number_at(answer.bytes, 0x48 - less, 4), 1);
		card_equal(name, number_at(answer.bytes, 0x4c - less, 4), 2);
		if (systems[s].caps_version != 0)
			card_equal(name, number_at(answer.bytes, 0x150 - less, 4), systems[s].caps_version);
		if (systems[s].win8) {
			card_equal(name, number_at(answer.bytes, 0x210 - less, 4), 100);
			card_equal(name, number_at(answer.bytes, 0x214 - less, 4), 100);
			card_equal(name, number_at(answer.bytes, 0x218 - less, 4), 0x00010001);
			card_equal(name, number_at(answer.bytes, 0x21c - less, 4), 0);
		}
		for (uint32_t i = bytes; i < sizeof(answer); i++)
			card_equal(name, answer.bytes[i], GARBAGE);
		vm_stop(&vm);
	}
}

/** Where the words of the answer and of a descriptor are. */
struct segment_layout {
	uint32_t answer; /**< size of the answer */
	uint32_t list;   /**< pSegmentDescriptor; the sizes of paging buffers follow it */
	uint32_t stride;
	uint32_t base; /**< BaseAddress; CpuTranslatedAddress and Size follow it */
	uint32_t commit;
	uint32_t flags;
	uint32_t pointer; /**< width of a pointer and of SIZE_T */
};

/** By system, then QUERYSEGMENT and QUERYSEGMENT3. */
static const struct segment_layout layouts[2][2] = {
	{{32, 8, 56, 0, 0x28, 0x30, 8}, {32, 8, 72, 8, 0x30, 0, 8}},
	{{20, 4, 40, 0, 0x1c, 0x20, 4}, {20, 4, 48, 8, 0x24, 0, 4}},
};

/** One descriptor, by its address, what the CPU sees, its size, its limit and its flags. */
static void expect_segment(const char *name, const struct segment_layout *at, const uint8_t *descriptor,
			   const uint64_t wanted[5])
{
	card_equal(name, number_at(descriptor, at->base, 8), wanted[0]);
	card_equal(name, number_at(descriptor, at->base + 8, 8), wanted[1]);
	card_equal(name, number_at(descriptor, at->base + 16, at->pointer), wanted[2]);
	card_equal(name, number_at(descriptor, at->commit, at->pointer), wanted[3]);
	card_equal(name, number_at(descriptor, at->flags, 4), wanted[4]);
}

/** First the count, then the descriptors; QUERYSEGMENT3 has Flags first. */
static void segments_reach_the_os_in_its_structs(void **state)
{
	static union {
		uint8_t bytes[3 * 72 + 8];
		uint64_t align;
	} list;

	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		for (uint32_t type = 2; type <= 5; type += 3) {
			const char *name = systems[s].name;
			const struct segment_layout *at = &layouts[WIDE ? 0 : 1][type == 2 ? 0 : 1];
			const uintptr_t address = (uintptr_t)list.bytes;

			start(systems[s].version);
			memset(answer.bytes, GARBAGE, sizeof(answer));
			memset(list.bytes, GARBAGE, sizeof(list));
			memset(answer.bytes + at->list, 0, at->pointer);
			if (type == 5 && !systems[s].win8) {
				card_equal(name, query(5, at->answer), 0xc00000bb);
				vm_stop(&vm);
				continue;
			}
			card_equal(name, query(type, at->answer - 1), 0xc0000023);
			card_equal(name, query(type, at->answer), 0);
			card_equal(name, answer.words[0], 3);
			memcpy(answer.bytes + at->list, &address, sizeof(address));
			answer.words[0] = 2;
			card_equal(name, query(type, at->answer), 0xc0000023);
			answer.words[0] = 3;
			card_equal(name, query(type, at->answer), 0);
			card_equal(name, number_at(answer.bytes, at->list + at->pointer, 4), 0);
			card_equal(name, number_at(answer.bytes, at->list + at->pointer + 4, 4), 0x10000);
			card_equal(name, number_at(answer.bytes, at->list + at->pointer + 8, 4), 0x2000);
			card_equal(name, number_at(answer.bytes, at->answer, 4), GARBAGE_WORD);
			expect_segment(name, at, list.bytes,
				       (const uint64_t[]){VM_VIDEO_OS,
							  CPU_ADDRESS + vm.segments[1].memory_offset,
							  32 * 4096, 0, 4});
			card_equal(name, number_at(list.bytes + at->stride, at->base, 8), VM_EDGE_OS);
			expect_segment(name, at, list.bytes + 2 * at->stride,
				       (const uint64_t[]){0x4000000, 0, 0x10000, 0x10000, 1});
			card_equal(name, number_at(list.bytes, 3 * at->stride, 8),
				   UINT64_C(0xa5a5a5a5a5a5a5a5));
			vm_stop(&vm);
		}
	}
}

/** SIZE_T of 32-bit Windows has no place for 4 GiB: such a segment cannot be described. */
static void a_segment_must_have_a_size_that_the_os_can_hold(void **state)
{
	static const struct {
		const char *name;
		uint64_t size;
		bool narrow; /**< 32-bit Windows has it, too */
	} rows[] = {
		{"a page less than 4 GiB", UINT64_C(0xfffff000), true},
		{"4 GiB", UINT64_C(0x100000000), false},
		{"4 GiB and a page", UINT64_C(0x100001000), false},
	};

	(void)state;
	start(0x4002);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(answer.bytes, 0, sizeof(answer));
		aperture.request.size = rows[i].size;
		card_equal(rows[i].name, query(2, 32), WIDE || rows[i].narrow ? 0 : 0xc000000d);
	}
	vm_stop(&vm);
}

static void other_questions_are_refused(void **state)
{
	static const uint32_t types[] = {0, 3, 4, 6, 7, 8, 9, 10, 11, 0xffffffff};

	(void)state;
	start(0x4002);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		assert_int_equal(query(types[i], sizeof(answer)), 0xc00000bb);
	/* An id without a segment before it cannot be told. */
	adapter.config.segments[1] = NULL;
	assert_int_equal(query(2, 32), 0xc000000d);
	vm_stop(&vm);
}

/** ContextInfo has a word more since Windows 7. */
static void a_context_has_the_sizes_of_the_configuration(void **state)
{
	static const struct {
		const char *name;
		uint32_t node;
		uint32_t affinity;
		uint32_t flags;
		uint32_t status;
	} rows[] = {
		{"node 0", 0, 1, 0, 0},
		{"node 1, system", 1, 1, 1, 0},
		{"no such node", 2, 1, 0, 0xc000000d},
		{"another engine", 0, 2, 0, 0xc000000d},
		{"a GDI context needs 256 allocations", 0, 1, 2, 0xc000000d},
	};

	(void)state;
	for (size_t s = 0; s < SYSTEMS; s++) {
		start(systems[s].version);
		vm.adapter.config.interface_version = systems[s].version;
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			static struct pb_wddm_context context;
			struct pb_dxgkarg_createcontext create;

			memset(&create, GARBAGE, sizeof(create));
			create.NodeOrdinal = rows[i].node;
			create.EngineAffinity = rows[i].affinity;
			create.Flags = rows[i].flags;
			card_equal(rows[i].name,
				   pb_wddm_create_context(&vm.adapter, &context, &create, NULL, 0),
				   rows[i].status);
			if (rows[i].status != 0) {
				card_equal(rows[i].name, create.ContextInfo.DmaBufferSize, GARBAGE_WORD);
				continue;
			}
			assert_ptr_equal(create.hContext, &context);
			card_equal(rows[i].name, context.node, rows[i].node);
			card_equal(rows[i].name, create.ContextInfo.DmaBufferSize, 0x10000);
			card_equal(rows[i].name, create.ContextInfo.DmaBufferSegmentSet, 0);
			/* Render's record, a head, what is presumed of each allocation, two lists: 24 bytes an entry. */
			card_equal(rows[i].name, create.ContextInfo.DmaBufferPrivateDataSize,
				   36 + 64 + 24 * VM_LIST + 24 * VM_LIST + 24 * VM_PATCHES);
			card_equal(rows[i].name, create.ContextInfo.AllocationListSize, VM_LIST);
			card_equal(rows[i].name, create.ContextInfo.PatchLocationListSize, VM_PATCHES);
			card_equal(rows[i].name, create.ContextInfo.Reserved,
				   systems[s].version >= 0x2005 ? 0 : GARBAGE_WORD);
			assert_int_equal(pb_wddm_context_destroy(&context), PB_ERROR_OK);
		}
		vm_stop(&vm);
	}
}

static const struct {
	const char *name;
	struct pb_wddm_allocation_data data;
	uint32_t bytes;
	uint64_t size; /**< 0: refused; 32-bit Windows cannot hold 4 GiB */
} allocations[] = {
	{"a buffer", {0x4c415042, 0, 5000, 0, 0, 0, 0}, 32, 8192},
	{"a surface", {0x4c415042, 64, 4096, 16, 64, 21, 0}, 32, 4096},
	{"the longest", {0x4c415042, 0, UINT64_C(0x100000000), 0, 0, 0, 0}, 32, UINT64_C(0x100000000)},
	{"longer", {0x4c415042, 0, UINT64_C(0x100000001), 0, 0, 0, 0}, 32, 0},
	{"no bytes", {0x4c415042, 0, 0, 0, 0, 0, 0}, 32, 0},
	{"not this project's", {0x4c415043, 0, 4096, 0, 0, 0, 0}, 32, 0},
	{"flags", {0x4c415042, 0, 4096, 0, 0, 0, 1}, 32, 0},
	{"higher than its memory", {0x4c415042, 64, 4095, 16, 64, 21, 0}, 32, 0},
	{"short data", {0x4c415042, 0, 4096, 0, 0, 0, 0}, 31, 0},
};

static void allocations_are_created_opened_and_described(void **state)
{
	(void)state;
	start(0x4002);
	for (size_t i = 0; i < sizeof(allocations) / sizeof(allocations[0]); i++) {
		const char *name = allocations[i].name;
		struct pb_wddm_allocation_data data = allocations[i].data;
		const uint64_t size = (size_t)allocations[i].size;
		struct pb_wddm_allocation object = {.size = 77};
		struct pb_wddm_allocation *const objects[1] = {&object};
		struct pb_dxgk_openallocationinfo opened = {.hAllocation = 9};
		const struct pb_dxgkarg_openallocation open = {.NumAllocations = 1,
							       .pOpenAllocation = &opened};
		struct pb_dxgkarg_describeallocation describe;
		struct pb_dxgk_allocationinfo info;
		struct pb_dxgkarg_createallocation create = {.NumAllocations = 1, .pAllocationInfo = &info};

		memset(&info, GARBAGE, sizeof(info));
		info.pPrivateDriverData = &data;
		info.PrivateDriverDataSize = allocations[i].bytes;
		card_equal(name, pb_wddm_create_allocation(&adapter, &create, objects),
			   size != 0 ? 0 : 0xc000000d);
		if (size == 0) {
			card_equal(name, object.size, 77);
			card_equal(name, info.Size, (size_t)UINT64_C(0xa5a5a5a5a5a5a5a5));
			continue;
		}
		card_equal(name, info.Size, size);
		card_equal(name, info.Alignment, 4096);
		card_equal(name, info.PreferredSegment, 1);
		card_equal(name, info.SupportedReadSegmentSet, 7);
		card_equal(name, info.SupportedWriteSegmentSet, 7);
		card_equal(name, info.EvictionSegmentSet, 0);
		card_equal(name, info.Flags, 1);
		assert_ptr_equal(info.hAllocation, &object);
		card_equal(name, pb_wddm_open_allocation(&open, objects), 0);
		assert_ptr_equal(opened.hDeviceSpecificAllocation, &object);
		card_equal(name, object.size, data.size);
		card_equal(name, object.pitch, data.pitch);
		memset(&describe, GARBAGE, sizeof(describe));
		describe.hAllocation = &object;
		card_equal(name, pb_wddm_describe_allocation(&describe), 0);
		card_equal(name, describe.Width, data.width);
		card_equal(name, describe.Height, data.height);
		card_equal(name, describe.Format, data.format);
		card_equal(name, describe.RefreshRate[0] | describe.MultisampleMethod[1], 0);
	}
	vm_stop(&vm);
}

/** The trace as a reader of its own finds it. */
static uint32_t read_trace(struct pb_trace_record *records, uint32_t max)
{
	struct pb_trace trace;
	uint32_t count = 0;
	uint32_t added;

	assert_int_equal(pb_trace_open(&trace, vm.card.channel.link), PB_ERROR_OK);
	while ((added = pb_trace_read(&trace, records + count, max - count)) != 0)
		count += added;
	return count;
}

/** Into buffers of any size: what fits, 0 behind it, nothing beyond. */
static void a_debug_report_fits_its_buffer(void **state)
{
	static const uint32_t sizes[] = {0, 1, 4, 20, 24, 56, 57, 1240, 1255, 1256, 1300, 1520, 1600};
	static struct pb_trace_record records[8192];
	uint32_t count;
	static union {
		uint8_t bytes[1700];
		uint32_t words[425];
	} report;

	(void)state;
	vm_start(&vm, 100);
	vm_random_commands(&vm, 3);
	vm_draw(&vm, 0);
	vm_draw(&vm, 0);
	vm_draw(&vm, 2);
	vm_finish(&vm);
	vm.adapter.error = PB_ERROR_PROTOCOL;
	count = read_trace(records, sizeof(records) / sizeof(records[0]));
	assert_true(count > 22);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct pb_dxgkarg_collectdbginfo collect = {
			.Reason = 0x117, .pBuffer = report.bytes, .BufferSize = sizes[i]};

		memset(report.bytes, GARBAGE, sizeof(report));
		assert_int_equal(pb_wddm_collect_dbg_info(&vm.adapter, &collect), PB_STATUS_SUCCESS);
		for (uint32_t b = sizes[i]; b < sizeof(report); b++)
			assert_int_equal(report.bytes[b], GARBAGE);
		if (sizes[i] >= 24)
			assert_int_equal(report.words[5], sizes[i] < 1240 ? 0 : (sizes[i] - 1240) / 16);
		if (sizes[i] < 1240)
			continue;
		/* The newest ones, and less than a record behind them. */
		assert_memory_equal(report.bytes + 1240, records + count - report.words[5],
				    report.words[5] * sizeof(*records));
		for (uint32_t b = 1240 + 16 * report.words[5]; b < sizes[i]; b++)
			assert_int_equal(report.bytes[b], 0);
	}
	assert_int_equal(report.words[0], 0x47445042);
	assert_int_equal(report.words[1], 1240);
	assert_int_equal(report.words[2], 0x117);
	assert_int_equal(report.words[3], PB_ERROR_PROTOCOL);
	assert_int_equal(report.words[6], 2);
	assert_int_equal(report.words[7], 2);
	assert_int_equal(report.words[8], 101);
	assert_int_equal(report.words[9], 101);
	assert_int_equal(report.words[12], 100);
	assert_int_equal(report.words[14], 0);
	vm_stop(&vm);
}

UNIT_SUITE(test_wddm_describe)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(caps_are_those_of_the_version),
		cmocka_unit_test(segments_reach_the_os_in_its_structs),
		cmocka_unit_test(a_segment_must_have_a_size_that_the_os_can_hold),
		cmocka_unit_test(other_questions_are_refused),
		cmocka_unit_test(a_context_has_the_sizes_of_the_configuration),
		cmocka_unit_test(allocations_are_created_opened_and_described),
		cmocka_unit_test(a_debug_report_fits_its_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
