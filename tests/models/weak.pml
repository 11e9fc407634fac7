/* SPDX-License-Identifier: MIT */
/*
 * Weak memory, for the models beside this file: what hal/shared.h lets the core
 * assume. A store goes into a buffer of its processor, and from there to memory
 * at any later moment, in any order, but not before stores that precede a
 * release in between. A barrier waits until the buffer is empty. A processor
 * reads its own stores at once.
 *
 * Each transition of a model names the function that it stands for: AT(name).
 */
#define AT(function)

#define PROCESSORS 2 /* the MCU, and the processor on the other side */
#define MCU        0
#define OTHER      1

byte memory[WORDS];

typedef buffer {
	bool held[WORDS];
	byte value[WORDS];
	byte behind[WORDS]; /* releases before it that hold it back */
	byte releases;      /* that have a store before them */
	bool newest;        /* there is a store after the last of them */
	byte count;
};
buffer buffers[PROCESSORS];

#define STORE(p, word, what) \
	atomic { \
		!buffers[p].held[word]; \
		buffers[p].held[word] = true; \
		buffers[p].value[word] = what; \
		buffers[p].behind[word] = buffers[p].releases; \
		buffers[p].newest = true; \
		buffers[p].count++ \
	}
#define LOAD(p, word) (buffers[p].held[word] -> buffers[p].value[word] : memory[word])
#define RELEASE(p) \
	atomic { \
		if \
		:: buffers[p].newest -> buffers[p].releases++; buffers[p].newest = false \
		:: else -> skip \
		fi \
	}
#define BARRIER(p) buffers[p].count == 0

/* One store of a processor reaches memory. */
inline drain(p, w)
{
	memory[w] = buffers[p].value[w];
	buffers[p].held[w] = false;
	buffers[p].value[w] = 0;
	buffers[p].behind[w] = 0;
	buffers[p].count--;
	if
	:: buffers[p].count == 0 -> buffers[p].releases = 0; buffers[p].newest = false
	:: else -> skip
	fi
}

/* Whether none of its stores must go first. */
inline may_drain(p, w, may)
{
	may = buffers[p].held[w];
	i = 0;
	do
	:: i < WORDS ->
		if
		:: buffers[p].held[i] && buffers[p].behind[i] < buffers[p].behind[w] -> may = false
		:: else -> skip
		fi;
		i++
	:: else -> break
	od;
	i = 0
}

proctype store_buffer(byte p)
{
	byte i, w;
	bool may;

end:
	do
	:: buffers[p].count != 0 ->
		atomic {
			select (w : 0 .. (WORDS - 1));
			may_drain(p, w, may);
			if
			:: may -> drain(p, w)
			:: else -> skip
			fi;
			may = false;
			w = 0
		}
	od
}
