/* fd_room.h: descriptors for connections, and enough of them left for the files of sinks.
 *
 * Clients that take all descriptors keep a store from opening the file of a new day. So whoever accepts a connection
 * refuses it when its number is among the last ones of the limit: the kernel gives the lowest that is free. */
#ifndef COLLECT_FD_ROOM_H
#define COLLECT_FD_ROOM_H

#include <stdbool.h>

#define FD_ROOM		400u		/* for sinks: logs have up to 256 files open. Half of the limit where that is
					 * less */

/* The usual limit is 1,024; raises it by `more`, or as far as it goes. */
void fd_room_raise(unsigned more);

bool fd_room_left(int fd);

#endif
