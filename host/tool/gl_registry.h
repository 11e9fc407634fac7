/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which programs are known to a server of OpenGL programs, and what each gets. A process that registers, as `patchbay
 * run` does, speaks for itself and for its descendants, as long as it runs and keeps its connection. All others get
 * what the server gives everyone.
 *
 * A registration is one message and one answer, on a socket that keeps messages' borders, beside the one that programs
 * connect to. Only processes of the server's user, and of root, may register.
 */
#ifndef PB_HOST_TOOL_GL_REGISTRY_H
#define PB_HOST_TOOL_GL_REGISTRY_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/tool/gl_card.h"

/** Registrations at once. */
#define PB_GL_REGISTRATIONS 64u
/** Name of its socket: that of the programs' one, and this. */
#define PB_GL_REGISTRY_SUFFIX ".control"

/** The message. */
struct pb_gl_registration_request {
	uint32_t version;    /**< PB_GL_REGISTRATION_VERSION */
	uint32_t priority;   /**< enum pb_priority */
	uint32_t weight;     /**< 1 to PB_WEIGHT_MAX */
	uint32_t memory_mib; /**< 1 to PB_GL_MEMORY_MIB_MAX */
	uint32_t hang_ms;    /**< 0: the card's limit */
};
#define PB_GL_REGISTRATION_VERSION 1u

/* X(NAME, number, text): the answer, a word. */
#define PB_GL_REGISTRATION_ANSWERS(X)                                                                        \
	X(DONE, 0, "done")                                                                                   \
	X(WRONG, 1, "it does not know such a registration")                                                  \
	X(FULL, 2, "too many programs are registered")                                                       \
	X(USER, 3, "it is another user's")

/** The answer. */
enum pb_gl_registration_answer {
#define PB_GL_ANSWER_ENUM(name, number, text) PB_GL_REGISTRATION_##name = (number),
	PB_GL_REGISTRATION_ANSWERS(PB_GL_ANSWER_ENUM)
#undef PB_GL_ANSWER_ENUM
		PB_GL_REGISTRATION_ANSWER_COUNT /**< how many there are */
};

/** One process that has connected. */
struct pb_gl_registration {
	int connection;                    /**< -1: free */
	int process;                       /**< descriptor of the process; -1: it has not registered yet */
	pid_t id;                          /**< of the process */
	struct pb_gl_card_options options; /**< what its programs get */
};

/** The caller's; only the functions below touch it. */
struct pb_gl_registry {
	struct pb_gl_card_options
		defaults; /**< `socket` of all; the rest of programs that are not registered */
	int listener;
	struct pb_gl_registration records[PB_GL_REGISTRATIONS];
};

/** Starts without a registration. @param listener of pb_gl_listen_messages(); the registry's from now on */
void pb_gl_registry_start(struct pb_gl_registry *registry, int listener,
			  const struct pb_gl_card_options *defaults);
/** Ends all registrations, and closes the listener. */
void pb_gl_registry_end(struct pb_gl_registry *registry);
/** What a server waits for. @param pollers out: room for PB_GL_REGISTRATIONS + 1 @return how many */
size_t pb_gl_registry_pollers(const struct pb_gl_registry *registry, struct pollfd *pollers);
/** Accepts, answers, and forgets whoever has left. Never waits. */
void pb_gl_registry_poll(struct pb_gl_registry *registry);
/**
 * Finds what a program gets: what the nearest of its ancestors, or the program itself, has registered.
 * @param options out
 * @return the id of the process that has registered, else that of the program; 0: it is not known
 */
pid_t pb_gl_registry_find(struct pb_gl_registry *registry, int connection,
			  struct pb_gl_card_options *options);

/**
 * Registers this process and its descendants.
 * @param program name in messages @param path of the socket that programs connect to
 * @return the connection, to be kept as long as the registration; -1: the error was printed
 */
int pb_gl_register(const char *program, const char *path, const struct pb_gl_card_options *options);

#endif
