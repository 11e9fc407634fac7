// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The machine sleeps until something outside of it wakes it up: scripts/linux_sleep.py, which is asked for what shall
 * happen to the card meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <termios.h>
#include <unistd.h>

#include "guest.h"
#include "objects.h"
#include "shown.h"
#include "tests.h"

/* What a sleep must not change: objects in VRAM, a submission on its way, one that waits for another driver. */
struct before {
	int fd;
	struct guest_object objects[6], target;
	struct guest_foreign foreign;
	int under_way, waiting; /* fences */
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	CHECK(fputs(text, file) >= 0);
	CHECK_EQ(fclose(file), 0);
}

static int submit(const struct before *before, struct guest_work *work)
{
	work->args.flags |= PATCHBAY_SUBMIT_FENCE_OUT;
	CHECK_EQ(guest_submit(before->fd, work), 0);
	return work->args.out_fence_fd;
}

static void begin(struct before *before)
{
	static struct guest_work work;

	before->fd = guest_open();
	for (uint32_t i = 0; i < 6; i++) {
		before->objects[i] = guest_object(before->fd, 65536, i % 2 ? PATCHBAY_GEM_PATCHABLE : 0);
		guest_work_start(&work, i % 2);
		guest_allocation(&work, before->objects[i].handle, true);
		guest_fill(&work, 0, 0, 65536, 1000 + i);
		guest_do(before->fd, &work);
		before->objects[i].words[1] = 2000 + i;
		CHECK_EQ(guest_info(before->fd, before->objects[i].handle).place, PATCHBAY_PLACE_VRAM);
	}
	before->target = guest_object(before->fd, 4096, 0);
	before->foreign = guest_foreign();
	guest_work_start(&work, 0);
	work.args.flags = PATCHBAY_SUBMIT_FENCE_IN;
	work.args.in_fence_fd = before->foreign.file;
	guest_allocation(&work, before->objects[0].handle, false);
	guest_allocation(&work, before->target.handle, true);
	guest_copy(&work, 0, 0, 1, 0, 8);
	before->waiting = submit(before, &work);
	/* Mostly longer than the way to sleep takes until it looks at the rings; the fence tells nothing of that. */
	guest_work_start(&work, 1);
	guest_busy(&work, 200000);
	guest_allocation(&work, before->objects[1].handle, true);
	guest_fill(&work, 0, 0, 4, 3000);
	before->under_way = submit(before, &work);
}

/* The contents are as before, and the submission that was under way has ended. */
static void check_contents(const struct before *before)
{
	CHECK_EQ(guest_fence_wait(before->under_way), 0);
	CHECK_EQ(guest_fence_status(before->under_way), 1);
	for (uint32_t i = 0; i < 6; i++) {
		CHECK_EQ(before->objects[i].words[0], i == 1 ? 3000 : 1000 + i);
		CHECK_EQ(before->objects[i].words[1], 2000 + i);
		CHECK_EQ(before->objects[i].words[65536 / 4 - 1], 1000 + i);
		CHECK_EQ(guest_info(before->fd, before->objects[i].handle).flags, 0);
	}
}

/* All is as before, and the submission that waited is carried out. */
static void check_all(const struct before *before)
{
	static struct guest_work work;

	check_contents(before);
	CHECK_EQ(guest_fence_status(before->waiting), 0);
	guest_foreign_signal(&before->foreign);
	CHECK_EQ(guest_fence_wait(before->waiting), 0);
	CHECK_EQ(guest_fence_status(before->waiting), 1);
	CHECK_EQ(before->target.words[0], 1000);
	CHECK_EQ(before->target.words[1], 2000);
	for (uint32_t i = 0; i < 6; i++) {
		guest_work_start(&work, i % 2);
		guest_allocation(&work, before->objects[i].handle, true);
		guest_fill(&work, 0, 0, 65536, 4000 + i);
		guest_do(before->fd, &work);
		CHECK_EQ(before->objects[i].words[1], 4000 + i);
	}
	CHECK_EQ(guest_query(before->fd, 0).errors + guest_query(before->fd, 1).errors, 0);
}

/* Asks for what shall happen while the machine sleeps, and sleeps. */
static void fall_asleep(const char *meanwhile)
{
	printf("HOST sleep mem %s\n", meanwhile);
	fflush(stdout);
	CHECK_EQ(guest_suspend("mem", "none"), 0);
}

static void sleep_and_check(const char *meanwhile)
{
	struct before before;

	begin(&before);
	fall_asleep(meanwhile);
	check_all(&before);
}

void a_machine_that_is_woken_is_as_before(void)
{
	sleep_and_check("nothing");
}

/* On a busy system the alarm may come before the machine sleeps: then the host wakes it, and it sleeps again, for longer. */
void the_clock_wakes_the_machine(void)
{
	struct before before;
	char answer[8] = "";

	begin(&before);
	for (int seconds = 2; strncmp(answer, "clock", 5) != 0; seconds *= 2) {
		char alarm[16], meanwhile[24];

		CHECK(seconds <= 512);
		snprintf(alarm, sizeof(alarm), "+%d", seconds);
		snprintf(meanwhile, sizeof(meanwhile), "alarm %d", seconds);
		write_file("/sys/class/rtc/rtc0/wakealarm", "0");
		write_file("/sys/class/rtc/rtc0/wakealarm", alarm);
		fall_asleep(meanwhile);
		printf("HOST waker\n");
		fflush(stdout);
		memset(answer, 0, sizeof(answer));
		CHECK(read(0, answer, sizeof(answer) - 1) > 0);
	}
	check_all(&before);
}

void others_draw_while_the_machine_sleeps(void)
{
	sleep_and_check("draw");
}

void the_firmware_dies_while_the_machine_sleeps(void)
{
	sleep_and_check("kill-mcu");
}

/* Tells the host what to do. The line is out before the kernel may write between its letters. */
static void ask(const char *what)
{
	printf("HOST %s\n", what);
	fflush(stdout);
	CHECK_EQ(tcdrain(STDOUT_FILENO), 0);
}

/* Suspend to idle: the system sleeps, the processor only waits. It says so on the console, and then the host presses the button. */
void the_button_wakes_the_machine(void)
{
	struct before before;

	CHECK_EQ(system("insmod /lib/modules/button.ko"), 0);
	write_file("/sys/power/pm_debug_messages", "1");
	write_file("/sys/module/printk/parameters/console_suspend", "N");
	begin(&before);
	ask("idle");
	write_file("/proc/sys/kernel/printk", "8");
	CHECK_EQ(guest_suspend("freeze", "none"), 0);
	write_file("/proc/sys/kernel/printk", "4");
	ask("awake");
	check_all(&before);
}

/* The card's channel that the driver has. */
static unsigned int card_channel(void)
{
	const char *text = strstr(shown_debugfs("patchbay_card"), " channel=");

	CHECK(text != NULL);
	return (unsigned int)strtoul(text + strlen(" channel="), NULL, 10);
}

/* The memory of the machine is written to a disk, the emulator ends, and another one goes on from there. */
static void sleep_on_disk(const char *mode)
{
	CHECK_EQ(system("mkswap /dev/vda >/dev/null && swapon /dev/vda"), 0);
	write_file("/sys/power/disk", mode);
	ask("disk");
	CHECK_EQ(guest_suspend("disk", "none"), 0);
}

/* It returns on a card where another client has what the machine had. */
static void return_from_disk(const char *mode)
{
	struct before before;
	const unsigned int channel = card_channel();

	begin(&before);
	sleep_on_disk(mode);
	CHECK(card_channel() != channel);
	check_all(&before);
}

void a_machine_returns_from_disk_by_the_platform(void)
{
	return_from_disk("platform");
}

void a_machine_returns_from_disk_by_a_shutdown(void)
{
	return_from_disk("shutdown");
}

/* The former card is gone for good. What waited for it ends; what it held is in memory of the machine. */
void another_card_starts_while_the_machine_sleeps(void)
{
	struct before before;

	begin(&before);
	/* Nothing answers any more: it need not be waited for. */
	write_file("/sys/module/patchbay/parameters/card_timeout_ms", "1200");
	fall_asleep("replace-card");
	CHECK_EQ(guest_fence_wait(before.waiting), 0);
	CHECK_EQ(guest_fence_status(before.waiting), -ENODEV);
	check_contents(&before);
}

/* On another card of the same size, on the same channel: its firmware has never had this machine's queues and segments. */
void a_machine_returns_from_disk_on_another_card(void)
{
	struct before before;
	const unsigned int channel = card_channel();

	begin(&before);
	sleep_on_disk("platform");
	CHECK_EQ(card_channel(), channel);
	check_all(&before);
}

/* A card that has less memory: there is no room at the places that objects had. What waited with them ends. */
void a_machine_returns_from_disk_on_a_smaller_card(void)
{
	static struct guest_work work;
	struct drm_patchbay_info card;
	struct before before;

	begin(&before);
	card = object_card_info(before.fd);
	/* Objects that are no targets of patches lie beyond what the MCU reaches. */
	CHECK(card.vram_bytes > card.patchable_bytes);
	sleep_on_disk("shutdown");
	CHECK(object_card_info(before.fd).vram_bytes < card.vram_bytes);
	CHECK_EQ(guest_fence_wait(before.waiting), 0);
	CHECK_EQ(guest_fence_status(before.waiting), -ENODEV);
	check_contents(&before);
	for (uint32_t i = 0; i < 6; i++) {
		if (i < 2)
			CHECK_EQ(guest_clear(before.fd, i), 0);
		guest_work_start(&work, i % 2);
		guest_allocation(&work, before.objects[i].handle, true);
		guest_fill(&work, 0, 0, 8, 4000 + i);
		guest_do(before.fd, &work);
		CHECK_EQ(guest_info(before.fd, before.objects[i].handle).place, PATCHBAY_PLACE_VRAM);
		CHECK_EQ(before.objects[i].words[1], 4000 + i);
		CHECK_EQ(before.objects[i].words[2], 1000 + i);
	}
}

/* Takes memory until almost nothing is left but what goes to swap. */
static void take_memory(uint64_t left)
{
	struct sysinfo info;
	uint8_t *bytes;

	for (;;) {
		CHECK_EQ(sysinfo(&info), 0);
		if (info.freeram + info.bufferram < left && info.freeswap < info.totalswap)
			return;
		bytes = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(bytes != MAP_FAILED);
		/* Equal words of a page cost no memory in compressed swap. */
		memset(bytes, 0x55, MIB);
	}
}

/* VRAM holds more than the memory that is free: programs of the machine go to swap for it before it sleeps. */
void a_machine_sleeps_when_memory_is_short(void)
{
	enum { OBJECTS = 12 };
	static struct guest_work work;
	struct guest_object objects[OBJECTS];
	int fd = guest_open();

	CHECK_EQ(system("insmod /lib/modules/zsmalloc.ko && insmod /lib/modules/zram.ko"), 0);
	write_file("/sys/block/zram0/disksize", "512M");
	CHECK_EQ(system("mkswap /dev/zram0 >/dev/null && swapon /dev/zram0"), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		objects[i] = guest_object(fd, 6 * MIB, 0);
		guest_work_start(&work, 0);
		guest_allocation(&work, objects[i].handle, true);
		guest_fill(&work, 0, 0, 6 * MIB, 1000 + i);
		guest_do(fd, &work);
		CHECK_EQ(guest_info(fd, objects[i].handle).place, PATCHBAY_PLACE_VRAM);
	}
	take_memory(32 * MIB);
	CHECK_EQ(guest_suspend("mem", "devices"), 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		CHECK_EQ(objects[i].words[0], 1000 + i);
		CHECK_EQ(objects[i].words[objects[i].size / 4 - 1], 1000 + i);
	}
}
