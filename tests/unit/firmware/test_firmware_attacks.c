/* SPDX-License-Identifier: MIT */
/*
 * Attacks on service, by words that any client may write: what a client can
 * gain, and another one loses by that. The victim is on another channel. What
 * it must get follows from the row alone.
 */
#include <string.h>

#include "firmware/limits.h"
#include "tests/unit/card_queues.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
/** Packets of the attacker's buffers. The engine can be stopped between two packets. */
#define PACKETS 500u
/** Queues of the attacker, one of each priority below the victim's. */
#define LEVELS 2u
/** Passes of the firmware, and what they do, in microseconds. */
#define SLACK 1000u
#define OWN   1000u

static struct card card;   /* of the attacker, on channel 1 */
static struct card beside; /* the same card, as the victim on channel 2 has it */
static struct card_client victim;
static struct pb_queue attackers, its;

static void begin(uint32_t level)
{
	card_start(&card);
	card_queue_make(&attackers, &card, &(struct card_queue_request){.level = level});
	card_join_client(&card, &victim, 2);
	beside = card;
	beside.channel = victim.channel;
	beside.link = victim.channel.link;
	beside.context = victim.context;
	memcpy(beside.segments, victim.segments, sizeof(beside.segments));
	assert_int_equal(card_queue_open(&its, &victim.channel, &victim.segments[0],
					 &(struct card_queue_request){.level = PB_PRIORITY_NORMAL}),
			 PB_ERROR_OK);
}

static void end(void)
{
	card_leave(&victim.channel);
	card_stop(&card);
}

/** A buffer of packets of engine time. @param microseconds of each; 0: the first one never ends */
static struct pb_descriptor busy(const struct card *of, uint32_t slot, uint32_t packets,
				 uint32_t microseconds)
{
	uint32_t *words = card_dma(of, slot);

	if (microseconds == 0) {
		words[0] = PB_PACKET(PB_PACKET_HANG, PB_PACKET_HANG_WORDS);
		return card_descriptor(of, slot, PB_PACKET_HANG_WORDS * 4u, 0, 0);
	}
	for (uint32_t i = 0; i < packets; i++) {
		words[2u * i] = PB_PACKET(PB_PACKET_BUSY, PB_PACKET_BUSY_WORDS);
		words[2u * i + 1u] = microseconds;
	}
	return card_descriptor(of, slot, packets * 8u, 0, 0);
}

static void submit(const struct card *of, struct pb_queue *queue, uint32_t packets, uint32_t microseconds)
{
	const struct pb_descriptor work = busy(of, 0, packets, microseconds);

	card_queue_submit(queue, &work);
}

static void preempt(void)
{
	const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {attackers.handle, attackers.put, 1, 0};
	uint32_t tag;

	assert_int_equal(pb_channel_begin(&card.channel, PB_COMMAND_PREEMPT, arguments, &tag), PB_ERROR_OK);
}

/* ---- one submission of the victim ---- */

/** What stands behind the attacker's buffers. */
enum trail { NOTHING, EMPTY, WRONG };

static void submit_trail(enum trail trail)
{
	struct pb_descriptor last = card_nothing(&card, 1);

	if (trail == WRONG)
		last.context = PB_HANDLE(1, 1); /* there is none */
	if (trail != NOTHING)
		card_queue_submit(&attackers, &last);
}

/** @return microseconds until the victim's submission is complete */
static uint32_t latency(void)
{
	const uint64_t start = pb_sim_now(card.sim);

	submit(&beside, &its, 1, OWN);
	while (card_queue_completed(&its) == 0 && pb_sim_now(card.sim) - start < 10000000u)
		pb_sim_step(card.sim);
	return (uint32_t)(pb_sim_now(card.sim) - start);
}

static void one_submission_waits_for_packets_and_ticks_not_for_buffers(void **state)
{
	static const struct {
		const char *name;
		uint32_t buffers, packet; /* microseconds */
		uint32_t level;
		enum trail trail;
		bool preempts;
	} rows[] = {
		{"a long buffer", 1, 10000, PB_PRIORITY_IDLE, NOTHING, false},
		{"a wrong submission behind a long buffer", 1, 10000, PB_PRIORITY_IDLE, WRONG, false},
		{"an empty one", 1, 10000, PB_PRIORITY_IDLE, EMPTY, false},
		{"a wrong one, of the same priority", 1, 10000, PB_PRIORITY_NORMAL, WRONG, false},
		{"a wrong one behind the longest packets", 1, 80000, PB_PRIORITY_IDLE, WRONG, false},
		{"a preemption of the buffer that runs", 1, 3800, PB_PRIORITY_IDLE, NOTHING, true},
		{"of the same priority", 1, 3800, PB_PRIORITY_NORMAL, NOTHING, true},
		{"of a buffer that takes more than two seconds", 1, 8000, PB_PRIORITY_IDLE, NOTHING, true},
		{"two at the engine and one staged", 3, 40000, PB_PRIORITY_IDLE, NOTHING, false},
		{"one more in the ring", 4, 40000, PB_PRIORITY_IDLE, NOTHING, false},
		{"two at the engine, of the same priority", 2, 1000, PB_PRIORITY_NORMAL, NOTHING, false},
		{"one staged, of the same priority", 3, 1000, PB_PRIORITY_NORMAL, NOTHING, false},
		{"one more in the ring, of the same priority", 4, 20000, PB_PRIORITY_NORMAL, NOTHING, false},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		/* Of the same priority, a share may have just begun: it ends at a tick. */
		const uint32_t share = rows[i].level == PB_PRIORITY_NORMAL ? 2u * PB_TICK_MICROSECONDS : 0;
		const uint32_t most = share + rows[i].packet + OWN + SLACK;

		begin(rows[i].level);
		for (uint32_t b = 0; b < rows[i].buffers; b++)
			submit(&card, &attackers, PACKETS, rows[i].packet);
		submit_trail(rows[i].trail);
		card_run(&card, 2000);
		if (rows[i].preempts)
			preempt();
		card_run(&card, 500);
		card_equal(rows[i].name, latency() <= most, true);
		end();
	}
}

static void a_suspension_of_the_card_waits_for_one_packet(void **state)
{
	static const uint32_t arguments[PB_COMMAND_ARGUMENTS] = {0, 0, PB_STOP_RECALL | PB_STOP_INSIDE};

	(void)state;
	for (enum trail trail = NOTHING; trail <= WRONG; trail++) {
		struct pb_channel admin;
		uint32_t results[PB_REPLY_RESULTS], tag;

		begin(PB_PRIORITY_IDLE);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		submit(&card, &attackers, PACKETS, 10000);
		submit_trail(trail);
		card_run(&card, 2000);
		assert_int_equal(pb_channel_begin(&admin, PB_COMMAND_SUSPEND, arguments, &tag), PB_ERROR_OK);
		card_run(&card, 10000u + SLACK);
		assert_int_equal(pb_channel_finish(&admin, tag, results), PB_ERROR_OK);
		card_leave(&admin);
		end();
	}
}

/* ---- blame ---- */

static void no_submission_fails_for_what_another_client_asks(void **state)
{
	static const struct {
		const char *name;
		uint32_t hang; /* the node's limit, in microseconds; 0: the default */
		uint32_t packets, packet;
		uint32_t level;
		bool submits, preempts;
	} rows[] = {
		{"three seconds alone", 0, 500, 6000, PB_PRIORITY_NORMAL, false, false},
		{"beside an empty submission", 0, 500, 6000, PB_PRIORITY_NORMAL, true, false},
		{"that is preempted", 0, 500, 6000, PB_PRIORITY_NORMAL, true, true},
		{"of the lowest priority", 0, 500, 6000, PB_PRIORITY_IDLE, true, true},
		{"one long packet alone", 1000000, 1, 500000, PB_PRIORITY_NORMAL, false, false},
		{"one beside an empty submission", 1000000, 1, 500000, PB_PRIORITY_NORMAL, true, false},
		{"one that is preempted", 1000000, 1, 500000, PB_PRIORITY_NORMAL, true, true},
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_channel admin;
		struct pb_fence fence;
		bool lost = true;

		begin(rows[i].level);
		card_join(&card, &admin, PB_CHANNEL_ADMIN);
		assert_int_equal(
			card_command(&admin, PB_COMMAND_NODE_SET, 0, PB_NODE_SCHEDULED, 0, rows[i].hang, 0),
			PB_ERROR_OK);
		submit(&beside, &its, rows[i].packets, rows[i].packet);
		card_run(&card, 1000);
		if (rows[i].submits)
			submit_trail(EMPTY);
		card_run(&card, 50);
		if (rows[i].preempts)
			preempt();
		card_run(&card, 5000000);
		pb_queue_fence(&its, &fence);
		card_equal(rows[i].name, fence.completed, 1);
		card_equal(rows[i].name, fence.status, PB_ERROR_OK);
		assert_int_equal(pb_context_query(&victim.channel, victim.context, &lost), PB_ERROR_OK);
		card_equal(rows[i].name, lost, false);
		card_leave(&admin);
		end();
	}
}

/* ---- shares ---- */

/** Keeps a queue's ring full; a context that a hang has cost is forgiven. */
static void fill(const struct card *of, struct pb_queue *queue, uint32_t slot, uint32_t packets,
		 uint32_t microseconds)
{
	while (queue->put - card_queue_completed(queue) < CARD_QUEUE_ENTRIES) {
		const struct pb_descriptor work = busy(of, slot, packets, microseconds);

		card_queue_submit(queue, &work);
		if (microseconds == 0)
			assert_int_equal(pb_context_clear(&card.channel, card.context), PB_ERROR_OK);
	}
}

/** @return how many milliseconds of engine time the victim has in a window, of 1 ms each submission */
static uint32_t share(struct pb_queue *queues, uint32_t count, uint32_t packets, uint32_t microseconds,
		      uint32_t window)
{
	const uint64_t start = pb_sim_now(card.sim);
	const uint32_t before = card_queue_completed(&its);

	while (pb_sim_now(card.sim) - start < window) {
		fill(&beside, &its, 0, 5, OWN / 5u);
		for (uint32_t q = 0; q < count; q++)
			fill(&card, &queues[q], q, packets, microseconds);
		pb_sim_step(card.sim);
	}
	return card_queue_completed(&its) - before;
}

static void a_client_that_keeps_its_ring_full_has_its_share(void **state)
{
	static const struct {
		const char *name;
		uint32_t lowest, levels;
		uint32_t packets, packet;
		uint32_t percent; /* of the engine, less a tenth */
	} rows[] = {
		{"one lower priority", PB_PRIORITY_LOW, 1, 60, 1000, 90},
		{"two lower priorities", PB_PRIORITY_IDLE, 2, 60, 1000, 90},
		{"one lower priority that hangs", PB_PRIORITY_LOW, 1, 0, 0, 90},
		{"two lower priorities that hang", PB_PRIORITY_IDLE, 2, 0, 0, 90},
		{"an equal with packets of 90 ms", PB_PRIORITY_NORMAL, 1, 1, 90000, 45},
		{"an equal that hangs", PB_PRIORITY_NORMAL, 1, 0, 0, 45},
	};
	const uint32_t window = 8000000;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_queue queues[LEVELS];

		begin(PB_PRIORITY_IDLE);
		for (uint32_t l = 0; l < rows[i].levels; l++)
			card_queue_make(&queues[l], &card,
					&(struct card_queue_request){.place = 1u + l,
								     .level = rows[i].lowest + l,
								     .quantum = PB_QUANTUM_MICROSECONDS_MAX});
		card_equal(rows[i].name,
			   share(queues, rows[i].levels, rows[i].packets, rows[i].packet, window) >=
				   window / 1000u * rows[i].percent / 100u,
			   true);
		end();
	}
}

/** A long buffer ran while no other client wanted the engine: its client does not pay for that time when one comes. */
static void a_client_that_comes_later_gets_no_more_than_its_share(void **state)
{
	static const struct {
		const char *name;
		uint32_t
			beside; /* priority of a queue of the newcomer that is ready all the time; NORMAL: none is */
	} rows[] = {{"alone", PB_PRIORITY_NORMAL}, {"above another priority", PB_PRIORITY_IDLE}};
	const uint32_t window = 100000;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct pb_queue below;
		uint32_t before;
		uint64_t start;

		begin(PB_PRIORITY_NORMAL);
		fill(&beside, &its, 0, PACKETS, 600);
		card_run(&card, 1000);
		card_queue_make(&below, &card,
				&(struct card_queue_request){.place = 1, .level = rows[i].beside});
		if (rows[i].beside != PB_PRIORITY_NORMAL)
			fill(&card, &below, 1, 5, OWN / 5u);
		card_run(&card, 150000);
		before = card_queue_completed(&attackers);
		start = pb_sim_now(card.sim);
		while (pb_sim_now(card.sim) - start < window) {
			fill(&card, &attackers, 0, 5, OWN / 5u);
			pb_sim_step(card.sim);
		}
		card_equal(rows[i].name,
			   card_queue_completed(&attackers) - before <= window / OWN * 60u / 100u, true);
		end();
	}
}

static void submit_waiting(struct pb_queue *signals, uint32_t value)
{
	const struct pb_descriptor next = card_waiting_for(&card, value % CARD_WAIT_LISTS, signals, value);

	card_queue_submit(&attackers, &next);
}

/**
 * Waits in rounds for a queue on another node, beside the victim's work: each round the queue is served for a moment, and
 * then waits again with its next submission.
 */
static void wait_in_rounds(struct pb_queue *signals, uint32_t rounds)
{
	const struct pb_descriptor signal = card_nothing(&card, 1);

	submit_waiting(signals, 1);
	for (uint32_t i = 1; i <= rounds; i++) {
		submit_waiting(signals, i + 1u);
		(void)share(NULL, 0, 0, 0, 3000);
		card_queue_submit(signals, &signal);
		while (card_queue_completed(&attackers) != i)
			(void)share(NULL, 0, 0, 0, 100);
	}
	card_queue_submit(signals, &signal);
}

static void a_client_that_waits_saves_no_credit(void **state)
{
	const uint32_t window = 1000000;
	struct pb_queue signals;

	(void)state;
	begin(PB_PRIORITY_NORMAL);
	card_queue_make(&signals, &card, &(struct card_queue_request){.place = 1, .node = 1});
	wait_in_rounds(&signals, 500);
	assert_true(share(&attackers, 1, 5, OWN / 5u, window) >= window / 1000u * 45u / 100u);
	end();
}

UNIT_SUITE(test_firmware_attacks)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_submission_waits_for_packets_and_ticks_not_for_buffers),
		cmocka_unit_test(a_suspension_of_the_card_waits_for_one_packet),
		cmocka_unit_test(no_submission_fails_for_what_another_client_asks),
		cmocka_unit_test(a_client_that_keeps_its_ring_full_has_its_share),
		cmocka_unit_test(a_client_that_comes_later_gets_no_more_than_its_share),
		cmocka_unit_test(a_client_that_waits_saves_no_credit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
