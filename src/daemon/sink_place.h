/* sink_place.h: the directory that a sink needs for itself (a store, a tree of logs, the spool of a relay). Two sinks
 * of one directory are refused, with the parameters in which their URLs differ. Opens nothing. */
#ifndef DAEMON_SINK_PLACE_H
#define DAEMON_SINK_PLACE_H

#include <stdbool.h>

/* The canonical location of a sink: its real path, or the path as written while nothing exists there; for an export sink, its
 * normalized URL. `state` is the directory of the spools. NULL if the URL is invalid (opening it reports why) or such a sink
 * has no location. The caller frees it. */
char *sink_place(const char *url, const char *state);

/* Returns the spool directory that earlier versions used for a relay, whose name lacks the database; NULL if it has
 * the same name now. The caller frees it. */
char *sink_old_place(const char *url, const char *state);

/* "another window= and spool=": the parameters in which the URL of a sink differs from the one in its place, without
 * values, since one of them is a password. The caller frees it. */
char *sink_place_difference(const char *before, const char *after);

/* Whether the stream of a relay is the one that a source reads, so that samples would loop endlessly. */
bool sink_feeds_source(const char *sink, const char *source);

/* Whether two sources read one stream in different consumer groups, each of which receives all entries. */
bool sources_share_stream(const char *a, const char *b);

/* Returns the first server of `url` that `other` has, too, if both name one database of ClickHouse, so that each
 * sample would count twice; NULL: none. The caller frees it. */
char *sinks_shared_server(const char *other, const char *url);

#endif
