/* log_forms.h: a log may lie beside compressed forms of it (x.log, x.log.gz, x.log.zst); which lines are in which.
 *
 * Mostly their lines are different ones: a late line began a new x.log beside x.log.gz. But `strobe export compress`
 * removes the log only when the compressed file is in place and uploaded. An interruption in between
 * leaves both, and lines may be added to the log then. So what it makes has a note, as the comment of the file
 * (compress.h): how many bytes of the log are in it, their hash, and the other compressed file that was put in, by size
 * and time. Note and file come into being at once, and a recreated log has another hash.
 *
 * Files of others have no note. They hold what an earlier form of the same time holds, as `gzip -k` leaves it.
 */
#ifndef ARCLAMP_LOG_FORMS_H
#define ARCLAMP_LOG_FORMS_H

#include "compress.h"
#include "tree.h"

#define LOG_FORM_NOTHING	UINT64_MAX

/* `at` is the first file of the log (tree_logs_at). The byte of files[i] from which on it holds what no other form
 * does, LOG_FORM_NOTHING if all of it is in others. Not 0 only for a plain log. */
uint64_t log_form_begin(const struct tree *t, size_t at, size_t i);

/* Opens files[i] to read from `begin` on; -ENOENT if it has gone. */
int log_form_open(const struct tree *t, size_t i, uint64_t begin, struct err *err);

/* The note of a file called `name` that holds all forms: files[plain] as a whole, and the others. */
int log_forms_note(const struct tree *t, size_t at, size_t plain, const char *name, char ret[COMPRESS_COMMENT_MAX + 1],
		   struct err *err);

#endif
