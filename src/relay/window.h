/* window.h: the samples of about 10 seconds, one profile per series and bucket, also kept on disk.
 *
 * The collector hands over a batch each second, which must be durable before the next one. So each batch is written to a
 * file as a part, and is kept in memory; when the window closes, all parts are merged into entries of the spool, and become
 * obsolete: they say to which window they belong, and the spool knows the newest that it has.
 *
 * There are two files, `window-0` and `window-1`, for windows with even and odd numbers, so that one is not overwritten
 * before the next is durable. Each begins with a record of ids: those of batches of earlier windows that are among the last WINDOW_IDS
 * or may be redelivered (window_keep_ids), so that a redelivered batch is recognized.
 */
#ifndef RELAY_WINDOW_H
#define RELAY_WINDOW_H

#include "batch.h"
#include "spool.h"

#define WINDOW_IDS	1024u		/* batches that are always remembered */

struct window;

/* Opens the window in the directory of the open `spool`, and restores the one that the last process left. Messages
 * without a label `host` get `host`. */
int window_open(const char *directory, const char *host, struct spool *spool, struct spool_counters *counters,
		struct window **ret, struct err *err);
struct window *window_free(struct window *w);		/* NULL is fine; returns NULL */

/* Durable when it returns 0; a batch that was added before is not added again. */
int window_add(struct window *w, const struct batch *b, struct err *err);

/* Drops the ids of batches that are neither in `open` nor among the last WINDOW_IDS. */
void window_keep_ids(struct window *w, const uint64_t *open, size_t count);

bool window_is_empty(const struct window *w);
int64_t window_began_ns(const struct window *w);	/* monotonic; 0 if it should be closed now */

/* Moves the content of the window to the spool. On a failure the window is unchanged. */
int window_close(struct window *w, struct err *err);

/* Compresses bytes, such as a run, into one frame of zstd. The caller frees it. */
int window_compress(struct window *w, const void *bytes, size_t n, int level, void **ret, size_t *ret_size, struct err *err);

#endif
