/* expected_socket.c: reads strobe.socket, environment variables, and the locations of a user's own daemon. */
#include "expected_socket.h"

#include "io.h"
#include "mem.h"

#include <pwd.h>
#include <string.h>

#define ENVIRONMENT_MAX	((size_t)4 << 20)
#define SYSTEM_SOCKET	"/run/strobe/strobe.sock"

/* --- variables */

char *process_variable(const char *proc, pid_t pid, const char *name)
{
	_cleanup_(freep) char *path = xasprintf("%s/%d/environ", proc, (int)pid);
	_cleanup_(buf_done) struct buf b = { 0 };
	size_t n = strlen(name);

	buf_init(&b);
	if (io_read_file(path, &b, ENVIRONMENT_MAX, NULL) < 0)
		return NULL;
	for (const char *p = b.data; p < b.data + b.size; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return xstrdup(p + n + 1);
	return NULL;
}

void socket_variables_of(const char *proc, pid_t pid, struct socket_variables *ret)
{
	ret->socket = process_variable(proc, pid, "STROBE_SOCKET");
	ret->runtime_dir = process_variable(proc, pid, "XDG_RUNTIME_DIR");
	ret->state_home = process_variable(proc, pid, "XDG_STATE_HOME");
	ret->home = process_variable(proc, pid, "HOME");
}

static void put(char **value, const char *text)
{
	if (!text)
		return;
	free(*value);
	*value = xstrdup(text);
}

/* php-fpm sets HOME after it copies the master's environment and before it applies env[]. */
void socket_variables_of_pool(const struct fpm_pool *pool, uid_t uid, const char *proc, pid_t master, struct socket_variables *ret)
{
	const struct passwd *user = getpwuid(uid);

	*ret = (struct socket_variables){ 0 };
	if (pool->keeps_environment && master > 0)
		socket_variables_of(proc, master, ret);
	put(&ret->home, user && pool->user ? user->pw_dir : NULL);
	put(&ret->socket, php_settings_get(&pool->environment, "STROBE_SOCKET", NULL));
	put(&ret->runtime_dir, php_settings_get(&pool->environment, "XDG_RUNTIME_DIR", NULL));
	put(&ret->state_home, php_settings_get(&pool->environment, "XDG_STATE_HOME", NULL));
	put(&ret->home, php_settings_get(&pool->environment, "HOME", NULL));
}

void socket_variables_done(struct socket_variables *v)
{
	free(v->socket);
	free(v->runtime_dir);
	free(v->state_home);
	free(v->home);
	*v = (struct socket_variables){ 0 };
}

/* --- the socket */

static bool is_set(const char *value)
{
	return value && *value;
}

static bool exists(const struct root_dir *root, const char *path)
{
	struct stat st;

	return root_dir_stat(root, path, &st) == 0;
}

/* Returns one of the three locations of a user's own daemon, or NULL if it does not exist. The caller frees. */
static char *own_place(const struct socket_variables *v, uid_t uid, int place)
{
	switch (place) {
	case 0:
		return is_set(v->runtime_dir) ? xasprintf("%s/strobe/strobe.sock", v->runtime_dir) : NULL;
	case 1:
		return xasprintf("/run/user/%lu/strobe/strobe.sock", (unsigned long)uid);
	default:
		if (is_set(v->state_home))
			return xasprintf("%s/strobe/strobe.sock", v->state_home);
		return is_set(v->home) ? xasprintf("%s/.local/state/strobe/strobe.sock", v->home) : NULL;
	}
}

char *expected_socket(const struct php_settings *s, const struct socket_variables *v, uid_t uid, const struct root_dir *root)
{
	const char *wanted = php_settings_get(s, "strobe.socket", "");

	if (!*wanted && v->socket)
		wanted = v->socket;
	if (!strncmp(wanted, "unix:", 5))
		wanted += 5;
	if (*wanted)
		return xstrdup(wanted);
	for (int place = 0; uid != 0 && place < 3; place++) {
		_cleanup_(freep) char *path = own_place(v, uid, place);

		if (path && exists(root, path))
			return TAKE_PTR(path);
	}
	if (uid != 0 && is_set(v->runtime_dir) && !exists(root, SYSTEM_SOCKET))
		return own_place(v, uid, 0);
	return xstrdup(SYSTEM_SOCKET);
}
