/* socket_path.c: determines the path of the socket from strobe.socket and the environment. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "socket_path.h"

#include "php_strobe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_SOCKET	"/run/strobe/strobe.sock"

static const char *const variables[] = { "STROBE_SOCKET", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME" };
enum variable { SOCKET, RUNTIME_DIR, STATE_HOME, HOME, VARIABLES };

/* Threads may change the environment while others read it, so thread-safe PHP reads it before there are any threads. */
#ifdef ZTS
static char *values[VARIABLES];

void socket_path_startup(void)
{
	for (int i = 0; i < VARIABLES; i++)
		values[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
}

void socket_path_shutdown(void)
{
	for (int i = 0; i < VARIABLES; i++) {
		free(values[i]);
		values[i] = NULL;
	}
}

static const char *variable(enum variable v)
{
	return values[v] && *values[v] ? values[v] : NULL;
}
#else
void socket_path_startup(void)
{
}

void socket_path_shutdown(void)
{
}

static const char *variable(enum variable v)
{
	const char *value = getenv(variables[v]);

	return value && *value ? value : NULL;
}
#endif

static bool put_path(char *path, size_t size, const char *directory, const char *rest)
{
	int n = directory ? snprintf(path, size, "%s%s", directory, rest) : -1;

	return n > 0 && (size_t)n < size;
}

/* The locations of a daemon of this user, tried in the same order as by strobe's paths_socket. */
static bool put_own(char *path, size_t size, int place)
{
	char of_user[32];

	switch (place) {
	case 0:
		return put_path(path, size, variable(RUNTIME_DIR), "/strobe/strobe.sock");
	case 1:
		snprintf(of_user, sizeof(of_user), "/run/user/%lu", (unsigned long)geteuid());
		return put_path(path, size, of_user, "/strobe/strobe.sock");
	default:
		return variable(STATE_HOME) ? put_path(path, size, variable(STATE_HOME), "/strobe/strobe.sock") :
			put_path(path, size, variable(HOME), "/.local/state/strobe/strobe.sock");
	}
}

bool socket_path(char *path, size_t size)
{
	const char *wanted = STROBE_G(socket);

	if (!wanted || !*wanted)
		wanted = variable(SOCKET);
	if (wanted && strncmp(wanted, "unix:", 5) == 0)
		wanted += 5;
	if (wanted && *wanted)
		return put_path(path, size, wanted, "");

	/* A user's own daemon takes precedence over the system's. */
	if (geteuid() != 0) {
		for (int place = 0; place < 3; place++)
			if (put_own(path, size, place) && access(path, F_OK) == 0)
				return true;
		if (put_own(path, size, 0) && access(SYSTEM_SOCKET, F_OK) != 0)
			return true;
	}
	return put_path(path, size, SYSTEM_SOCKET, "");
}
