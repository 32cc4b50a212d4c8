/* unix_source.h: messages of PHP processes over a unix SEQPACKET socket.
 *
 * It listens on "unix:/path" (mode 0660, group strobe where that group exists and we are root), or takes the socket
 * that systemd passed for this path. There are no parameters; a bare "/path" may hold any byte, a '?' too. Every
 * process keeps one connection; its messages are checked, counted and handed on, and none of them can do harm:
 * malformed ones are counted by reason and, if they continue, the connection is closed. Closing the source first reads what
 * has been sent already.
 */
#ifndef COLLECT_UNIX_SOURCE_H
#define COLLECT_UNIX_SOURCE_H

#include "source.h"

extern const struct source_ops unix_source_ops;

#endif
