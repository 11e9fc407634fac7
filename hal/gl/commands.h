/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The commands of a virgl stream, as data: number, length, and the words that name resources. A stream is what Mesa's
 * virgl driver sends and virglrenderer 0.10 executes. docs/gl.md lists what each command reads and writes.
 *
 * A command is a header word and its payload. The header has the command's number in bits 0 to 7, the kind of object in
 * bits 8 to 15 (of commands about objects), and the number of payload words in bits 16 to 31. All words are
 * little-endian. No function here keeps state, and none reads a word outside of the command that it is given.
 */
#ifndef PB_HAL_GL_COMMANDS_H
#define PB_HAL_GL_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

/** Every command, X(name, number). The numbers are those of the stream. */
#define PB_GL_COMMANDS(X)                                                                                    \
	X(NOP, 0)                                                                                            \
	X(CREATE_OBJECT, 1)                                                                                  \
	X(BIND_OBJECT, 2)                                                                                    \
	X(DESTROY_OBJECT, 3)                                                                                 \
	X(SET_VIEWPORT_STATE, 4)                                                                             \
	X(SET_FRAMEBUFFER_STATE, 5)                                                                          \
	X(SET_VERTEX_BUFFERS, 6)                                                                             \
	X(CLEAR, 7)                                                                                          \
	X(DRAW_VBO, 8)                                                                                       \
	X(RESOURCE_INLINE_WRITE, 9)                                                                          \
	X(SET_SAMPLER_VIEWS, 10)                                                                             \
	X(SET_INDEX_BUFFER, 11)                                                                              \
	X(SET_CONSTANT_BUFFER, 12)                                                                           \
	X(SET_STENCIL_REF, 13)                                                                               \
	X(SET_BLEND_COLOR, 14)                                                                               \
	X(SET_SCISSOR_STATE, 15)                                                                             \
	X(BLIT, 16)                                                                                          \
	X(RESOURCE_COPY_REGION, 17)                                                                          \
	X(BIND_SAMPLER_STATES, 18)                                                                           \
	X(BEGIN_QUERY, 19)                                                                                   \
	X(END_QUERY, 20)                                                                                     \
	X(GET_QUERY_RESULT, 21)                                                                              \
	X(SET_POLYGON_STIPPLE, 22)                                                                           \
	X(SET_CLIP_STATE, 23)                                                                                \
	X(SET_SAMPLE_MASK, 24)                                                                               \
	X(SET_STREAMOUT_TARGETS, 25)                                                                         \
	X(SET_RENDER_CONDITION, 26)                                                                          \
	X(SET_UNIFORM_BUFFER, 27)                                                                            \
	X(SET_SUB_CTX, 28)                                                                                   \
	X(CREATE_SUB_CTX, 29)                                                                                \
	X(DESTROY_SUB_CTX, 30)                                                                               \
	X(BIND_SHADER, 31)                                                                                   \
	X(SET_TESS_STATE, 32)                                                                                \
	X(SET_MIN_SAMPLES, 33)                                                                               \
	X(SET_SHADER_BUFFERS, 34)                                                                            \
	X(SET_SHADER_IMAGES, 35)                                                                             \
	X(MEMORY_BARRIER, 36)                                                                                \
	X(LAUNCH_GRID, 37)                                                                                   \
	X(SET_FRAMEBUFFER_STATE_NO_ATTACH, 38)                                                               \
	X(TEXTURE_BARRIER, 39)                                                                               \
	X(SET_ATOMIC_BUFFERS, 40)                                                                            \
	X(SET_DEBUG_FLAGS, 41)                                                                               \
	X(GET_QUERY_RESULT_QBO, 42)                                                                          \
	X(TRANSFER3D, 43)                                                                                    \
	X(END_TRANSFERS, 44)                                                                                 \
	X(COPY_TRANSFER3D, 45)                                                                               \
	X(SET_TWEAKS, 46)                                                                                    \
	X(CLEAR_TEXTURE, 47)                                                                                 \
	X(PIPE_RESOURCE_CREATE, 48)                                                                          \
	X(PIPE_RESOURCE_SET_TYPE, 49)                                                                        \
	X(GET_MEMORY_INFO, 50)                                                                               \
	X(SEND_STRING_MARKER, 51)                                                                            \
	X(LINK_SHADER, 52)                                                                                   \
	X(CREATE_VIDEO_CODEC, 53)                                                                            \
	X(DESTROY_VIDEO_CODEC, 54)                                                                           \
	X(CREATE_VIDEO_BUFFER, 55)                                                                           \
	X(DESTROY_VIDEO_BUFFER, 56)                                                                          \
	X(BEGIN_FRAME, 57)                                                                                   \
	X(DECODE_MACROBLOCK, 58)                                                                             \
	X(DECODE_BITSTREAM, 59)                                                                              \
	X(ENCODE_BITSTREAM, 60)                                                                              \
	X(END_FRAME, 61)

/** Numbers of the commands. */
enum pb_gl_number {
#define PB_GL_NUMBER(name, number) PB_GL_##name = (number),
	PB_GL_COMMANDS(PB_GL_NUMBER)
#undef PB_GL_NUMBER
		PB_GL_COMMAND_COUNT, /**< a number that is this or above is unknown */
};

/** Kinds of objects, X(name, number). */
#define PB_GL_KINDS(X)                                                                                       \
	X(NONE, 0)                                                                                           \
	X(BLEND, 1)                                                                                          \
	X(RASTERIZER, 2)                                                                                     \
	X(DSA, 3)                                                                                            \
	X(SHADER, 4)                                                                                         \
	X(VERTEX_ELEMENTS, 5)                                                                                \
	X(SAMPLER_VIEW, 6)                                                                                   \
	X(SAMPLER_STATE, 7)                                                                                  \
	X(SURFACE, 8)                                                                                        \
	X(QUERY, 9)                                                                                          \
	X(STREAMOUT_TARGET, 10)                                                                              \
	X(MSAA_SURFACE, 11)

/** Numbers of the kinds of objects. */
enum pb_gl_kind {
#define PB_GL_NUMBER(name, number) PB_GL_KIND_##name = (number),
	PB_GL_KINDS(PB_GL_NUMBER)
#undef PB_GL_NUMBER
		PB_GL_KIND_COUNT,
};

/** Shader stages: vertex, fragment, geometry, tessellation control, tessellation evaluation, compute. */
#define PB_GL_STAGES        6u
#define PB_GL_STAGE_COMPUTE 5u
/** Limits of the slots that a command can set. */
#define PB_GL_COLOR_BUFFERS     8u
#define PB_GL_VERTEX_BUFFERS    32u
#define PB_GL_SAMPLER_VIEWS     32u
#define PB_GL_SAMPLER_STATES    32u
#define PB_GL_UNIFORM_BUFFERS   32u
#define PB_GL_SHADER_BUFFERS    32u
#define PB_GL_SHADER_IMAGES     32u
#define PB_GL_ATOMIC_BUFFERS    32u
#define PB_GL_STREAMOUT_TARGETS 16u
#define PB_GL_VIEWPORTS         16u
/** Largest command, in words with its header. */
#define PB_GL_COMMAND_WORDS 65536u

/** How a command uses a resource: a sum of these bits; 0: the command only names the resource, a later one uses it. */
enum pb_gl_access {
	PB_GL_READ = 1,          /**< reads the contents */
	PB_GL_WRITE = 2,         /**< writes the contents */
	PB_GL_BACKING_READ = 4,  /**< reads the client's memory behind the resource */
	PB_GL_BACKING_WRITE = 8, /**< writes the client's memory behind the resource */
};

/** Outcome of a check, X(name, what it says to a person). */
#define PB_GL_STATUSES(X)                                                                                    \
	X(OK, "no error")                                                                                    \
	X(TRUNCATED, "the command is longer than the run")                                                   \
	X(UNKNOWN, "unknown command")                                                                        \
	X(REFUSED, "a command that this card refuses")                                                       \
	X(KIND, "wrong kind of object")                                                                      \
	X(LENGTH, "wrong length")                                                                            \
	X(VALUE, "a value out of range")                                                                     \
	X(RESOURCE, "no resource where one is needed")                                                       \
	X(OBJECT, "an object that does not exist")                                                           \
	X(SUB_CONTEXT, "a sub-context that does not exist")                                                  \
	X(FULL, "no room for another object or sub-context")                                                 \
	X(STOPPED, "stopped by the caller")

/** Outcome of a check. */
enum pb_gl_status {
#define PB_GL_STATUS(name, text) PB_GL_STATUS_##name,
	PB_GL_STATUSES(PB_GL_STATUS)
#undef PB_GL_STATUS
		PB_GL_STATUS_COUNT,
};

/** Words of a command that name resources: one, or one in each element of a list that runs to the command's end. */
struct pb_gl_operand {
	uint16_t
		word; /**< index of the first such word in the command; the header is 0; 0: there is no operand */
	uint16_t stride; /**< words of an element; 0: one word only */
	uint8_t access;  /**< bits of enum pb_gl_access */
	bool optional;   /**< 0 stands for no resource */
};

/** Operands of one command. */
#define PB_GL_OPERANDS 2u

/** Description of a command, or of CREATE_OBJECT for one kind. Lengths are in payload words, without the header. */
struct pb_gl_operation {
	uint32_t length_min; /**< shortest payload */
	uint32_t length_max; /**< longest payload */
	uint32_t step; /**< payload is length_min and a multiple of this; 0: any length between the limits */
	enum pb_gl_status verdict; /**< OK; else every such command is refused, for this reason */
	struct pb_gl_operand operands[PB_GL_OPERANDS]; /**< words that name resources */
	/** Checks values and the lengths that depend on them. Pre: the length is right. NULL: nothing to check. */
	enum pb_gl_status (*check)(const uint32_t *words, uint32_t length);
	/** Returns the access of an operand where it depends on the command's words; NULL: operands[].access. */
	uint32_t (*access)(const uint32_t *words, uint32_t operand);
};

/**
 * Returns the description of a command by its header word, never NULL. Its verdict is OK, UNKNOWN, REFUSED, or KIND for
 * CREATE_OBJECT and BIND_OBJECT of a kind that they cannot have.
 */
const struct pb_gl_operation *pb_gl_operation_of(uint32_t header);

/** Returns the name of a command's number, "unknown" if it has none. */
const char *pb_gl_command_name(uint32_t number);

/** Returns the name of a kind of object, "unknown" if it has none. */
const char *pb_gl_kind_name(uint32_t kind);

/** Returns the text of a status, for a message. */
const char *pb_gl_status_text(enum pb_gl_status status);

/** Returns the number of a header word. */
static inline uint32_t pb_gl_number_of(uint32_t header)
{
	return header & 0xffu;
}

/** Returns the kind of object of a header word. */
static inline uint32_t pb_gl_kind_of(uint32_t header)
{
	return header >> 8 & 0xffu;
}

/** Returns the number of payload words of a header word. */
static inline uint32_t pb_gl_length_of(uint32_t header)
{
	return header >> 16;
}

#endif
