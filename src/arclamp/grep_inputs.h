/* grep_inputs.h: the stacks that `strobe grep` counts, as one profile: from a tree of logs, files, a store or a
 * daemon. */
#ifndef ARCLAMP_GREP_INPUTS_H
#define ARCLAMP_GREP_INPUTS_H

#include "buf.h"
#include "err.h"
#include "options.h"
#include "profile.h"

struct grep_asked {
	const char *logs, *resolution;		/* a tree of logs and one of its periods */
	const char *store, *url, *token_file;	/* instead: a store, a daemon; NULL: not them */
	const char *from, *to;			/* time range in the store or the daemon */
	const char *entrypoint;			/* "all" is every one */
	const char *channel;			/* NULL: that of Arc Lamp, or none */
	bool has_first, has_last;
	long first, last;			/* the range of logs, oldest first, as [first:last] in Python */
};

struct grep_inputs {
	struct profile *profile;
	struct option_list sources;		/* inputs that were read, for messages; strings that are freed with it */
	struct buf why;				/* if there are no samples: the reason */
	struct buf warnings;			/* a line each */
};

/* 0 or a negative errno; call grep_inputs_done in any case. */
int grep_inputs_logs(struct grep_inputs *in, const struct grep_asked *a, struct err *err);
int grep_inputs_files(struct grep_inputs *in, char **files, size_t count, struct err *err);

/* Notes a source that the caller has added to the profile, or could not: `r` and `err` as format_load gives them. */
int grep_inputs_add(struct grep_inputs *in, const char *name, int r, const struct err *err);
int grep_inputs_store(struct grep_inputs *in, const struct grep_asked *a, struct err *err);
int grep_inputs_daemon(struct grep_inputs *in, const struct grep_asked *a, struct err *err);
void grep_inputs_init(struct grep_inputs *in);
void grep_inputs_done(struct grep_inputs *in);

#endif
