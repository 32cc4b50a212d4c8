/* idle_pools.c: determines credentials as php-fpm does: user and group of the pool, and the user's supplementary
 * groups; a master that is not root passes on its own. */
#include "idle_pools.h"

#include "fpm_pools.h"
#include "mem.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define NAMES	16384		/* bytes of one entry of a user or a group */

struct idle {
	const struct php_task *tasks;
	size_t count;
	struct php_task **list;
	size_t found, capacity;
};

static bool is_number(const char *text)
{
	return *text && !text[strspn(text, "0123456789")];
}

static bool find_group(const char *name, gid_t *ret)
{
	struct group entry, *group = NULL;
	char text[NAMES];

	if (is_number(name)) {
		*ret = (gid_t)strtoul(name, NULL, 10);
		return true;
	}
	if (getgrnam_r(name, &entry, text, sizeof(text), &group) != 0 || !group)
		return false;
	*ret = group->gr_gid;
	return true;
}

static bool find_user(const char *name, struct task_status *ret)
{
	struct passwd entry, *user = NULL;
	char text[NAMES];

	if (is_number(name)) {
		ret->uid = (uid_t)strtoul(name, NULL, 10);
		return true;
	}
	if (getpwnam_r(name, &entry, text, sizeof(text), &user) != 0 || !user)
		return false;
	ret->uid = user->pw_uid;
	ret->gids[0] = user->pw_gid;
	ret->gid_count = 1;
	return true;
}

/* Returns false in cases where php-fpm would not start the pool either. */
static bool find_status(const struct fpm_pool *p, const struct php_task *master, struct task_status *ret)
{
	int most = TASK_GROUPS;

	*ret = master->status;
	if (master->status.uid)
		return true;
	*ret = (struct task_status){ .seccomp = -1 };
	if (!p->user || !find_user(p->user, ret))
		return false;
	if (p->group && !find_group(p->group, &ret->gids[0]))
		return false;
	ret->gid_count = 1;
	if (!is_number(p->user))
		ret->gid_count = getgrouplist(p->user, ret->gids[0], ret->gids, &most) < 0 ? TASK_GROUPS : (size_t)most;
	return true;
}

static bool has_process(const struct idle *idle, const struct php_task *master, const char *pool)
{
	for (size_t i = 0; i < idle->count; i++)
		if (idle->tasks[i].status.parent == master->pid && strcmp(idle->tasks[i].pool, pool) == 0)
			return true;
	return false;
}

static void add(struct idle *idle, const struct php_task *master, const struct fpm_pool *p)
{
	struct php_task t = { .loaded = master->loaded, .other_root = p->chroot ? TRISTATE_YES : TRISTATE_NO };

	if (!find_status(p, master, &t.status))
		return;
	snprintf(t.pool, sizeof(t.pool), "%s", p->name);
	snprintf(t.name, sizeof(t.name), "php-fpm, pool %s", t.pool);
	t.root = p->chroot ? xstrdup(p->chroot) : NULL;
	GROW(idle->list, &idle->capacity, idle->found + 1);
	(*idle->list)[idle->found++] = t;
}

/* Only root can read the root directory of another process; a service of this machine's systemd shares ours. */
static bool sees_our_files(const struct php_task *t)
{
	return t->other_root == TRISTATE_NO || (t->other_root == TRISTATE_UNKNOWN && *t->service);
}

size_t idle_pools_find(const struct php_task *tasks, size_t count, struct php_task **ret)
{
	struct idle idle = { .tasks = tasks, .count = count, .list = ret };
	struct root_dir root;

	*ret = NULL;
	if (root_dir_open("/", &root) < 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		struct fpm_pools pools = { 0 };

		if (!tasks[i].master || !*tasks[i].config || !sees_our_files(&tasks[i]))
			continue;
		fpm_pools_read(&root, tasks[i].config, &pools);
		for (size_t k = 0; k < pools.count; k++)
			if (!has_process(&idle, &tasks[i], pools.items[k].name))
				add(&idle, &tasks[i], &pools.items[k]);
		fpm_pools_done(&pools);
	}
	root_dir_close(&root);
	return idle.found;
}
