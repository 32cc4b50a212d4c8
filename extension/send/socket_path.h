/* socket_path.h: finds the path of the socket that messages are sent to. */
#ifndef STROBE_SOCKET_PATH_H
#define STROBE_SOCKET_PATH_H

#include "php.h"

/* When the module starts and ends: the environment is read then where threads could change it later. */
void socket_path_startup(void);
void socket_path_shutdown(void);

/* Fills `path`: strobe.socket, else $STROBE_SOCKET, else the default of this user. Returns false if there is none that fits a
 * socket address. */
bool socket_path(char *path, size_t size);

#endif
