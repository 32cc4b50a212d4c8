/* export.h: the subcommands of `strobe export` for a tree of trace logs (tree.h), one function each.
 *
 *	export_svgs.c		finds logs without up-to-date pictures, and pictures without a log
 *	export_draw.c		draws the pictures of one log
 *	export_compress.c	sorts and compresses old logs
 *
 * Each log is processed by its own process (jobs.h). Output gets its name when complete, so that an interruption leaves
 * either the old file or the new one.
 */
#ifndef ARCLAMP_EXPORT_H
#define ARCLAMP_EXPORT_H

#include "command.h"
#include "jobs.h"
#include "render.h"
#include "tree.h"
#include "upload.h"

struct export_variant {
	const char *label, *function;	/* pictures of stacks with this function, named .fn-<label> */
};

struct export_options {
	const struct command_spec *spec;	/* for messages */
	const char *logs, *svgs;		/* directories; svgs may be NULL if nothing is drawn */
	const char *name;			/* prefix of titles */
	struct flamegraph_options picture;
	struct export_variant *variants;	/* for logs with the entry point "all" */
	size_t variant_count;
	const struct upload *upload;		/* NULL: none */
	unsigned jobs;
	uint64_t memory_bytes;			/* for one log; 0: the default */
	bool redraw;				/* also files that are up to date */
	double older_than_days;
	bool zstd;
	bool quiet;
};

/* Both return an exit code after reporting the result. EXIT_OK also if another process is already doing the same. */
int export_svgs(const struct export_options *o);
int export_compress(const struct export_options *o);

/* --- Shared by both --- */

/* Takes the lock `name` in the directory; -EBUSY if another process has it. Closing *ret_fd releases it. */
int export_lock(int dir, const char *name, int *ret_fd, struct err *err);

/* Shows a line that is overwritten on a terminal; nothing elsewhere. */
void export_progress(const struct export_options *o, size_t number, size_t of, const char *what);
void export_progress_end(const struct export_options *o);

/* Prints a message such as "strobe export svgs: cannot …" after the progress line. */
void export_warn(const struct export_options *o, const char *format, ...) _printf_(2, 3);

/* Prints why there is nothing to do, with the directories searched; `more` ends the sentence. */
void export_warn_no_log(const struct export_options *o, const struct tree *t, const char *more);

/* --- The pictures of one log --- */

#define PICTURE_BYTES_MIN	21u	/* an empty gzip file has 20 bytes */
#define DRAWN_MAX		64u	/* size of export_drawn_put's output */

struct draw {
	const struct export_options *o;
	const struct tree *logs;
	size_t at, count;		/* the log in the tree, and its packed forms */
	int svgs;			/* the directory of pictures */
};

enum draw_code { DRAW_DONE, DRAW_NOTHING, DRAW_GONE, DRAW_FAILED, DRAW_NOT_UPLOADED };

/* Redraws all pictures and returns their number in result->count. The text is a warning if the code is DRAW_DONE. */
void export_draw(const struct draw *d, struct job_result *result);

/* Writes the comment for the .svgz of all stacks, which records the requested variants. */
void export_drawn_put(const struct export_options *o, const struct tree_name *log, char out[DRAWN_MAX]);

/* Whether functions have separate pictures for this log. */
bool export_has_variants(const struct export_options *o, const struct tree_name *log);

#endif
