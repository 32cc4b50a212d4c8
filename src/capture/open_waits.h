/* open_waits.h: counts the elapsed time of waits that have not ended.
 *
 * The programs count a whole wait when it ends. A live view also counts, at each refresh, the time since the previous
 * one; when the wait has ended, that time is subtracted again.
 */
#ifndef CAPTURE_OPEN_WAITS_H
#define CAPTURE_OPEN_WAITS_H

#include "stack_registry.h"

struct open_waits;

struct open_waits *open_waits_new(u64 min_ns);
struct open_waits *open_waits_free(struct open_waits *w);	/* NULL is fine; returns NULL */

/* One refresh, after all counts of the programs so far have been added to the registry: begin, one call for every
 * open wait (by thread number), end. */
void open_waits_begin(struct open_waits *w, u64 now_ns);
void open_waits_see(struct open_waits *w, u32 tid, const struct waiting *wait);
void open_waits_end(struct open_waits *w, struct stack_registry *b);

/* Ends the last refresh: each wait has been counted as ended. */
void open_waits_finish(struct open_waits *w, struct stack_registry *b);

#endif
