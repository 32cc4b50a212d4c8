/* format.h: the interface between bytes and profiles. One file per format, one const struct each. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "err.h"
#include "input.h"
#include "profile.h"

/* Options of a reader; all zero is the default. Formats ignore options of other formats. */
struct format_options {
	const struct format *format;	/* format of the input; NULL: auto-detect */

	/* Receives the raw lines of folded stacks instead of the profile, for uses that depend on their order. */
	void (*take_line)(void *data, struct str line);
	void *take_data;

	/* For perf script; other formats with processes use `pid` and `tid`, too. */
	bool pid, tid;			/* the first frame is comm-PID, or comm-PID/TID */
	bool kernel, jit;		/* append _[k] to kernel functions, _[j] to those compiled at run time */
	bool addresses;			/* for frames without a symbol */
	bool source_lines;		/* the input was written with -F +srcline */
	bool inlined, context;		/* query addr2line for inlined functions, and for source lines */
	bool record_tid, record_wake_stack, recurse;	/* for perf-sched, see there */
	const char *event;		/* only samples of this event; NULL: of the first event */

	bool keep_chart;		/* the created profile should keep the flame chart of a single run */
	bool keep_lines;		/* the created profile should keep executed lines */

	/* Only samples from `time_min` to `time_max` seconds. */
	bool time_range;
	enum { TIME_FROM_FIRST, TIME_FROM_SECOND, TIME_RAW } time_zero;	/* 0 is the first event, the full second
									 * before it, or the clock's own zero */
	double time_min, time_max;

	/* For traces. */
	bool calls;			/* count calls of leaf functions instead of measuring time */
	bool script_values;		/* use the units and frames of the script that collapses such files, if they
					 * differ */

	/* For bpftrace: if not NULL, each stack (struct format_stack) is appended in the order of the input. */
	struct buf *order;
};

struct format_stack {
	uint32_t node;			/* node of the profile */
	int64_t value;
};

struct format {
	const char *name;		/* as accepted by `-f`: "folded" */
	const char *suffixes;		/* space separated, for choosing by file name: "folded collapsed txt"; each is
					 * the end of a name after a dot, or the whole name */

	/* Returns the confidence that these first bytes have this format: 0 no, 100 certain. */
	int (*sniff)(const char *bytes, size_t n);

	/* Adds the content to `p`. For bad input, returns an error whose sentence has the line or offset; if it could
	 * be skipped, returns the number of lines or messages skipped, and `err` describes the first. NULL if the
	 * format can only be written. */
	int (*read)(struct profile *p, struct input *in, const struct format_options *o, struct err *err);

	/* Appends `p` (see format_write); column UINT32_MAX means everything that the format supports. NULL if the
	 * format can only be read. Returns the number of stacks that the format could not represent, if any, and then
	 * `err` has a sentence. */
	int (*write)(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

	const char *about;		/* a short description for the list of formats, without a full stop */
	bool has_times;			/* the reader can select by time_range */
	bool is_binary;			/* binary output, not for terminals */
	bool is_compressed;		/* already compressed with gzip */
	bool has_lines;			/* the format supports executed lines */
	bool has_edges;			/* the format stores a profile's edges; others store its stacks */
	bool has_any_columns;		/* supports several columns of any name, and so both sides of a comparison */
};

extern const struct format format_strobe, format_folded;
extern const struct format format_xhprof, format_xhprof_json;
extern const struct format format_perf, format_perf_sched;
extern const struct format format_pprof, format_speedscope, format_callgrind, format_chrome;
extern const struct format format_stap, format_dtrace, format_bpftrace, format_gdb, format_eu_stack, format_go;
extern const struct format format_phpspy, format_xdebug, format_spx;

/* Appends `p` like `f->write`, merged by function if the format has no lines. */
int format_write(const struct format *f, const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#define FORMAT_SNIFF_MAX ((size_t)64 << 10)	/* limit of the bytes passed to `sniff` */

extern const struct format *const formats[];		/* all formats, ends with NULL */

const struct format *format_by_name(const char *name);		/* NULL if unknown */
const struct format *format_by_path(const char *path);		/* by suffix; NULL if none matches */

/* Reads `path` ("-" is standard input) in any format, optionally compressed with gzip or zstd, and adds it to `p`.
 * Returns -ENODATA for an empty input; -EFBIG for more than `FORMAT_INPUT_MAX` bytes after decompression; -ENOTSUP
 * for an unknown format. Otherwise returns 0, or the number of unreadable lines or messages left out, and then `err`
 * has a sentence for a warning. After an error `p` may contain the part before it. `o` may be NULL. */
#define FORMAT_INPUT_MAX ((uint64_t)64 << 30)
int format_load(const char *path, struct profile *p, const struct format_options *o, struct err *err);
int format_load_input(struct input *in, struct profile *p, const struct format_options *o, struct err *err);
int format_load_bytes(const char *name, const char *bytes, size_t n, struct profile *p, struct err *err);

/* The same with a separate limit, for untrusted input. */
int format_load_limited(const char *name, const char *bytes, size_t n, size_t limit, struct profile *p,
			struct err *err);

/* Returns a reader's whole input, of at most `limit` bytes. */
int format_whole(struct input *in, size_t limit, struct str *ret, struct err *err);

/* Runs a reader on bytes in memory, for tests and fuzzers. */
int format_read_bytes(const struct format *f, struct profile *p, const char *bytes, size_t n, struct err *err);

#endif
