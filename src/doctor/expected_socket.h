/* expected_socket.h: finds the socket path that a PHP uses to reach the daemon. */
#ifndef DOCTOR_EXPECTED_SOCKET_H
#define DOCTOR_EXPECTED_SOCKET_H

#include "fpm_pools.h"

#include <sys/types.h>

/* Variables by which the extension finds the socket; NULL: not set. */
struct socket_variables {
	char *socket, *runtime_dir, *state_home, *home;
};

/* Reads the variables from the environment that a process was started with; all NULL if it cannot be read. */
void socket_variables_of(const char *proc, pid_t pid, struct socket_variables *ret);

/* The same for the workers of a pool, which run as `uid`: env[], and if the pool keeps it, the environment of `master`
 * (0: it does not run). */
void socket_variables_of_pool(const struct fpm_pool *pool, uid_t uid, const char *proc, pid_t master, struct socket_variables *ret);
void socket_variables_done(struct socket_variables *v);

/* The path that a process of the user `uid` with these settings sends to, as extension/send/socket_path.c chooses it. The
 * caller frees. */
char *expected_socket(const struct php_settings *s, const struct socket_variables *v, uid_t uid, const struct root_dir *root);

/* A variable of the environment that a process was started with; the caller frees. NULL: not set, or not to be read. */
char *process_variable(const char *proc, pid_t pid, const char *name);

#endif
