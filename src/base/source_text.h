/* source_text.h: the text of a source file that a profile names, if it may be read and is still the same.
 *
 * A path in a profile cannot be trusted, so only regular files are ever opened for reading: no device, no
 * pipe. If it cannot be shown, `why` says so in a sentence; that is never an error. */
#ifndef BASE_SOURCE_TEXT_H
#define BASE_SOURCE_TEXT_H

#include "buf.h"
#include "err.h"
#include "intern.h"

#define SOURCE_TEXT_MAX	((size_t)16 << 20)
#define SOURCE_TEXT_PAGE_MAX ((size_t)4 << 20)	/* limit for source_text_below */

enum source_state {
	SOURCE_UNKNOWN,			/* whether it changed */
	SOURCE_SAME, SOURCE_CHANGED, SOURCE_MISSING
};

struct source_text {
	struct str text;		/* .p NULL: there is none */
	enum source_state state;
	const char *why;		/* a sentence without a full stop, when it is missing or has changed */
	struct buf bytes, words;	/* private */
};

/* Reads `path`, below the directory `root` unless that is NULL: then no link leads out of it. The profile was recorded from
 * `start_ns` on, 0 if that is not known; a file modified since may have other lines. -ENOENT is only returned for a `root`
 * that is not there. source_text_done in any case. */
int source_text_read(struct source_text *t, struct str path, const char *root, int64_t start_ns, struct err *err);

/* Reads `path` for people who may only see what is below some directories. A directory is "/srv/app", also by
 * its name without symbolic links, or "/srv/app=/home/checkout" where the files that the profile has below /srv/app are.
 * The longest that fits is taken. No link leads out of it, and only source code is shown: a name that ends as one of PHP or
 * Perl does, or a text that begins with "<?" or "#!". `why` names the remedy, --source-dir. */
void source_text_below(struct source_text *t, struct str path, const char *const *dirs, size_t count, int64_t start_ns);

/* -EINVAL with a sentence if that is no such directory: both parts are absolute and have no "..". It need not exist. */
int source_text_check_dir(const char *dir, struct err *err);

/* Whether the directory on this machine exists. */
bool source_text_dir_exists(const char *dir);

void source_text_done(struct source_text *t);

/* Whether a name ends as a file of PHP or Perl does. */
bool source_text_is_name(struct str name);

#endif
