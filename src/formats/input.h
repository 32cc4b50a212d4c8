/* input.h: the bytes of one input as a format reads them: plain, line by line or as a whole.
 *
 * A file, standard input or memory; gzip and zstd are decompressed on the way. Line formats are read through one
 * buffer, so that a log of gigabytes takes a megabyte; a whole input is held in memory, and has a limit.
 *
 *	input_open, input_memory -> input_peek -> input_line … or input_all -> input_close
 */
#ifndef FORMATS_INPUT_H
#define FORMATS_INPUT_H

#include "buf.h"
#include "err.h"
#include "intern.h"

#include <string.h>

struct decompressor;

struct input {
	const char *name;		/* for sentences: "a.folded", "standard input" */
	uint64_t line;			/* number of the line that input_line gave last, from 1 */
	struct err err;			/* why it ended, if that was no end of the file */

	/* private */
	const char *at, *end;		/* bytes read and not yet returned */
	char *data;			/* the buffer; NULL for memory */
	size_t capacity;
	int fd;				/* -1 for memory */
	struct decompressor *packed;	/* NULL if it is plain */
	char *packed_data;
	size_t packed_at, packed_end;
	uint64_t given, limit;		/* bytes so far, and how many there may be */
	bool finished;			/* nothing more comes behind `end` */
};

#define INPUT_LINE_MAX	((size_t)256 << 20)	/* bytes of one line */

/* Opens `path` ("-" is standard input), or takes `n` bytes that must stay. `limit` is how many plain bytes it may have:
 * more are the error -EFBIG. Close it in any case. */
int input_open(struct input *in, const char *path, uint64_t limit, struct err *err);

/* The same with a descriptor, which is the input's from now on, in any case; `name` must stay. */
int input_open_fd(struct input *in, const char *name, int fd, uint64_t limit, struct err *err);
int input_memory(struct input *in, const char *name, const char *bytes, size_t n, uint64_t limit, struct err *err);
void input_close(struct input *in);

/* Returns the first bytes, at most `wanted`, without consuming them; fewer only at the end of the input. Valid until
 * the next call. */
struct str input_peek(struct input *in, size_t wanted);

/* All unread bytes; valid until input_close. Returns a negative errno as `err` says, also for earlier failures. */
int input_all(struct input *in, struct str *ret, struct err *err);

/* The slow part of input_line. */
bool input_line_slowly(struct input *in, struct str *ret);

/* The next line if all of it is in the buffer: then earlier lines remain valid, too. */
static inline bool input_line_at_hand(struct input *in, struct str *ret)
{
	const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));

	if (__builtin_expect(!newline, 0))
		return false;
	*ret = (struct str){ in->at, (size_t)(newline - in->at) };
	in->at = newline + 1;
	in->line++;
	return true;
}

/* The next line, without its newline (a carriage return before it stays); the last one may lack it. It is valid until the
 * next call. False at the end: then check in->err, or return input_end(). */
static inline bool input_line(struct input *in, struct str *ret)
{
	return input_line_at_hand(in, ret) || input_line_slowly(in, ret);
}

/* Returns the bytes in the buffer that have not been read yet. */
static inline struct str input_buffered(const struct input *in)
{
	return (struct str){ in->at, (size_t)(in->end - in->at) };
}

/* Appends more bytes to these, which may move them; false if there are no more. */
static inline bool input_more(struct input *in)
{
	size_t n = input_buffered(in).n;

	return input_peek(in, n + 1).n > n;
}

/* Consumes the first `n` of these bytes, which are so many lines. */
static inline void input_skip(struct input *in, size_t n, uint64_t lines)
{
	in->at += n;
	in->line += lines;
}

/* 0, or the error that ended the input, put into `err`. */
int input_end(const struct input *in, struct err *err);

#endif
