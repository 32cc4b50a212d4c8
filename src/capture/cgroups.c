/* cgroups.c: finds the mount of cgroup2, and directories in it. */

#include "cgroups.h"

#include "cgroup_names.h"
#include "io.h"
#include "mem.h"
#include "text.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_DIGITS_MIN	4u
#define DEPTH_MAX	32u

/* Reads the fourth and fifth word of the line of mountinfo that contains " - cgroup2 ": the mounted root, and the
 * mount point. The root is "/" unless only a part of the tree is mounted, or it was mounted before the caller got its
 * cgroup namespace; it is then relative to that ("/.."). */
static int find_mount(char *ret, size_t size, char *ret_root, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char *rest, *line;

	buf_init(&text);
	if (io_read_file("/proc/self/mountinfo", &text, (size_t)8 << 20, err) < 0)
		return -ENOTSUP;
	for (rest = text.data; rest && (line = strsep(&rest, "\n")); ) {
		char format[32];

		snprintf(format, sizeof(format), "%%*s %%*s %%*s %%%zus %%%zus", size - 1, size - 1);
		if (strstr(line, " - cgroup2 ") && sscanf(line, format, ret_root, ret) == 2)
			return 0;
	}
	return err_set(err, -ENOTSUP, "cgroup v2 is not mounted, and --cgroup and --container require it");
}

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int cgroup_open(const char *path, struct err *err)
{
	char mount[PATH_MAX], root[PATH_MAX], full[2 * PATH_MAX];
	size_t n;
	int fd;

	if (find_mount(mount, sizeof(mount), root, err) < 0)
		return -ENOTSUP;
	n = strlen(mount);
	if (!strncmp(path, mount, n) && (!path[n] || path[n] == '/'))
		snprintf(full, sizeof(full), "%s", path);
	else
		snprintf(full, sizeof(full), "%s%s%s", mount, *path == '/' ? "" : "/", path);
	fd = open_directory(full);
	return fd < 0 ? err_set(err, -errno, "there is no control group '%s': %s", full, strerror(errno)) : fd;
}

struct search {
	const char *id;
	char path[PATH_MAX];		/* current directory of the search */
	char found[PATH_MAX];		/* "" if not found yet */
	bool several;
};

/* Does not descend into the group of a container, whose subgroups belong to it. */
static void search(struct search *s, unsigned depth)
{
	size_t n = strlen(s->path);
	DIR *dir = opendir(s->path);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		const char *id = cgroup_container_id((struct str){ e->d_name, strlen(e->d_name) }).p;

		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
		    snprintf(s->path + n, sizeof(s->path) - n, "/%s", e->d_name) >= (int)(sizeof(s->path) - n))
			continue;
		if (id && !strncmp(id, s->id, strlen(s->id))) {
			s->several |= *s->found && !strstr(s->found, id);
			snprintf(s->found, sizeof(s->found), "%s", s->path);
		} else if (depth < DEPTH_MAX) {
			search(s, depth + 1);
		}
	}
	if (dir)
		closedir(dir);
	s->path[n] = 0;
}

int cgroup_open_container(const char *id, struct err *err)
{
	_cleanup_(freep) struct search *s = xcalloc(1, sizeof(*s));
	char root[PATH_MAX];
	int fd;

	s->id = id;
	if (strlen(id) < ID_DIGITS_MIN || strlen(id) > CGROUP_CONTAINER_DIGITS || strspn(id, "0123456789abcdef") != strlen(id))
		return err_set(err, -EINVAL, "'%s' is not a container id; give %u to %u of its hexadecimal digits", id, ID_DIGITS_MIN,
			       CGROUP_CONTAINER_DIGITS);
	if (find_mount(s->path, sizeof(s->path), root, err) < 0)
		return -ENOTSUP;
	search(s, 0);
	if (!*s->found)
		return err_set(err, -ENOENT, "no container's id begins with '%s' (looked in %s)", id, s->path);
	if (s->several)
		return err_set(err, -EEXIST, "several containers' ids begin with '%s'; give more digits", id);
	fd = open_directory(s->found);
	return fd < 0 ? err_set(err, -errno, "cannot open '%s': %s", s->found, strerror(errno)) : fd;
}

/* Tells whether cgroup.procs of the group or of one below it contains the process. */
static bool lists_process(int directory, pid_t pid, unsigned depth)
{
	char path[PATH_MAX], number[16];
	_cleanup_(buf_done) struct buf text = { 0 };
	DIR *dir = opendir((snprintf(path, sizeof(path), "/proc/self/fd/%d", directory), path));
	struct dirent *e;
	char *rest, *line;
	bool found = false;

	buf_init(&text);
	snprintf(number, sizeof(number), "%d", (int)pid);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/cgroup.procs", directory);
	if (io_read_file(path, &text, (size_t)8 << 20, NULL) >= 0)
		for (rest = text.data; !found && rest && (line = strsep(&rest, "\n")); )
			found = !strcmp(line, number);
	while (!found && dir && depth < DEPTH_MAX && (e = readdir(dir))) {
		int below = e->d_type == DT_DIR && e->d_name[0] != '.' ? openat(directory, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

		found = below >= 0 && lists_process(below, pid, depth + 1);
		if (below >= 0)
			close(below);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* /proc/PID/cgroup and the mount are both relative to the caller's cgroup namespace. If the mount begins above that,
 * the names in between are unknown, so the groups are searched instead. */
bool cgroup_has_process(int directory, pid_t pid)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char mount[PATH_MAX], root[PATH_MAX], link[64], path[PATH_MAX], group[2 * PATH_MAX];
	const char *own, *end;
	ssize_t n;
	size_t size;

	buf_init(&text);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || find_mount(mount, sizeof(mount), root, NULL) < 0)
		return false;
	path[n] = 0;
	if (!strncmp(root, "/..", 3) && (!root[3] || root[3] == '/'))
		return lists_process(directory, pid, 0);
	snprintf(link, sizeof(link), "/proc/%d/cgroup", (int)pid);
	if (io_read_file(link, &text, (size_t)1 << 20, NULL) < 0 || !text.size)
		return false;
	own = !strncmp(text.data, "0::", 3) ? text.data : strstr(text.data, "\n0::");
	if (!own || strncmp(path, mount, strlen(mount)))
		return false;
	snprintf(group, sizeof(group), "%s%s", strcmp(root, "/") ? root : "", path + strlen(mount));
	own = strchr(own, ':') + 2;
	end = strchrnul(own, '\n');
	size = strlen(group);
	return (size_t)(end - own) >= size && !memcmp(own, group, size) && (end == own + size || own[size] == '/');
}
