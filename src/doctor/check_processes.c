/* check_processes.c: groups running PHP processes that are alike, and checks each group. */
#include "doctor.h"

#include "mem.h"
#include "obstacles.h"
#include "php_view.h"

#include <string.h>

#define GROUPS_SHOWN	24

/* Two php-fpm masters may have pools of one name with different settings, and scripts their own options. */
static bool same_settings(const struct php_task *a, const struct php_task *b)
{
	if (*a->pool)
		return a->status.parent == b->status.parent;
	return a->command_size == b->command_size && !memcmp(a->command, b->command, a->command_size);
}

/* Whether a finding about one process applies to the other as well. */
static bool alike(const struct php_task *a, const struct php_task *b)
{
	return !strcmp(a->name, b->name) && same_settings(a, b) && a->status.uid == b->status.uid && a->loaded == b->loaded &&
	       a->other_root == b->other_root && !strcmp(a->root ? a->root : "", b->root ? b->root : "") &&
	       !strcmp(a->exe ? a->exe : "", b->exe ? b->exe : "") && a->extension_deleted == b->extension_deleted &&
	       !strcmp(a->service, b->service) && a->status.gid_count == b->status.gid_count &&
	       !memcmp(a->status.gids, b->status.gids, a->status.gid_count * sizeof(*a->status.gids));
}

static void check_group(struct findings *f, const struct doctor *d, const struct machine_tasks *all, const struct php_task *t,
			unsigned processes, struct php_installation_list *found)
{
	_cleanup_(freep) char *about = NULL;
	struct php_view v;

	findings_set_subject(f, "process %d (%s)", (int)t->pid, t->name);
	php_view_open(&v, d, all, t, found);
	about = processes > 1 ? xasprintf("%u × %s, such as process %d", processes, v.about, (int)t->pid) :
		xasprintf("%s, process %d", v.about, (int)t->pid);
	doctor_task(f, d, AREA_PROCESSES, about, &v);
	php_view_close(&v);
}

void doctor_processes(struct findings *f, const void *data)
{
	const struct doctor *d = data;
	struct php_installation_list found = { 0 };
	struct machine_tasks all;
	struct obstacle hides;
	unsigned shown = 0, left_out = 0;

	all.count = php_tasks_find(d->proc, &all.items, &all.examined);
	for (size_t i = 0; i < all.count; i++) {
		unsigned processes = 1;
		bool is_first = !all.items[i].master;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !alike(&all.items[k], &all.items[i]);
		if (!is_first)
			continue;
		for (size_t k = i + 1; k < all.count; k++)
			processes += alike(&all.items[i], &all.items[k]);
		if (shown++ < GROUPS_SHOWN)
			check_group(f, d, &all, &all.items[i], processes, &found);
		else
			left_out++;
	}
	if (left_out)
		findings_add(f, LEVEL_NOTE, AREA_PROCESSES, "more", "", "strobe doctor -p PID", "%u more kinds of processes are left out", left_out);
	if (obstacle_for_hidepid(d->proc, &hides))
		findings_add(f, LEVEL_WARNING, AREA_PROCESSES, "hidden", "", hides.remedy, "%s", hides.cause);
	if (!shown)
		findings_add(f, LEVEL_NOTE, AREA_PROCESSES, "no-process", "", "start it, or try: strobe run -- php script.php",
			     "none of the %zu processes runs PHP (looked for php, php-fpm, frankenphp, and Apache with libphp)", all.examined);
	php_installations_done(&found);
	php_tasks_free(all.items, all.count);
}
