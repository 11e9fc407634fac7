/* SPDX-License-Identifier: MIT */
/* Slots, and what a draw reaches through them. */
#include "hal/gl/bindings.h"

#define READ_WRITE ((uint32_t)PB_GL_READ | (uint32_t)PB_GL_WRITE)
#define ALL_SLOTS  UINT32_MAX

/* How shaders use the slots of a group. */
static const uint8_t stage_access[PB_GL_STAGE_GROUPS] = {
	[PB_GL_GROUP_VIEWS] = PB_GL_READ,       [PB_GL_GROUP_UNIFORMS] = PB_GL_READ,
	[PB_GL_GROUP_BUFFERS] = READ_WRITE,     [PB_GL_GROUP_IMAGES] = READ_WRITE,
	[PB_GL_GROUP_IMAGES_READ] = PB_GL_READ, [PB_GL_GROUP_IMAGES_WRITTEN] = PB_GL_WRITE,
};

/* How a draw uses the others. What is drawn may be blended with what is there. */
static const uint8_t draw_access[PB_GL_GROUPS] = {
	[PB_GL_GROUP_COLORS] = READ_WRITE,     [PB_GL_GROUP_DEPTH] = READ_WRITE,
	[PB_GL_GROUP_VERTICES] = PB_GL_READ,   [PB_GL_GROUP_INDEX] = PB_GL_READ,
	[PB_GL_GROUP_STREAMOUT] = PB_GL_WRITE, [PB_GL_GROUP_ATOMICS] = READ_WRITE,
};

static void start_slots(struct pb_gl_slots *slots)
{
	slots->bound = 0;
	slots->told = 0;
}

void pb_gl_bindings_start(struct pb_gl_bindings *bindings)
{
	for (uint32_t group = 0; group < PB_GL_GROUPS; group++)
		start_slots(&bindings->groups[group]);
	for (uint32_t stage = 0; stage < PB_GL_STAGES; stage++)
		for (uint32_t group = 0; group < PB_GL_STAGE_GROUPS; group++)
			start_slots(&bindings->stages[stage][group]);
}

void pb_gl_bindings_begin(struct pb_gl_bindings *bindings)
{
	for (uint32_t group = 0; group < PB_GL_GROUPS; group++)
		bindings->groups[group].told = 0;
	for (uint32_t stage = 0; stage < PB_GL_STAGES; stage++)
		for (uint32_t group = 0; group < PB_GL_STAGE_GROUPS; group++)
			bindings->stages[stage][group].told = 0;
}

void pb_gl_slots_set(struct pb_gl_slots *slots, uint32_t slot, uint32_t resource)
{
	const uint32_t bit = 1u << slot;

	slots->told &= ~bit;
	slots->bound &= ~bit;
	if (resource == 0)
		return;
	slots->bound |= bit;
	slots->resources[slot] = resource;
}

void pb_gl_slots_cut(struct pb_gl_slots *slots, uint32_t first)
{
	const uint32_t kept = first < PB_GL_SLOTS ? (1u << first) - 1u : ALL_SLOTS;

	slots->bound &= kept;
	slots->told &= kept;
}

static bool tell_each(const struct pb_gl_slots *slots, uint32_t mask, uint32_t access, pb_gl_reach *reach,
		      void *context)
{
	for (uint32_t slot = 0; mask >> slot != 0; slot++) {
		if ((mask >> slot & 1u) != 0 && !reach(context, slots->resources[slot], access))
			return false;
		if (slot == PB_GL_SLOTS - 1u)
			break;
	}
	return true;
}

bool pb_gl_slots_tell(struct pb_gl_slots *slots, uint32_t mask, uint32_t access, pb_gl_reach *reach,
		      void *context)
{
	const uint32_t fresh = slots->bound & mask & ~slots->told;

	slots->told |= fresh;
	return fresh == 0 || tell_each(slots, fresh, access, reach, context);
}

static bool tell_stage(struct pb_gl_bindings *bindings, uint32_t stage, pb_gl_reach *reach, void *context)
{
	for (uint32_t group = 0; group < PB_GL_STAGE_GROUPS; group++)
		if (!pb_gl_slots_tell(&bindings->stages[stage][group], ALL_SLOTS, stage_access[group], reach,
				      context))
			return false;
	return true;
}

bool pb_gl_bindings_draw(struct pb_gl_bindings *bindings, bool indexed, pb_gl_reach *reach, void *context)
{
	for (uint32_t group = 0; group < PB_GL_GROUPS; group++)
		if ((group != PB_GL_GROUP_INDEX || indexed) &&
		    !pb_gl_slots_tell(&bindings->groups[group], ALL_SLOTS, draw_access[group], reach,
				      context))
			return false;
	for (uint32_t stage = 0; stage < PB_GL_STAGE_COMPUTE; stage++)
		if (!tell_stage(bindings, stage, reach, context))
			return false;
	return true;
}

bool pb_gl_bindings_dispatch(struct pb_gl_bindings *bindings, pb_gl_reach *reach, void *context)
{
	return pb_gl_slots_tell(&bindings->groups[PB_GL_GROUP_ATOMICS], ALL_SLOTS, READ_WRITE, reach,
				context) &&
	       tell_stage(bindings, PB_GL_STAGE_COMPUTE, reach, context);
}

bool pb_gl_bindings_each(const struct pb_gl_bindings *bindings, pb_gl_reach *reach, void *context)
{
	for (uint32_t group = 0; group < PB_GL_GROUPS; group++)
		if (!tell_each(&bindings->groups[group], bindings->groups[group].bound, 0, reach, context))
			return false;
	for (uint32_t stage = 0; stage < PB_GL_STAGES; stage++)
		for (uint32_t group = 0; group < PB_GL_STAGE_GROUPS; group++) {
			const struct pb_gl_slots *slots = &bindings->stages[stage][group];

			if (!tell_each(slots, slots->bound, 0, reach, context))
				return false;
		}
	return true;
}
