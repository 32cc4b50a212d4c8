/* paths.h: default paths of the socket and the state directory, and the variables that override them. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include "err.h"

/* Returns the URL of the socket: STROBE_SOCKET, else /run/strobe/strobe.sock for root, else strobe/strobe.sock under
 * the first that exists of XDG_RUNTIME_DIR, /run/user/UID, XDG_STATE_HOME and ~/.local/state. Creates the directory
 * of a default socket. The caller frees. */
int paths_socket(char **ret_url, struct err *err);

/* Returns the path where a daemon on this machine probably has its socket, without creating anything: as above, or
 * root's if only that one exists. The caller frees. */
int paths_expected_socket(char **ret_path, struct err *err);

/* Returns the URL of the store: STATE_DIRECTORY (set by systemd), else strobe under XDG_STATE_HOME, else
 * /var/lib/strobe for root and strobe under ~/.local/state for others. The caller frees. */
int paths_store(char **ret_url, struct err *err);

/* Returns the state directory for the store at `store_url` (NULL: the default store): the store's own directory. The
 * caller frees. */
int paths_state(const char *store_url, char **ret_directory, struct err *err);

/* Returns the directory of the running program; NULL if unknown. The caller frees. */
char *paths_program(void);

#endif
