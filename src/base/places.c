/* places.c: default paths. */

#include "places.h"

#include "io.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

int places_socket(char **ret_url, struct err *err)
{
	_cleanup_(freep) char *directory = NULL;
	const char *set = env("STROBE_SOCKET");
	int r;

	if (set) {
		*ret_url = !strncmp(set, "unix:", 5) ? xstrdup(set) : xasprintf("unix:%s", set);
		return 0;
	}
	if (geteuid() == 0) {
		directory = xstrdup("/run/strobe");
	} else if (env("XDG_RUNTIME_DIR")) {
		directory = xasprintf("%s/strobe", env("XDG_RUNTIME_DIR"));
	} else {	/* and not /tmp, where PHP does not look and others may wait at our name */
		return err_set(err, -ENOENT, "XDG_RUNTIME_DIR is not set, so there is no place for the socket; set it, "
			       "or set STROBE_SOCKET for both strobe and PHP");
	}
	r = io_make_dirs(directory, 0755, err);
	if (r < 0)
		return r;
	*ret_url = xasprintf("unix:%s/strobe.sock", directory);
	return 0;
}

int places_store(char **ret_url, struct err *err)
{
	const char *set = env("STATE_DIRECTORY");

	if (set)		/* systemd separates several by colons */
		*ret_url = xasprintf("sqlite:%.*s", (int)strcspn(set, ":"), set);
	else if (env("XDG_STATE_HOME"))		/* whoever sets it means it, root too */
		*ret_url = xasprintf("sqlite:%s/strobe", env("XDG_STATE_HOME"));
	else if (geteuid() == 0)
		*ret_url = xstrdup("sqlite:/var/lib/strobe");
	else if (env("HOME"))
		*ret_url = xasprintf("sqlite:%s/.local/state/strobe", env("HOME"));
	else
		return err_set(err, -ENOENT, "there is no HOME to keep samples in; set XDG_STATE_HOME or use "
			       "--store sqlite:DIRECTORY");
	return 0;
}

int places_state(const char *store_url, char **ret_directory, struct err *err)
{
	_cleanup_(freep) char *url = NULL;
	int r;

	if (!store_url || strncmp(store_url, "sqlite:", 7)) {
		if ((r = places_store(&url, err)) < 0)
			return r;
		store_url = url;
	}
	store_url += strlen("sqlite:");
	if (!strncmp(store_url, "///", 3))
		store_url += 2;
	*ret_directory = xstrdup(store_url);
	return 0;
}

char *places_program(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return xstrdup(path);
}
