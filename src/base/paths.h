/* paths.h: default paths of the socket and the state directory, and the variables that override them. */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include "err.h"

/* The URL of the socket: STROBE_SOCKET, else /run/strobe/strobe.sock for root, else strobe/strobe.sock under
 * XDG_RUNTIME_DIR, /run/user/UID, XDG_STATE_HOME or ~/.local/state: the first that there is. Makes the directory of a
 * default socket. The caller frees. */
int paths_socket(char **ret_url, struct err *err);

/* The path of the socket that a daemon of this machine is likely to have, without making anything: as above, or that of root
 * where only that one is there. The caller frees. */
int paths_expected_socket(char **ret_path, struct err *err);

/* The URL of the store: STATE_DIRECTORY (systemd sets it), else strobe under XDG_STATE_HOME, else
 * /var/lib/strobe for root and strobe under ~/.local/state for others. The caller frees. */
int paths_store(char **ret_url, struct err *err);

/* The directory of state that goes with the store at `store_url` (NULL: where it would be by default): its own. The
 * caller frees. */
int paths_state(const char *store_url, char **ret_directory, struct err *err);

/* The directory of the running program; NULL if unknown. The caller frees. */
char *paths_program(void);

#endif
