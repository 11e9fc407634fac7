/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A GL engine: the packets of hal/engine/gl_packets.h on a model of the
 * reference engine (docs/engine.md, "GL packets"). It turns pages into
 * resources by the bindings of the slot's owner, follows what each draw can
 * reach, and gives renderers nothing but resources. A card has one, which its
 * 3D nodes share; each of them has a struct pb_engine_gl_node. The caller
 * serialises all calls.
 */
#ifndef PB_HAL_ENGINE_MODEL_GL_H
#define PB_HAL_ENGINE_MODEL_GL_H

#include "hal/engine/gl_packets.h"
#include "hal/engine_model/model.h"
#include "hal/gl/account.h"

/** Buckets of an owner's two hash tables. */
#define PB_ENGINE_GL_BUCKETS 1024u
/** Most resources of an owner. */
#define PB_ENGINE_GL_RESOURCES_MAX 65535u
/** What a renderer may use in one packet that counts as progress, in microseconds. */
#define PB_ENGINE_GL_PROGRESS_US 2000000u
/** How long a privileged packet waits for a renderer without progress, in microseconds; then the renderer is ended. */
#define PB_ENGINE_GL_PATIENCE_US 5000000u

/** What a renderer is asked to do. */
enum pb_engine_gl_kind {
	PB_ENGINE_GL_RUN = 1,     /**< virgl commands, in which resources are their handles */
	PB_ENGINE_GL_CREATE = 2,  /**< a resource; words: its template */
	PB_ENGINE_GL_DESTROY = 3, /**< a resource */
	PB_ENGINE_GL_PUT = 4,     /**< data into a resource; words: level, box, stride, layer stride */
	PB_ENGINE_GL_GET = 5,     /**< data of a resource; words: as PUT */
	PB_ENGINE_GL_CAPS = 6,    /**< data of a capability set; words: set, version */
};

/** One request. */
struct pb_engine_gl_request {
	enum pb_engine_gl_kind kind;
	uint32_t resource;     /**< its handle, of all but RUN and CAPS */
	const uint32_t *words; /**< until the answer */
	uint32_t count;        /**< of them */
	uint32_t bytes;        /**< of data; PUT, GET, CAPS */
};

/** What became of a request. */
enum pb_engine_gl_answer {
	PB_ENGINE_GL_WORKS,   /**< it is not done yet */
	PB_ENGINE_GL_DONE,    /**< it is done, with everything asked before */
	PB_ENGINE_GL_REFUSED, /**< the renderer lives, and says that it cannot be done */
	PB_ENGINE_GL_LOST,    /**< there is no renderer, or none that can be trusted */
};

/** Renderers, each known by its index, below `owner_count`. None of these functions blocks. */
struct pb_engine_gl_renderers {
	/** Stores data of a PUT before it is begun. Starts the renderer if there is none. `offset` and `bytes` are multiples of 4. */
	void (*put)(void *context, uint32_t renderer, uint32_t offset, const uint32_t *words, uint32_t bytes);
	/** Begins a request; one at a time. Starts the renderer if there is none. */
	void (*begin)(void *context, uint32_t renderer, const struct pb_engine_gl_request *request);
	/**
	 * Asks how far it is. @param used set to the processor time that the renderer has used, in microseconds modulo 2^32; it
	 * moves by a little, too, while the renderer wants a processor and the machine gives it none
	 */
	enum pb_engine_gl_answer (*poll)(void *context, uint32_t renderer, uint32_t *used);
	/** Loads data of a GET or CAPS that is done. */
	void (*get)(void *context, uint32_t renderer, uint32_t offset, uint32_t *words, uint32_t bytes);
	/** Ends a renderer, whatever it does; all that it had is gone. One that was not started is none. */
	void (*end)(void *context, uint32_t renderer);
	/** The card's clock, in microseconds modulo 2^32. */
	uint32_t (*now)(void *context);
};

/** One resource of an owner. */
struct pb_engine_gl_resource {
	uint32_t id; /**< as its host names it; 0: free */
	uint32_t
		handle; /**< as its renderer names it: index + 1, and how often that was used in the high half */
	uint32_t page; /**< where it stands, or stood last */
	uint32_t pages;
	bool bound; /**< it stands there */
	uint32_t words[PB_GL_TEMPLATE_WORDS];
	uint32_t next_by_id;   /**< index + 1 of the next one in its bucket, or of free ones; 0: none */
	uint32_t next_by_page; /**< the same of those that are bound */
};

/** One owner: channel and context, with its renderer. */
struct pb_engine_gl_owner {
	bool used;
	bool lost;      /**< its renderer was ended: its packets fault, until it is ended by GL_END */
	uint32_t owner; /**< PB_ENGINE_OWNER */
	const struct pb_engine_gl_node *holder; /**< the node that works with it; NULL: none */
	struct pb_gl_account account;
	struct pb_engine_gl_resource *resources;
	uint32_t fresh;                         /**< resources that were ever used */
	uint32_t free;                          /**< index + 1 of the first free one below; 0: none */
	uint32_t by_id[PB_ENGINE_GL_BUCKETS];   /**< index + 1 */
	uint32_t by_page[PB_ENGINE_GL_BUCKETS]; /**< index + 1 */
};

/** Memory for a GL engine, the caller's, and its renderers. */
struct pb_engine_gl_config {
	const struct pb_engine_gl_renderers *renderers;
	void *context; /**< of those functions */
	struct pb_engine_gl_owner *owners;
	uint32_t owner_count;
	struct pb_engine_gl_resource *resources; /**< resource_count for each owner */
	uint32_t resource_count;                 /**< PB_ENGINE_GL_RESOURCES_MAX at most */
	struct pb_gl_object *objects;            /**< object_count for each owner */
	uint32_t object_count;                   /**< a power of two */
	struct pb_gl_sub_context *sub_contexts;  /**< sub_context_count for each owner */
	uint32_t sub_context_count;
};

/** The GL engine of a card. The caller's; only the functions of the model touch it. */
struct pb_engine_gl {
	struct pb_engine_gl_config config;
};

/** How far a node is with a GL packet. */
enum pb_engine_gl_stage {
	PB_ENGINE_GL_IDLE,   /**< in none */
	PB_ENGINE_GL_WAITS,  /**< another node works with this owner */
	PB_ENGINE_GL_STORES, /**< gives data to the renderer */
	PB_ENGINE_GL_ASKED,  /**< the renderer works */
	PB_ENGINE_GL_LOADS,  /**< takes data from it */
};

/** A node's part of it. The caller's; only the functions of the model touch it. */
struct pb_engine_gl_node {
	struct pb_engine_gl *gl;
	enum pb_engine_gl_stage stage;
	struct pb_engine_gl_owner *owner; /**< of the packet; not in stage IDLE */
	struct pb_engine_gl_request request;
	uint64_t address; /**< of the data in memory */
	uint32_t moved;   /**< bytes of data moved */
	uint32_t begun;   /**< the clock when the renderer was asked, or made progress */
	uint32_t since;   /**< the clock up to which time was charged */
	uint32_t used;    /**< processor time of the renderer up to which progress was charged */
	uint32_t worked;  /**< progress charged in this packet */
	bool measured;    /**< `used` is that of this packet */
	uint32_t words[PB_GL_PACKET_WORDS_MAX + 1u]; /**< the packet with its header */
};

/** For the configuration of a 3D node's model. */
extern const struct pb_engine_gl_ops pb_engine_gl_ops;

/** Starts a GL engine without owners. The configuration is copied. */
void pb_engine_gl_init(struct pb_engine_gl *gl, const struct pb_engine_gl_config *config);
/** Starts a node's part, before the node's model. */
void pb_engine_gl_node_init(struct pb_engine_gl_node *node, struct pb_engine_gl *gl);
/** Whether a node waits for a renderer: nothing happens there until that one answers. */
bool pb_engine_gl_waits(const struct pb_engine_gl_node *node);
/** Ends all renderers of a channel that was closed, so that its next client finds nothing. */
void pb_engine_gl_close(struct pb_engine_gl *gl, uint32_t channel);
/** Ends all renderers: the MCU has died. */
void pb_engine_gl_close_all(struct pb_engine_gl *gl);

#endif
