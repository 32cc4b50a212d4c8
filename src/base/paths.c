/* paths.c: default paths. */

#include "paths.h"

#include "io.h"
#include "mem.h"

#include <limits.h>
#include <string.h>

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

/* Returns the directory of the user's state; NULL if it cannot be determined. */
static char *state_directory(void)
{
	if (env("XDG_STATE_HOME"))
		return xasprintf("%s/strobe", env("XDG_STATE_HOME"));
	return env("HOME") ? xasprintf("%s/.local/state/strobe", env("HOME")) : NULL;
}

/* PHP looks in the same places (socket_path of the extension). Without a login session XDG_RUNTIME_DIR is often unset
 * (cron, su, a container); /tmp is not used, since other users could create our name there. */
static char *own_socket_directory(void)
{
	_cleanup_(freep) char *of_user = xasprintf("/run/user/%lu", (unsigned long)geteuid());

	if (env("XDG_RUNTIME_DIR"))
		return xasprintf("%s/strobe", env("XDG_RUNTIME_DIR"));
	if (access(of_user, W_OK | X_OK) == 0)
		return xasprintf("%s/strobe", of_user);
	return state_directory();
}

/* `*ret_directory` is NULL if the user chose the socket. */
static int find_socket(char **ret_url, char **ret_directory, struct err *err)
{
	_cleanup_(freep) char *directory = NULL;
	const char *set = env("STROBE_SOCKET");

	*ret_directory = NULL;
	if (set) {
		*ret_url = !strncmp(set, "unix:", 5) ? xstrdup(set) : xasprintf("unix:%s", set);
		return 0;
	}
	directory = geteuid() == 0 ? xstrdup("/run/strobe") : own_socket_directory();
	if (!directory)
		return err_set(err, -ENOENT, "neither XDG_RUNTIME_DIR nor HOME is set, so there is no place for the socket; set "
			       "one, or set STROBE_SOCKET for both strobe and PHP");
	*ret_url = xasprintf("unix:%s/strobe.sock", directory);
	*ret_directory = TAKE_PTR(directory);
	return 0;
}

int paths_socket(char **ret_url, struct err *err)
{
	_cleanup_(freep) char *directory = NULL, *found = NULL;
	int r = find_socket(&found, &directory, err);

	if (r >= 0 && directory)
		r = io_make_dirs(directory, geteuid() == 0 ? 0755 : 0700, err);
	if (r < 0)
		return r;
	*ret_url = TAKE_PTR(found);
	return 0;
}

int paths_expected_socket(char **ret_path, struct err *err)
{
	_cleanup_(freep) char *directory = NULL, *found = NULL;
	int r = find_socket(&found, &directory, err);

	if (r < 0)
		return r;
	if (directory && access(found + 5, F_OK) < 0 && access("/run/strobe/strobe.sock", F_OK) == 0)
		*ret_path = xstrdup("/run/strobe/strobe.sock");
	else
		*ret_path = xstrdup(found + 5);
	return 0;
}

int paths_store(char **ret_url, struct err *err)
{
	const char *set = env("STATE_DIRECTORY");
	_cleanup_(freep) char *own = state_directory();

	if (set)		/* systemd separates several with colons */
		*ret_url = xasprintf("sqlite:%.*s", (int)strcspn(set, ":"), set);
	else if (geteuid() == 0 && !env("XDG_STATE_HOME"))	/* if set, it is used for root, too */
		*ret_url = xstrdup("sqlite:/var/lib/strobe");
	else if (own)
		*ret_url = xasprintf("sqlite:%s", own);
	else
		return err_set(err, -ENOENT, "HOME is not set, so there is no default store; set XDG_STATE_HOME "
					     "or use --store sqlite:DIR");
	return 0;
}

int paths_state(const char *store_url, char **ret_directory, struct err *err)
{
	_cleanup_(freep) char *url = NULL;
	int r;

	if (!store_url || strncmp(store_url, "sqlite:", 7)) {
		if ((r = paths_store(&url, err)) < 0)
			return r;
		store_url = url;
	}
	store_url += strlen("sqlite:");
	if (!strncmp(store_url, "///", 3))
		store_url += 2;
	*ret_directory = xstrdup(store_url);
	return 0;
}

char *paths_program(void)
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
