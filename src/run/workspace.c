/* workspace.c: creates a directory with one ini file, and removes it. */

#include "workspace.h"

#include "io.h"
#include "mem.h"

#include <string.h>
#include <sys/un.h>

#define NAME		"strobe-run-XXXXXX"
#define SOCKET_NAME	"strobe.sock"

/* A killed process loses everything not sent yet: the seconds between two flushes. While PHP is in one call that does
 * not return, strobe.flush_waiting lets another thread send it. */
#define FLUSH		"0.1"
#define TRACE_FLUSH	"0.25"
#define FLUSH_WAITING	"0.2"

/* A socket's path must fit into 107 bytes, which not every TMPDIR leaves room for; and a value in single quotes in an
 * ini file cannot contain one. */
static bool is_usable(const char *parent)
{
	struct sockaddr_un a;

	return parent && *parent == '/' && !strpbrk(parent, "'\n:") &&
	       strlen(parent) + sizeof("/" NAME "/" SOCKET_NAME) <= sizeof(a.sun_path);
}

static char *make_directory(void)
{
	const char *const parents[] = { getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		_cleanup_(freep) char *path = NULL;

		if (!is_usable(parents[i]))
			continue;
		path = xasprintf("%s/" NAME, parents[i]);
		if (mkdtemp(path))
			return TAKE_PTR(path);
	}
	return NULL;
}

/* If unset, PHP's own directory is used, which an empty entry means; set but empty means none. */
static char *scan_dir(const char *directory)
{
	const char *before = getenv("PHP_INI_SCAN_DIR");

	if (before && !*before)
		return xstrdup(directory);
	return xasprintf("%s:%s", before ? before : "", directory);
}

static int write_ini(const struct workspace *w, const struct workspace_settings *s, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	if (s->extension && strpbrk(s->extension, "'\n"))
		return err_set(err, -EINVAL, "an ini file cannot load '%s'; move the extension to a path "
					     "without quotes",
			       s->extension);
	if (s->extension)
		buf_printf(&b, "extension='%s'\n", s->extension);
	if (s->trace) {
		buf_puts(&b, "strobe.mode=off\nstrobe.instrument=1\nstrobe.trace_rate=1\nstrobe.trace_flush=" TRACE_FLUSH "\n");
		if (s->flame_chart)
			buf_puts(&b, "strobe.trace_flame_chart=1\n");
	} else {
		buf_printf(&b, "strobe.mode=sample\nstrobe.clock=%s\nstrobe.period=", s->clock);
		buf_put_fixed(&b, s->period, 9);
		buf_puts(&b, "\nstrobe.request_rate=1\nstrobe.trace_rate=0\nstrobe.flush=" FLUSH "\nstrobe.lines=1\n");
	}
	buf_printf(&b, "strobe.flush_waiting=" FLUSH_WAITING "\nstrobe.socket='%s'\n", w->socket);
	return io_write_file(w->ini, b.data, b.size, err);
}

int workspace_init(struct workspace *w, const struct workspace_settings *s, struct err *err)
{
	int r;

	*w = (struct workspace){ .directory = make_directory() };
	if (!w->directory)
		return err_set(err, -EACCES, "cannot create a private directory under XDG_RUNTIME_DIR, TMPDIR or "
			       "/tmp: %s", strerror(errno));
	w->ini = xasprintf("%s/strobe.ini", w->directory);
	w->socket = xasprintf("%s/" SOCKET_NAME, w->directory);
	w->scan_dir = scan_dir(w->directory);
	r = write_ini(w, s, err);
	if (r < 0)
		workspace_done(w);
	return r;
}

void workspace_done(struct workspace *w)
{
	if (w->directory) {
		unlink(w->ini);
		unlink(w->socket);
		rmdir(w->directory);
	}
	free(w->directory);
	free(w->ini);
	free(w->socket);
	free(w->scan_dir);
	*w = (struct workspace){ 0 };
}
