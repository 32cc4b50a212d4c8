/* php_processes.c: reads /proc, and the rights of what lies on the way to a socket. */
#include "php_processes.h"

#include "io.h"
#include "mem.h"

#include <ctype.h>
#include <dirent.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GROUPS_MAX	128
#define NAMES		16384	/* bytes of one entry of a user or a group */
#define FILE_MAX	((size_t)4 << 20)	/* the maps of a large process are some 100 KB */

struct identity {
	uid_t uid;
	gid_t gids[GROUPS_MAX];
	size_t gid_count;
};

static bool read_of(const char *proc, const char *pid, const char *file, struct buf *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/%s", proc, pid, file);

	buf_reset(ret);
	return io_read_file(path, ret, FILE_MAX, NULL) >= 0;
}

/* --- who it is */

/* The numbers behind "Groups:\t", and the effective one behind "Uid:\t" and "Gid:\t", which is the second. */
static const char *field(const struct buf *status, const char *key)
{
	const char *at = strstr(status->data, key);

	return at ? at + strlen(key) : NULL;
}

static bool read_identity(const struct buf *status, struct identity *ret)
{
	const char *uid = field(status, "\nUid:"), *gid = field(status, "\nGid:"), *groups = field(status, "\nGroups:");
	unsigned long real, effective;
	char *end;

	if (!uid || !gid || sscanf(uid, "%lu %lu", &real, &effective) != 2)
		return false;
	ret->uid = (uid_t)effective;
	if (sscanf(gid, "%lu %lu", &real, &effective) != 2)
		return false;
	ret->gids[0] = (gid_t)effective;
	ret->gid_count = 1;
	while (groups && ret->gid_count < GROUPS_MAX) {
		groups += strspn(groups, " \t");
		if (!isdigit((unsigned char)*groups))
			break;
		ret->gids[ret->gid_count++] = (gid_t)strtoul(groups, &end, 10);
		groups = end;
	}
	return true;
}

/* --- what it may reach */

static bool is_member(const struct identity *who, gid_t gid)
{
	for (size_t i = 0; i < who->gid_count; i++)
		if (who->gids[i] == gid)
			return true;
	return false;
}

/* By the nine bits: access lists may allow more, and are not looked at where these do. */
static bool allows(const struct stat *st, const struct identity *who, mode_t right)
{
	if (who->uid == 0)
		return true;
	if (st->st_uid == who->uid)
		return st->st_mode & right << 6;
	if (is_member(who, st->st_gid))
		return st->st_mode & right << 3;
	return st->st_mode & right;
}

static void put_owner_group(struct php_group *g, const struct stat *st, mode_t right)
{
	struct group group, *owner = NULL;
	char text[NAMES];

	if (st->st_mode & right << 3 && st->st_gid && getgrgid_r(st->st_gid, &group, text, sizeof(text), &owner) == 0 && owner)
		snprintf(g->owner_group, sizeof(g->owner_group), "%s", owner->gr_name);
}

/* Each directory on the way must let it through, and the socket must let it write. */
static void look_at_socket(struct php_group *g, const char *path, const struct identity *who)
{
	for (const char *slash = strchr(path, '/'); ; slash = strchr(slash + 1, '/')) {
		size_t n = !slash ? strlen(path) : slash == path ? 1 : (size_t)(slash - path);
		mode_t right = slash ? 1 : 2;
		struct stat st;

		snprintf(g->blocked_at, sizeof(g->blocked_at), "%.*s", (int)n, path);
		if (stat(g->blocked_at, &st) < 0)
			return;
		if (!allows(&st, who, right)) {
			put_owner_group(g, &st, right);
			return;
		}
		if (!slash)
			break;
	}
	g->blocked_at[0] = 0;
	g->may_send = true;
}

/* --- what it is called */

static bool is_php(const char *comm)
{
	return strncmp(comm, "php", 3) == 0 || strcmp(comm, "frankenphp") == 0 || strcmp(comm, "apache2") == 0 ||
	       strcmp(comm, "httpd") == 0;
}

/* Apache runs without PHP, too. */
static bool needs_proof(const char *comm)
{
	return strcmp(comm, "apache2") == 0 || strcmp(comm, "httpd") == 0;
}

/* FPM's workers are called "php-fpm: pool www", its master is of no interest. */
static bool put_name(struct php_group *g, const char *comm, const char *title)
{
	static const char pool[] = "php-fpm: pool ";

	if (strncmp(title, "php-fpm: master", 15) == 0)
		return false;
	if (strncmp(title, pool, sizeof(pool) - 1) == 0)
		snprintf(g->name, sizeof(g->name), "php-fpm, pool %.64s", title + sizeof(pool) - 1);
	else
		snprintf(g->name, sizeof(g->name), "%.64s", comm);
	for (char *p = g->name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return true;
}

static void put_user(struct php_group *g, uid_t uid)
{
	struct passwd entry, *p = NULL;
	char text[NAMES];

	if (getpwuid_r(uid, &entry, text, sizeof(text), &p) == 0 && p)
		snprintf(g->user, sizeof(g->user), "%s", p->pw_name);
	else
		snprintf(g->user, sizeof(g->user), "%lu", (unsigned long)uid);
}

static bool describe(const char *proc, const char *pid, const char *socket_path, struct php_group *g)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	struct identity who;
	char comm[64];

	buf_init(&text);
	*g = (struct php_group){ .processes = 1 };
	if (!read_of(proc, pid, "comm", &text))
		return false;
	snprintf(comm, sizeof(comm), "%.*s", (int)strcspn(text.data, "\n"), text.data);
	if (!is_php(comm) || !read_of(proc, pid, "cmdline", &text) || !text.size || !put_name(g, comm, text.data) ||
	    !read_of(proc, pid, "status", &text) || !read_identity(&text, &who))
		return false;
	put_user(g, who.uid);
	look_at_socket(g, socket_path, &who);
	if (read_of(proc, pid, "maps", &text) && text.size)
		g->loaded = strstr(text.data, "/strobe.so") ? LOADED_YES : LOADED_NO;
	return !needs_proof(comm) || g->loaded == LOADED_YES;
}

static void add(struct php_group **list, size_t *count, size_t *capacity, const struct php_group *g)
{
	for (size_t i = 0; i < *count; i++) {
		struct php_group *other = &(*list)[i];

		if (strcmp(other->user, g->user) || strcmp(other->name, g->name) || other->may_send != g->may_send)
			continue;
		other->processes++;
		if (g->loaded > other->loaded)
			other->loaded = g->loaded;
		return;
	}
	GROW(list, capacity, *count + 1);
	(*list)[(*count)++] = *g;
}

size_t php_processes_find(const char *proc, const char *socket_path, struct php_group **ret)
{
	size_t count = 0, capacity = 0;
	DIR *dir = opendir(proc);
	struct dirent *e;

	*ret = NULL;
	while (dir && (e = readdir(dir))) {
		struct php_group g;

		if (isdigit((unsigned char)e->d_name[0]) && describe(proc, e->d_name, socket_path, &g))
			add(ret, &count, &capacity, &g);
	}
	if (dir)
		closedir(dir);
	return count;
}

void php_group_put_barrier(const struct php_group *g, const char *socket_path, struct buf *out)
{
	buf_printf(out, " may not %s %s; ", strcmp(g->blocked_at, socket_path) == 0 ? "write to" : "enter", g->blocked_at);
	if (*g->owner_group)
		buf_printf(out, "add it to the group %s (usermod -aG %s %s) and restart that PHP", g->owner_group, g->owner_group,
			   g->user);
	else
		buf_puts(out, "give it the right and restart that PHP");
}
