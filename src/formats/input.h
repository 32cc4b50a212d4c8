/* input.h: the input of a format's reader: decompressed bytes, read line by line or as a whole.
 *
 * It may be a file, standard input or memory; gzip and zstd are decompressed. Line formats are read through a buffer,
 * so that a log of gigabytes takes a megabyte of memory; a whole input is held in memory, and has a limit.
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
	const char *name;		/* for errors: "a.folded", "standard input" */
	uint64_t line;			/* number of the line last returned by input_line, from 1 */
	struct err err;			/* why the input ended, if not with the end of the file */

	/* private */
	const char *at, *end;		/* bytes read and not yet returned */
	char *data;			/* the buffer; NULL for memory */
	size_t capacity;
	int fd;				/* -1 for memory */
	struct decompressor *packed;	/* NULL if it is plain */
	char *packed_data;
	size_t packed_at, packed_end;
	uint64_t given, limit;		/* bytes so far, and their limit */
	bool finished;			/* nothing follows after `end` */
};

#define INPUT_LINE_MAX	((size_t)256 << 20)	/* limit of one line */

/* Opens `path` ("-" is standard input), or uses `n` bytes that must stay valid. `limit` is the maximum number of
 * decompressed bytes: more cause the error -EFBIG. Close it in any case. */
int input_open(struct input *in, const char *path, uint64_t limit, struct err *err);

/* The same with a descriptor, which the input owns from now on in any case; `name` must stay valid. */
int input_open_fd(struct input *in, const char *name, int fd, uint64_t limit, struct err *err);
int input_memory(struct input *in, const char *name, const char *bytes, size_t n, uint64_t limit, struct err *err);
void input_close(struct input *in);

/* Returns the first bytes, at most `wanted`, without consuming them; fewer only at the end of the input. Valid until
 * the next call. */
struct str input_peek(struct input *in, size_t wanted);

/* Returns all unread bytes; valid until input_close. Returns the negative errno in `err` on failure, including
 * earlier ones. */
int input_all(struct input *in, struct str *ret, struct err *err);

/* The slow part of input_line. */
bool input_line_slowly(struct input *in, struct str *ret);

/* Returns the next line if all of it is in the buffer: then earlier lines stay valid, too. */
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

/* Returns the next line, without its newline (a carriage return before it is kept); the last one may lack it. The
 * line is valid until the next call. Returns false at the end: then check in->err, or return input_end(). */
static inline bool input_line(struct input *in, struct str *ret)
{
	return input_line_at_hand(in, ret) || input_line_slowly(in, ret);
}

/* Returns the bytes in the buffer that have not been read yet. */
static inline struct str input_buffered(const struct input *in)
{
	return (struct str){ in->at, (size_t)(in->end - in->at) };
}

/* Appends more bytes to the buffer, which may move them; returns false if there are no more. */
static inline bool input_more(struct input *in)
{
	size_t n = input_buffered(in).n;

	return input_peek(in, n + 1).n > n;
}

/* Consumes the first `n` of these bytes, which contain `lines` lines. */
static inline void input_skip(struct input *in, size_t n, uint64_t lines)
{
	in->at += n;
	in->line += lines;
}

/* Returns 0, or the error that ended the input, copied to `err`. */
int input_end(const struct input *in, struct err *err);

#endif
