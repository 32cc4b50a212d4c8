/* source_text.h: reads a source file named in a profile, if that is permitted and it has not changed.
 *
 * A path in a profile cannot be trusted, so only regular files are opened for reading: no devices, no pipes. If the
 * text cannot be shown, `why` has the reason in a sentence; that is not an error. */
#ifndef BASE_SOURCE_TEXT_H
#define BASE_SOURCE_TEXT_H

#include "buf.h"
#include "err.h"
#include "intern.h"

#define SOURCE_TEXT_MAX	((size_t)16 << 20)
#define SOURCE_TEXT_PAGE_MAX ((size_t)4 << 20)	/* size limit for source_text_below */

enum source_state {
	SOURCE_UNKNOWN,			/* unknown whether it changed */
	SOURCE_SAME, SOURCE_CHANGED, SOURCE_MISSING
};

struct source_text {
	struct str text;		/* .p is NULL if there is none */
	enum source_state state;
	const char *why;		/* a sentence without a full stop, if the text is missing or has changed */
	struct buf bytes, words;	/* private */
};

/* Reads `path`, below the directory `root` unless that is NULL: then no link leads out of it. The profile was
 * recorded from `start_ns` on, 0 if unknown; a file modified since may have other lines. Returns -ENOENT only if
 * `root` does not exist. Call source_text_done in any case. */
int source_text_read(struct source_text *t, struct str path, const char *root, int64_t start_ns, struct err *err);

/* Reads `path` for users who may only see files below certain directories. A directory is "/srv/app", with or without
 * symbolic links resolved, or "/srv/app=/home/checkout", which has the files that are below /srv/app in the profile.
 * The longest match is used. No link leads out of it, and only source code is shown: a file with an extension of PHP
 * or Perl, or a text that begins with "<?" or "#!". `why` names the remedy, --source-dir. */
void source_text_below(struct source_text *t, struct str path, const char *const *dirs, size_t count, int64_t start_ns);

/* Returns -EINVAL if it is not a valid directory, with what to use in `err`: both parts must be absolute and have no "..". It
 * need not exist. */
int source_text_check_dir(const char *dir, struct err *err);

/* Tells whether the directory on this machine exists. */
bool source_text_dir_exists(const char *dir);

void source_text_done(struct source_text *t);

/* Tells whether a name has an extension of PHP or Perl. */
bool source_text_is_name(struct str name);

#endif
