/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/tool/gl_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/tmp"

static bool fail(const char *program, const char *what)
{
	fprintf(stderr,
		"%s: mount namespace for a /tmp of its own: %s: %s\n"
		"%s: run as root, or where users may make namespaces (kernel.unprivileged_userns_clone)\n",
		program, what, strerror(errno), program);
	return false;
}

static bool write_file(const char *path, const char *text)
{
	const int file = open(path, O_WRONLY | O_CLOEXEC);
	const size_t bytes = strlen(text);
	const bool good = file >= 0 && write(file, text, bytes) == (ssize_t)bytes;

	if (file >= 0)
		(void)close(file);
	return good;
}

/* A user without rights needs a user namespace, in which the user is the same one. */
static bool unshare_mounts(void)
{
	char map[64];
	const uid_t user = geteuid();
	const gid_t group = getegid();

	if (unshare(CLONE_NEWNS) == 0)
		return true;
	if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return false;
	(void)snprintf(map, sizeof(map), "%u %u 1", (unsigned)user, (unsigned)user);
	if (!write_file("/proc/self/setgroups", "deny") || !write_file("/proc/self/uid_map", map))
		return false;
	(void)snprintf(map, sizeof(map), "%u %u 1", (unsigned)group, (unsigned)group);
	return write_file("/proc/self/gid_map", map);
}

/* Makes what an entry is mounted on, or the entry itself if it is a link. @param mounts out: it is to be mounted */
static bool make_entry(int folder, const char *name, const char *target, bool *mounts)
{
	char link[PATH_MAX];
	struct stat status;
	ssize_t length;
	int file;

	*mounts = false;
	/* One that has gone meanwhile is none. */
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT || errno == EACCES;
	if (S_ISLNK(status.st_mode)) {
		length = readlinkat(folder, name, link, sizeof(link) - 1);
		link[length > 0 ? length : 0] = '\0';
		return length <= 0 || symlink(link, target) == 0;
	}
	*mounts = true;
	if (S_ISDIR(status.st_mode))
		return mkdir(target, 0700) == 0;
	file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file >= 0)
		(void)close(file);
	return file >= 0;
}

static bool show_entry(int folder, const char *name)
{
	char source[PATH_MAX], target[PATH_MAX];
	bool mounts;

	(void)snprintf(source, sizeof(source), "/proc/self/fd/%d/%s", folder, name);
	(void)snprintf(target, sizeof(target), FOLDER "/%s", name);
	if (!make_entry(folder, name, target, &mounts))
		return false;
	if (!mounts || mount(source, target, NULL, MS_BIND | MS_REC, NULL) == 0 || errno == ENOENT)
		return true;
	/* What may not be mounted is not shown. */
	return errno == EACCES || errno == EINVAL;
}

/* Shows every entry of a folder but one. @param folder closed at the end */
static bool show_entries(int folder, const char *without)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;
	bool good = entries != NULL;

	while (good && (entry = readdir(entries)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, without) != 0)
			good = show_entry(folder, entry->d_name);
	}
	if (entries != NULL)
		(void)closedir(entries);
	return good;
}

bool pb_gl_private_socket(const char *program, const char *path, const char *name)
{
	const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (file >= 0)
		(void)close(file);
	return (file >= 0 && mount(path, name, NULL, MS_BIND, NULL) == 0) || fail(program, path);
}

bool pb_gl_private_tmp(const char *program, const char *without)
{
	int folder;

	if (!unshare_mounts())
		return fail(program, "unshare");
	/* Of this namespace: what is mounted in another one cannot be shown here. */
	folder = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return fail(program, FOLDER);
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", FOLDER, "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
		(void)close(folder);
		return fail(program, "mount");
	}
	return show_entries(folder, without) || fail(program, "bind");
}
