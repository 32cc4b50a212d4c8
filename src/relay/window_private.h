/* window_private.h: shared by window.c and window_open.c. */
#ifndef RELAY_WINDOW_PRIVATE_H
#define RELAY_WINDOW_PRIVATE_H

#include "batch_ids.h"
#include "window_series.h"
#include "window.h"

#include <sys/types.h>
#include <zstd.h>

#define PART_BYTES_MAX	((size_t)1 << 30)	/* messages in one part, before compression */

struct window {
	char *host;
	struct spool *spool;
	struct spool_counters *counters;
	ZSTD_CCtx *zstd;

	int fds[2];
	uint64_t number;
	bool begun;				/* its file has been started */
	off_t end;				/* end of the file's last whole record */
	uint64_t samples;			/* in the parts of the file, damaged ones too */
	int64_t began_ns, next_dropped_log_ns, next_damage_log_ns;
	size_t bytes;				/* size of its parts before compression */

	struct buf part;			/* the part being built */
	struct strobe_wire_message *messages;	/* messages in `part`; offsets of their sections only, since the
						 * buffer moves while it grows */
	size_t message_count, message_capacity;
	struct window_series series;

	struct batch_ids ids;			/* batches in this window and in earlier ones */
};

/* Appends the messages in these bytes to w->messages; -EBADMSG, and nothing, if one of them
 * is invalid. */
int window_parse(struct window *w, const char *bytes, size_t n, uint64_t *ret_samples);

/* Adds the messages in w->messages, whose bytes begin at `bytes`, to the window, and empties the list. */
void window_add_parsed(struct window *w, const char *bytes);

#endif
