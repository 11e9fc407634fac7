/* SPDX-License-Identifier: MIT */
/*
 * Queues that wait for one another, in two channels: every wait that is over
 * ends, no queue is freed while another one waits for it, every cycle of waits
 * is found, and none that is not there. Queues may begin and cease to wait, be
 * submitted to, signal and be destroyed at any time; a slot is used again. A
 * slice is one waiter and one step of a search, of one channel in a pass. A
 * wait is FAR while its value was not submitted, NEAR while it is on its way,
 * as when a queue waits for a value of its own.
 *
 * Runs:
 *   (none)   three queues of one channel, which do all of that
 *   SHARED   a client whose queues wait, cease to and signal all the time; a wait of another client ends (progress)
 *   CYCLE    a cycle of two queues, which is found while two others begin and cease to wait (progress)
 *
 * What may be left out, to show that it is needed:
 *   NO_AGAIN         of pb_core_wait_wake: a target that signals while its waiters are checked has them checked again
 *   NO_LAST          of pb_core_wait_leave: a waiter that leaves may be the last one to check
 *   NO_AWAITED       of pb_core_wait_is_awaited: a queue is kept while its waiters stand in the ring to check
 *   NO_SUSPECT_WAKES of pb_core_deadlock_is_suspect: a queue is awaited, too, while its waiters are to be checked
 *   NO_SUSPECT_AGAIN of begin_search() in wait.c: a queue whose turn has not come is checked again
 *   NO_SECOND        of pb_core_deadlock_step: the second round
 *   NO_PASSED        of advance() in deadlock.c: all queues of the second round have waited since the first
 *   NO_LEAVE         of pb_core_deadlock_leave: a search ends with its queue
 *   NO_NEXT          of pb_core_deadlock_begin: searches that came first begin first
 *   NO_TURNS         of next_channel() in wait.c: channels take turns
 *   ONE_SLOT         one target of the card at a time has its waiters checked; the others are forgotten
 */
#define AT(function)

#ifdef SHARED
#define OF_ZERO 3 /* queues of channel 0; the others are of channel 1 */
#define QUEUES  5
#else
#ifdef CYCLE
#define OF_ZERO 4
#define QUEUES  4
#else
#define OF_ZERO 3
#define QUEUES  3
#endif
#endif

#define CHANNEL(q) ((q) / OF_ZERO)
#define NO_QUEUE   7

#define OVER 0
#define NEAR 1
#define FAR  2

/* ---- queues ---- */

bool waiting[QUEUES];
byte awaits[QUEUES];
byte far[QUEUES]; /* OVER, NEAR, FAR */
byte next[QUEUES];
byte prev[QUEUES];
byte waiters[QUEUES];
bool wakes[QUEUES];
bool again[QUEUES];
bool suspect[QUEUES];
bool is_next[QUEUES];
bool passed[QUEUES];
bool closing[QUEUES];

/* ---- channels ---- */

byte first[2];
byte from[2];
byte at[2];
byte left[2];
byte nexts[2];
bool second[2];
bool closed[2];
bool marked[2];
byte last;

bool true_cycle; /* since the search began, its queue was in a cycle */

#define IS_OVER(q)    (far[q] == OVER || closing[awaits[q]])
#define BLOCKED(q)    (waiting[q] && far[q] == FAR)
#ifdef NO_AWAITED
#define IS_AWAITED(q) (waiters[q] != NO_QUEUE)
#else
#define IS_AWAITED(q) (waiters[q] != NO_QUEUE || wakes[q])
#endif

/* ---- what holds after each step ---- */

byte i, j, k, walk_at;
bool flag, found;

/* Sets `found`: whether a queue is in a cycle of waits. */
inline in_cycle(q)
{
	walk_at = q;
	found = false;
	k = 0;
	do
	:: k < OF_ZERO && BLOCKED(walk_at) ->
		walk_at = awaits[walk_at];
		k++;
		if
		:: walk_at == q -> found = true; break
		:: else
		fi
	:: else -> break
	od;
	walk_at = 0;
	k = 0
}

/* Sets `found`: whether a queue stands in the ring of waiters to check. */
inline in_ring(q)
{
	found = false;
	walk_at = first[CHANNEL(q)];
	do
	:: walk_at != NO_QUEUE ->
		if
		:: walk_at == q -> found = true; break
		:: else
		fi;
		walk_at = next[walk_at];
		if
		:: walk_at == first[CHANNEL(q)] -> break
		:: else
		fi
	:: else -> break
	od;
	walk_at = 0
}

/* Sets `flag`: whether the cycle of a queue has a member from which a search is under way, or is to begin. */
inline is_searched(q)
{
	walk_at = q;
	flag = false;
	do
	:: true ->
		if
		:: suspect[walk_at] || from[CHANNEL(q)] == walk_at -> flag = true; break
		:: else
		fi;
		walk_at = awaits[walk_at];
		if
		:: walk_at == q -> break
		:: else
		fi
	od;
	walk_at = 0
}

inline check_all()
{
	i = 0;
	do
	:: i < QUEUES ->
		if
		:: waiting[i] ->
			in_ring(i);
			assert(!found || wakes[awaits[i]]);
			/* Who waits no longer, or is to be searched from, is checked. */
			assert(!(IS_OVER(i) || suspect[i]) || found || (wakes[awaits[i]] && again[awaits[i]]));
			assert(!found || marked[CHANNEL(i)]);
			in_cycle(i);
			if
			:: found -> is_searched(i); assert(flag)
			:: else
			fi
		:: else -> assert(!suspect[i] && !is_next[i])
		fi;
		/* A target that has WAKES has a waiter in the ring. */
		if
		:: wakes[i] ->
			flag = false;
			j = 0;
			do
			:: j < QUEUES ->
				if
				:: waiting[j] && awaits[j] == i -> in_ring(j); flag = flag || found
				:: else
				fi;
				j++
			:: else -> break
			od;
			assert(flag)
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0;
	j = 0;
	flag = false;
	found = false
}

/* ---- links.c ---- */

inline join(a, b)
{
	AT(pb_core_waiters_check)
	k = prev[a];
	walk_at = prev[b];
	next[k] = b;
	prev[b] = k;
	next[walk_at] = a;
	prev[a] = walk_at;
	k = 0;
	walk_at = 0
}

inline add(t, q)
{
	AT(pb_core_waiters_add)
	next[q] = q;
	prev[q] = q;
	if
	:: waiters[t] == NO_QUEUE -> waiters[t] = q
	:: else -> join(waiters[t], q)
	fi
}

/* Sets `flag`. */
inline is_last(q)
{
	AT(pb_core_waiters_is_last)
	if
	:: next[q] == q -> flag = waiters[awaits[q]] != q
	:: else -> flag = awaits[next[q]] != awaits[q] && awaits[prev[q]] != awaits[q]
	fi
}

inline remove(q)
{
	AT(pb_core_waiters_remove)
	k = (next[q] == q -> NO_QUEUE : next[q]);
	next[prev[q]] = next[q];
	prev[next[q]] = prev[q];
	if
	:: waiters[awaits[q]] == q -> waiters[awaits[q]] = k
	:: else ->
		if
		:: first[CHANNEL(q)] == q -> first[CHANNEL(q)] = k
		:: else
		fi
	fi;
	k = 0;
	next[q] = 0;
	prev[q] = 0
}

/* ---- wait.c ---- */

byte x, y;

/* A closing queue for which none waits is freed, and its slot is used again. */
inline drain(q)
{
	AT(pb_core_wait_drain)
	if
	:: closing[q] && !IS_AWAITED(q) ->
		y = 0;
		do
		:: y < QUEUES -> assert(!waiting[y] || awaits[y] != q); y++
		:: else -> break
		od;
		y = 0;
		closing[q] = false;
		wakes[q] = false;
		again[q] = false
	:: else
	fi
}

inline begin_checks(t)
{
	if
	:: first[CHANNEL(t)] == NO_QUEUE -> first[CHANNEL(t)] = waiters[t]
	:: else -> join(first[CHANNEL(t)], waiters[t])
	fi;
	waiters[t] = NO_QUEUE;
	wakes[t] = true;
	marked[CHANNEL(t)] = true
}

inline end_checks(t)
{
	wakes[t] = false;
	if
	:: again[t] && waiters[t] != NO_QUEUE -> again[t] = false; begin_checks(t)
	:: else -> again[t] = false; drain(t)
	fi
}

inline wake(t)
{
	AT(pb_core_wait_wake)
	if
	:: waiters[t] == NO_QUEUE
	:: waiters[t] != NO_QUEUE && wakes[t] ->
#ifndef NO_AGAIN
		again[t] = true
#else
		skip
#endif
#ifdef ONE_SLOT
	:: waiters[t] != NO_QUEUE && !wakes[t] && first[0] != NO_QUEUE
#endif
	:: else -> begin_checks(t)
	fi
}

inline leave(q)
{
	AT(pb_core_wait_leave)
	is_last(q);
	x = awaits[q];
	remove(q);
	waiting[q] = false;
#ifndef NO_LEAVE
	if
	:: from[CHANNEL(q)] == q -> from[CHANNEL(q)] = NO_QUEUE; true_cycle = false
	:: else
	fi;
#endif
	if
	:: is_next[q] -> is_next[q] = false; nexts[CHANNEL(q)]--
	:: else
	fi;
	suspect[q] = false;
	passed[q] = false;
	far[q] = OVER;
	awaits[q] = 0;
#ifndef NO_LAST
	if
	:: flag -> end_checks(x)
	:: else
	fi;
#endif
	x = 0;
	flag = false
}

inline note_cycle(c)
{
	if
	:: from[c] != NO_QUEUE ->
		in_cycle(from[c]);
		true_cycle = true_cycle || found;
		found = false
	:: else
	fi
}

inline park(q, t, distance)
{
	AT(pb_core_wait)
	awaits[q] = t;
	far[q] = distance;
	add(t, q);
	waiting[q] = true;
	AT(pb_core_deadlock_is_suspect)
	if
#ifdef CYCLE
	/* As if each of them were awaited. */
	:: waiting[t] && distance == FAR -> suspect[q] = true; wake(t)
#else
#ifdef NO_SUSPECT_WAKES
	:: waiting[t] && distance == FAR && waiters[q] != NO_QUEUE -> suspect[q] = true; wake(t)
#else
	:: waiting[t] && distance == FAR && IS_AWAITED(q) -> suspect[q] = true; wake(t)
#endif
#endif
	:: else
	fi;
	note_cycle(CHANNEL(q))
}

/* ---- deadlock.c ---- */

/* Sets `found`. */
inline begin_search(q, c)
{
	AT(pb_core_deadlock_begin)
	found = false;
	if
	:: from[c] != NO_QUEUE ->
#ifndef NO_NEXT
		if
		:: !is_next[q] && !closed[c] -> is_next[q] = true; nexts[c]++
		:: else
		fi
#else
		skip
#endif
	:: from[c] == NO_QUEUE && !is_next[q] && nexts[c] != 0
	:: else ->
		if
		:: is_next[q] -> is_next[q] = false; nexts[c]--
		:: else
		fi;
		closed[c] = nexts[c] != 0;
		from[c] = q;
		at[c] = q;
		left[c] = OF_ZERO;
		second[c] = false;
		true_cycle = false;
		note_cycle(c);
		found = true
	fi
}

inline end_search(c)
{
	from[c] = NO_QUEUE;
	at[c] = 0;
	left[c] = 0;
	second[c] = false;
	true_cycle = false
}

inline search(c)
{
	AT(pb_core_deadlock_step)
	if
	:: from[c] == NO_QUEUE
	:: from[c] != NO_QUEUE && (left[c] == 0 || !BLOCKED(at[c])) -> end_search(c)
#ifndef NO_PASSED
	:: from[c] != NO_QUEUE && left[c] != 0 && BLOCKED(at[c]) && second[c] && !passed[at[c]] -> end_search(c)
#endif
	:: else ->
		passed[at[c]] = true;
		left[c]--;
		at[c] = awaits[at[c]];
		if
		:: at[c] != from[c]
#ifndef NO_SECOND
		:: at[c] == from[c] && !second[c] -> second[c] = true; left[c] = OF_ZERO
#endif
		:: else ->
			/* DEADLOCK */
			assert(true_cycle);
			x = from[c];
			end_search(c);
			j = x;
			leave(j);
			j = 0
		fi
	fi
}

/* ---- the main loop ---- */

inline check_first(c)
{
	x = first[c];
	if
	:: x == NO_QUEUE
	:: x != NO_QUEUE && IS_OVER(x) -> j = x; leave(j); j = 0
	:: else ->
		is_last(x);
		j = flag;
		remove(x);
		add(awaits[x], x);
		if
		:: suspect[x] ->
			begin_search(x, c);
			if
			:: found -> suspect[x] = false
#ifndef NO_SUSPECT_AGAIN
			:: else -> again[awaits[x]] = true
#else
			:: else
#endif
			fi;
			found = false
		:: else
		fi;
		if
		:: j -> i = awaits[x]; end_checks(i); i = 0
		:: else
		fi;
		j = 0;
		flag = false
	fi;
	x = 0
}

inline serve(c)
{
	AT(pb_core_wait_step)
	search(c);
	check_first(c);
	marked[c] = first[c] != NO_QUEUE || from[c] != NO_QUEUE
}

active proctype firmware()
{
end:
	do
	:: atomic {
		marked[0] || marked[1] ->
#ifndef NO_TURNS
		last = (marked[1 - last] -> 1 - last : last);
#else
		last = (marked[0] -> 0 : 1);
#endif
		d_step { serve(last); check_all() }
	}
	od
}

/* ---- hosts ---- */

inline boot()
{
	i = 0;
	do
	:: i < QUEUES -> waiters[i] = NO_QUEUE; i++
	:: else -> break
	od;
	first[0] = NO_QUEUE;
	first[1] = NO_QUEUE;
	from[0] = NO_QUEUE;
	from[1] = NO_QUEUE;
	i = 0
}

bool booted;

#ifndef SHARED
#ifndef CYCLE
/* A queue of channel 0 does anything. */
proctype host()
{
	byte q, t;

end:
	do
	:: atomic {
		select(q : 0 .. OF_ZERO - 1);
		select(t : 0 .. OF_ZERO - 1);
		if
		/* It begins to wait. */
		:: !waiting[q] && !closing[q] && !closing[t] ->
			d_step { park(q, t, (q == t -> NEAR : FAR)); check_all() }
		/* What it waits for is submitted, if need be, and completes. */
		:: waiting[q] && (far[q] == NEAR || far[q] == FAR && !waiting[awaits[q]]) && !closing[awaits[q]] ->
			d_step { far[q] = OVER; x = awaits[q]; wake(x); x = 0; check_all() }
		/* Something else completes. */
		:: !closing[q] && waiters[q] != NO_QUEUE -> d_step { wake(q); check_all() }
		/* It is preempted. */
		:: waiting[q] -> d_step { leave(q); check_all() }
		/* Queue 0 is destroyed. */
		:: q == 0 && !closing[q] ->
			d_step {
				if
				:: waiting[q] -> leave(q)
				:: else
				fi;
				closing[q] = true;
				wake(q);
				drain(q);
				check_all()
			}
		:: else
		fi;
		q = 0;
		t = 0
	}
	od
}
#endif
#endif

#ifdef SHARED
/* Each queue of channel 0 waits for the next one, ceases to, and signals all the time. */
proctype host()
{
	byte q;

	do
	:: atomic {
		select(q : 0 .. OF_ZERO - 1);
		if
		:: !waiting[q] -> d_step { park(q, (q + 1) % OF_ZERO, FAR); check_all() }
		:: waiting[q] -> d_step { leave(q); check_all() }
		:: waiters[q] != NO_QUEUE -> d_step { wake(q); check_all() }
		fi;
		q = 0
	}
	od
}

/* Queue 4 waits for queue 3, which signals in the end. */
proctype other()
{
end:
	do
	:: d_step { !waiting[4] -> park(4, 3, NEAR); check_all() };
	   d_step { far[4] = OVER; wake(3); check_all() };
	   !waiting[4]
	od
}

ltl progress { [] ((waiting[4] && far[4] == OVER) -> <> !(waiting[4] && far[4] == OVER)) }
#endif

#ifdef CYCLE
/* Queues 0 and 1 close a cycle. */
proctype host()
{
	d_step { park(0, 1, FAR); check_all() };
	d_step { park(1, 0, FAR); check_all() }
}

/* A queue begins and ceases to wait for one of those. */
proctype flips(byte q)
{
	do
	:: d_step { !waiting[q] -> park(q, q - 2, FAR); check_all() }
	:: d_step { waiting[q] -> leave(q); check_all() }
	od
}

ltl progress { [] ((waiting[0] && waiting[1]) -> <> !(waiting[0] && waiting[1])) }
#endif

init {
	atomic {
		boot();
		run host();
#ifdef SHARED
		run other();
#endif
#ifdef CYCLE
		run flips(2);
		run flips(3)
#endif
	}
}
