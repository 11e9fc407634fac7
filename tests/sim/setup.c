/* SPDX-License-Identifier: MIT */
#include "tests/sim/setup.h"

#include "patchbay/abi/boot.h"
#include "tests/sim/host.h"
#include "tests/sim/host_memory.h"
#include "tests/sim/judge.h"

/** Longest boot, in microseconds: an engine that answers neither a reset nor a power cycle, and late ticks. */
#define BOOT_US (2u * PB_ANSWER_MICROSECONDS + 10u * PB_TICK_MICROSECONDS)

static void attach_admin(struct pb_run *run)
{
	const uint64_t begin = run->world.now;

	while (pb_shared_read32(&pb_world_boot_block(&run->world)->boot_stage) != PB_BOOT_STAGE_RUNNING) {
		pb_run_step(run);
		if (run->world.now - begin > BOOT_US)
			pb_run_break(run, "the firmware has not booted after %u us", BOOT_US);
	}
	pb_client_init(&run->admin, &run->world, PB_CHANNEL_ADMIN);
	pb_client_ask(&run->admin, PB_ATTACH_OP_ATTACH);
	while (!pb_client_answered(&run->admin))
		pb_run_step(run);
}

static bool supports(struct pb_run *run, uint32_t code, uint32_t argument)
{
	struct pb_reply reply;

	pb_run_ask(run, &run->admin, code, &argument, 1, &reply);
	return reply.error != PB_ERROR_UNSUPPORTED;
}

static uint32_t capability(const struct pb_run *run, uint32_t key)
{
	const struct pb_boot_block *boot =
		(const struct pb_boot_block *)(const void *)(run->world.memory + PB_BOOT_OFFSET);
	const struct pb_capability *table =
		(const struct pb_capability *)(const void *)(run->world.memory + boot->capability_offset);

	for (uint32_t i = 0; i < boot->capability_count; i++) {
		if (table[i].key == key)
			return table[i].value;
	}
	return 0;
}

/** Posts commands with handles that name nothing: supported ones are not refused as UNSUPPORTED. */
static void find_features(struct pb_run *run)
{
	const uint32_t bad_handle = PB_HANDLE(1, 1);

	run->features = 0;
	if (supports(run, PB_COMMAND_PREEMPT, bad_handle))
		run->features |= PB_FEATURE_PREEMPT | PB_FEATURE_RESET;
	if (supports(run, PB_COMMAND_SUSPEND, bad_handle))
		run->features |= PB_FEATURE_SUSPEND;
	if (supports(run, PB_COMMAND_NODE_SET, PB_CARD_NODES))
		run->features |= PB_FEATURE_NODE_SET;
	if (supports(run, PB_COMMAND_QUERY, 0))
		run->features |= PB_FEATURE_QUERY;
	if (supports(run, PB_COMMAND_MODERATE, 0))
		run->features |= PB_FEATURE_MODERATE;
	if (capability(run, PB_CAPABILITY_WAITS_MAX) != 0)
		run->features |= PB_FEATURE_WAITS;
}

static void admin_command(struct pb_run *run, uint32_t code, const uint32_t *arguments, uint32_t count)
{
	struct pb_reply reply;

	pb_run_ask(run, &run->admin, code, arguments, count, &reply);
	if (reply.error != PB_ERROR_OK)
		pb_run_break(run, "the admin's command %u fails with %u", code, reply.error);
}

/** Gives some nodes their own times, depth and mode. */
static void choose_nodes(struct pb_run *run)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		struct pb_node_view *node = &run->nodes[n];
		const bool as_it_is = pb_random_one_in(&run->random, 3);
		const bool ordered = pb_random_one_in(&run->random, 3);

		*node = (struct pb_node_view){
			.hang_us = 6000u + pb_random_below(&run->random, 20000),
			.answer_us = 3000u + pb_random_below(&run->random, 20000),
			.depth =
				1u + pb_random_below(&run->random, capability(run, PB_CAPABILITY_IN_FLIGHT))};
		node->slow = pb_random_one_in(&run->random, 3) ? 2u + pb_random_below(&run->random, 7) : 0;
		if (ordered && (run->rates & PB_RATE_ORDERED) != 0)
			node->mode = PB_NODE_HOST_ORDERED;
		if ((run->rates & PB_RATE_SLOW) == 0)
			node->slow = 0;
		if ((run->features & PB_FEATURE_NODE_SET) == 0 || as_it_is) {
			node->hang_us = PB_HANG_MICROSECONDS;
			node->answer_us = PB_ANSWER_MICROSECONDS;
			node->depth = PB_DEFAULT_IN_FLIGHT;
		}
	}
}

static void set_nodes(struct pb_run *run)
{
	for (uint32_t n = 0; n < PB_CARD_NODES; n++) {
		const struct pb_node_view *node = &run->nodes[n];

		run->world.nodes[n].slow = node->slow;
		run->world.injected += node->slow != 0;
		admin_command(run, PB_COMMAND_NODE_SET,
			      (uint32_t[]){n, node->mode, node->depth, node->hang_us, node->answer_us}, 5);
	}
}

/** Chooses the grants of all hosts' channels, the hostile host's among them. */
static void grant_all(struct pb_run *run)
{
	for (uint32_t c = 1; c <= PB_HOSTS + 1u; c++)
		admin_command(
			run, PB_COMMAND_CHANNEL_GRANT,
			(uint32_t[]){c, run->grants[c].privileges, run->grants[c].weight, run->grants[c].cap},
			4);
	for (uint32_t c = 1; c <= PB_HOSTS + 1u && run->world.host_bytes != 0; c++)
		admin_command(run, PB_COMMAND_HOST_GRANT,
			      (uint32_t[]){c, PB_WORLD_HOST_SHARE, 0, 0, (c - 1u) * PB_WORLD_HOST_SHARE}, 5);
}

/** Options that leave something out do not change the rest. */
static void choose_rates(struct pb_run *run)
{
	run->rates = (uint32_t)pb_random_next(&run->random) & (uint32_t)pb_random_next(&run->random);
	run->rates |= (uint32_t)pb_random_below(&run->random, 64) << PB_RATE_BIT_INTERRUPT_LOST;
	run->rates &= ~run->options.without;
	if ((run->features & PB_FEATURE_WAITS) == 0)
		run->rates &= ~(uint32_t)PB_RATE_WAITS;
	if ((run->features & PB_FEATURE_SUSPEND) == 0)
		run->rates &= ~(uint32_t)PB_RATE_CARD;
}

static uint32_t one_in(struct pb_run *run, uint32_t rate, uint32_t n)
{
	const uint32_t often = n + pb_random_below(&run->random, 2u * n);

	return (run->rates & rate) != 0 ? often : 0;
}

static void choose_lines(struct pb_run *run)
{
	run->world.rates = (struct pb_world_rates){
		.interrupt_lost = one_in(run, PB_RATE_INTERRUPT_LOST, 8),
		.interrupt_late = one_in(run, PB_RATE_INTERRUPT_LATE, 5),
		.interrupt_spurious = one_in(run, PB_RATE_INTERRUPT_SPURIOUS, 15),
		.doorbell_lost = one_in(run, PB_RATE_DOORBELL_LOST, 8),
		.doorbell_twice = one_in(run, PB_RATE_DOORBELL_TWICE, 5),
		.doorbell_late = one_in(run, PB_RATE_DOORBELL_LATE, 6),
	};
}

/** The hostile channel gets no more engine time than others, and the paging privilege at times. */
static void choose_grants(struct pb_run *run)
{
	for (uint32_t h = 0; h < PB_HOSTS; h++)
		run->grants[1u + h] = (struct pb_grant){PB_PRIVILEGE_PAGING,
							1u + pb_random_below(&run->random, PB_WEIGHT_MAX),
							PB_PRIORITY_REALTIME};
	run->grants[1u + PB_HOSTS] = (struct pb_grant){pb_random_below(&run->random, 2), 1,
						       pb_random_below(&run->random, PB_PRIORITIES)};
}

void pb_setup_card(struct pb_run *run)
{
	run->supervising = false;
	pb_host_memory_restart(run);
	attach_admin(run);
	set_nodes(run);
	grant_all(run);
	run->supervising = true;
}

void pb_setup_features(struct pb_run *run)
{
	pb_world_boot(&run->world, 0);
	attach_admin(run);
	find_features(run);
}

void pb_setup(struct pb_run *run)
{
	uint32_t hosts;

	run->world.host_bytes = run->options.host_memory ? PB_WORLD_HOST_BYTES : 0;
	pb_world_boot(&run->world, pb_random_next(&run->random));
	choose_rates(run);
	choose_grants(run);
	run->garbage = pb_random_below(&run->random, 8);
	hosts = 2u + pb_random_below(&run->random, PB_HOSTS - 1u);
	if (run->options.hosts != 0 && hosts > run->options.hosts)
		hosts = run->options.hosts;
	choose_nodes(run);
	pb_setup_card(run);
	pb_judge_card_keep(run);
	run->hostile = (struct pb_host){.attached = false};
	pb_client_init(&run->hostile.client, &run->world, 1u + PB_HOSTS);
	for (uint32_t h = 0; h < hosts; h++) {
		struct pb_host *host = &run->hosts[h];

		*host = (struct pb_host){.attached = false};
		pb_client_init(&host->client, &run->world, 1u + h);
		run->host_count = h + 1u;
		pb_host_attach(run, host);
	}
	pb_judge_pool(run);
	choose_lines(run);
}
