// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * States of a display: fences of commits, property blobs, properties. IGT's kms_atomic, kms_prop_blob and
 * kms_properties demand the same.
 */
#define _GNU_SOURCE
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <string.h>
#include <unistd.h>

#include "guest.h"
#include "kms_checks.h"
#include "kms_display.h"

#define NEW_MODE DRM_MODE_ATOMIC_ALLOW_MODESET

static struct display display;

/* Pre: the display is open. */
static struct picture show_on(uint32_t seed)
{
	struct picture picture = make_picture(&display, 640, 480, seed);

	CHECK_EQ(show(&display, &picture, mode_of(&display, 640, 480)), 0);
	return picture;
}

static struct picture show_picture(uint32_t seed)
{
	display = open_display(kms_driver);
	return show_on(seed);
}

/* ---- fences of commits ---- */

static struct setting fence_to(int32_t *fence)
{
	return (struct setting){display.crtc, DRM_MODE_OBJECT_CRTC, "OUT_FENCE_PTR", (uintptr_t)fence};
}

static struct setting fence_from(int fence)
{
	return (struct setting){display.plane, DRM_MODE_OBJECT_PLANE, "IN_FENCE_FD", (uint64_t)(int64_t)fence};
}

static struct setting picture_to(const struct picture *picture)
{
	return (struct setting){display.plane, DRM_MODE_OBJECT_PLANE, "FB_ID", picture->framebuffer};
}

static void wait_blanks(uint32_t count)
{
	union drm_wait_vblank wait = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = count}};

	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_WAIT_VBLANK, &wait), 0);
}

static int merge(int first, int second)
{
	struct sync_merge_data data = {.name = "both", .fd2 = second, .fence = -1};

	CHECK_EQ(guest_ioctl(first, SYNC_IOC_MERGE, &data), 0);
	return data.fence;
}

/* The fence of a commit ends with it, and is one like others: it merges, and another commit waits for it. */
void commits_give_fences(void)
{
	struct picture first = show_picture(1), second = make_picture(&display, 640, 480, 2);
	struct guest_foreign foreign = guest_foreign();
	int32_t fence = 7, next = 7;
	struct setting settings[3] = {picture_to(&second), fence_to(&fence)};
	int both;

	CHECK_EQ(commit(&display, settings, 2, DRM_MODE_ATOMIC_TEST_ONLY), 0);
	CHECK_EQ(fence, -1);
	CHECK_EQ(commit(&display, settings, 2, DRM_MODE_ATOMIC_NONBLOCK), 0);
	CHECK(fence >= 0);
	both = merge(fence, foreign.file);
	CHECK_EQ(guest_fence_wait(fence), 0);
	CHECK_EQ(guest_fence_status(fence), 1);
	CHECK_EQ(guest_fence_status(both), 0);
	settings[0] = picture_to(&first);
	settings[1] = fence_to(&next);
	settings[2] = fence_from(fence);
	CHECK_EQ(commit(&display, settings, 3, 0), 0);
	CHECK_EQ(guest_fence_wait(next), 0);
	CHECK_EQ(guest_fence_status(next), 1);
	guest_foreign_signal(&foreign);
	CHECK_EQ(guest_fence_status(both), 1);
}

/* The commit of `settings` waits for the fence, and changes nothing until then. The last setting is its own fence. */
static void check_waits(const struct setting *settings, uint32_t count, const struct guest_foreign *foreign, int32_t *fence)
{
	const uint32_t crc = crc_shown(&display);

	CHECK_EQ(commit(&display, settings, count, DRM_MODE_ATOMIC_NONBLOCK), 0);
	wait_blanks(3);
	CHECK_EQ(guest_fence_status(*fence), 0);
	CHECK_EQ(crc_shown(&display), crc);
	CHECK_EQ(commit(&display, settings, 1, DRM_MODE_ATOMIC_NONBLOCK), EBUSY);
	guest_foreign_signal(foreign);
	CHECK_EQ(guest_fence_wait(*fence), 0);
	CHECK_EQ(guest_fence_status(*fence), 1);
	CHECK(crc_shown(&display) != crc);
	CHECK_EQ(commit(&display, settings, 1, 0), 0);
}

void commits_wait_for_fences(void)
{
	struct guest_foreign foreign = guest_foreign();
	struct picture second;
	int32_t fence = -1;

	show_picture(1);
	second = make_picture(&display, 640, 480, 2);
	const struct setting settings[3] = {picture_to(&second), fence_from(foreign.file), fence_to(&fence)};

	check_waits(settings, 3, &foreign, &fence);
}

/* A writer's fence in the framebuffer's memory: whoever shows it waits without being told. */
void commits_wait_for_fences_of_their_buffers(void)
{
	struct guest_foreign foreign = guest_foreign();
	struct dma_buf_import_sync_file import = {.flags = DMA_BUF_SYNC_WRITE, .fd = foreign.file};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct picture second;
	int32_t fence = -1;

	show_picture(1);
	second = make_picture(&display, 640, 480, 2);
	const struct setting settings[2] = {picture_to(&second), fence_to(&fence)};

	prime.handle = second.handle;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	CHECK_EQ(guest_ioctl(prime.fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import), 0);
	check_waits(settings, 2, &foreign, &fence);
}

void bad_fences_of_commits_are_refused(void)
{
	struct picture picture = show_picture(1);
	struct guest_foreign foreign = guest_foreign();
	struct setting settings[2] = {picture_to(&picture)};
	int null = open("/dev/null", O_RDWR);
	const int bad[] = {null, display.fd, 1000, -2};
	int32_t fence = -1;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		settings[1] = fence_from(bad[i]);
		CHECK_EQ(commit(&display, settings, 2, 0), EINVAL);
		CHECK_EQ(commit(&display, settings, 2, DRM_MODE_ATOMIC_TEST_ONLY), EINVAL);
	}
	settings[1] = fence_to((int32_t *)1);
	CHECK_EQ(commit(&display, settings, 2, 0), EFAULT);
	/* Two fences for one plane. */
	const struct setting twice[2] = {fence_from(foreign.file), fence_from(foreign.file)};

	CHECK_EQ(commit(&display, twice, 2, DRM_MODE_ATOMIC_TEST_ONLY), EINVAL);
	/* None at all. */
	settings[1] = fence_from(-1);
	CHECK_EQ(commit(&display, settings, 2, 0), 0);
	settings[1] = fence_to(&fence);
	CHECK_EQ(commit(&display, settings, 2, 0), 0);
	CHECK_EQ(guest_fence_wait(fence), 0);
}

/* ---- blobs ---- */

static int make_blob(int fd, const void *data, uint32_t length, uint32_t *blob)
{
	struct drm_mode_create_blob create = {.data = (uintptr_t)data, .length = length};
	int error = guest_ioctl(fd, DRM_IOCTL_MODE_CREATEPROPBLOB, &create);

	*blob = create.blob_id;
	return error;
}

static int destroy_blob(int fd, uint32_t blob)
{
	struct drm_mode_destroy_blob destroy = {.blob_id = blob};

	return guest_ioctl(fd, DRM_IOCTL_MODE_DESTROYPROPBLOB, &destroy);
}

static int read_blob(int fd, uint32_t blob, void *data, uint32_t *length)
{
	struct drm_mode_get_blob get = {.blob_id = blob, .data = (uintptr_t)data, .length = *length};
	int error = guest_ioctl(fd, DRM_IOCTL_MODE_GETPROPBLOB, &get);

	*length = get.length;
	return error;
}

void blobs_are_made_and_destroyed(void)
{
	int fd = open_display(kms_driver).fd;
	uint8_t data[300], got[300] = {0};
	uint32_t blob, other, length = 0;

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	CHECK_EQ(make_blob(fd, data, sizeof(data), &blob), 0);
	CHECK_EQ(make_blob(fd, data, 1, &other), 0);
	CHECK(blob != 0 && other != 0 && blob != other);
	/* Its length, and then its data. */
	CHECK_EQ(read_blob(fd, blob, NULL, &length), 0);
	CHECK_EQ(length, sizeof(data));
	CHECK_EQ(read_blob(fd, blob, got, &length), 0);
	CHECK_EQ(memcmp(got, data, sizeof(data)), 0);
	CHECK_EQ(read_blob(fd, blob, (void *)1, &length), EFAULT);
	CHECK_EQ(make_blob(fd, data, 0, &length), EINVAL);
	CHECK_EQ(make_blob(fd, data, 0xffffffff, &length), EINVAL);
	CHECK_EQ(make_blob(fd, (void *)1, 16, &length), EFAULT);
	CHECK_EQ(destroy_blob(fd, 0), ENOENT);
	CHECK_EQ(destroy_blob(fd, 0xffff), ENOENT);
	CHECK_EQ(destroy_blob(fd, blob), 0);
	CHECK_EQ(destroy_blob(fd, blob), ENOENT);
	CHECK_EQ(read_blob(fd, blob, got, &length), ENOENT);
	length = 1;
	CHECK_EQ(read_blob(fd, other, got, &length), 0);
}

/* Another file may read a blob, but not destroy it. A mode that is set outlives its blob's file. */
void blobs_end_with_their_file(void)
{
	int fd, other = open_display(kms_driver).fd;
	uint32_t blob, length = 0;
	struct drm_mode_crtc crtc = {0};

	display.fd = guest_open_primary(kms_driver);
	fd = guest_open_primary(kms_driver);
	CHECK_EQ(make_blob(fd, "blob", 4, &blob), 0);
	CHECK_EQ(read_blob(other, blob, NULL, &length), 0);
	CHECK_EQ(length, 4);
	CHECK_EQ(destroy_blob(other, blob), EPERM);
	close(fd);
	CHECK_EQ(read_blob(other, blob, NULL, &length), ENOENT);
	CHECK_EQ(destroy_blob(other, blob), ENOENT);
	close(display.fd);
	close(other);
	show_picture(1);
	CHECK_EQ(make_blob(display.fd, mode_of(&display, 1024, 768), sizeof(struct drm_mode_modeinfo), &blob), 0);
	struct picture picture = make_picture(&display, 1024, 768, 3);
	const struct setting settings[6] = {
		{display.crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", blob},
		picture_to(&picture),
		{display.plane, DRM_MODE_OBJECT_PLANE, "SRC_W", 1024u << 16},
		{display.plane, DRM_MODE_OBJECT_PLANE, "SRC_H", 768u << 16},
		{display.plane, DRM_MODE_OBJECT_PLANE, "CRTC_W", 1024},
		{display.plane, DRM_MODE_OBJECT_PLANE, "CRTC_H", 768},
	};

	CHECK_EQ(commit(&display, settings, 6, NEW_MODE), 0);
	CHECK_EQ(destroy_blob(display.fd, blob), 0);
	crtc.crtc_id = display.crtc;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETCRTC, &crtc), 0);
	CHECK_EQ(crtc.mode_valid, 1);
	CHECK_EQ(crtc.mode.hdisplay, 1024);
	/* A blob that is no mode. */
	CHECK_EQ(make_blob(display.fd, "mode", 4, &blob), 0);
	const struct setting bad = {display.crtc, DRM_MODE_OBJECT_CRTC, "MODE_ID", blob};

	CHECK_EQ(commit(&display, &bad, 1, NEW_MODE), EINVAL);
}

/* ---- properties ---- */

struct property {
	struct drm_mode_get_property info;
	uint64_t values[64];
	struct drm_mode_property_enum enums[64];
};

static void read_property(uint32_t id, struct property *property)
{
	memset(property, 0, sizeof(*property));
	property->info.prop_id = id;
	property->info.values_ptr = (uintptr_t)property->values;
	property->info.enum_blob_ptr = (uintptr_t)property->enums;
	property->info.count_values = property->info.count_enum_blobs = 64;
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETPROPERTY, &property->info), 0);
	CHECK(property->info.count_values <= 64 && property->info.count_enum_blobs <= 64);
}

static bool is_named(const struct property *property, uint64_t value)
{
	for (uint32_t i = 0; i < property->info.count_enum_blobs; i++)
		if (property->enums[i].value == value)
			return true;
	return false;
}

/* The values of an enumeration differ and have names; that of the object is one of them. */
static void check_names(const struct property *property, uint64_t value)
{
	const struct drm_mode_property_enum *enums = property->enums;

	CHECK(property->info.count_enum_blobs > 0);
	CHECK_EQ(property->info.count_values, property->info.count_enum_blobs);
	for (uint32_t i = 0; i < property->info.count_enum_blobs; i++) {
		CHECK(enums[i].name[0] != 0 && memchr(enums[i].name, 0, sizeof(enums[i].name)) != NULL);
		for (uint32_t j = 0; j < i; j++)
			CHECK(enums[i].value != enums[j].value && strcmp(enums[i].name, enums[j].name) != 0);
	}
	CHECK(is_named(property, value));
}

static void check_property(uint32_t id, uint64_t value)
{
	static struct property property;
	struct drm_mode_get_blob blob = {.blob_id = (uint32_t)value};
	uint32_t type;

	read_property(id, &property);
	type = property.info.flags & (DRM_MODE_PROP_LEGACY_TYPE | DRM_MODE_PROP_EXTENDED_TYPE);
	CHECK_EQ(property.info.prop_id, id);
	CHECK(property.info.name[0] != 0 && memchr(property.info.name, 0, sizeof(property.info.name)) != NULL);
	if (type == DRM_MODE_PROP_RANGE || type == DRM_MODE_PROP_SIGNED_RANGE)
		CHECK_EQ(property.info.count_values, 2);
	if (type == DRM_MODE_PROP_RANGE)
		CHECK(property.values[0] <= value && value <= property.values[1]);
	else if (type == DRM_MODE_PROP_SIGNED_RANGE)
		CHECK((int64_t)property.values[0] <= (int64_t)value && (int64_t)value <= (int64_t)property.values[1]);
	else if (type == DRM_MODE_PROP_ENUM)
		check_names(&property, value);
	else if (type == DRM_MODE_PROP_BLOB)
		CHECK(value == 0 || guest_ioctl(display.fd, DRM_IOCTL_MODE_GETPROPBLOB, &blob) == 0);
	else
		CHECK(type == DRM_MODE_PROP_OBJECT || type == DRM_MODE_PROP_BITMASK);
}

/* All properties of an object. @return their number */
static uint32_t list_properties(uint32_t object, uint32_t type, uint32_t ids[64], uint64_t values[64])
{
	struct drm_mode_obj_get_properties list = {
		.props_ptr = (uintptr_t)ids,
		.prop_values_ptr = (uintptr_t)values,
		.count_props = 64,
		.obj_id = object,
		.obj_type = type,
	};

	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &list), 0);
	CHECK(list.count_props > 0 && list.count_props <= 64);
	return list.count_props;
}

/* Each property has one type, a name, and a value within its limits: of a display that is off, and of one that is on. */
void properties_have_limits(void)
{
	uint32_t ids[64];
	uint64_t values[64];
	struct drm_mode_get_property none = {.prop_id = 0xffff};

	display = open_display(kms_driver);
	for (int round = 0; round < 2; round++) {
		const uint32_t objects[3][2] = {{display.connector, DRM_MODE_OBJECT_CONNECTOR},
						{display.crtc, DRM_MODE_OBJECT_CRTC},
						{display.plane, DRM_MODE_OBJECT_PLANE}};

		for (uint32_t i = 0; i < 3; i++) {
			uint32_t count = list_properties(objects[i][0], objects[i][1], ids, values);

			for (uint32_t j = 0; j < count; j++)
				check_property(ids[j], values[j]);
		}
		if (round == 0)
			(void)show_on(1);
	}
	CHECK_EQ(guest_ioctl(display.fd, DRM_IOCTL_MODE_GETPROPERTY, &none), ENOENT);
}

/* One property, by its number. */
static int set_raw(uint32_t object, uint32_t property, uint64_t value)
{
	uint32_t count = 1;
	struct drm_mode_atomic args = {
		.flags = DRM_MODE_ATOMIC_TEST_ONLY | NEW_MODE,
		.count_objs = 1,
		.objs_ptr = (uintptr_t)&object,
		.count_props_ptr = (uintptr_t)&count,
		.props_ptr = (uintptr_t)&property,
		.prop_values_ptr = (uintptr_t)&value,
	};

	return guest_ioctl(display.fd, DRM_IOCTL_MODE_ATOMIC, &args);
}

/* A value that the property does not allow. @return false: it allows all */
static bool beyond(const struct property *property, uint64_t *value)
{
	switch (property->info.flags & (DRM_MODE_PROP_LEGACY_TYPE | DRM_MODE_PROP_EXTENDED_TYPE)) {
	case DRM_MODE_PROP_RANGE:
	case DRM_MODE_PROP_SIGNED_RANGE:
		*value = property->values[1] + 1;
		return property->values[1] != UINT64_MAX && property->values[1] != INT64_MAX;
	case DRM_MODE_PROP_ENUM:
		for (*value = 0; is_named(property, *value);)
			(*value)++;
		return true;
	case DRM_MODE_PROP_BLOB:
	case DRM_MODE_PROP_OBJECT:
		*value = 0xffffff;
		return true;
	default:
		return false;
	}
}

/* Values beyond each property's limits, values for what cannot be set, and properties of other objects. */
void values_beyond_the_limits_are_refused(void)
{
	static struct property property;
	uint32_t ids[64], tried = 0;
	uint64_t values[64], value;

	show_picture(1);
	const uint32_t objects[3][2] = {{display.connector, DRM_MODE_OBJECT_CONNECTOR},
					{display.crtc, DRM_MODE_OBJECT_CRTC},
					{display.plane, DRM_MODE_OBJECT_PLANE}};

	for (uint32_t i = 0; i < 3; i++) {
		uint32_t count = list_properties(objects[i][0], objects[i][1], ids, values);

		for (uint32_t j = 0; j < count; j++) {
			read_property(ids[j], &property);
			if (property.info.flags & DRM_MODE_PROP_IMMUTABLE)
				CHECK_EQ(set_raw(objects[i][0], ids[j], values[j]), EINVAL);
			else if (beyond(&property, &value))
				CHECK_EQ(set_raw(objects[i][0], ids[j], value), EINVAL);
			else
				continue;
			tried++;
		}
	}
	CHECK(tried >= 8);
	CHECK_EQ(set_raw(display.plane, 0xffff, 0), ENOENT);
	CHECK_EQ(set_raw(0xffff, ids[0], 0), ENOENT);
	/* The connector has no property of the plane's. */
	CHECK_EQ(set_raw(display.connector, property_of(&display, display.plane, DRM_MODE_OBJECT_PLANE, "SRC_X"), 0), ENOENT);
}
