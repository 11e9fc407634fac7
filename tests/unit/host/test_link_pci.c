/* SPDX-License-Identifier: MIT */
/* The link to a PCI device without a driver, against folders that are like the kernel's, and ones that are not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/link_pci.h"
#include "tests/unit/unit.h"

#define ADDRESS      "0000:00:04.0"
#define MEMORY_BYTES 0x10000u
#define PAGE         4096u
#define BAR_2        "0x00000000fe000000 0x00000000fe00ffff 0x000000000014220c\n"
#define BAR_1        "0x00000000febf2000 0x00000000febf2fff 0x0000000000040200\n"

/* A device as the kernel's files show it. */
struct device {
	const char *vendor, *device, *resource;
	uint32_t offset;   /* of BAR 0 in its page */
	uint32_t position; /* what its register of that name reads */
	enum pb_error expected;
};

static char devices[64];

static void write_file(const char *name, const void *bytes, size_t count)
{
	char path[PB_PCI_PATH];
	int file;

	assert_true(pb_pci_path(devices, ADDRESS, name, path));
	file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, count), count);
	close(file);
}

static void write_text(const char *name, const char *text)
{
	if (text != NULL)
		write_file(name, text, strlen(text));
}

static int make_devices(void **state)
{
	char folder[sizeof(devices) + 16];

	(void)state;
	strcpy(devices, "/tmp/patchbay-devices-XXXXXX");
	assert_non_null(mkdtemp(devices));
	snprintf(folder, sizeof(folder), "%s/%s", devices, ADDRESS);
	assert_int_equal(mkdir(folder, 0700), 0);
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

static int remove_devices(void **state)
{
	(void)state;
	return nftw(devices, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_device(const struct device *device)
{
	static uint8_t memory[MEMORY_BYTES];
	uint8_t page[PAGE] = {0};

	memory[0] = 0x50;
	memory[MEMORY_BYTES - 1] = 0x51;
	memcpy(page + device->offset + PB_PCI_POSITION, &device->position, sizeof(device->position));
	write_text("vendor", device->vendor);
	write_text("device", device->device);
	write_text("resource", device->resource);
	write_text("enable", "0");
	write_file("resource0", page, sizeof(page));
	write_file("resource2", memory, sizeof(memory));
}

static char read_enable(void)
{
	char path[PB_PCI_PATH], value = 0;
	int file;

	assert_true(pb_pci_path(devices, ADDRESS, "enable", path));
	file = open(path, O_RDONLY);
	assert_int_equal(read(file, &value, 1), 1);
	close(file);
	return value;
}

static uint32_t read_register(uint32_t offset)
{
	char path[PB_PCI_PATH];
	uint32_t value;
	int file;

	assert_true(pb_pci_path(devices, ADDRESS, "resource0", path));
	file = open(path, O_RDONLY);
	assert_int_equal(pread(file, &value, sizeof(value), offset), sizeof(value));
	close(file);
	return value;
}

static const struct device good = {
	"0x1af4\n", "0x1110\n", "0x00000000febf1000 0x00000000febf10ff 0x0000000000040200\n" BAR_1 BAR_2,
	0,          3,          PB_ERROR_OK};

static void a_device_is_a_link(void **state)
{
	struct pb_link *link;

	(void)state;
	make_device(&good);
	assert_int_equal(pb_pci_open(devices, ADDRESS, &link), PB_ERROR_OK);
	assert_int_equal(read_enable(), '1');
	assert_int_equal(link->channel, 3);
	assert_int_equal(link->memory_bytes, MEMORY_BYTES);
	assert_int_equal(link->memory[0], 0x50);
	assert_int_equal(link->memory[MEMORY_BYTES - 1], 0x51);
	assert_int_equal(read_register(PB_PCI_DOORBELL), 0);
	link->ops->doorbell(link);
	/* Peer 0 in the upper half, the channel's vector in the lower one. */
	assert_int_equal(read_register(PB_PCI_DOORBELL), 3);
	assert_int_equal(link->ops->wait(link, 1000), PB_ERROR_TIMEOUT);
	assert_int_equal(link->ops->wait(link, 1000000000), PB_ERROR_OK);
	link->ops->close(link);
	assert_int_equal(read_enable(), '0');
}

/* A BAR of 256 bytes may begin anywhere in a page. */
static void registers_may_begin_inside_a_page(void **state)
{
	struct device device = good;
	struct pb_link *link;

	(void)state;
	device.resource = "0x00000000febf1e00 0x00000000febf1eff 0x0000000000040200\n" BAR_1 BAR_2;
	device.offset = 0xe00;
	device.position = 8;
	make_device(&device);
	assert_int_equal(pb_pci_open(devices, ADDRESS, &link), PB_ERROR_OK);
	assert_int_equal(link->channel, 8);
	link->ops->doorbell(link);
	assert_int_equal(read_register(0xe00 + PB_PCI_DOORBELL), 8);
	link->ops->close(link);
}

/* One channel has one host. */
static void a_device_is_used_by_one_program(void **state)
{
	struct pb_link *first, *second;

	(void)state;
	make_device(&good);
	assert_int_equal(pb_pci_open(devices, ADDRESS, &first), PB_ERROR_OK);
	assert_int_equal(pb_pci_open(devices, ADDRESS, &second), PB_ERROR_BUSY);
	assert_null(second);
	assert_int_equal(read_enable(), '1');
	first->ops->close(first);
	assert_int_equal(pb_pci_open(devices, ADDRESS, &second), PB_ERROR_OK);
	second->ops->close(second);
}

#define BAR_0 "0x00000000febf1000 0x00000000febf10ff 0x0000000000040200\n"
#define NONE  "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"

static void what_is_no_card_is_refused(void **state)
{
	static const struct device cases[] = {
		{"0x8086\n", "0x1110\n", BAR_0 BAR_1 BAR_2, 0, 3, PB_ERROR_NO_CARD},
		{"0x1af4\n", "0x1000\n", BAR_0 BAR_1 BAR_2, 0, 3, PB_ERROR_NO_CARD},
		{"", "0x1110\n", BAR_0 BAR_1 BAR_2, 0, 3, PB_ERROR_NO_CARD},
		/* A device that is not a peer of a server has no number. */
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 BAR_2, 0, 0, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 BAR_2, 0, 9, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 BAR_2, 0, 0xffffffffu, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", NONE BAR_1 BAR_2, 0, 3, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 NONE, 0, 3, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1, 0, 3, PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", "", 0, 3, PB_ERROR_SYSTEM},
		{"0x1af4\n", "0x1110\n", "no numbers", 0, 3, PB_ERROR_PROTOCOL},
		/* Registers too small, at the end of a page, and misaligned. */
		{"0x1af4\n", "0x1110\n", "0xfebf1000 0xfebf100e 0x40200\n" BAR_1 BAR_2, 0, 3,
		 PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", "0xfebf1ff4 0xfebf20f3 0x40200\n" BAR_1 BAR_2, 0, 3,
		 PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", "0xfebf1001 0xfebf1100 0x40200\n" BAR_1 BAR_2, 0, 3,
		 PB_ERROR_PROTOCOL},
		/* Memory that begins inside a page, and of 4 GiB. */
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 "0xfe000800 0xfe0107ff 0x14220c\n", 0, 3,
		 PB_ERROR_PROTOCOL},
		{"0x1af4\n", "0x1110\n", BAR_0 BAR_1 "0x8000000000 0x80ffffffff 0x14220c\n", 0, 3,
		 PB_ERROR_PROTOCOL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pb_link *link;

		make_device(&cases[i]);
		if (pb_pci_open(devices, ADDRESS, &link) != cases[i].expected)
			fail_msg("case %zu", i);
		assert_null(link);
		/* A device that was found is left as it was. */
		assert_int_equal(read_enable(), '0');
	}
}

/* An address is a folder's name: nothing else may be one. */
static void names_that_are_no_address_are_refused(void **state)
{
	static const char *const names[] = {"",
					    ".",
					    "../0000:00:04.0",
					    "0000:00:04.00",
					    "00:04.0",
					    "0000:00:04:0",
					    "0000:00:0G.0",
					    "0000:00:04.0/",
					    "0000:00:04./"};
	struct pb_link *link;

	(void)state;
	make_device(&good);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(pb_pci_open(devices, names[i], &link), PB_ERROR_BAD_ARGUMENT);
		assert_null(link);
	}
	assert_int_equal(pb_pci_open(devices, "0000:00:05.0", &link), PB_ERROR_NO_CARD);
	assert_null(link);
	assert_int_equal(pb_link_open_vfio("0000:00:04", &link), PB_ERROR_BAD_ARGUMENT);
	assert_null(link);
}

static void a_name_chooses_the_kind(void **state)
{
	static const struct {
		const char *name;
		enum pb_error expected;
	} cases[] = {
		{"pci:4", PB_ERROR_BAD_ARGUMENT},       {"vfio:4", PB_ERROR_BAD_ARGUMENT},
		{"pci:ffff:ff:1f.7", PB_ERROR_NO_CARD}, {"vfio:ffff:ff:1f.7", PB_ERROR_NO_CARD},
		{"/no/such/socket", PB_ERROR_NO_CARD},  {"pci", PB_ERROR_NO_CARD},
	};
	struct pb_link *link;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(pb_link_open(cases[i].name, &link), cases[i].expected);
		assert_null(link);
	}
}

UNIT_SUITE(test_link_pci)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_device_is_a_link, make_devices, remove_devices),
		cmocka_unit_test_setup_teardown(registers_may_begin_inside_a_page, make_devices,
						remove_devices),
		cmocka_unit_test_setup_teardown(a_device_is_used_by_one_program, make_devices,
						remove_devices),
		cmocka_unit_test_setup_teardown(what_is_no_card_is_refused, make_devices, remove_devices),
		cmocka_unit_test_setup_teardown(names_that_are_no_address_are_refused, make_devices,
						remove_devices),
		cmocka_unit_test(a_name_chooses_the_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
