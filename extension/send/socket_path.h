/* socket_path.h: determines the path of the socket to which messages are sent. */
#ifndef STROBE_SOCKET_PATH_H
#define STROBE_SOCKET_PATH_H

#include "php.h"

/* Call these when the module starts and ends: the environment is read then if threads could change it later. */
void socket_path_startup(void);
void socket_path_shutdown(void);

/* Fills `path` from strobe.socket, else $STROBE_SOCKET, else the default of this user. Returns false if it does not
 * fit into a socket address. */
bool socket_path(char *path, size_t size);

#endif
