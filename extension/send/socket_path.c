/* socket_path.c: strobe.socket and the environment as the path of a socket. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "socket_path.h"

#include "php_strobe.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSTEM_SOCKET	"/run/strobe/strobe.sock"

/* PHP threads may change the environment while others read it: of thread-safe PHP's it is read before there are any. */
#ifdef ZTS
static char *socket_variable, *runtime_variable;

static char *copy_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? strdup(value) : NULL;
}

void socket_path_startup(void)
{
	socket_variable = copy_variable("STROBE_SOCKET");
	runtime_variable = copy_variable("XDG_RUNTIME_DIR");
}

void socket_path_shutdown(void)
{
	free(socket_variable);
	free(runtime_variable);
	socket_variable = runtime_variable = NULL;
}
#else
#define socket_variable getenv("STROBE_SOCKET")
#define runtime_variable getenv("XDG_RUNTIME_DIR")

void socket_path_startup(void)
{
}

void socket_path_shutdown(void)
{
}
#endif

bool socket_path(char *path, size_t size)
{
	const char *wanted = STROBE_G(socket);
	const char *runtime = runtime_variable;
	int n;

	if (!wanted || !*wanted)
		wanted = socket_variable;
	if (wanted && strncmp(wanted, "unix:", 5) == 0)
		wanted += 5;
	if (wanted && *wanted) {
		n = snprintf(path, size, "%s", wanted);
		return n > 0 && (size_t)n < size;
	}

	/* A user's own daemon first, else the machine's. */
	if (geteuid() != 0 && runtime && *runtime) {
		n = snprintf(path, size, "%s/strobe/strobe.sock", runtime);
		if (n > 0 && (size_t)n < size &&
		    (access(path, F_OK) == 0 || access(SYSTEM_SOCKET, F_OK) != 0))
			return true;
	}
	n = snprintf(path, size, "%s", SYSTEM_SOCKET);
	return n > 0 && (size_t)n < size;
}
