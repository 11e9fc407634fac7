/* SPDX-License-Identifier: MIT */
/*
 * Submissions on one node, completed, preempted, reset: no fence is lost and
 * none comes twice. A host submits to two queues, may preempt one of them,
 * between two buffers or inside one, and may reset it, during the preemption or
 * later. The engine runs what it is fed, answers at any time, and may hang until
 * it is reset. The firmware may also take it for hung when it is not.
 *
 * What may be left out, to show that it is needed:
 *   NO_FENCE_CHECK  of retire_asked: the range check of a number that is read while the engine answers
 *   NO_STOP_RETIRE  of accept_stop: what was finished before the stop is retired first
 *   NO_RENUMBER     of pb_core_recall: numbers start again, and the rest is stored at its new index
 *   NO_FEED_AGAIN   of pb_core_recall: what is not recalled is fed again
 *   NO_IS_DONE      of settle() in stop.c: the report waits until the submissions are returned
 *   NO_ANSWER_CHECK of pb_core_retire: during a command to the engine its answer is waited for
 */
#define AT(function)

#define QUEUES 2
#define EACH   2 /* submissions of a queue */
#define TOTAL  4
#define DEPTH  2 /* in flight */

#define ID(q, n)  (2 * (q) + (n))
#define QUEUE(id) ((id) / 2)
#define PLACE(id) ((id) % 2)

/* ---- what the host sees ---- */

byte put[QUEUES];       /* submitted */
byte completed[QUEUES]; /* completed or returned */
byte fences[TOTAL];
byte returned[TOTAL];
byte executed[TOTAL];
byte resets;
bool preempt_asked, preempt_inside, reset_asked;
bool reported; /* PREEMPTED, or the reply to RESET */
byte cutoff;

/* ---- the engine ---- */

mtype = { NOTHING, STOP, STOP_INSIDE, RESET };
mtype command = NOTHING; /* NOTHING: the last command is answered */
byte slots[TOTAL + 1];   /* submissions, by their sequence number */
bool hollow[TOTAL + 1];   /* fed empty: it failed */
byte fed_to;
byte sequence;
bool running;
bool hangs, was_hung;
byte stop_sequence;
bool stop_running;
bool line;

inline clear_engine()
{
	running = false;
	fed_to = 0;
	sequence = 0;
	command = NOTHING;
	line = true
}

proctype engine()
{
end:
	do
	:: atomic { command == NOTHING && !running && sequence < fed_to ->
		AT(pb_engine_model_step) running = true
	}
	:: atomic { running && !hangs && command != RESET ->
		AT(pb_engine_model_step)
		if
		:: !hollow[sequence + 1] -> executed[slots[sequence + 1]]++
		:: else -> skip
		fi;
		sequence++;
		running = false;
		line = true
	}
	:: atomic { running && !was_hung && !hollow[sequence + 1] -> was_hung = true; hangs = true }
	:: atomic { (command == STOP && !running) || (command == STOP_INSIDE && !(running && hangs)) ->
		AT(pb_model_stop)
		stop_sequence = sequence;
		stop_running = running;
		clear_engine()
	}
	:: atomic { command == RESET -> AT(pb_model_reset) hangs = false; clear_engine() }
	od
}

/* ---- the host ---- */

proctype host()
{
	byte n;

	do
	:: atomic { n < TOTAL -> AT(pb_queue_submit) put[n % QUEUES]++; n++ }
	:: atomic { !preempt_asked && put[0] != 0 ->
		AT(pb_queue_preempt_begin)
		preempt_asked = true;
		if
		:: preempt_inside = true
		:: preempt_inside = false
		fi
	}
	:: atomic { !reset_asked && put[0] != 0 -> AT(pb_queue_reset) reset_asked = true }
	:: atomic { n == TOTAL -> break }
	od
}

/* ---- the firmware ---- */

mtype = { RUNNING, STOPPING, RESETTING };
mtype node = RUNNING;
byte feeds[TOTAL + 1]; /* submissions in flight, by number */
bool failed[TOTAL + 1];
byte fed, retired;
byte busy[QUEUES];
bool stopping;   /* of queue 0: its submissions are being recalled */
bool took_preempt, took_reset;

inline reset_engine()
{
	AT(pb_core_node_reset) command = RESET;
	node = RESETTING;
	resets++
}

/* The first in the ring fails, whatever happens to it. */
inline blame()
{
	AT(pb_core_node_blame) failed[retired + 1] = true
}

/* What is before the cutoff and has not completed is returned to the host. */
inline finish_stop()
{
	AT(give_back)
	do
	:: completed[0] < cutoff ->
		assert(fences[ID(0, completed[0])] == 0);
		returned[ID(0, completed[0])]++;
		assert(executed[ID(0, completed[0])] <= resets);
		completed[0]++
	:: else -> break
	od;
	AT(finish) stopping = false;
	reported = true
}

inline stop_progress()
{
	if
#ifndef NO_IS_DONE
	:: AT(is_done) stopping && busy[0] == 0 -> AT(settle) finish_stop()
#else
	:: stopping -> AT(settle) finish_stop()
#endif
	:: else -> skip
	fi
}

/* The next submission in flight ends. */
inline complete()
{
	assert(retired < fed);
	retired++;
	id = feeds[retired];
	AT(publish) fences[id]++;
	assert(fences[id] == 1 && returned[id] == 0);
	assert(failed[retired] || executed[id] >= 1);
	/* In the order of its queue. Nothing before the cutoff ends after the report. */
	assert(PLACE(id) == completed[QUEUE(id)]);
	assert(!(reported && QUEUE(id) == 0 && PLACE(id) < cutoff));
	completed[QUEUE(id)]++;
	busy[QUEUE(id)]--;
	if
	:: QUEUE(id) == 0 && stopping -> AT(complete_special) stop_progress()
	:: else -> skip
	fi;
	id = 0
}

inline retire_to(number)
{
	do
	:: retired != number -> AT(pb_core_complete_to) complete()
	:: else -> break
	od
}

inline feed_one(number)
{
	AT(pb_core_feed_again)
	slots[number] = feeds[number];
	hollow[number] = failed[number];
	fed_to = number
}

/* Whether the submission, or a later one of its queue, has failed: it stays. */
inline is_kept(number)
{
	kept = false;
	other = number;
	do
	:: other <= fed ->
		kept = (kept || (failed[other] && QUEUE(feeds[other]) == QUEUE(feeds[number])));
		other++
	:: else -> break
	od;
	other = 0
}

/* Recalled submissions leave. The rest is numbered again and fed again. */
inline recall()
{
	slot = retired + 1;
	left = 0;
	do
	:: slot <= fed ->
		AT(collect) is_kept(slot);
		if
		:: stopping && QUEUE(feeds[slot]) == 0 && !kept -> AT(give_back) busy[0]--
		:: else ->
#ifndef NO_RENUMBER
			left++;
			AT(renumber) id = feeds[slot];
			was_failed = failed[slot];
			feeds[slot] = 0;
			failed[slot] = false;
			feeds[left] = id;
			failed[left] = was_failed;
			id = 0;
			was_failed = false
#else
			left = slot
#endif
		fi;
		slot++
	:: else -> break
	od;
#ifndef NO_RENUMBER
	retired = 0;
#endif
	fed = left;
	/* The old contents are not needed any more. */
	slot = left + 1;
	do
	:: slot <= TOTAL -> feeds[slot] = 0; failed[slot] = false; slot++
	:: else -> break
	od;
	slot = retired + 1;
#ifndef NO_FEED_AGAIN
	do
	:: slot <= fed -> AT(pb_core_recall) feed_one(slot); slot++
	:: else -> break
	od;
#endif
	slot = 0;
	left = 0;
	kept = false;
	AT(pb_core_stop_settle) stop_progress()
}

/* The engine has answered its last command. */
inline answered()
{
	if
	:: node == STOPPING ->
		AT(accept_stop) assert(stop_sequence - retired <= fed - retired);
#ifndef NO_STOP_RETIRE
		retire_to(stop_sequence)
#endif
	:: else -> skip
	fi;
	AT(pb_core_node_answered) node = RUNNING;
	recall()
}

/* An engine's interrupt was raised: its registers are read word by word. */
inline retire()
{
	line = false;
	AT(poll) ready = (command == NOTHING);
	AT(poll) report = sequence;
	AT(pb_core_retire) atomic {
		if
		:: node == RUNNING -> assert(report <= fed); retire_to(report)
#ifdef NO_ANSWER_CHECK
		:: node != RUNNING -> answered()
#else
		:: node != RUNNING && ready -> answered()
		:: node == STOPPING && !ready ->
			AT(retire_asked)
			if
#ifndef NO_FENCE_CHECK
			:: report != retired && report > retired && report <= fed -> retire_to(report)
			:: else -> skip
#else
			:: true -> retire_to(report)
#endif
			fi
		:: node == RESETTING && !ready -> skip
#endif
		fi;
		report = 0;
		ready = false
	}
}

/* Ring index of the first submission of queue 0; 0: none. */
inline first_in_flight()
{
	slot = 0;
	other = fed;
	do
	:: other > retired ->
		if
		:: QUEUE(feeds[other]) == 0 -> slot = other - retired
		:: else -> skip
		fi;
		other--
	:: else -> break
	od;
	other = 0
}

inline recall_from_engine(by_reset, inside)
{
	AT(pb_core_in_flight_first_of) first_in_flight();
	if
	:: slot == 0 -> skip
	:: slot == 1 && by_reset && !failed[retired + 1] ->
		AT(recall_from_engine) failed[retired + 1] = true;
		if
		:: node != RESETTING -> reset_engine()
		:: else -> skip
		fi
	:: else ->
		if
		:: node == RUNNING ->
			AT(pb_core_node_recall) command = (inside -> STOP_INSIDE : STOP);
			node = STOPPING
		:: else -> skip
		fi
	fi;
	slot = 0
}

inline begin_stop(by_reset, inside)
{
	if
	:: !stopping -> cutoff = put[0]
	:: else -> skip
	fi;
	AT(pb_core_stop_begin) stopping = true;
	reported = false;
	recall_from_engine(by_reset, inside);
	stop_progress()
}

/* Queue q has a submission that is not in flight, and may have more in flight. */
#define MAY_FEED(q) (node == RUNNING && fed - retired < DEPTH && fed < TOTAL && \
	completed[q] + busy[q] < put[q] && !((q) == 0 && stopping))

inline feed(q)
{
	AT(pb_core_admit) fed++;
	feeds[fed] = ID(q, completed[q] + busy[q]);
	failed[fed] = false;
	busy[q]++;
	AT(pb_core_feed) feed_one(fed)
}

proctype firmware()
{
	byte id, slot, left, other, report;
	bool kept, was_failed, ready, gave_up;

end:
	do
	:: line -> retire()
	:: atomic { MAY_FEED(0) -> feed(0) }
	:: atomic { MAY_FEED(1) -> feed(1) }
	:: atomic { preempt_asked && !took_preempt && !stopping ->
		took_preempt = true;
		begin_stop(false, preempt_inside)
	}
	/* A reset may come during a preemption, and forces its end. */
	:: atomic { reset_asked && !took_reset -> took_reset = true; begin_stop(true, false) }
	/* A hang, or an engine that is only slow. Its number is read before. */
	:: atomic { node != RESETTING && retired != fed && (hangs || !gave_up) && !line ->
		gave_up = true;
		AT(pb_core_watchdog)
		if
		:: sequence <= fed && sequence > retired && (node == RUNNING || command != NOTHING) ->
			retire_to(sequence)
		:: else -> skip
		fi;
		if
		:: retired != fed && (node == RUNNING || command != NOTHING) -> blame(); reset_engine()
		:: else -> skip
		fi
	}
	od
}

/* Nothing moves any more: each submission has ended exactly once. */
proctype judge()
{
	byte i;

	timeout;
	do
	:: i < TOTAL -> assert(fences[i] + returned[i] == 1); i++
	:: else -> break
	od;
	assert(took_reset == reset_asked && took_preempt == preempt_asked)
}

init {
	atomic {
		run engine();
		run host();
		run firmware();
		run judge()
	}
}
