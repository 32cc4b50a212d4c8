/* feed_open.h: opens what a configuration names, beside what is open already: at the start, by SIGHUP, and later for a
 * source that had to wait. */
#ifndef DAEMON_FEED_OPEN_H
#define DAEMON_FEED_OPEN_H

#include "feeds.h"

/* The context that sources are opened in. The receiver's lists of other sources are filled in. */
struct feed_opener {
	struct loop *loop;
	struct source_receiver receiver;
};

/* Adds a source to the list. One that reads the same stream or file as one that leaves waits. -EEXIST if it reads the same
 * input as one that stays, -E2BIG if there are too many. */
int feeds_open_source(struct feeds *l, const struct feed_opener *o, const char *url, struct err *err);

/* Opens a source that waits. It goes on waiting while the other one is there. */
int feeds_open_waiting(struct feeds *l, const struct feed_opener *o, struct feed *f, struct err *err);

/* Adds a sink. `ops` NULL: by the URL's scheme. -EEXIST if one that stays writes to the same place, -EBUSY if one that
 * leaves does: two would be in each other's way, even for a moment. */
int feeds_open_sink(struct feeds *l, const char *url, const struct sink_options *o, const struct sink_ops *ops,
		    struct err *err);

#endif
