/* SPDX-License-Identifier: MIT */
/*
 * The numbers that are on the wire, written down a second time: what has been
 * released keeps its number and its name, and new ones are added here too.
 */
#include <string.h>

#include "patchbay/abi/update.h"
#include "patchbay/patchbay.h"
#include "tests/unit/unit.h"

struct number {
	uint32_t number;
	const char *name;
};

static const struct number frozen_errors[] = {
	{0, "OK"},
	{1, "UNSUPPORTED"},
	{2, "BAD_VERSION"},
	{3, "BAD_COMMAND"},
	{4, "BAD_HANDLE"},
	{5, "BUSY"},
	{6, "NO_SPACE"},
	{7, "NO_PERMISSION"},
	{8, "BAD_ARGUMENT"},
	{9, "RING_FAULT"},
	{10, "BAD_FORMAT"},
	{11, "NO_QUOTA"},
	{16, "BAD_OPTIONS"},
	{17, "BAD_CONTEXT"},
	{18, "CONTEXT_LOST"},
	{19, "BAD_SEGMENT"},
	{20, "BAD_BUFFER"},
	{21, "BAD_RANGE"},
	{22, "BAD_PRIVATE_DATA"},
	{23, "BAD_ALLOCATION_LIST"},
	{24, "BAD_PATCH_LIST"},
	{25, "TOO_MANY_ALLOCATIONS"},
	{26, "TOO_MANY_PATCHES"},
	{27, "BAD_TIMELINE"},
	{28, "BAD_PAGING"},
	{29, "BAD_WAIT"},
	{32, "NOT_RESIDENT"},
	{33, "BAD_ALLOCATION"},
	{34, "ALLOCATION_OUTSIDE_SEGMENT"},
	{35, "ALLOCATION_SEGMENT"},
	{48, "PATCH_RESERVED"},
	{49, "PATCH_FORMAT"},
	{50, "PATCH_INDEX"},
	{51, "PATCH_ALIGNMENT"},
	{52, "PATCH_RANGE"},
	{53, "PATCH_OFFSET"},
	{54, "PATCH_WRITE"},
	{55, "PATCH_VALUE"},
	{56, "PATCH_ENCODING"},
	{57, "PATCH_PAGE"},
	{64, "ENGINE_FAULT"},
	{65, "ENGINE_HANG"},
	{66, "CANCELLED"},
	{67, "HALTED"},
	{68, "DEP_FAILED"},
	{69, "DEADLOCK"},
	{70, "ENGINE_DEAD"},
	{80, "TIMEOUT"},
	{81, "FIRMWARE_DEAD"},
	{82, "NO_CARD"},
	{83, "PROTOCOL"},
	{84, "DETACHED"},
	{85, "HOST_MEMORY"},
	{86, "SYSTEM"},
	{87, "RETURNED"},
	{88, "CARD_FULL"},
};

static const struct number frozen_stages[] = {
	{0, "NONE"}, {1, "STARTED"}, {2, "ENGINES_RESET"}, {3, "RINGS_CLEARED"}, {4, "RUNNING"}, {5, "FATAL"},
};

static const struct number frozen_waypoints[] = {
	{0, "NONE"},    {1, "IDLE"},  {2, "DOORBELL"}, {3, "CONTROL"}, {4, "ADMIT"},
	{5, "RESOLVE"}, {6, "PATCH"}, {7, "FEED"},     {8, "RETIRE"},  {9, "TICK"},
	{10, "RESET"},  {11, "STOP"}, {12, "WAIT"},
};

static const struct number frozen_fatal_kinds[] = {
	{0, "NONE"},        {1, "ASSERT"},        {2, "CPU_FAULT"}, {3, "BAD_IMAGE"},
	{4, "UNPROTECTED"}, {5, "CACHED_MEMORY"}, {6, "REFUSED"},
};

static const struct number frozen_loader_reasons[] = {
	{0, "NONE"},          {1, "STARTED"},    {2, "EMPTY"},       {3, "BAD_HEADER"}, {4, "BAD_BOARD"},
	{5, "BAD_SIGNATURE"}, {6, "BAD_DIGEST"}, {7, "OLD_VERSION"}, {8, "BAD_FLASH"},  {9, "BAD_VERDICT"},
};

static const struct number frozen_crash_cpus[] = {
	{0, "NONE"},
	{1, "ARM_M"},
	{2, "RISCV32"},
	{3, "RISCV64"},
};

static const struct number frozen_crash_notes[] = {
	{0, "NONE"},  {1, "STAGE"},        {2, "CHANNEL"},      {3, "COMMAND"},
	{4, "EVENT"}, {5, "ENGINE_RESET"}, {6, "ENGINE_CYCLE"}, {7, "NODE_DEAD"},
};

static const struct number frozen_mcu_states[] = {
	{0, "UNKNOWN"},
	{1, "RUNNING"},
	{2, "DEAD"},
	{3, "RESTARTING"},
};

static const struct number frozen_events[] = {
	{1, "SUBMISSION_FAILED"}, {2, "ENGINE_FAULT"}, {3, "ENGINE_HANG"}, {4, "CONTEXT_LOST"},
	{5, "QUEUE_FAULT"},       {6, "HALTED"},       {7, "PREEMPTED"},   {8, "NODE_DEAD"},
};

static const struct number frozen_capabilities[] = {
	{1, "NODES"},
	{2, "NODE_KINDS"},
	{3, "CLIENTS"},
	{4, "QUEUES"},
	{5, "CONTEXTS"},
	{6, "SEGMENTS"},
	{7, "ALLOCATIONS_MAX"},
	{8, "PATCHES_MAX"},
	{9, "BUFFER_BYTES_MAX"},
	{10, "RING_ENTRIES_MIN"},
	{11, "RING_ENTRIES_MAX"},
	{12, "IN_FLIGHT"},
	{13, "WAITS_MAX"},
	{14, "PRIORITIES"},
	{15, "TICK_MICROSECONDS"},
	{16, "POOL_OFFSET"},
	{17, "POOL_BYTES"},
	{18, "SEGMENT_KINDS"},
	{19, "PATCH_ENCODINGS"},
	{20, "FORMATS"},
	{21, "FORMATS_OWN"},
	{22, "SEGMENTS_TOTAL"},
	{23, "APERTURE_PAGES"},
	{24, "PREEMPTION"},
	{25, "QUANTUM_MICROSECONDS"},
	{26, "HANG_MICROSECONDS"},
	{27, "QUEUES_MIN"},
	{28, "CONTEXTS_MIN"},
	{29, "SEGMENTS_MIN"},
	{30, "FORMATS_MIN"},
	{31, "POOL_BYTES_MIN"},
	{32, "STOPS_MIN"},
	{33, "WAKES_MIN"},
	{34, "HOST_BYTES"},
	{35, "WINDOW_BYTES"},
	{36, "OUTER_OFFSET"},
	{37, "OUTER_BYTES"},
};

static const struct number frozen_commands[] = {
	{1, "PING"},           {2, "SEGMENT_CREATE"},  {3, "SEGMENT_DESTROY"},
	{4, "CONTEXT_CREATE"}, {5, "CONTEXT_DESTROY"}, {6, "CONTEXT_CLEAR"},
	{7, "QUEUE_CREATE"},   {8, "QUEUE_DESTROY"},   {9, "QUEUE_CLEAR"},
	{10, "CHANNEL_CLOSE"}, {11, "FORMAT_SET"},     {12, "PREEMPT"},
	{13, "SUSPEND"},       {14, "RESUME"},         {15, "RESET"},
	{16, "QUERY"},         {17, "TRACE"},          {18, "CHANNEL_GRANT"},
	{19, "NODE_SET"},      {20, "MODERATE"},       {21, "CHANNEL_QUOTA"},
	{22, "HOST_GRANT"},    {23, "HOST_REVOKE"},
};

static const struct number frozen_priorities[] = {
	{0, "IDLE"}, {1, "LOW"}, {2, "NORMAL"}, {3, "HIGH"}, {4, "REALTIME"},
};

static const struct number frozen_resources[] = {
	{0, "QUEUES"}, {1, "CONTEXTS"}, {2, "SEGMENTS"},          {3, "FORMATS"},           {4, "POOL_BYTES"},
	{5, "STOPS"},  {6, "WAKES"},    {7, "HANG_MICROSECONDS"}, {8, "STOP_MICROSECONDS"},
};

static const struct number frozen_whys[] = {
	{0, "RUNNING"},    {1, "EMPTY"},           {2, "PREPARING"},      {3, "READY"},   {4, "WAITING"},
	{5, "SUSPENDED"},  {6, "PREEMPTED"},       {7, "HALTED"},         {8, "FAULTED"}, {9, "NODE_BUSY"},
	{10, "NODE_DEAD"}, {11, "CARD_SUSPENDED"}, {12, "WAITS_FOR_JOB"},
};

static const struct number frozen_node_states[] = {
	{0, "RUNNING"}, {1, "STOPPING"}, {2, "RESETTING"}, {3, "CYCLING"}, {4, "DEAD"},
};

static const struct number frozen_formats[] = {
	{0, "ADDRESS32"},   {1, "ADDRESS64"},      {2, "ADDRESS32_WRITE"}, {3, "ADDRESS64_WRITE"},
	{4, "SUM32"},       {5, "SUM64_SIGNED"},   {6, "SUM64_CANONICAL"}, {7, "HIGH32"},
	{8, "NOUVEAU_DMA"}, {9, "NOUVEAU_OR"},     {10, "NOUVEAU_LOW_OR"}, {11, "SHIFT1"},
	{12, "SHIFT8"},     {13, "SHIFT8_SECTOR"}, {14, "SPLIT40"},        {15, "TILING"},
	{16, "ID32"},       {17, "FIELD28"},       {18, "UNALIGNED32"},    {19, "LOW24"},
	{20, "HIGH8_0"},    {21, "HIGH8_1"},       {22, "HIGH8_2"},        {23, "FENCE_ID"},
	{24, "SELF32"},     {25, "SELF64"},
};

static const struct number frozen_format_reasons[] = {
	{0, "NONE"},  {1, "NUMBER"}, {2, "SOURCE"}, {3, "BOUND"}, {4, "FLAGS"},       {5, "ALIGN"},
	{6, "SHIFT"}, {7, "STEP"},   {8, "OR"},     {9, "MASK"},  {10, "BACKGROUND"}, {11, "RESERVED"},
};

#define NUMBER(name, number, ...) {(number), #name},
static const struct number errors[] = {PB_ERRORS(NUMBER)};
static const struct number stages[] = {PB_BOOT_STAGES(NUMBER)};
static const struct number waypoints[] = {PB_WAYPOINTS(NUMBER)};
static const struct number fatal_kinds[] = {PB_FATAL_KINDS(NUMBER)};
static const struct number loader_reasons[] = {PB_LOADER_REASONS(NUMBER)};
static const struct number crash_cpus[] = {PB_CRASH_CPUS(NUMBER)};
static const struct number crash_notes[] = {PB_CRASH_NOTE_KINDS(NUMBER)};
static const struct number mcu_states[] = {PB_MCU_STATES(NUMBER)};
static const struct number events[] = {PB_EVENTS(NUMBER)};
static const struct number capabilities[] = {PB_CAPABILITIES(NUMBER)};
static const struct number commands[] = {PB_COMMANDS(NUMBER)};
static const struct number priorities[] = {PB_PRIORITY_LEVELS(NUMBER)};
static const struct number whys[] = {PB_WHYS(NUMBER)};
static const struct number resources[] = {PB_RESOURCES(NUMBER)};
static const struct number node_states[] = {PB_NODE_STATES(NUMBER)};
static const struct number formats[] = {PB_PATCH_FORMATS(NUMBER)};
static const struct number format_reasons[] = {PB_FORMAT_REASONS(NUMBER)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LIST(list, function)                                                                                 \
	{                                                                                                    \
#list, list, COUNT(list), frozen_##list, COUNT(frozen_##list), function                      \
	}

static const struct {
	const char *what;
	const struct number *list;
	size_t count;
	const struct number *frozen;
	size_t frozen_count;
	const char *(*name)(uint32_t number); /* NULL: the library has no names for it */
} lists[] = {
	LIST(errors, pb_error_name),
	LIST(stages, pb_boot_stage_name),
	LIST(waypoints, pb_waypoint_name),
	LIST(fatal_kinds, pb_fatal_kind_name),
	LIST(loader_reasons, NULL),
	LIST(crash_cpus, NULL),
	LIST(crash_notes, NULL),
	LIST(mcu_states, NULL),
	LIST(events, pb_event_name),
	LIST(capabilities, pb_capability_name),
	LIST(commands, NULL),
	LIST(priorities, pb_priority_name),
	LIST(whys, pb_why_name),
	LIST(resources, pb_resource_name),
	LIST(node_states, pb_node_state_name),
	LIST(formats, NULL),
	LIST(format_reasons, NULL),
};

static void numbers_are_as_released(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(lists); l++) {
		print_message("%s\n", lists[l].what);
		assert_int_equal(lists[l].count, lists[l].frozen_count);
		for (size_t i = 0; i < lists[l].count; i++) {
			assert_string_equal(lists[l].list[i].name, lists[l].frozen[i].name);
			assert_int_equal(lists[l].list[i].number, lists[l].frozen[i].number);
		}
	}
}

static void numbers_and_names_are_unique(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(lists); l++)
		for (size_t i = 0; i < lists[l].count; i++)
			for (size_t k = 0; k < i; k++) {
				assert_int_not_equal(lists[l].list[i].number, lists[l].list[k].number);
				assert_string_not_equal(lists[l].list[i].name, lists[l].list[k].name);
			}
}

static const char *expected_name(size_t l, uint32_t number)
{
	for (size_t i = 0; i < lists[l].frozen_count; i++)
		if (lists[l].frozen[i].number == number)
			return lists[l].frozen[i].name;
	return "?";
}

static void every_number_has_its_name(void **state)
{
	(void)state;
	for (size_t l = 0; l < COUNT(lists); l++) {
		if (lists[l].name == NULL)
			continue;
		for (uint32_t number = 0; number < 4096; number++)
			assert_string_equal(lists[l].name(number), expected_name(l, number));
		assert_string_equal(lists[l].name(UINT32_MAX), "?");
	}
}

static void every_error_has_a_meaning(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < 4096; number++) {
		bool named = strcmp(pb_error_name(number), "?") != 0;

		assert_int_equal(strlen(pb_error_meaning(number)) > 5, named);
	}
	assert_string_equal(pb_error_meaning(999), "?");
	assert_string_equal(pb_error_meaning(PB_ERROR_TIMEOUT), "the time given ran out");
}

static void every_why_has_a_meaning(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < 4096; number++) {
		bool named = strcmp(pb_why_name(number), "?") != 0;

		assert_int_equal(strlen(pb_why_meaning(number)) > 5, named);
	}
	assert_string_equal(pb_why_meaning(PB_WHY_SUSPENDED), "it is suspended");
}

/* Numbers that stand alone, with no list. */
static void flags_are_as_released(void **state)
{
	static const uint32_t numbers[][2] = {
		{PB_STOP_INSIDE, 1},
		{PB_STOP_RECALL, 2},
		{PB_OPTION_RESUME, 1},
		{PB_PRIVILEGE_PAGING, 1},
		{PB_PRIVILEGE_QUERY, 2},
		{PB_QUERY_QUEUE, 1},
		{PB_QUERY_NODE, 2},
		{PB_QUERY_CONTEXT, 3},
		{PB_QUERY_CHANNEL, 4},
		{PB_NODE_SCHEDULED, 0},
		{PB_NODE_HOST_ORDERED, 1},
		{PB_PRIORITIES, 5},
		{PB_WEIGHT_MAX, 64},
		{PB_WAITS_MAX, 4},
		{PB_SAVE_WORDS, 16},
		{offsetof(struct pb_queue_page, fence), 64},
		{offsetof(struct pb_queue_page, preempt), 128},
		{offsetof(struct pb_queue_page, save), 192},
		{sizeof(struct pb_queue_page), 256},
		{PB_CRASH_MAGIC, 0x52434250},
		{PB_CRASH_STACK_WORDS, 128},
		{PB_CRASH_NOTES, 16},
		{PB_CRASH_REGISTERS, 32},
		{sizeof(struct pb_crash_record), 1152},
		{offsetof(struct pb_boot_block, crash_offset), 192},
		{offsetof(struct pb_boot_block, crash_bytes), 196},
		{offsetof(struct pb_boot_block, clock), 276},
		{offsetof(struct pb_boot_block, heartbeat_clock), 280},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_int_equal(numbers[i][0], numbers[i][1]);
}

static void capabilities_fit_the_library(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(capabilities); i++)
		assert_true(capabilities[i].number < PB_CAPABILITY_KEYS);
}

static void handle_takes_apart(void **state)
{
	(void)state;
	assert_int_equal(PB_HANDLE(0x1234, 0xfedc), 0xfedc1234);
	assert_int_equal(PB_HANDLE_INDEX(0xfedc1234), 0x1234);
	assert_int_equal(PB_HANDLE_GENERATION(0xfedc1234), 0xfedc);
}

UNIT_SUITE(test_abi)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_as_released),
		cmocka_unit_test(numbers_and_names_are_unique),
		cmocka_unit_test(every_number_has_its_name),
		cmocka_unit_test(every_error_has_a_meaning),
		cmocka_unit_test(every_why_has_a_meaning),
		cmocka_unit_test(flags_are_as_released),
		cmocka_unit_test(capabilities_fit_the_library),
		cmocka_unit_test(handle_takes_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
