/* grep_inputs.h: loads the stacks for `strobe grep` into one profile: from a tree of logs, files, a store or a
 * daemon. */
#ifndef ARCLAMP_GREP_INPUTS_H
#define ARCLAMP_GREP_INPUTS_H

#include "buf.h"
#include "err.h"
#include "options.h"
#include "profile.h"

struct grep_query {
	const char *logs, *resolution;		/* a tree of logs and one of its periods */
	const char *store, *url, *token_file;	/* a store or a daemon instead; NULL: not used */
	const char *from, *to;			/* time range in the store or the daemon */
	const char *entrypoint;			/* "all" selects every entry point */
	const char *channel;			/* NULL: Arc Lamp's default, or none */
	bool has_first, has_last;
	long first, last;			/* slice of the logs, oldest first, as in Python's [first:last] */
};

struct grep_inputs {
	struct profile *profile;
	struct option_list sources;		/* inputs that were read, for messages; freed with it */
	struct buf why;				/* the reason, if there are no samples */
	struct buf warnings;			/* one per line */
};

/* Returns 0 or a negative errno; call grep_inputs_done in any case. */
int grep_inputs_logs(struct grep_inputs *in, const struct grep_query *a, struct err *err);
int grep_inputs_files(struct grep_inputs *in, char **files, size_t count, struct err *err);

/* Records a source that the caller added to the profile or failed to add: `r` and `err` are those of format_load. */
int grep_inputs_add(struct grep_inputs *in, const char *name, int r, const struct err *err);
int grep_inputs_store(struct grep_inputs *in, const struct grep_query *a, struct err *err);
int grep_inputs_daemon(struct grep_inputs *in, const struct grep_query *a, struct err *err);
void grep_inputs_init(struct grep_inputs *in);
void grep_inputs_done(struct grep_inputs *in);

#endif
