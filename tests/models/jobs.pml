/* SPDX-License-Identifier: MIT */
/*
 * One job for four nodes: who waits for it is passed over a bounded number of
 * times only, so that each gets it in the end. Channel 0 has lists on nodes 0
 * and 1, twice as long as those of channel 1 on node 2; channel 2, on node 3,
 * has a higher priority. A node may ask at any time, and holds the job for any
 * time; what its channel is charged is the length of its list.
 *
 * What may be changed, to show that it is needed:
 *   NODE_ORDER   of find_best in jobs.c: the job goes to the first node that waits
 *   NO_ACCOUNT   of is_before in jobs.c: who waits longest is first, whatever the channels were charged
 *   NO_PRIORITY  of is_before in jobs.c: the rank is not compared
 *   NO_CHARGE    of pb_core_jobs_release: a channel is not charged for the time of a job
 *   NO_GRANT     of grant in jobs.c: a job that is freed goes to whoever asks next
 */
#define AT(function)

#define NODES    4
#define CHANNELS 3
#define NONE     NODES
#define HIGHS    2 /* lists of the higher priority */

#define CHANNEL(n) ((n) < 2 -> 0 : (n) - 1)
#define RANK(n)    ((n) == 3 -> 1 : 0)
#define LENGTH(n)  ((n) < 2 -> 2 : 1)

bool waits[NODES];
byte holder = NONE;  /* the node that has the job, or was granted it */
byte since[NODES];   /* of those that wait, how many began before */
byte waiting;
byte account[CHANNELS];
byte passed[NODES]; /* jobs of the same or a lower rank, of other channels, since the node began to wait */
byte highs;

/* Whether node a goes before node b. */
#ifdef NO_PRIORITY
#define OUTRANKS(a, b) false
#define EQUAL(a, b)    true
#else
#define OUTRANKS(a, b) (RANK(a) > RANK(b))
#define EQUAL(a, b)    (RANK(a) == RANK(b))
#endif
#ifdef NO_ACCOUNT
#define LESS(a, b) false
#define SAME(a, b) true
#else
#define LESS(a, b) (account[CHANNEL(a)] < account[CHANNEL(b)])
#define SAME(a, b) (account[CHANNEL(a)] == account[CHANNEL(b)])
#endif
#ifdef NODE_ORDER
#define BEFORE(a, b) (a < b)
#else
#define BEFORE(a, b) (OUTRANKS(a, b) || (EQUAL(a, b) && (LESS(a, b) || (SAME(a, b) && since[a] < since[b]))))
#endif

/* A free job goes to the best of those that wait. Accounts count from that of the last claim. */
inline grant_job()
{
	best = NONE;
	i = 0;
	do
	:: i < NODES ->
		if
		:: waits[i] && best == NONE -> best = i
		:: waits[i] && best != NONE ->
			if
			:: BEFORE(i, best) -> best = i
			:: else -> skip
			fi
		:: else -> skip
		fi;
		i++
	:: else -> break
	od;
	if
	:: best != NONE -> claim_job(best)
	:: else -> skip
	fi;
	best = 0;
	i = 0
}

inline claim_job(who)
{
	n = 0;
	do
	:: n < NODES ->
		if
		:: waits[who] && waits[n] && since[n] > since[who] -> since[n]--
		:: else -> skip
		fi;
		n++
	:: else -> break
	od;
	waiting = (waits[who] -> waiting - 1 : waiting);
	waits[who] = false;
	since[who] = 0;
	holder = who;
	passed[who] = 0;
	n = 0;
	do
	:: n < NODES ->
		if
		:: waits[n] && RANK(n) >= RANK(who) && CHANNEL(n) != CHANNEL(who) -> passed[n]++
		:: else -> skip
		fi;
		/* The higher priority waits for the job that is held, and for no other. The channel with the short lists
		 * is passed over once by the other one. The nodes of that one have both turns of channel 1 for each own. */
		assert(n != 3 || passed[n] == 0);
		assert(n != 2 || passed[n] <= 1);
		assert(passed[n] <= 5);
		n++
	:: else -> break
	od;
	base = account[CHANNEL(who)];
	n = 0;
	do
	:: n < CHANNELS -> account[n] = (account[n] > base -> account[n] - base : 0); n++
	:: else -> break
	od;
	base = 0
}

proctype node(byte self)
{
	byte best, i, n, base;

	do
	:: AT(pb_core_jobs_ask) d_step {
		!waits[self] && holder != self && (self != 3 || highs < HIGHS) ->
		if
		:: self == 3 -> highs++
		:: else -> skip
		fi;
		if
		:: holder == NONE -> claim_job(self)
		:: else -> waits[self] = true; since[self] = waiting; waiting++
		fi;
		n = 0
	}
	:: AT(pb_core_jobs_release) d_step {
		holder == self ->
		holder = NONE;
#ifndef NO_CHARGE
		account[CHANNEL(self)] = account[CHANNEL(self)] + LENGTH(self);
#endif
#ifndef NO_GRANT
		grant_job()
#endif
	}
#ifdef NO_GRANT
	:: d_step { waits[self] && holder == NONE -> claim_job(self); n = 0 }
#endif
	od
}

init {
	atomic {
		run node(0);
		run node(1);
		run node(2);
		run node(3)
	}
}
