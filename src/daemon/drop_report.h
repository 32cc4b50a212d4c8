/* drop_report.h: drops for the log: at most one line a minute, with what was dropped since the line before.
 *
 * Counters and their reasons are in /metrics; a log that is read after the fact should have the numbers, too. */
#ifndef DAEMON_DROP_REPORT_H
#define DAEMON_DROP_REPORT_H

#include "buf.h"
#include "intern.h"

#define DROP_REPORT_NS	(60LL * 1000000000LL)

struct drop_report {
	struct intern names;
	uint64_t *reported;		/* last reported counts, by name */
	size_t capacity;
	int64_t last_ns;		/* time of the last line; monotonic */
	bool has_line;			/* a line has been written */
	struct buf list;		/* the line being built */
};

void drop_report_init(struct drop_report *r);
void drop_report_done(struct drop_report *r);

/* Whether a line may be written now. If so, note all counts and then call drop_report_line. */
bool drop_report_is_due(const struct drop_report *r, int64_t now_ns);

/* Notes a counter, and what it counts: "samples (queue_full)". A counter that has decreased was reset. */
void drop_report_note(struct drop_report *r, uint64_t count, const char *format, ...) _printf_(3, 4);

/* Appends "dropped: 12 samples (queue_full), 3 runs (rejected)". Returns false and appends nothing if nothing was
 * dropped. */
bool drop_report_line(struct drop_report *r, int64_t now_ns, struct buf *out);

#endif
