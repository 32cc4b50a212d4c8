/* export.h: the subcommands of `strobe export` for a tree of trace logs (tree.h), one function each.
 *
 *	export_svgs.c		which logs have no pictures that are up to date, and which pictures have no log
 *	export_draw.c		the pictures of one log
 *	export_compress.c	old logs, sorted and compressed
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
	const char *label, *function;	/* pictures of the stacks with this function, called .fn-<label> */
};

struct export_options {
	const struct command_spec *spec;	/* for sentences */
	const char *logs, *svgs;		/* directories; svgs may be NULL where there is nothing to draw */
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

/* Both return an exit code after they have reported their result. EXIT_OK also if another process is doing the same. */
int export_svgs(const struct export_options *o);
int export_compress(const struct export_options *o);

/* --- Shared by both --- */

/* Takes the lock `name` in the directory; -EBUSY if another process has it. Closing *ret_fd releases it. */
int export_lock(int dir, const char *name, int *ret_fd, struct err *err);

/* A line on a terminal that is overwritten; nothing elsewhere. */
void export_progress(const struct export_options *o, size_t number, size_t of, const char *what);
void export_progress_end(const struct export_options *o);

/* A sentence of the export, such as "strobe export svgs: cannot …", after the line of progress. */
void export_warn(const struct export_options *o, const char *format, ...) _printf_(2, 3);

/* Appends why there is nothing to do, with the directories searched; `more` is the end of the sentence. */
void export_warn_no_log(const struct export_options *o, const struct tree *t, const char *more);

/* --- The pictures of one log --- */

#define PICTURE_BYTES_MIN	21u	/* an empty gzip file has 20 bytes */
#define DRAWN_MAX		64u	/* bytes of what export_drawn_put writes */

struct draw {
	const struct export_options *o;
	const struct tree *logs;
	size_t at, count;		/* the log in there, and its packed forms */
	int svgs;			/* the directory of pictures */
};

enum draw_code { DRAW_DONE, DRAW_NOTHING, DRAW_GONE, DRAW_FAILED, DRAW_NOT_UPLOADED };

/* Redraws all of them and returns their number in result->count. The text is a warning if the code is DRAW_DONE. */
void export_draw(const struct draw *d, struct job_result *result);

/* Writes the comment of the .svgz of all stacks, which records the requested variants. */
void export_drawn_put(const struct export_options *o, const struct tree_name *log, char out[DRAWN_MAX]);

/* Whether functions have pictures of their own in this log. */
bool export_has_variants(const struct export_options *o, const struct tree_name *log);

#endif
