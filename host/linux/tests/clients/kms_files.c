// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Files of a device: versions, clients, masters; and the device's end under them. */
#define _GNU_SOURCE
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "kms_checks.h"

#define USER 1000

static int open_device(void)
{
	int fd = guest_open_primary(kms_driver);

	CHECK(fd >= 0);
	return fd;
}

/* All nodes may be opened by the user that this process is from then on: root is authenticated without a master. */
static void become_user(void)
{
	CHECK_EQ(system("chmod 666 /dev/dri/card*"), 0);
	CHECK_EQ(seteuid(USER), 0);
}

static bool is_authenticated(int fd)
{
	struct drm_client client = {0};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GET_CLIENT, &client), 0);
	return client.auth != 0;
}

static int set_master(int fd)
{
	return guest_ioctl(fd, DRM_IOCTL_SET_MASTER, NULL);
}

static int drop_master(int fd)
{
	return guest_ioctl(fd, DRM_IOCTL_DROP_MASTER, NULL);
}

static uint32_t dumb_buffer(int fd)
{
	struct drm_mode_create_dumb create = {.width = 64, .height = 16, .bpp = 32};

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_CREATE_DUMB, &create), 0);
	return create.handle;
}

/* ---- versions, clients ---- */

void versions_are_reported(void)
{
	char name[64] = "", date[64] = "", description[64] = "", part[4] = "...";
	struct drm_version version = {0};
	struct drm_get_cap capability = {.capability = 0xffff};
	struct drm_set_client_cap client = {.capability = 0xffff, .value = 1};
	int fd = open_device();

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	CHECK_EQ(version.name_len, strlen(kms_driver));
	CHECK(version.date_len > 0 && version.date_len < sizeof(date));
	CHECK(version.desc_len > 0 && version.desc_len < sizeof(description));
	version.name = name;
	version.date = date;
	version.desc = description;
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	CHECK_EQ(strcmp(name, kms_driver), 0);
	CHECK_EQ(strlen(date), version.date_len);
	CHECK_EQ(strlen(description), version.desc_len);
	CHECK(version.version_major + version.version_minor + version.version_patchlevel > 0);
	/* No more is written than there is room for, and the length is the whole one. */
	version = (struct drm_version){.name = part, .name_len = 2};
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VERSION, &version), 0);
	CHECK_EQ(version.name_len, strlen(kms_driver));
	CHECK_EQ(memcmp(part, kms_driver, 2), 0);
	CHECK_EQ(part[2], '.');
	/* EINVAL, or EOPNOTSUPP without a display. */
	CHECK(guest_ioctl(fd, DRM_IOCTL_GET_CAP, &capability) != 0);
	CHECK(guest_ioctl(fd, DRM_IOCTL_SET_CLIENT_CAP, &client) != 0);
}

/* GET_CLIENT reports the caller alone. */
void a_file_learns_who_it_is(void)
{
	struct drm_client client = {0};
	int fd;

	become_user();
	fd = open_device();
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GET_CLIENT, &client), 0);
	CHECK_EQ(client.pid, getpid());
	CHECK_EQ(client.auth, 1);
	for (int index = 1; index < 4; index++) {
		client.idx = index;
		CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GET_CLIENT, &client), EINVAL);
	}
}

void many_files_open_and_close(void)
{
	enum { FILES = 200, ROUNDS = 4 };
	static int files[FILES];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < FILES; i++) {
			files[i] = open_device();
			CHECK(is_authenticated(files[i]));
		}
		for (int i = 0; i < FILES; i++)
			close(files[(i * 7) % FILES]);
	}
}

/* ---- masters ---- */

/* The first file is the master; another one becomes it when the first has dropped it, or has been closed. */
void one_file_is_master(void)
{
	int first = open_device(), second = open_device(), third;

	CHECK_EQ(set_master(first), 0);
	CHECK_EQ(set_master(second), EBUSY);
	CHECK_EQ(drop_master(second), EINVAL);
	CHECK_EQ(drop_master(first), 0);
	CHECK_EQ(drop_master(first), EINVAL);
	CHECK_EQ(set_master(second), 0);
	CHECK_EQ(set_master(first), EBUSY);
	close(second);
	CHECK_EQ(set_master(first), 0);
	close(first);
	third = open_device();
	CHECK_EQ(set_master(third), 0);
}

/* What needs authentication: a name for an object. */
static int name_object(int fd, uint32_t handle)
{
	struct drm_gem_flink flink = {.handle = handle};

	return guest_ioctl(fd, DRM_IOCTL_GEM_FLINK, &flink);
}

void a_master_authenticates_others(void)
{
	int master, other, third;
	struct drm_auth magic = {0}, second = {0}, none = {.magic = 0x7fffffff};
	uint32_t handle;

	become_user();
	master = open_device();
	other = open_device();
	third = open_device();
	CHECK(is_authenticated(master));
	CHECK(!is_authenticated(other));
	handle = dumb_buffer(other);
	CHECK_EQ(name_object(other, handle), EACCES);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_GET_MAGIC, &magic), 0);
	CHECK_EQ(guest_ioctl(third, DRM_IOCTL_GET_MAGIC, &second), 0);
	CHECK(magic.magic != 0 && second.magic != 0 && magic.magic != second.magic);
	CHECK_EQ(guest_ioctl(other, DRM_IOCTL_AUTH_MAGIC, &magic), EACCES);
	CHECK_EQ(guest_ioctl(master, DRM_IOCTL_AUTH_MAGIC, &none), EINVAL);
	CHECK_EQ(guest_ioctl(master, DRM_IOCTL_AUTH_MAGIC, &magic), 0);
	CHECK_EQ(guest_ioctl(master, DRM_IOCTL_AUTH_MAGIC, &magic), EINVAL);
	CHECK(is_authenticated(other));
	CHECK(!is_authenticated(third));
	CHECK_EQ(name_object(other, handle), 0);
	/* The magic of a file that is closed is void. */
	close(third);
	CHECK_EQ(guest_ioctl(master, DRM_IOCTL_AUTH_MAGIC, &second), EINVAL);
}

/* A user without rights that was the master may become it again; one that was not may not. */
void a_master_without_rights_may_return(void)
{
	int master, other;

	become_user();
	master = open_device();
	other = open_device();
	CHECK_EQ(set_master(other), EACCES);
	CHECK_EQ(drop_master(other), EACCES);
	CHECK_EQ(drop_master(master), 0);
	CHECK(is_authenticated(master));
	CHECK_EQ(set_master(other), EACCES);
	CHECK_EQ(set_master(master), 0);
	CHECK_EQ(seteuid(0), 0);
	CHECK_EQ(set_master(other), EBUSY);
	CHECK_EQ(drop_master(master), 0);
	CHECK_EQ(set_master(other), 0);
}

/* ---- what not every driver has ---- */

void syncobjs_are_offered(void)
{
	struct drm_get_cap capability = {.capability = DRM_CAP_SYNCOBJ}, timeline = {.capability = DRM_CAP_SYNCOBJ_TIMELINE};
	struct drm_syncobj_create create = {0};
	int fd = open_device(), error;

	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GET_CAP, &capability), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GET_CAP, &timeline), 0);
	error = guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);
	if (capability.value == 0) {
		CHECK_EQ(timeline.value, 0);
		CHECK_EQ(error, EOPNOTSUPP);
		guest_lacks("DRM_CAP_SYNCOBJ is 0, SYNCOBJ_CREATE is EOPNOTSUPP");
	}
	CHECK_EQ(error, 0);
	CHECK_EQ(timeline.value, 1);
	CHECK_EQ(guest_syncobj_wait(fd, create.handle, 0, 0), ETIME);
}

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0);
	CHECK_EQ(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* What holds of a driver whose devices have no driver on a bus: its module stays while a file is open. */
static void check_module_stays(int fd)
{
	uint32_t handle = dumb_buffer(fd);
	struct drm_gem_close close_it = {.handle = handle};

	CHECK_EQ(syscall(SYS_delete_module, kms_driver, O_NONBLOCK), -1);
	CHECK(errno == EAGAIN || errno == EBUSY);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_it), 0);
}

/* An open file, a mapping and a buffer's file outlive the device, and the device that is bound again is as new. */
void the_device_unbinds_with_open_files(void)
{
	struct drm_mode_map_dumb map = {0};
	struct drm_prime_handle prime = {.flags = DRM_CLOEXEC | DRM_RDWR};
	struct drm_version version = {0};
	char path[PATH_MAX], device[PATH_MAX], driver[PATH_MAX], unbind[2 * PATH_MAX];
	struct stat node;
	int fd = open_device(), again;
	void *words;

	CHECK_EQ(fstat(fd, &node), 0);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(node.st_rdev), minor(node.st_rdev));
	CHECK(realpath(path, device) != NULL);
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device/driver", major(node.st_rdev), minor(node.st_rdev));
	if (realpath(path, driver) == NULL) {
		check_module_stays(fd);
		guest_lacks("its device has no driver on a bus that could be unbound; rmmod is refused while a file is open");
	}
	map.handle = prime.handle = dumb_buffer(fd);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_MODE_MAP_DUMB, &map), 0);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), 0);
	words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
	CHECK(words != MAP_FAILED);
	snprintf(unbind, sizeof(unbind), "%s/unbind", driver);
	write_to(unbind, basename(device));
	CHECK_EQ(guest_open_primary(kms_driver), (uint64_t)-1);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VERSION, &version), ENODEV);
	snprintf(unbind, sizeof(unbind), "%s/bind", driver);
	write_to(unbind, basename(device));
	again = open_device();
	(void)dumb_buffer(again);
	CHECK_EQ(guest_ioctl(fd, DRM_IOCTL_VERSION, &version), ENODEV);
	CHECK_EQ(munmap(words, 4096), 0);
	close(prime.fd);
	close(fd);
	(void)dumb_buffer(again);
}
