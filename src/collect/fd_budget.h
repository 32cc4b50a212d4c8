/* fd_budget.h: limits the descriptors of connections, so that sinks can always open files.
 *
 * Clients that take all descriptors keep a store from opening the file of a new day. So a new connection is
 * refused if its descriptor is among the last ones of the limit: the kernel assigns the lowest free number. Half of
 * the descriptors that are free after startup are for sinks (FD_BUDGET where that is less) and at most a quarter for
 * HTTP, so that at least a quarter is left for sources, which must not fail because of HTTP clients. */
#ifndef COLLECT_FD_BUDGET_H
#define COLLECT_FD_BUDGET_H

#include <stdbool.h>

#define FD_BUDGET		400u		/* for sinks: logs have up to 256 files open */

/* The usual limit is 1,024; raises it by `more`, or as far as it goes. */
void fd_budget_raise(unsigned more);

/* Call when everything is open except connections; the remaining descriptors are shared from now on. */
void fd_budget_share(void);

/* The number of connections that HTTP may have. Call it before it begins to listen. */
unsigned fd_budget_for_http(void);

bool fd_budget_left(int fd);

/* Returns how many files a sink may keep open between batches: half of the sinks' share, which leaves room for other
 * sinks. */
unsigned fd_budget_for_files(void);

#endif
