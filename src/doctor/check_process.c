/* check_process.c: one process: its program, its symbols, whether the caller may inspect it, its samples. */
#include "php_view.h"

#include "elf_summary.h"
#include "mem.h"
#include "obstacles.h"

#include <fcntl.h>
#include <string.h>

struct one {
	struct findings *f;
	const struct doctor *d;
	const struct php_view *view;
	const char *about;
};

/* --- its program, for the system sampler */

/* Debian and Fedora install separate symbols by build id. */
static bool has_separate_symbols(const struct root_dir *root, const char *build_id)
{
	_cleanup_(freep) char *path = xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + (*build_id ? 2 : 0));
	struct stat st;

	return *build_id && root_dir_stat(root, path, &st) == 0;
}

static void add_symbols(const struct one *o, const char *path, const struct elf_summary *s)
{
	_cleanup_(freep) char *fix = xasprintf("install the debug symbols of its package (Debian: find-dbgsym-packages %d)",
					       (int)o->view->task->pid);
	bool separate = has_separate_symbols(&o->view->root, s->build_id);

	if (!*s->build_id)
		findings_add(o->f, LEVEL_NOTE, AREA_PROCESS, "build-id", path, NULL,
			     "has no build id, so separate symbols cannot be found for it");
	if (!s->eh_frame)
		findings_add(o->f, LEVEL_WARNING, AREA_PROCESS, "unwind", path, "build it without -fno-asynchronous-unwind-tables",
			     "has no unwind tables (.eh_frame), so native stacks end in it");
	if (!s->symtab && !separate)
		findings_add(o->f, LEVEL_NOTE, AREA_PROCESS, "symbols", path, fix,
			     "is stripped: of its native functions only the %llu exported ones have names; PHP functions need none",
			     (unsigned long long)s->dynsym);
	if (*s->build_id && s->eh_frame && (s->symtab || separate))
		findings_add(o->f, LEVEL_OK, AREA_PROCESS, "symbols", path, NULL, "unwind tables, symbols%s, build id %s",
			     s->symtab ? "" : " in a separate file", s->build_id);
	else if (*s->build_id)
		findings_add(o->f, LEVEL_OK, AREA_PROCESS, "build-id", path, NULL, "%sbuild id %s", s->eh_frame ? "unwind tables, " : "",
			     s->build_id);
}

static int open_program(const struct one *o)
{
	const struct php_task *t = o->view->task;
	_cleanup_(freep) char *exe = xasprintf("%s/%d/exe", o->d->proc, (int)t->pid);
	int fd = t->library ? root_dir_open_at(&o->view->root, t->library, O_RDONLY | O_NONBLOCK) : open(exe, O_RDONLY | O_CLOEXEC);

	return fd < 0 && !t->library ? -errno : fd;
}

static void check_program(const struct one *o)
{
	const struct php_task *t = o->view->task;
	const char *path = t->library ? t->library : t->exe ? t->exe : "its program";
	_cleanup_(fd_closep) int fd = open_program(o);
	_cleanup_(elf_close) struct elf elf = { .fd = -1 };
	struct elf_summary summary;
	struct err err = { 0 };

	if (fd < 0) {
		findings_add(o->f, LEVEL_NOTE, AREA_PROCESS, "program", path, doctor_as_root(), "cannot be read: %s",
			     strerror(-fd));
		return;
	}
	if (elf_open(&elf, fd, path, &err) < 0) {
		findings_add(o->f, LEVEL_WARNING, AREA_PROCESS, "program", path, NULL, "%s", err.text);
		return;
	}
	elf_summary_read(&elf, &summary);
	add_symbols(o, path, &summary);
}

static void check_deleted(const struct one *o)
{
	const struct php_task *t = o->view->task;
	_cleanup_(buf_done) struct buf fix = { 0 };

	if (!t->exe_deleted)
		return;
	buf_init(&fix);
	doctor_put_restart(t->service, &fix);
	findings_add(o->f, LEVEL_WARNING, AREA_PROCESS, "program-deleted", t->exe, fix.data,
		     "was replaced or removed after this process began: it runs the old one");
}

/* --- permission to read its memory */

static void check_memory(const struct one *o)
{
	const struct php_task *t = o->view->task;
	struct obstacle obstacle;

	if (obstacle_for_memory(o->d->proc, t, &obstacle) < 0)
		findings_add(o->f, LEVEL_WARNING, AREA_PROCESS, "memory", o->about, obstacle.remedy,
			     "its memory cannot be read, so it cannot be sampled from outside: %s", obstacle.cause);
	else
		findings_add(o->f, LEVEL_OK, AREA_PROCESS, "memory", o->about, NULL, "you may read its memory, as the system sampler does%s",
			     process_is_not_dumpable(o->d->proc, t) ? "; its own user cannot, because "
				     "it is not dumpable" : "");
}

/* --- the kind of process */

static void add_master(const struct one *o, const struct machine_tasks *all)
{
	const struct php_task *t = o->view->task;
	_cleanup_(buf_done) struct buf workers = { 0 };
	unsigned n = 0;

	buf_init(&workers);
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].status.parent == t->pid && *all->items[i].pool && n++ < 8)
			buf_printf(&workers, "%s%d", n > 1 ? ", " : "", (int)all->items[i].pid);
	findings_add(o->f, LEVEL_NOTE, AREA_PROCESS, "master", o->about, n ? "strobe doctor -p PID-of-a-worker" : NULL,
		     "this master runs no scripts, its %u workers do%s%s%s", n, n ? ": " : "", workers.data ? workers.data : "",
		     n > 8 ? ", …" : "");
}

static void add_kind(const struct one *o)
{
	const struct php_view *v = o->view;
	char name[256];

	if (!v->php) {
		findings_add(o->f, LEVEL_NOTE, AREA_PROCESS, "php", o->about, NULL, "cannot tell which PHP it runs: %s", v->err.text);
		return;
	}
	php_view_name(v->php, name, sizeof(name));
	findings_add(o->f, LEVEL_OK, AREA_PROCESS, "php", o->about, NULL, "runs %s, %s", name, v->php->binary.build);
}

static void check_task(struct findings *f, const struct doctor *d, const struct machine_tasks *all, const struct php_task *t)
{
	struct php_installation_list found = { 0 };
	struct php_view v;
	struct one o = { f, d, &v, v.about };

	php_view_open(&v, d, all, t, &found);
	/* A program that contains PHP may have any name. */
	if (php_task_is_php(t) || v.php) {
		add_kind(&o);
		if (t->master)
			add_master(&o, all);
		else
			doctor_task(f, d, AREA_PROCESS, o.about, &v);
	} else {
		findings_add(f, LEVEL_PROBLEM, AREA_PROCESS, "no-php", o.about, "pgrep -a php",
			     t->loaded == TRISTATE_UNKNOWN ? "its name is not PHP's, and its mappings cannot be read" :
							     "runs no PHP: it is not called php…, and has no libphp mapped");
	}
	findings_set_subject(f, "the program of process %d", (int)t->pid);
	check_deleted(&o);
	check_program(&o);
	check_memory(&o);
	php_view_close(&v);
	php_installations_done(&found);
}

void doctor_process(struct findings *f, const void *data)
{
	const struct doctor *d = data;
	struct machine_tasks all;
	struct obstacle hides;
	struct php_task task;
	int r;

	findings_set_subject(f, "process %s", d->pid);
	r = php_task_read(d->proc, d->pid, &task);
	if (r < 0) {
		bool absent = r == -ENOENT || r == -ESRCH, hidden = absent && obstacle_for_hidepid(d->proc, &hides);

		findings_add(f, LEVEL_PROBLEM, AREA_PROCESS, "process", d->pid, hidden ? hides.remedy : "pgrep -a php", "%s%s%s",
			     absent ? "there is no such process" : strerror(-r), hidden ? ", or " : "", hidden ? hides.cause : "");
		return;
	}
	all.count = php_tasks_find(d->proc, &all.items, &all.examined);
	check_task(f, d, &all, &task);
	php_tasks_free(all.items, all.count);
	php_task_done(&task);
}
