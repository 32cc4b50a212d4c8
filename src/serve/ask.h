/* ask.h: what every handler of data does first: read the parameters, ask the store, answer what went wrong. */
#ifndef SERVE_ASK_H
#define SERVE_ASK_H

#include "http.h"
#include "view.h"

/* One question and its answer. Embedded; ask_done frees all of it, also when it is half built. */
struct ask {
	struct params params;
	struct view view;
	struct profile *profile;
	uint32_t column;
	int64_t total;				/* of the column */
	struct store_looked looked;
};

/* -EINVAL with a sentence for bad parameters. */
int ask_view(struct ask *a, const struct request *q, struct err *err);

/* Also queries the store and picks the column. -EINVAL when the profile lacks the column that was asked for. */
int ask_profile(struct ask *a, const struct site *s, struct err *err);
void ask_done(struct ask *a);

/* 400 for -EINVAL, else 500. */
void ask_refuse(struct response *r, const struct request *q, int code, const struct err *err);

/* What the answer misses, in one sentence, as the header Strobe-Warning; NULL, and no header, if it is whole. */
const char *ask_warn(const struct ask *a, struct response *r);

/* The beginning of every JSON answer: opens the object and writes from, to and what was looked at; "empty" is the
 * sentence of empty_why when nothing was found. */
void ask_json_head(const struct ask *a, const struct site *s, struct json *j);

/* "no samples of entry=foo between … and …; the store holds samples from … to …, entries: index, api" */
void ask_why_empty(const struct ask *a, const struct site *s, struct buf *out);

#endif
