/* SPDX-License-Identifier: MIT */
/* The layout of the DDI's arguments: each offset and width of the table, and what the table promises of versions. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "patchbay/wddm/ddi.h"
#include "patchbay/wddm/ddi_adapter.h"
#include "patchbay/wddm/ddi_gdi.h"
#include "patchbay/wddm/ddi_paging.h"
#include "tests/unit/unit.h"

#define SYSTEMS 2u /**< 64-bit Windows, 32-bit Windows */

/** Where a member is, or how large a struct is. */
struct place {
	uint32_t offset;
	uint32_t width;
};

/** A row of the table, and the same of our struct. A row without a member is the size of the struct. */
struct row {
	const char *name;
	const char *member;
	struct place places[SYSTEMS];
	size_t ours_offset;
	size_t ours_width;
	const char *type;
	const char *source;
};

/** The one of the two systems whose layout our structs have here. */
#define HERE (sizeof(void *) == 8 ? 0u : 1u)

#define TEXT(name)      #name
#define TEXT_OF(name)   TEXT(name)
#define SIZE_OF(member) sizeof(((struct OURS *)0)->member)
#define FIELD(at, bytes, at32, bytes32, member, type, src)                                                   \
	RENAMED(at, bytes, at32, bytes32, member, member, type, src)
#define RENAMED(at, bytes, at32, bytes32, member, ours, type, src)                                           \
	{TEXT_OF(WDK), #member, {{at, bytes}, {at32, bytes32}}, offsetof(struct OURS, ours), SIZE_OF(ours),  \
	 #type,        #src},
#define UNNAMED(at, bytes, at32, bytes32, ours, type, src)                                                   \
	RENAMED(at, bytes, at32, bytes32, ours, ours, type, src)
#define SIZE(bytes, bytes32, src)                                                                            \
	{TEXT_OF(WDK), NULL, {{0, bytes}, {0, bytes32}}, 0, sizeof(struct OURS), "", #src},
#define AT_LEAST(bytes, bytes32, src) SIZE(bytes, bytes32, src)

#define PB_DDI_VERSION PB_DXGKDDI_VISTA
static const struct row vista[] = {
#include "host/wddm/ddi_layout.def"
};
#undef PB_DDI_VERSION
#define PB_DDI_VERSION PB_DXGKDDI_WIN7
static const struct row win7[] = {
#include "host/wddm/ddi_layout.def"
};
#undef PB_DDI_VERSION
#define PB_DDI_VERSION PB_DXGKDDI_WIN8
static const struct row win8[] = {
#include "host/wddm/ddi_layout.def"
};
#undef PB_DDI_VERSION
#define PB_DDI_VERSION PB_DXGKDDI_WDDM1_3
static const struct row wddm1_3[] = {
#include "host/wddm/ddi_layout.def"
};

#define ROWS(table)                                                                                          \
	{                                                                                                    \
#table, table, sizeof(table) / sizeof((table)[0])                                            \
	}
static const struct {
	const char *name;
	const struct row *rows;
	size_t count;
} versions[] = {ROWS(vista), ROWS(win7), ROWS(win8), ROWS(wddm1_3)};

static const struct row *find(size_t version, const char *name, const char *member)
{
	for (size_t i = 0; i < versions[version].count; i++) {
		const struct row *row = &versions[version].rows[i];

		if (strcmp(row->name, name) == 0 && (row->member == NULL) == (member == NULL) &&
		    (member == NULL || strcmp(row->member, member) == 0))
			return row;
	}
	return NULL;
}

static void members_are_where_the_table_says(void **state)
{
	(void)state;
	for (size_t v = 0; v < 4; v++) {
		for (size_t i = 0; i < versions[v].count; i++) {
			const struct row *row = &versions[v].rows[i];
			const struct place *place = &row->places[HERE];
			const char *member = row->member == NULL ? "size" : row->member;

			if (row->member == NULL && v < 3)
				continue; /* our structs are those of the newest version */
			if (place->offset != row->ours_offset || place->width != row->ours_width)
				fail_msg("%s.%s: %u, %u bytes; ours: %u, %u bytes", row->name, member,
					 place->offset, place->width, (uint32_t)row->ours_offset,
					 (uint32_t)row->ours_width);
		}
	}
}

/** What a version has, all later ones have in the same place: one struct serves all. */
static void versions_only_append(void **state)
{
	(void)state;
	for (size_t v = 0; v + 1 < 4; v++) {
		for (size_t i = 0; i < versions[v].count; i++) {
			const struct row *row = &versions[v].rows[i];
			const struct row *next = find(v + 1, row->name, row->member);

			if (next == NULL) {
				fail_msg("%s.%s is gone after %s", row->name, row->member, versions[v].name);
				return;
			}
			for (size_t s = 0; s < SYSTEMS; s++) {
				const struct place *was = &row->places[s];
				const struct place *is = &next->places[s];

				assert_int_equal(is->offset, was->offset);
				assert_true(row->member == NULL ? is->width >= was->width
								: is->width == was->width);
			}
		}
	}
}

/** No member reaches beyond its struct as that version has it, and each is aligned. */
static void members_lie_in_their_struct(void **state)
{
	(void)state;
	for (size_t v = 0; v < 4; v++) {
		for (size_t i = 0; i < versions[v].count; i++) {
			const struct row *row = &versions[v].rows[i];
			const struct row *size = find(v, row->name, NULL);

			assert_non_null(size);
			if (row->member == NULL || size == NULL)
				continue;
			for (size_t s = 0; s < SYSTEMS; s++) {
				const struct place *place = &row->places[s];

				if (place->offset + place->width > size->places[s].width)
					fail_msg("%s.%s lies outside in %s", row->name, row->member,
						 versions[v].name);
				if (strchr(row->type, '[') == NULL && strncmp(row->type, "DXGK_", 5) != 0 &&
				    place->width <= 8)
					assert_int_equal(place->offset % place->width, 0);
			}
		}
	}
}

/** On 32-bit Windows what is an address of a program, or counts its bytes, has 4 bytes; all else is as wide as on 64 bits. */
static void widths_follow_from_types(void **state)
{
	static const char *const narrow[] = {"PTR", "HANDLE", "SIZE_T"};

	(void)state;
	for (size_t i = 0; i < versions[3].count; i++) {
		const struct row *row = &versions[3].rows[i];
		bool half = false;

		if (row->member == NULL)
			continue;
		for (size_t n = 0; n < sizeof(narrow) / sizeof(narrow[0]); n++)
			half = half || strcmp(row->type, narrow[n]) == 0;
		if (strncmp(row->type, "DXGK_", 5) == 0)
			continue; /* a struct, whose members have rows of their own */
		assert_int_equal(row->places[1].width * (half ? 2 : 1), row->places[0].width);
		assert_true(row->places[1].offset <= row->places[0].offset);
	}
}

/** What drivers get wrong: written by hand, from the documents. First 64-bit, then 32-bit Windows. */
static const struct {
	const char *name;
	const char *member;
	uint32_t sizes[SYSTEMS][4];   /**< of the struct, by version; 0: there is none */
	uint32_t offsets[SYSTEMS][4]; /**< of the member; 0: there is none */
} traps[] = {
	{"DXGKARG_RENDER",
	 "MultipassOffset",
	 {{112, 112, 112, 112}, {64, 64, 64, 64}},
	 {{0x5c, 0x5c, 0x5c, 0x5c}, {0x30, 0x30, 0x30, 0x30}}},
	{"DXGKARG_PATCH",
	 "EngineOrdinal",
	 {{120, 120, 120, 120}, {88, 88, 88, 88}},
	 {{0x74, 0x74, 0x74, 0x74}, {0x50, 0x50, 0x50, 0x50}}},
	{"DXGK_ALLOCATIONLIST",
	 "PhysicalAddress",
	 {{24, 24, 24, 24}, {16, 16, 16, 16}},
	 {{16, 16, 16, 16}, {8, 8, 8, 8}}},
	{"D3DDDI_PATCHLOCATIONLIST",
	 "SplitOffset",
	 {{24, 24, 24, 24}, {24, 24, 24, 24}},
	 {{20, 20, 20, 20}, {20, 20, 20, 20}}},
	{"DXGKARG_SUBMITCOMMAND",
	 "DmaBufferVirtualAddress",
	 {{80, 88, 96, 96}, {64, 72, 80, 80}},
	 {{0, 0x50, 0x50, 0x50}, {0, 0x40, 0x40, 0x40}}},
	{"DXGKARG_SUBMITCOMMAND",
	 "NodeOrdinal",
	 {{80, 88, 96, 96}, {64, 72, 80, 80}},
	 {{0, 0, 0x58, 0x58}, {0, 0, 0x48, 0x48}}},
	{"DXGKARG_SUBMITCOMMAND",
	 "EngineOrdinal",
	 {{80, 88, 96, 96}, {64, 72, 80, 80}},
	 {{0x4c, 0x4c, 0x4c, 0x4c}, {0x3c, 0x3c, 0x3c, 0x3c}}},
	{"DXGKARG_PRESENT",
	 "Color",
	 {{128, 128, 128, 128}, {96, 96, 96, 96}},
	 {{0x38, 0x38, 0x38, 0x38}, {0x20, 0x20, 0x20, 0x20}}},
	{"DXGKARG_PRESENT",
	 "pDstSubRects",
	 {{128, 128, 128, 128}, {96, 96, 96, 96}},
	 {{0x60, 0x60, 0x60, 0x60}, {0x48, 0x48, 0x48, 0x48}}},
	{"DXGKARG_BUILDPAGINGBUFFER",
	 "Operation",
	 {{304, 304, 304, 304}, {288, 288, 288, 288}},
	 {{0x1c, 0x1c, 0x1c, 0x1c}, {0x10, 0x10, 0x10, 0x10}}},
	{"DXGKARG_BUILDPAGINGBUFFER",
	 "Transfer.MdlOffset",
	 {{304, 304, 304, 304}, {288, 288, 288, 288}},
	 {{0x64, 0x64, 0x64, 0x64}, {0x4c, 0x4c, 0x4c, 0x4c}}},
	{"DXGKARG_BUILDPAGINGBUFFER",
	 "hSystemContext",
	 {{304, 304, 304, 304}, {288, 288, 288, 288}},
	 {{0x128, 0x128, 0x128, 0x128}, {0x118, 0x118, 0x118, 0x118}}},
	{"DXGKARG_BUILDPAGINGBUFFER",
	 "InitContextResource.Destination.VirtualAddress",
	 {{304, 304, 304, 304}, {288, 288, 288, 288}},
	 {{0, 0, 0x40, 0x40}, {0, 0, 0x30, 0x30}}},
	{"MDL", "ByteCount", {{48, 48, 48, 48}, {28, 28, 28, 28}}, {{40, 40, 40, 40}, {20, 20, 20, 20}}},
	{"DXGK_DRIVERCAPS",
	 "WDDMVersion",
	 {{336, 528, 544, 552}, {328, 520, 536, 544}},
	 {{0, 0x150, 0x150, 0x150}, {0, 0x148, 0x148, 0x148}}},
	{"DXGK_DRIVERCAPS",
	 "SupportDirectFlip",
	 {{336, 528, 544, 552}, {328, 520, 536, 544}},
	 {{0, 0, 539, 539}, {0, 0, 531, 531}}},
	{"DXGK_SEGMENTDESCRIPTOR3",
	 "CpuTranslatedAddress",
	 {{0, 0, 72, 72}, {0, 0, 48, 48}},
	 {{0, 0, 0x10, 0x10}, {0, 0, 0x10, 0x10}}},
	{"DXGK_CONTEXTINFO",
	 "PatchLocationListSize",
	 {{20, 24, 24, 24}, {20, 24, 24, 24}},
	 {{0x10, 0x10, 0x10, 0x10}, {0x10, 0x10, 0x10, 0x10}}},
	{"DXGK_ALLOCATIONINFO",
	 "AllocationPriority",
	 {{88, 88, 88, 88}, {60, 60, 60, 60}},
	 {{0x50, 0x50, 0x50, 0x50}, {0x38, 0x38, 0x38, 0x38}}},
	{"DXGK_GDIARG_STRETCHBLT",
	 "DstAllocationIndex",
	 {{0, 64, 64, 64}, {0, 56, 56, 56}},
	 {{0, 0x20, 0x20, 0x20}, {0, 0x20, 0x20, 0x20}}},
	{"DXGK_GDIARG_COLORFILL",
	 "Color",
	 {{0, 40, 40, 40}, {0, 36, 36, 36}},
	 {{0, 0x20, 0x20, 0x20}, {0, 0x1c, 0x1c, 0x1c}}},
	{"DXGK_GDIARG_BITBLT",
	 "DstPitch",
	 {{0, 72, 72, 72}, {0, 60, 60, 60}},
	 {{0, 0x40, 0x40, 0x40}, {0, 0x38, 0x38, 0x38}}},
	{"DXGK_RENDERKM_COMMAND",
	 "Command.ClearTypeBlend",
	 {{0, 80, 80, 80}, {0, 72, 72, 72}},
	 {{0, 8, 8, 8}, {0, 8, 8, 8}}},
	{"DXGKARG_RESETENGINE",
	 "LastAbortedFenceId",
	 {{0, 0, 12, 12}, {0, 0, 12, 12}},
	 {{0, 0, 8, 8}, {0, 0, 8, 8}}},
};

static void known_traps_are_in_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++) {
		for (size_t v = 0; v < 4; v++) {
			const struct row *size = find(v, traps[i].name, NULL);
			const struct row *member = find(v, traps[i].name, traps[i].member);

			for (size_t s = 0; s < SYSTEMS; s++) {
				assert_int_equal(size != NULL ? size->places[s].width : 0,
						 traps[i].sizes[s][v]);
				assert_int_equal(member != NULL ? member->places[s].offset : 0,
						 traps[i].offsets[s][v]);
			}
		}
	}
}

UNIT_SUITE(test_wddm_layout)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_where_the_table_says),
		cmocka_unit_test(versions_only_append),
		cmocka_unit_test(members_lie_in_their_struct),
		cmocka_unit_test(widths_follow_from_types),
		cmocka_unit_test(known_traps_are_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
