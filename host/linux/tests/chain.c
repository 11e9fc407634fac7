// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Calls of chance in chains: what one call returns (objects, queues, syncobjs, framebuffers, sync_files, dma_bufs) is an
 * argument of later ones, also of other processes that have the same files open. A signal every few milliseconds interrupts
 * what waits. Each call of the driver must have succeeded at least once, and another file must have noticed nothing.
 *
 * pbd_seed= and pbd_calls= on the kernel's command line choose the generator's seed and the calls of each process. The
 * choices of one process follow from the seed; the order among processes, and so what a choice meets, does not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "chain.h"
#include "tests.h"

#define PROCESSES 3u
#define SEED 20u
#define CALLS 400u
/* So many times that number at most, as long as a call has not succeeded yet. */
#define PATIENCE 6u
/* Bytes that any argument, of any size that its request may name, has room for. */
#define ARGUMENT_BYTES 16384u

uint32_t chain_some(struct chain *chain, uint32_t below)
{
	return guest_random(&chain->chance) % below;
}

uint64_t chain_odd(struct chain *chain)
{
	static const uint64_t numbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 64, 4095, 4096, 0x7fffffff, 0x80000000, 0xffffffff,
					   0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000};

	if (chain_some(chain, 3) == 0)
		return (uint64_t)guest_random(&chain->chance) << 32 | guest_random(&chain->chance);
	return numbers[chain_some(chain, sizeof(numbers) / sizeof(numbers[0]))];
}

uint64_t chain_size(struct chain *chain)
{
	switch (chain_some(chain, 16)) {
	case 0:
		return chain_odd(chain);
	case 1:
	case 2:
		return 1 << 20;
	default:
		return (uint64_t)(1 + chain_some(chain, 16)) * 4096;
	}
}

uint32_t chain_take(struct chain *chain, enum chain_kind kind)
{
	uint32_t number = 0;

	if (chain_some(chain, 40) == 0)
		return (uint32_t)chain_odd(chain);
	for (uint32_t i = 0; i < CHAIN_SLOTS && number == 0; i++)
		number = atomic_load(&chain->shared->slots[chain->file][kind][chain_some(chain, CHAIN_SLOTS)]);
	return number;
}

uint32_t chain_keep(struct chain *chain, enum chain_kind kind, uint32_t number)
{
	return atomic_exchange(&chain->shared->slots[chain->file][kind][chain_some(chain, CHAIN_SLOTS)], number);
}

uint32_t chain_forget(struct chain *chain, enum chain_kind kind)
{
	return chain_some(chain, 4) == 0 ? chain_take(chain, kind) : chain_keep(chain, kind, 0);
}

int chain_take_fd(struct chain *chain, enum chain_kind kind)
{
	/* Seldom something of another kind: the driver's file, or a buffer for a fence. */
	if (chain_some(chain, 40) == 0)
		return chain->files[chain_some(chain, CHAIN_FILES)];
	if (chain_some(chain, 40) == 0)
		kind = kind == CHAIN_FENCE ? CHAIN_BUFFER : CHAIN_FENCE;
	for (uint32_t i = 0; i < CHAIN_SLOTS; i++) {
		const int fd = chain->fds[kind][chain_some(chain, CHAIN_SLOTS)];

		if (fd >= 0)
			return fd;
	}
	return -1;
}

void chain_keep_fd(struct chain *chain, enum chain_kind kind, int fd)
{
	int *slot = &chain->fds[kind][chain_some(chain, CHAIN_SLOTS)];

	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

int chain_ioctl_plain(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) < 0 ? errno : 0;
}

int chain_ioctl(struct chain *chain, int fd, unsigned long request, void *argument)
{
	static uint64_t bytes[ARGUMENT_BYTES / 8];
	const uint32_t size = _IOC_SIZE(request);
	int result;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, argument, size);
	if (chain_some(chain, 6) == 0)
		for (uint32_t i = 1 + chain_some(chain, 2); i > 0; i--) {
			uint32_t word = (uint32_t)chain_odd(chain);

			memcpy((char *)bytes + chain_some(chain, size / 4) * 4, &word, 4);
		}
	/* As a program that was built for an older or a newer driver. */
	if (chain_some(chain, 40) == 0)
		request = _IOC(_IOC_DIR(request), _IOC_TYPE(request), _IOC_NR(request), chain_some(chain, 256));
	result = chain_ioctl_plain(fd, request, bytes);
	memcpy(argument, bytes, size);
	return result;
}

int chain_do(struct chain *chain, unsigned long request, void *argument)
{
	return chain_ioctl(chain, chain->files[chain->file], request, argument);
}

/* As chain_do(), for what the core of DRM allocates arrays for: a length that is absurd makes the kernel complain, of itself. */
int chain_do_plain(struct chain *chain, unsigned long request, void *argument)
{
	return chain_ioctl_plain(chain->files[chain->file], request, argument);
}

int64_t chain_limit(struct chain *chain)
{
	static const int64_t limits[] = {0, 1000, 1000000, 5000000, INT64_MAX, -1, INT64_MIN};

	return limits[chain_some(chain, 7)];
}

uint32_t chain_point(struct chain *chain)
{
	uint32_t last = atomic_load(&chain->shared->points[chain->file]);

	return chain_some(chain, 4) == 0 ? 0 : last - chain_some(chain, 4 < last ? 4 : last + 1);
}

uint32_t chain_next_point(struct chain *chain)
{
	return atomic_fetch_add(&chain->shared->points[chain->file], 1) + 1;
}

/* ---- the processes ---- */

static void interrupted(int number)
{
	(void)number;
}

/* What waits is interrupted, and not repeated. */
static void interrupt_often(void)
{
	const struct sigaction action = {.sa_handler = interrupted};
	const struct itimerval timer = {{0, 30000}, {0, 30000}};

	CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
	CHECK_EQ(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static struct chain_call chain_calls[CHAIN_CALLS];
static uint32_t chain_call_count;

static void collect_calls(void)
{
	const struct chain_call *const tables[] = {chain_objects, chain_syncs, chain_displays};

	for (uint32_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct chain_call *call = tables[i]; call->name != NULL; call++) {
			CHECK(chain_call_count < CHAIN_CALLS);
			chain_calls[chain_call_count++] = *call;
		}
}

static bool all_have_succeeded(const struct chain_shared *shared)
{
	for (uint32_t i = 0; i < chain_call_count; i++)
		if (atomic_load(&shared->counts[i][0]) == 0)
			return false;
	return true;
}

static void call_often(struct chain *chain, uint32_t number, uint64_t seed, uint32_t calls)
{
	uint32_t weights = 0;

	for (uint32_t i = 0; i < chain_call_count; i++)
		weights += chain_calls[i].weight;
	chain->chance = seed * 1000 + number;
	for (uint32_t i = 0; i < CHAIN_KINDS; i++)
		for (uint32_t j = 0; j < CHAIN_SLOTS; j++)
			chain->fds[i][j] = -1;
	interrupt_often();
	for (uint32_t i = 0; i < calls || (i < PATIENCE * calls && !all_have_succeeded(chain->shared)); i++) {
		uint32_t at = chain_some(chain, weights), call = 0;
		int result;

		while (at >= chain_calls[call].weight)
			at -= chain_calls[call++].weight;
		chain->file = chain_some(chain, CHAIN_FILES);
		result = chain_calls[call].run(chain);
		if (result >= 0 && result < CHAIN_ERRNOS)
			atomic_fetch_add(&chain->shared->counts[call][result], 1);
	}
}

/* Bytes of VRAM that all objects have. */
static uint64_t vram_used(void)
{
	struct drm_patchbay_info info;
	int fd = guest_open();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	close(fd);
	return info.vram_used;
}

/* Another file's work beside it, until the processes have ended. What it writes must be there, and nothing of it may fail. */
static void work_beside(pid_t *children, uint32_t count)
{
	static struct guest_work work;
	int fd = guest_open(), status;
	struct guest_object object = guest_object(fd, 8192, 0);
	uint32_t left = count;

	for (uint32_t round = 1; left > 0; round++) {
		guest_work_start(&work, round % 2);
		guest_allocation(&work, object.handle, true);
		guest_fill(&work, 0, 4, 8188, round);
		/* Others may keep all VRAM busy for a time. */
		while ((status = guest_submit(fd, &work)) == EBUSY)
			guest_sleep_ms(10);
		CHECK_EQ(status, 0);
		CHECK_EQ(guest_wait(fd, round % 2, work.args.value, GUEST_PATIENCE), 0);
		CHECK_EQ(object.words[0], 0);
		CHECK_EQ(object.words[1], round);
		CHECK_EQ(object.words[2047], round);
		CHECK_EQ(guest_query(fd, round % 2).errors, 0);
		guest_sleep_ms(5);
		for (uint32_t i = 0; i < count; i++)
			if (children[i] > 0 && waitpid(children[i], &status, WNOHANG) == children[i]) {
				CHECK_EQ(status, 0);
				children[i] = 0;
				left--;
			}
	}
	guest_object_free(fd, &object);
	close(fd);
}

/* A line for each call: how often it had each result. Each must have succeeded. */
static void report(const struct chain_shared *shared)
{
	uint32_t never = 0;

	for (uint32_t i = 0; i < chain_call_count; i++) {
		printf("chain %-22s", chain_calls[i].name);
		for (int result = 0; result < CHAIN_ERRNOS; result++)
			if (shared->counts[i][result] != 0)
				printf(" %s=%u", result == 0 ? "ok" : strerrorname_np(result), shared->counts[i][result]);
		printf("\n");
		never += shared->counts[i][0] == 0;
	}
	printf("chain refusals of SUBMIT:");
	for (uint32_t i = 0; i < CHAIN_REFUSALS; i++)
		if (shared->refusals[i] != 0)
			printf(" %u=%u", i, shared->refusals[i]);
	printf("\n");
	CHECK_EQ(never, 0);
}

void calls_of_chance_in_chains_harm_no_other_file(void)
{
	const uint64_t seed = guest_number("pbd_seed=", SEED);
	const uint32_t calls = (uint32_t)guest_number("pbd_calls=", CALLS);
	static struct chain chain;
	pid_t children[PROCESSES];
	const uint64_t before = vram_used();

	chain.shared = mmap(NULL, sizeof(*chain.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(chain.shared != MAP_FAILED);
	collect_calls();
	chain_open(&chain);
	/* A call may wait without limit for a fence that only its own process ends. */
	CHECK_EQ(system("echo 10 >/sys/module/vgem/parameters/fence_seconds"), 0);
	printf("chain seed %llu, %u processes of %u calls\n", (unsigned long long)seed, PROCESSES, calls);
	fflush(stdout);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			call_often(&chain, i, seed, calls);
			_exit(0);
		}
	}
	work_beside(children, PROCESSES);
	report(chain.shared);
	for (uint32_t i = 0; i < CHAIN_FILES; i++)
		close(chain.files[i]);
	close(chain.vgem);
	CHECK_EQ(system("echo 3600 >/sys/module/vgem/parameters/fence_seconds"), 0);
	/* Fences of vgem have ended with its file, and with them what waits for them. */
	GUEST_UNTIL(vram_used() <= before);
	CHECK_EQ(vram_used(), before);
}
