/* format.h: the interface between bytes and profiles. One file per format, one const struct each. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "err.h"
#include "input.h"
#include "profile.h"

/* Options of a reader; all zero is the default. A format ignores those of other formats. */
struct format_options {
	const struct format *format;	/* format of the input; NULL: auto-detect */

	/* Receives the raw lines of folded stacks instead of the profile, for uses that depend on their order. */
	void (*take_line)(void *data, struct str line);
	void *take_data;

	/* For perf script; formats that know processes use `pid` and `tid` too. */
	bool pid, tid;			/* the first frame is comm-PID, or comm-PID/TID */
	bool kernel, jit;		/* _[k] behind functions of the kernel, _[j] behind those compiled at run
					 * time */
	bool addresses;			/* for frames without a symbol */
	bool source_lines;		/* it was written with -F +srcline */
	bool inlined, context;		/* query addr2line for inlined functions, and for source lines */
	bool record_tid, record_wake_stack, recurse;	/* for perf-sched, see there */
	const char *event;		/* only samples of this event; NULL: of the first one */

	bool keep_chart;		/* for the creator of the profile: it keeps the flame chart of a single run */
	bool keep_lines;		/* for the creator of the profile: it keeps executed lines */

	/* Only samples from `time_min` to `time_max` seconds. */
	bool time_range;
	enum { TIME_FROM_FIRST, TIME_FROM_SECOND, TIME_RAW } time_zero;	/* 0 is the first event, its full second, or the
									 * clock's own zero */
	double time_min, time_max;

	/* For traces. */
	bool calls;			/* calls of leaf functions are counted, their time is not measured */
	bool script_values;		/* units and frames are those of the script that collapses such files, where
					 * it has others */

	/* For bpftrace: if not NULL, each stack (struct format_stack) is appended as it comes. */
	struct buf *order;
};

struct format_stack {
	uint32_t node;			/* node of the profile that is read into */
	int64_t value;
};

struct format {
	const char *name;		/* as `-f` takes it: "folded" */
	const char *suffixes;		/* space separated, for choosing by file name: "folded collapsed txt"; the last
					 * parts of a name behind a point, or all of it */

	/* Returns the confidence that these first bytes are of this format: 0 no, 100 certain. */
	int (*sniff)(const char *bytes, size_t n);

	/* Adds the content to `p`. Bad input is a sentence with the line or offset; if it could be skipped, returns the
	 * number of lines or messages skipped, and `err` describes the first. NULL if the format is only written. */
	int (*read)(struct profile *p, struct input *in, const struct format_options *o, struct err *err);

	/* Appends `p` (see format_write); column UINT32_MAX means all that the format can hold. NULL if the format is
	 * only read. Returns how many stacks the format could not represent, if any, and then `err` has a sentence. */
	int (*write)(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

	const char *about;		/* a few words for the list of formats, without a full stop */
	bool has_times;			/* the reader can select by time_range */
	bool is_binary;			/* binary output, not for terminals */
	bool is_compressed;		/* written by gzip already */
	bool has_lines;			/* the format can hold executed lines */
	bool has_edges;			/* the format holds a profile's edges; others hold its stacks */
	bool has_any_columns;		/* the format holds several columns of any name, and so both sides of a comparison */
};

extern const struct format format_strobe, format_folded;
extern const struct format format_xhprof, format_xhprof_json;
extern const struct format format_perf, format_perf_sched;
extern const struct format format_pprof, format_speedscope, format_callgrind, format_chrome;
extern const struct format format_stap, format_dtrace, format_bpftrace, format_gdb, format_eu_stack, format_go;
extern const struct format format_phpspy, format_xdebug, format_spx;

/* Appends `p` as `f->write` does, by function alone where the format has no lines. */
int format_write(const struct format *f, const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#define FORMAT_SNIFF_MAX ((size_t)64 << 10)	/* bytes that `sniff` gets at most */

extern const struct format *const formats[];		/* all of them, ends with NULL */

const struct format *format_by_name(const char *name);		/* NULL if unknown */
const struct format *format_by_path(const char *path);		/* by suffix; NULL if none fits */

/* Reads `path` ("-" is standard input) of any format, also compressed by gzip or zstd, and adds it to `p`. An empty
 * input is -ENODATA; more than `FORMAT_INPUT_MAX` bytes once decompressed are -EFBIG. Returns 0, or how many lines or
 * messages were left out as unreadable, and then `err` has the sentence to warn with. -ENOTSUP for an unknown format.
 * After an error `p` may hold the part before it. `o` may be NULL. */
#define FORMAT_INPUT_MAX ((uint64_t)64 << 30)
int format_load(const char *path, struct profile *p, const struct format_options *o, struct err *err);
int format_load_input(struct input *in, struct profile *p, const struct format_options *o, struct err *err);
int format_load_bytes(const char *name, const char *bytes, size_t n, struct profile *p, struct err *err);

/* The same with a limit of its own, for untrusted input. */
int format_load_limited(const char *name, const char *bytes, size_t n, size_t limit, struct profile *p,
			struct err *err);

/* A reader's input held as a whole, of at most `limit` bytes. */
int format_whole(struct input *in, size_t limit, struct str *ret, struct err *err);

/* A reader on bytes in memory, for tests and fuzzers. */
int format_read_bytes(const struct format *f, struct profile *p, const char *bytes, size_t n, struct err *err);

#endif
