/* no_samples_reason.c: checks everything from the daemon's socket to the program, and reports the first thing that is
 * missing. */
#include "no_samples_reason.h"

#include "container.h"
#include "mem.h"

#include <string.h>

#define SETTINGS "extension=strobe.so and strobe.mode=sample"

static void put_group(struct buf *out, const struct php_group *g)
{
	buf_printf(out, "%s of the user %s", g->name, g->user);
}

/* The first reason that applies; NULL if none does. */
static const struct php_group *find(const struct php_group *groups, size_t count, bool may_send, int loaded)
{
	for (size_t i = 0; i < count; i++)
		if (groups[i].may_send == may_send && (loaded < 0 || (int)groups[i].loaded == loaded))
			return &groups[i];
	return NULL;
}

void no_samples_reason_of(const struct php_group *groups, size_t count, const char *socket_path, struct buf *out)
{
	const struct php_group *g;

	if (!socket_path) {
		buf_puts(out, "this daemon does not listen on a socket for PHP; --from unix:/run/strobe/strobe.sock adds one");
	} else if (!count) {
		buf_puts(out, "no PHP runs on this machine now; load the extension in php.ini with " SETTINGS
			      ", or try 'strobe run -- php script.php'");
	} else if ((g = find(groups, count, false, LOADED_YES)) || (g = find(groups, count, false, LOADED_UNKNOWN))) {
		put_group(out, g);
		php_group_put_barrier(g, socket_path, out);
	} else if ((g = find(groups, count, true, LOADED_YES))) {
		put_group(out, g);
		buf_puts(out, " has the extension and may send, but has not: it has served no request since, or strobe.mode is off there (see phpinfo())");
	} else if ((g = find(groups, count, true, LOADED_UNKNOWN))) {
		put_group(out, g);
		buf_puts(out, " may send: load the extension in its php.ini with " SETTINGS ", and restart it");
	} else {
		put_group(out, &groups[0]);
		buf_puts(out, " has not loaded the extension: put " SETTINGS " into its php.ini, and restart it");
	}
}

void no_samples_reason(struct source *const *sources, size_t count, struct buf *out)
{
	_cleanup_(freep) struct php_group *groups = NULL;
	const char *path = NULL;
	size_t n = 0;

	for (size_t i = 0; i < count && !path; i++)
		if (strncmp(sources[i]->url, "unix:/", 6) == 0)
			path = sources[i]->url + 5;
	if (path)
		n = php_processes_find("/proc", path, &groups);
	no_samples_reason_of(groups, n, path, out);
	buf_puts(out, container_without_systemd("") ? "; `strobe doctor` in the daemon's container checks the whole path" :
						      "; `sudo strobe doctor` on this machine checks the whole path");
}
