// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Contents of objects, and what the driver says of their memory. */

#include <string.h>

#include "objects.h"
#include "shown.h"

#define PAGE_WORDS 1024u

struct drm_patchbay_info object_card_info(int fd)
{
	struct drm_patchbay_info info;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PATCHBAY_INFO, &info), 0);
	return info;
}

/* Bytes that the engine has moved, and the CPU. */
void bytes_moved(unsigned long long *engine, unsigned long long *cpu)
{
	const char *line = strstr(shown_debugfs("patchbay_memory"), "moved: ");

	CHECK(line != NULL && sscanf(line, "moved: engine=%llu cpu=%llu", engine, cpu) == 2);
}

static uint32_t word_of(uint32_t seed, uint64_t i)
{
	return (uint32_t)i * 2654435761u + seed;
}

/* The first and the last word of each page. */
void object_mark(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += i % PAGE_WORDS == 0 ? PAGE_WORDS - 1 : 1)
		object->words[i] = word_of(seed, i);
}

void object_check_marks(const struct guest_object *object, uint32_t seed)
{
	for (uint64_t i = 0; i < object->size / 4; i += i % PAGE_WORDS == 0 ? PAGE_WORDS - 1 : 1)
		CHECK_EQ(object->words[i], word_of(seed, i));
}

void object_check_all(const struct guest_object *object, uint32_t value)
{
	for (uint64_t i = 0; i < object->size / 4; i++)
		CHECK_EQ(object->words[i], value);
}

void object_copy(int fd, uint32_t queue, const struct guest_object *from, const struct guest_object *to)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, from->handle, false);
	guest_allocation(&work, to->handle, true);
	guest_copy(&work, 0, 0, 1, 0, (uint32_t)from->size);
	guest_do(fd, &work);
}

void object_fill(int fd, uint32_t queue, const struct guest_object *object, uint32_t value)
{
	static struct guest_work work;

	guest_work_start(&work, queue);
	guest_allocation(&work, object->handle, true);
	guest_fill(&work, 0, 0, (uint32_t)object->size, value);
	guest_do(fd, &work);
}
