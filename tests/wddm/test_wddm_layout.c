/* SPDX-License-Identifier: MIT */
/* The layout of the DDI's arguments: each offset and width of the table, and what the table promises of versions. */
#include <stddef.h>
#include <string.h>

#include "patchbay/wddm/ddi.h"
#include "patchbay/wddm/ddi_adapter.h"
#include "patchbay/wddm/ddi_paging.h"
#include "tests/unit/unit.h"

/** A row of the table, and the same of our struct. A row without a member is the size of the struct. */
struct row {
	const char *name;
	const char *member;
	uint32_t offset;
	uint32_t width;
	size_t ours_offset;
	size_t ours_width;
	const char *type;
	const char *source;
};

#define TEXT(name)                          #name
#define TEXT_OF(name)                       TEXT(name)
#define SIZE_OF(member)                     sizeof(((struct OURS *)0)->member)
#define FIELD(at, bytes, member, type, src) RENAMED(at, bytes, member, member, type, src)
#define RENAMED(at, bytes, member, ours, type, src)                                                          \
	{TEXT_OF(WDK), #member, at, bytes, offsetof(struct OURS, ours), SIZE_OF(ours), #type, #src},
#define UNNAMED(at, bytes, ours, type, src) RENAMED(at, bytes, ours, ours, type, src)
#define SIZE(bytes, src)                    {TEXT_OF(WDK), NULL, 0, bytes, 0, sizeof(struct OURS), "", #src},
#define AT_LEAST(bytes, src)                SIZE(bytes, src)

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
	if (sizeof(void *) != 8)
		return; /* the table is that of 64-bit Windows */
	for (size_t v = 0; v < 4; v++) {
		for (size_t i = 0; i < versions[v].count; i++) {
			const struct row *row = &versions[v].rows[i];
			const char *member = row->member == NULL ? "size" : row->member;

			if (row->member == NULL && v < 3)
				continue; /* our structs are those of the newest version */
			if (row->offset != row->ours_offset || row->width != row->ours_width)
				fail_msg("%s.%s: %u, %u bytes; ours: %zu, %zu bytes", row->name, member,
					 row->offset, row->width, row->ours_offset, row->ours_width);
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
			assert_int_equal(next->offset, row->offset);
			assert_true(row->member == NULL ? next->width >= row->width
							: next->width == row->width);
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
			if (row->offset + row->width > size->width)
				fail_msg("%s.%s lies outside in %s", row->name, row->member,
					 versions[v].name);
			if (strchr(row->type, '[') == NULL && row->width <= 8)
				assert_int_equal(row->offset % row->width, 0);
		}
	}
}

/** What drivers get wrong: written by hand, from the documents. */
static const struct {
	const char *name;
	const char *member;
	uint32_t sizes[4];   /**< of the struct, by version; 0: there is none */
	uint32_t offsets[4]; /**< of the member; 0: there is none */
} traps[] = {
	{"DXGKARG_SUBMITCOMMAND", "NodeOrdinal", {80, 88, 96, 96}, {0, 0, 0x58, 0x58}},
	{"DXGKARG_SUBMITCOMMAND", "EngineOrdinal", {80, 88, 96, 96}, {0x4c, 0x4c, 0x4c, 0x4c}},
	{"DXGKARG_PRESENT", "Color", {128, 128, 128, 128}, {0x38, 0x38, 0x38, 0x38}},
	{"DXGKARG_PRESENT", "pDstSubRects", {128, 128, 128, 128}, {0x60, 0x60, 0x60, 0x60}},
	{"DXGKARG_BUILDPAGINGBUFFER", "Operation", {304, 304, 304, 304}, {0x1c, 0x1c, 0x1c, 0x1c}},
	{"DXGKARG_BUILDPAGINGBUFFER", "Transfer.MdlOffset", {304, 304, 304, 304}, {0x64, 0x64, 0x64, 0x64}},
	{"DXGKARG_BUILDPAGINGBUFFER", "hSystemContext", {304, 304, 304, 304}, {0x128, 0x128, 0x128, 0x128}},
	{"DXGKARG_BUILDPAGINGBUFFER",
	 "InitContextResource.Destination.VirtualAddress",
	 {304, 304, 304, 304},
	 {0, 0, 0x40, 0x40}},
	{"DXGK_DRIVERCAPS", "WDDMVersion", {336, 528, 544, 552}, {0, 0x150, 0x150, 0x150}},
	{"DXGK_DRIVERCAPS", "SupportDirectFlip", {336, 528, 544, 552}, {0, 0, 539, 539}},
	{"DXGK_SEGMENTDESCRIPTOR3", "CpuTranslatedAddress", {0, 0, 72, 72}, {0, 0, 0x10, 0x10}},
	{"DXGK_CONTEXTINFO", "PatchLocationListSize", {20, 24, 24, 24}, {0x10, 0x10, 0x10, 0x10}},
	{"DXGK_ALLOCATIONINFO", "AllocationPriority", {88, 88, 88, 88}, {0x50, 0x50, 0x50, 0x50}},
	{"DXGKARG_RESETENGINE", "LastAbortedFenceId", {0, 0, 12, 12}, {0, 0, 8, 8}},
};

static void known_traps_are_in_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++) {
		for (size_t v = 0; v < 4; v++) {
			const struct row *size = find(v, traps[i].name, NULL);
			const struct row *member = find(v, traps[i].name, traps[i].member);

			assert_int_equal(size != NULL ? size->width : 0, traps[i].sizes[v]);
			assert_int_equal(member != NULL ? member->offset : 0, traps[i].offsets[v]);
		}
	}
}

UNIT_SUITE(test_wddm_layout)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_where_the_table_says),
		cmocka_unit_test(versions_only_append),
		cmocka_unit_test(members_lie_in_their_struct),
		cmocka_unit_test(known_traps_are_in_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
