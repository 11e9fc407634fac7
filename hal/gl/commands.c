/* SPDX-License-Identifier: MIT */
/* The table of virgl commands. */
#include "hal/gl/commands.h"

#include <stddef.h>

/* Largest payload, and a length without an upper limit. */
#define ANY (PB_GL_COMMAND_WORDS - 1u)

#define STREAMOUT_OUTPUTS   64u
#define SHADER_HEADER_WORDS 5u
#define TRANSFER_TO         1u /* from the client's memory to the resource */
#define TRANSFER_FROM       2u
#define COPY_FROM_RESOURCE  2u /* bit of COPY_TRANSFER3D's flags: from the resource to the client's memory */

static enum pb_gl_status value_unless(bool right)
{
	return right ? PB_GL_STATUS_OK : PB_GL_STATUS_VALUE;
}

/** Checks that `count` slots from `first` on exist. */
static enum pb_gl_status check_slots(uint32_t first, uint32_t count, uint32_t slots)
{
	return value_unless(count <= slots && first <= slots - count);
}

static enum pb_gl_status check_stage(const uint32_t *words, uint32_t length)
{
	(void)length;
	return value_unless(words[1] < PB_GL_STAGES);
}

static enum pb_gl_status check_viewports(const uint32_t *words, uint32_t length)
{
	return check_slots(words[1], (length - 1u) / 6u, PB_GL_VIEWPORTS);
}

static enum pb_gl_status check_scissors(const uint32_t *words, uint32_t length)
{
	return check_slots(words[1], (length - 1u) / 2u, PB_GL_VIEWPORTS);
}

static enum pb_gl_status check_framebuffer(const uint32_t *words, uint32_t length)
{
	return length == 2u + (uint64_t)words[1] ? PB_GL_STATUS_OK : PB_GL_STATUS_LENGTH;
}

static enum pb_gl_status check_views(const uint32_t *words, uint32_t length)
{
	if (words[1] >= PB_GL_STAGES)
		return PB_GL_STATUS_VALUE;
	return check_slots(words[2], length - 2u, PB_GL_SAMPLER_VIEWS);
}

static enum pb_gl_status check_samplers(const uint32_t *words, uint32_t length)
{
	if (words[1] >= PB_GL_STAGES)
		return PB_GL_STATUS_VALUE;
	return check_slots(words[2], length - 2u, PB_GL_SAMPLER_STATES);
}

static enum pb_gl_status check_uniform(const uint32_t *words, uint32_t length)
{
	(void)length;
	return value_unless(words[1] < PB_GL_STAGES && words[2] < PB_GL_UNIFORM_BUFFERS);
}

static enum pb_gl_status check_buffers(const uint32_t *words, uint32_t length)
{
	if (words[1] >= PB_GL_STAGES)
		return PB_GL_STATUS_VALUE;
	return length == 2 ? PB_GL_STATUS_OK
			   : check_slots(words[2], (length - 2u) / 3u, PB_GL_SHADER_BUFFERS);
}

static enum pb_gl_status check_images(const uint32_t *words, uint32_t length)
{
	if (words[1] >= PB_GL_STAGES)
		return PB_GL_STATUS_VALUE;
	return length == 2 ? PB_GL_STATUS_OK : check_slots(words[2], (length - 2u) / 5u, PB_GL_SHADER_IMAGES);
}

static enum pb_gl_status check_atomics(const uint32_t *words, uint32_t length)
{
	return check_slots(words[1], (length - 1u) / 3u, PB_GL_ATOMIC_BUFFERS);
}

static enum pb_gl_status check_bind_shader(const uint32_t *words, uint32_t length)
{
	(void)length;
	return value_unless(words[2] < PB_GL_STAGES);
}

/** An index buffer has its element size and offset; none has neither. */
static enum pb_gl_status check_index(const uint32_t *words, uint32_t length)
{
	(void)words;
	return length != 2 ? PB_GL_STATUS_OK : PB_GL_STATUS_LENGTH;
}

/** Plain, with tessellation, or indirect. */
static enum pb_gl_status check_draw(const uint32_t *words, uint32_t length)
{
	(void)words;
	return length == 12 || length == 14 || length == 20 ? PB_GL_STATUS_OK : PB_GL_STATUS_LENGTH;
}

static enum pb_gl_status check_transfer(const uint32_t *words, uint32_t length)
{
	(void)length;
	return value_unless(words[13] == TRANSFER_TO || words[13] == TRANSFER_FROM);
}

static uint32_t access_of_transfer(const uint32_t *words, uint32_t operand)
{
	(void)operand;
	return words[13] == TRANSFER_TO ? PB_GL_WRITE | PB_GL_BACKING_READ : PB_GL_READ | PB_GL_BACKING_WRITE;
}

/** The first operand is a resource proper, the second one is used for the client's memory behind it. */
static uint32_t access_of_copy_transfer(const uint32_t *words, uint32_t operand)
{
	if (words[14] & COPY_FROM_RESOURCE)
		return operand == 0 ? PB_GL_READ : PB_GL_WRITE | PB_GL_BACKING_WRITE;
	return operand == 0 ? PB_GL_WRITE : PB_GL_READ | PB_GL_BACKING_READ;
}

static enum pb_gl_status check_marker(const uint32_t *words, uint32_t length)
{
	return value_unless(words[1] <= (length - 1u) * sizeof(uint32_t));
}

/** Text of a shader, behind a description of its stream-out that a compute shader does not have. */
static enum pb_gl_status check_shader(const uint32_t *words, uint32_t length)
{
	const uint32_t stage = words[2];
	const uint32_t outputs = stage == PB_GL_STAGE_COMPUTE ? 0 : words[5];

	if (stage >= PB_GL_STAGES || outputs > STREAMOUT_OUTPUTS)
		return PB_GL_STATUS_VALUE;
	if (outputs != 0 && length < SHADER_HEADER_WORDS + 4u + 2u * outputs)
		return PB_GL_STATUS_LENGTH;
	return PB_GL_STATUS_OK;
}

static enum pb_gl_status check_elements(const uint32_t *words, uint32_t length)
{
	for (uint32_t word = 4; word <= length; word += 4)
		if (words[word] >= PB_GL_VERTEX_BUFFERS)
			return PB_GL_STATUS_VALUE;
	return PB_GL_STATUS_OK;
}

#define FIXED(words) .length_min = (words), .length_max = (words)
#define FROM(words)  .length_min = (words), .length_max = ANY
/* Up to `most` elements behind a fixed part. */
#define LIST(fixed, element, most)                                                                           \
	.length_min = (fixed), .length_max = (fixed) + (element) * (most), .step = (element)
#define REFUSED FROM(0), .verdict = PB_GL_STATUS_REFUSED
/* Operands: one that must be there, one that may be 0, one in each element of a list. */
#define ONE(word, use)            .operands = {{(word), 0, (use), false}}
#define ONE_OR_NONE(word, use)    .operands = {{(word), 0, (use), true}}
#define TWO(one, use, other, way) .operands = {{(one), 0, (use), false}, {(other), 0, (way), false}}
#define EACH(word, stride)        .operands = {{(word), (stride), 0, true}}

/* CREATE_OBJECT, by kind of object. */
static const struct pb_gl_operation creations[PB_GL_KIND_COUNT] = {
	[PB_GL_KIND_BLEND] = {FIXED(11)},
	[PB_GL_KIND_RASTERIZER] = {FIXED(9)},
	[PB_GL_KIND_DSA] = {FIXED(5)},
	[PB_GL_KIND_SHADER] = {FROM(SHADER_HEADER_WORDS), .check = check_shader},
	[PB_GL_KIND_VERTEX_ELEMENTS] = {LIST(1, 4, PB_GL_VERTEX_BUFFERS), .check = check_elements},
	[PB_GL_KIND_SAMPLER_VIEW] = {FIXED(6), ONE(2, 0)},
	[PB_GL_KIND_SAMPLER_STATE] = {FIXED(9)},
	[PB_GL_KIND_SURFACE] = {FIXED(5), ONE(2, 0)},
	[PB_GL_KIND_QUERY] = {FIXED(4), ONE(4, 0)},
	[PB_GL_KIND_STREAMOUT_TARGET] = {FIXED(4), ONE(2, 0)},
	[PB_GL_KIND_MSAA_SURFACE] = {FIXED(6), ONE(2, 0)},
};

/* Every other command, by number. Lengths are in words behind the header. */
static const struct pb_gl_operation operations[PB_GL_COMMAND_COUNT] = {
	[PB_GL_NOP] = {FROM(0)},
	[PB_GL_BIND_OBJECT] = {FIXED(1)},
	[PB_GL_DESTROY_OBJECT] = {FIXED(1)},
	[PB_GL_SET_VIEWPORT_STATE] = {LIST(1, 6, PB_GL_VIEWPORTS), .check = check_viewports},
	[PB_GL_SET_FRAMEBUFFER_STATE] = {LIST(2, 1, PB_GL_COLOR_BUFFERS), .check = check_framebuffer},
	[PB_GL_SET_VERTEX_BUFFERS] = {LIST(0, 3, PB_GL_VERTEX_BUFFERS), EACH(3, 3)},
	[PB_GL_CLEAR] = {FIXED(8)},
	[PB_GL_DRAW_VBO] = {.length_min = 12,
			    .length_max = 20,
			    .operands = {{15, 0, PB_GL_READ, true}, {20, 0, PB_GL_READ, true}},
			    .check = check_draw},
	[PB_GL_RESOURCE_INLINE_WRITE] = {FROM(12), ONE(1, PB_GL_WRITE)},
	[PB_GL_SET_SAMPLER_VIEWS] = {LIST(2, 1, PB_GL_SAMPLER_VIEWS), .check = check_views},
	[PB_GL_SET_INDEX_BUFFER] = {.length_min = 1,
				    .length_max = 3,
				    ONE_OR_NONE(1, 0),
				    .check = check_index},
	[PB_GL_SET_CONSTANT_BUFFER] = {FROM(2), .check = check_stage},
	[PB_GL_SET_STENCIL_REF] = {FIXED(1)},
	[PB_GL_SET_BLEND_COLOR] = {FIXED(4)},
	[PB_GL_SET_SCISSOR_STATE] = {LIST(1, 2, PB_GL_VIEWPORTS), .check = check_scissors},
	[PB_GL_BLIT] = {FIXED(21), TWO(4, PB_GL_WRITE, 13, PB_GL_READ)},
	[PB_GL_RESOURCE_COPY_REGION] = {FIXED(13), TWO(1, PB_GL_WRITE, 6, PB_GL_READ)},
	[PB_GL_BIND_SAMPLER_STATES] = {LIST(2, 1, PB_GL_SAMPLER_STATES), .check = check_samplers},
	[PB_GL_BEGIN_QUERY] = {FIXED(1)},
	[PB_GL_END_QUERY] = {FIXED(1)},
	[PB_GL_GET_QUERY_RESULT] = {FIXED(2)},
	[PB_GL_SET_POLYGON_STIPPLE] = {FIXED(32)},
	[PB_GL_SET_CLIP_STATE] = {FIXED(32)},
	[PB_GL_SET_SAMPLE_MASK] = {FIXED(1)},
	[PB_GL_SET_STREAMOUT_TARGETS] = {LIST(1, 1, PB_GL_STREAMOUT_TARGETS)},
	[PB_GL_SET_RENDER_CONDITION] = {FIXED(3)},
	[PB_GL_SET_UNIFORM_BUFFER] = {FIXED(5), ONE_OR_NONE(5, 0), .check = check_uniform},
	[PB_GL_SET_SUB_CTX] = {FIXED(1)},
	[PB_GL_CREATE_SUB_CTX] = {FIXED(1)},
	[PB_GL_DESTROY_SUB_CTX] = {FIXED(1)},
	[PB_GL_BIND_SHADER] = {FIXED(2), .check = check_bind_shader},
	[PB_GL_SET_TESS_STATE] = {FIXED(6)},
	[PB_GL_SET_MIN_SAMPLES] = {FIXED(1)},
	[PB_GL_SET_SHADER_BUFFERS] = {LIST(2, 3, PB_GL_SHADER_BUFFERS), EACH(5, 3), .check = check_buffers},
	[PB_GL_SET_SHADER_IMAGES] = {LIST(2, 5, PB_GL_SHADER_IMAGES), EACH(7, 5), .check = check_images},
	[PB_GL_MEMORY_BARRIER] = {FIXED(1)},
	[PB_GL_LAUNCH_GRID] = {FIXED(8), ONE_OR_NONE(7, PB_GL_READ)},
	[PB_GL_SET_FRAMEBUFFER_STATE_NO_ATTACH] = {FIXED(2)},
	[PB_GL_TEXTURE_BARRIER] = {FIXED(1)},
	[PB_GL_SET_ATOMIC_BUFFERS] = {LIST(1, 3, PB_GL_ATOMIC_BUFFERS), EACH(4, 3), .check = check_atomics},
	[PB_GL_SET_DEBUG_FLAGS] = {FROM(2)},
	[PB_GL_GET_QUERY_RESULT_QBO] = {FIXED(6), ONE(2, PB_GL_WRITE)},
	[PB_GL_TRANSFER3D] = {FROM(13), ONE(1, 0), .check = check_transfer, .access = access_of_transfer},
	[PB_GL_END_TRANSFERS] = {FROM(0)},
	[PB_GL_COPY_TRANSFER3D] = {FIXED(14), TWO(1, 0, 12, 0), .access = access_of_copy_transfer},
	[PB_GL_SET_TWEAKS] = {FROM(2)},
	[PB_GL_CLEAR_TEXTURE] = {FIXED(12), ONE(1, PB_GL_WRITE)},
	[PB_GL_PIPE_RESOURCE_CREATE] = {REFUSED},
	[PB_GL_PIPE_RESOURCE_SET_TYPE] = {REFUSED},
	[PB_GL_GET_MEMORY_INFO] = {FIXED(1), ONE(1, PB_GL_WRITE | PB_GL_BACKING_WRITE)},
	[PB_GL_SEND_STRING_MARKER] = {FROM(2), .check = check_marker},
	[PB_GL_LINK_SHADER] = {FIXED(6)},
	[PB_GL_CREATE_VIDEO_CODEC] = {REFUSED},
	[PB_GL_DESTROY_VIDEO_CODEC] = {REFUSED},
	[PB_GL_CREATE_VIDEO_BUFFER] = {REFUSED},
	[PB_GL_DESTROY_VIDEO_BUFFER] = {REFUSED},
	[PB_GL_BEGIN_FRAME] = {REFUSED},
	[PB_GL_DECODE_MACROBLOCK] = {REFUSED},
	[PB_GL_DECODE_BITSTREAM] = {REFUSED},
	[PB_GL_ENCODE_BITSTREAM] = {REFUSED},
	[PB_GL_END_FRAME] = {REFUSED},
};

/** Whether BIND_OBJECT is for this kind; the others have commands of their own. */
static bool bindable(uint32_t kind)
{
	return kind == PB_GL_KIND_BLEND || kind == PB_GL_KIND_RASTERIZER || kind == PB_GL_KIND_DSA ||
	       kind == PB_GL_KIND_VERTEX_ELEMENTS;
}

const struct pb_gl_operation *pb_gl_operation_of(uint32_t header)
{
	static const struct pb_gl_operation unknown = {.verdict = PB_GL_STATUS_UNKNOWN};
	static const struct pb_gl_operation wrong_kind = {.verdict = PB_GL_STATUS_KIND};
	const uint32_t number = pb_gl_number_of(header);
	const uint32_t kind = pb_gl_kind_of(header);

	if (number >= PB_GL_COMMAND_COUNT)
		return &unknown;
	if (number == PB_GL_CREATE_OBJECT)
		return kind == PB_GL_KIND_NONE || kind >= PB_GL_KIND_COUNT ? &wrong_kind : &creations[kind];
	return number == PB_GL_BIND_OBJECT && !bindable(kind) ? &wrong_kind : &operations[number];
}

const char *pb_gl_command_name(uint32_t number)
{
	static const char *const names[PB_GL_COMMAND_COUNT] = {
#define NAME(name, number) [number] = #name,
		PB_GL_COMMANDS(NAME)
#undef NAME
	};
	return number < PB_GL_COMMAND_COUNT ? names[number] : "unknown";
}

const char *pb_gl_kind_name(uint32_t kind)
{
	static const char *const names[PB_GL_KIND_COUNT] = {
#define NAME(name, number) [number] = #name,
		PB_GL_KINDS(NAME)
#undef NAME
	};
	return kind < PB_GL_KIND_COUNT ? names[kind] : "unknown";
}

const char *pb_gl_status_text(enum pb_gl_status status)
{
	static const char *const texts[PB_GL_STATUS_COUNT] = {
#define TEXT(name, text) text,
		PB_GL_STATUSES(TEXT)
#undef TEXT
	};
	return (uint32_t)status < PB_GL_STATUS_COUNT ? texts[status] : "unknown";
}
