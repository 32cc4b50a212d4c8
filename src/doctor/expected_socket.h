/* expected_socket.h: finds the socket path that a PHP uses to reach the daemon. */
#ifndef DOCTOR_EXPECTED_SOCKET_H
#define DOCTOR_EXPECTED_SOCKET_H

#include "fpm_pools.h"

#include <sys/types.h>

/* The variables that determine the extension's socket; NULL: not set. */
struct socket_variables {
	char *socket, *runtime_dir, *state_home, *home;
};

/* Reads the variables from the environment that a process was started with; all NULL if it cannot be read. */
void socket_variables_of(const char *proc, pid_t pid, struct socket_variables *ret);

/* Determines them for workers of a pool, which run as `uid`: from env[], and if the pool keeps it, from the
 * environment of `master` (0: not running). */
void socket_variables_of_pool(const struct fpm_pool *pool, uid_t uid, const char *proc, pid_t master, struct socket_variables *ret);
void socket_variables_done(struct socket_variables *v);

/* Returns the path to which a process of user `uid` with these settings sends, chosen as in
 * extension/send/socket_path.c. The caller frees. */
char *expected_socket(const struct php_settings *s, const struct socket_variables *v, uid_t uid, const struct root_dir *root);

/* Reads a variable from the environment that a process was started with. NULL: not set, or not readable. The caller
 * frees. */
char *process_variable(const char *proc, pid_t pid, const char *name);

#endif
