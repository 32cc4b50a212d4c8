/* input.c: fills the buffer from which lines are read. */
#include "input.h"

#include "decompress.h"
#include "mem.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BUFFER_BYTES	((size_t)1 << 20)
#define PACKED_BYTES	((size_t)256 << 10)

static int fail(struct input *in, const struct err *why)
{
	if (!in->err.code)
		in->err = *why;
	in->finished = true;
	return in->err.code;
}

/* Reads from the descriptor; 0 at the end. */
static ssize_t read_some(struct input *in, char *to, size_t n)
{
	struct err why;
	ssize_t r;

	do
		r = read(in->fd, to, n);
	while (r < 0 && errno == EINTR);
	if (r < 0) {
		err_set(&why, -errno, "cannot read it: %s", strerror(errno));
		fail(in, &why);
	}
	return r;
}

/* Keeps compressed bytes buffered; false at the end. */
static bool refill_packed(struct input *in)
{
	ssize_t r;

	if (in->fd < 0)
		return false;
	memmove(in->packed_data, in->packed_data + in->packed_at, in->packed_end - in->packed_at);
	in->packed_end -= in->packed_at;
	in->packed_at = 0;
	if (in->packed_end == PACKED_BYTES)
		return true;
	r = read_some(in, in->packed_data + in->packed_end, PACKED_BYTES - in->packed_end);
	if (r > 0)
		in->packed_end += (size_t)r;
	return r > 0;
}

static ssize_t unpack_some(struct input *in, char *to, size_t n)
{
	bool more = in->fd >= 0;

	for (;;) {
		size_t taken;
		struct err why = { 0 };
		ssize_t r = decompress_more(in->packed, in->packed_data + in->packed_at, in->packed_end - in->packed_at,
					    !more, &taken, to, n, &why);

		in->packed_at += taken;
		if (r < 0)
			return fail(in, &why);
		if (r > 0 || decompress_ended(in->packed))
			return r;
		if (taken)
			continue;
		if (!more)
			return 0;
		more = refill_packed(in);
		if (in->err.code)
			return in->err.code;
	}
}

static void check_limit(struct input *in)
{
	struct err why;

	if (in->given <= in->limit)
		return;
	err_set(&why, -EFBIG, in->packed ? "it exceeds the limit of %llu bytes once decompressed" :
					  "it exceeds the limit of %llu bytes",
		(unsigned long long)in->limit);
	fail(in, &why);
}

/* Reads bytes after in->end, where there is room. */
static void fill(struct input *in)
{
	size_t capacity = in->capacity - (size_t)(in->end - in->data);
	char *to = in->data + (in->end - in->data);
	ssize_t r;

	/* One byte more than the limit, to detect larger input. */
	if (in->given <= in->limit && in->limit - in->given < capacity)
		capacity = (size_t)(in->limit - in->given) + 1;
	r = in->packed ? unpack_some(in, to, capacity) : read_some(in, to, capacity);
	if (r <= 0) {
		in->finished = true;
		return;
	}
	in->end += r;
	in->given += (uint64_t)r;
	check_limit(in);
}

/* Makes room after in->end: by moving unread bytes to the front, or enlarging the buffer. */
static void make_room(struct input *in)
{
	size_t left = (size_t)(in->end - in->at);

	if (left * 2 > in->capacity) {
		char *larger = xmalloc(in->capacity * 2);

		memcpy(larger, in->at, left);
		free(in->data);
		in->data = larger;
		in->capacity *= 2;
	} else {
		memmove(in->data, in->at, left);
	}
	in->at = in->data;
	in->end = in->data + left;
}

static void read_until(struct input *in, size_t wanted)
{
	while (!in->finished && (size_t)(in->end - in->at) < wanted) {
		if (in->end == in->data + in->capacity)
			make_room(in);
		fill(in);
	}
}

/* The first bytes determine how the others are read. */
static int start_packed(struct input *in, struct err *err)
{
	struct str start = input_peek(in, DECOMPRESS_MAGIC);
	int r = decompress_start(start.p, start.n, &in->packed, err);

	if (r < 0 || !in->packed)
		return r;
	if (in->data) {
		in->packed_data = xmalloc(PACKED_BYTES > start.n ? PACKED_BYTES : start.n);
		in->packed_end = (size_t)(in->end - in->at);
		memcpy(in->packed_data, in->at, in->packed_end);
	} else {
		in->packed_data = (char *)in->at;
		in->packed_end = (size_t)(in->end - in->at);
		in->capacity = BUFFER_BYTES;
		in->data = xmalloc(in->capacity);
	}
	in->at = in->end = in->data;
	in->given = 0;
	in->finished = false;
	return 0;
}

/* Rejects inputs that cannot be read before anything else is reported. */
static int check_file(const struct input *in, const struct stat *st, uint64_t limit, struct err *err)
{
	if (S_ISDIR(st->st_mode))
		return err_set(err, -EISDIR, "'%s' is a directory, not a file", in->name);
	if (S_ISREG(st->st_mode) && !in->packed && (uint64_t)st->st_size > limit)
		return err_set(err, -EFBIG, "'%s' has %lld bytes; the limit is %llu", in->name,
			       (long long)st->st_size, (unsigned long long)limit);
	return 0;
}

int input_open(struct input *in, const char *path, uint64_t limit, struct err *err)
{
	int fd;

	if (!strcmp(path, "-"))
		return input_open_fd(in, "standard input", STDIN_FILENO, limit, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return input_open_fd(in, path, fd, limit, err);
	*in = (struct input){ .name = path, .fd = -1 };
	return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
}

int input_open_fd(struct input *in, const char *name, int fd, uint64_t limit, struct err *err)
{
	struct stat st;
	int r;

	*in = (struct input){ .name = name, .limit = UINT64_MAX, .fd = fd };
	/* Initially this small, so that compressed data fits into the other buffer. */
	in->capacity = PACKED_BYTES;
	in->data = xmalloc(in->capacity);
	in->at = in->end = in->data;
	if (fstat(in->fd, &st) < 0)
		return err_set(err, -errno, "cannot stat '%s': %s", in->name, strerror(errno));
	if ((r = check_file(in, &st, UINT64_MAX, err)) < 0 || (r = start_packed(in, err)) < 0)
		return r;
	in->limit = limit;
	return check_file(in, &st, limit, err);
}

int input_memory(struct input *in, const char *name, const char *bytes, size_t n, uint64_t limit, struct err *err)
{
	*in = (struct input){
		.name = name, .limit = limit, .fd = -1, .at = bytes, .end = bytes + n, .given = n, .finished = true
	};
	if (n > limit)
		return err_set(err, -EFBIG, "it exceeds the limit of %llu bytes",
			       (unsigned long long)limit);
	return start_packed(in, err);
}

void input_close(struct input *in)
{
	in->packed = decompress_stop(in->packed);
	if (in->fd >= 0)
		free(in->packed_data);
	if (in->fd > STDIN_FILENO)
		close(in->fd);
	free(in->data);
	*in = (struct input){ .fd = -1 };
}

struct str input_peek(struct input *in, size_t wanted)
{
	read_until(in, wanted);
	return (struct str){ in->at, (size_t)(in->end - in->at) < wanted ? (size_t)(in->end - in->at) : wanted };
}

int input_all(struct input *in, struct str *ret, struct err *err)
{
	read_until(in, SIZE_MAX);
	check_limit(in);
	*ret = (struct str){ in->at, (size_t)(in->end - in->at) };
	in->at = in->end;
	return input_end(in, err);
}

bool input_line_slowly(struct input *in, struct str *ret)
{
	size_t seen = 0;
	struct err why;

	for (;;) {
		const char *newline = memchr(in->at + seen, '\n', (size_t)(in->end - in->at) - seen);

		if (newline) {
			*ret = (struct str){ in->at, (size_t)(newline - in->at) };
			in->at = newline + 1;
			in->line++;
			return true;
		}
		seen = (size_t)(in->end - in->at);
		if (in->finished)
			break;
		if (seen > INPUT_LINE_MAX) {
			err_set(&why, -E2BIG, "line %llu exceeds the limit of %zu bytes",
				(unsigned long long)in->line + 1, INPUT_LINE_MAX);
			fail(in, &why);
			return false;
		}
		read_until(in, seen + 1);
	}
	*ret = (struct str){ in->at, seen };
	in->at = in->end;
	in->line += seen > 0;
	return seen > 0 && !in->err.code;
}

int input_end(const struct input *in, struct err *err)
{
	return in->err.code ? err_set(err, in->err.code, "%s", in->err.text) : 0;
}
