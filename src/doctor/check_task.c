/* check_task.c: checks a running PHP: its extension, its settings, its way to the socket. */
#include "php_view.h"

#include "mem.h"

#include <string.h>

static bool serves(const struct php_task *t)
{
	return *t->pool || t->library || !strcmp(t->name, "frankenphp");
}

static void add_without(struct findings *f, const struct doctor *d, const char *area, const char *about, const struct php_view *v)
{
	enum level level = d->pid ? LEVEL_PROBLEM : serves(v->task) ? LEVEL_WARNING : LEVEL_NOTE;
	_cleanup_(buf_done) struct buf fix = { 0 };
	struct root_dir outside;

	buf_init(&fix);
	if (v->has_line) {
		doctor_put_restart(v->task->service, &fix);
		findings_add(f, LEVEL_PROBLEM, area, "not-restarted", about, fix.data,
			     "has not loaded the extension, though its ini files say so: it was started before, or loading failed (its log says why)");
		return;
	}
	/* A worker in a chroot read its ini files before it changed its root. */
	if (v->php && v->task->root && root_dir_open("/", &outside) >= 0) {
		doctor_put_enable(&outside, &v->php->binary, v->task->service, &fix);
		root_dir_close(&outside);
	} else if (v->php) {
		doctor_put_enable(&v->root, &v->php->binary, v->task->service, &fix);
	}
	findings_add(f, level, area, "not-loaded", about, fix.data,
		     "has not loaded the extension");
}

static void check_with(struct findings *f, const struct doctor *d, const char *area, const char *about, const struct php_view *v)
{
	_cleanup_(buf_done) struct buf mode = { 0 };
	unsigned before = f->counts[LEVEL_PROBLEM] + f->counts[LEVEL_WARNING] + f->counts[LEVEL_NOTE];

	if (v->task->extension_deleted) {
		_cleanup_(buf_done) struct buf fix = { 0 };

		buf_init(&fix);
		doctor_put_restart(v->task->service, &fix);
		findings_add(f, LEVEL_WARNING, area, "extension-replaced", about, fix.data,
			     "runs a strobe.so that was replaced since");
	}
	if (v->php && (v->has_line || v->pool))
		doctor_settings(f, LEVEL_PROBLEM, area, about, &v->php->binary, &v->settings);
	doctor_socket_access(f, d, LEVEL_PROBLEM, area, about, &v->root, v->root_name, v->socket, &v->settings, &v->task->status, v->task->service);
	if (f->counts[LEVEL_PROBLEM] + f->counts[LEVEL_WARNING] + f->counts[LEVEL_NOTE] != before)
		return;
	buf_init(&mode);
	if (v->has_line)
		doctor_put_mode(&v->settings, &mode);
	else
		buf_puts(&mode, "with settings of its command line");
	findings_add(f, LEVEL_OK, area, "process", about, NULL, "has the extension, %s, may write to %s", mode.data, v->socket);
}

void doctor_task(struct findings *f, const struct doctor *d, const char *area, const char *about, const struct php_view *v)
{
	const struct php_task *t = v->task;

	if (t->loaded == TRISTATE_NO) {
		add_without(f, d, area, about, v);
		return;
	}
	if (t->loaded == TRISTATE_YES) {
		check_with(f, d, area, about, v);
		return;
	}
	findings_add(f, LEVEL_NOTE, area, "process-unknown", about, doctor_as_root(),
		     "cannot tell whether it has the extension: %s", strerror(t->maps_error));
	doctor_socket_access(f, d, LEVEL_WARNING, area, about, &v->root, v->root_name, v->socket, &v->settings, &t->status, t->service);
}
