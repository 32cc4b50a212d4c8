/* log_forms.h: determines which lines are in which form of a log (x.log, x.log.gz, x.log.zst), if several exist.
 *
 * Usually their lines are distinct: a late line began a new x.log beside x.log.gz. But `strobe export compress`
 * removes the log only when the compressed file is in place and uploaded. If it is interrupted before that, both
 * exist, and lines may be added to the log. So its output has a note, as the comment of the file (compress.h): how
 * many bytes of the log it contains, their hash, and size and time of the other compressed file that it includes.
 * Note and file appear atomically, and a recreated log has another hash.
 *
 * Files made by other programs have no note. They contain the same lines as an earlier form with the same time, as
 * left by `gzip -k`.
 */
#ifndef ARCLAMP_LOG_FORMS_H
#define ARCLAMP_LOG_FORMS_H

#include "compress.h"
#include "tree.h"

#define LOG_FORM_NOTHING	UINT64_MAX

/* Returns the offset in files[i] where data begins that no other form has; LOG_FORM_NOTHING if other forms have all
 * of it. Nonzero only for plain logs. `at` is the log's first file (tree_logs_at). */
uint64_t log_form_begin(const struct tree *t, size_t at, size_t i);

/* Opens files[i] for reading from `begin` on; -ENOENT if it was removed. */
int log_form_open(const struct tree *t, size_t i, uint64_t begin, struct err *err);

/* Returns the note of a file called `name` that contains all forms: files[plain] completely, and the others. */
int log_forms_note(const struct tree *t, size_t at, size_t plain, const char *name, char ret[COMPRESS_COMMENT_MAX + 1],
		   struct err *err);

#endif
