/* php_processes.c: groups processes of php_tasks.h and idle_pools.h, and checks permissions along the path of a
 * socket. */
#include "php_processes.h"

#include "container.h"
#include "idle_pools.h"
#include "mem.h"
#include "php_tasks.h"
#include "socket_access.h"

#include <string.h>

/* Looks the socket up below the process's own root, which differs in a chroot or a container. */
static void check_socket(struct php_group *g, const char *proc, const struct php_task *t, const char *path)
{
	_cleanup_(freep) char *own = t->pid ? xasprintf("%s/%d/root", proc, (int)t->pid) : xstrdup(t->root ? t->root : "/");
	struct root_dir root;
	struct socket_access reach;

	if (root_dir_open(own, &root) < 0 && root_dir_open("/", &root) < 0)
		return;
	socket_access_check(&root, path, &t->status, &reach);
	root_dir_close(&root);
	g->may_send = reach.how == SOCKET_ACCESS_OPEN;
	g->absent = reach.how == SOCKET_ACCESS_ABSENT;
	snprintf(g->blocked_at, sizeof(g->blocked_at), "%.107s", reach.at);
	snprintf(g->owner_group, sizeof(g->owner_group), "%s", reach.group);
	if (t->other_root == TRISTATE_YES)
		snprintf(g->other_root, sizeof(g->other_root), "%.107s", t->root ? t->root : "its container");
	g->contained = (t->other_root == TRISTATE_YES && !t->root) || (!strcmp(proc, "/proc") && container_without_systemd(""));
}

static void describe(const char *proc, const struct php_task *t, const char *socket_path, struct php_group *ret)
{
	*ret = (struct php_group){ .processes = t->pid != 0 };
	snprintf(ret->name, sizeof(ret->name), "%s", t->name);
	user_name(t->status.uid, ret->user, sizeof(ret->user));
	ret->loaded = t->loaded == TRISTATE_YES ? LOADED_YES : t->loaded == TRISTATE_NO ? LOADED_NO : LOADED_UNKNOWN;
	check_socket(ret, proc, t, socket_path);
}

struct groups {
	struct php_group **list;
	size_t count, capacity;
};

static void add(struct groups *all, const struct php_group *g)
{
	for (size_t i = 0; i < all->count; i++) {
		struct php_group *other = &(*all->list)[i];

		if (strcmp(other->user, g->user) || strcmp(other->name, g->name) || other->may_send != g->may_send ||
		    strcmp(other->other_root, g->other_root))
			continue;
		other->processes += g->processes;
		if (g->loaded > other->loaded)
			other->loaded = g->loaded;
		return;
	}
	GROW(all->list, &all->capacity, all->count + 1);
	(*all->list)[all->count++] = *g;
}

static void add_tasks(struct groups *all, const char *proc, const struct php_task *tasks, size_t count, const char *socket_path)
{
	for (size_t i = 0; i < count; i++) {
		struct php_group g;

		if (tasks[i].master)
			continue;
		describe(proc, &tasks[i], socket_path, &g);
		add(all, &g);
	}
}

size_t php_processes_find(const char *proc, const char *socket_path, struct php_group **ret)
{
	struct groups all = { .list = ret };
	struct php_task *tasks, *idle;
	size_t n, idle_count;

	*ret = NULL;
	n = php_tasks_find(proc, &tasks, NULL);
	idle_count = idle_pools_find(tasks, n, &idle);
	add_tasks(&all, proc, tasks, n, socket_path);
	add_tasks(&all, proc, idle, idle_count, socket_path);
	php_tasks_free(idle, idle_count);
	php_tasks_free(tasks, n);
	return all.count;
}

void php_group_put_barrier(const struct php_group *g, const char *socket_path, struct buf *out)
{
	if (g->absent && *g->other_root) {
		buf_printf(out, " finds no %s in %s; mount its directory there", g->blocked_at, g->other_root);
		return;
	}
	if (g->absent) {
		buf_printf(out, " finds no %s; start the daemon", g->blocked_at);
		return;
	}
	buf_printf(out, " may not %s %s; ", strcmp(g->blocked_at, socket_path) == 0 ? "write to" : "enter", g->blocked_at);
	if (*g->owner_group && g->contained)
		buf_puts(out, "run the daemon with a group of that PHP");
	else if (*g->owner_group)
		buf_printf(out, "add it to the group %s (usermod -aG %s %s) and restart that PHP", g->owner_group, g->owner_group,
			   g->user);
	else
		buf_puts(out, "give it the right and restart that PHP");
}
