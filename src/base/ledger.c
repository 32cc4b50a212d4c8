/* ledger.c: reads and writes the records of the file. */
#include "ledger.h"

#include "io.h"
#include "mem.h"
#include "private_file.h"

#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <xxhash.h>

struct ledger {
	char *path;
	int fd;				/* O_APPEND */
	size_t size;			/* size of the complete records */
	bool is_torn;			/* a failed write left bytes after them */
	bool is_unnamed;		/* the directory is not synced, so a crash may lose the file's name */
};

size_t ledger_size(const struct ledger *l)
{
	return l->size;
}

static int failed(const struct ledger *l, const char *what, struct err *err)
{
	return err_set(err, -errno, "cannot %s '%s': %s", what, l->path, strerror(errno));
}

/* --- Records --- */

void ledger_put(struct buf *out, const void *body, size_t n)
{
	uint32_t length = htole32((uint32_t)n);
	uint64_t hash = htole64(XXH3_64bits(body, n));

	assert(n <= UINT32_MAX);
	buf_put(out, &length, sizeof(length));
	buf_put(out, &hash, sizeof(hash));
	buf_put(out, body, n);
}

/* Returns the size of the complete records. */
static size_t read_records(const char *bytes, size_t n, ledger_read_fn *read, void *data)
{
	size_t at = 0;

	while (n - at >= LEDGER_HEADER) {
		const char *p = bytes + at;
		uint32_t length;
		uint64_t hash;

		memcpy(&length, p, sizeof(length));
		memcpy(&hash, p + sizeof(length), sizeof(hash));
		length = le32toh(length);
		if (length > n - at - LEDGER_HEADER || XXH3_64bits(p + LEDGER_HEADER, length) != le64toh(hash))
			break;
		read(data, (const uint8_t *)p + LEDGER_HEADER, length);
		at += LEDGER_HEADER + length;
	}
	return at;
}

/* --- The file --- */

/* Otherwise the next record would follow the torn one, and never be read. */
static int truncate_torn(struct ledger *l, struct err *err)
{
	l->is_torn = ftruncate(l->fd, (off_t)l->size) != 0;
	return l->is_torn ? failed(l, "undo a write to", err) : 0;
}

static int sync_name(struct ledger *l, struct err *err)
{
	int r = io_sync_directory_of(l->path, err);

	l->is_unnamed = r < 0;
	return r;
}

static int sync_file(struct ledger *l, struct err *err)
{
	if (fdatasync(l->fd))
		return failed(l, "write to", err);
	return l->is_unnamed ? sync_name(l, err) : 0;
}

static int write_records(const struct ledger *l, int fd, const struct buf *records, struct err *err)
{
	int r = io_write_all(fd, records->data, records->size, NULL);

	return r < 0 ? err_set(err, r, "cannot write to '%s': %s", l->path, strerror(-r)) : 0;
}

int ledger_append(struct ledger *l, const struct buf *body, bool durable, struct err *err)
{
	_cleanup_(buf_done) struct buf record = { 0 };
	int r;

	buf_init(&record);
	ledger_put(&record, body->data, body->size);
	r = l->is_torn ? truncate_torn(l, err) : 0;
	if (r < 0)
		return r;
	r = write_records(l, l->fd, &record, err);
	if (r >= 0 && durable)
		r = sync_file(l, err);
	if (r < 0) {
		truncate_torn(l, NULL);
		return r;
	}
	l->size += record.size;
	return 0;
}

static int write_new(const struct ledger *l, const char *path, const struct buf *records, int *ret_fd, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	int r;

	if (unlink(path) && errno != ENOENT)	/* left over from a killed process */
		return failed(l, "renew", err);
	r = private_file_open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, &fd, err);
	if (r < 0)
		return r;
	r = write_records(l, fd, records, err);
	if (r < 0)
		return r;
	if (fdatasync(fd) || rename(path, l->path))
		return failed(l, "renew", err);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int ledger_replace(struct ledger *l, const struct buf *records, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s.new", l->path);
	int fd = -1, r = write_new(l, path, records, &fd, err);

	if (r < 0) {
		unlink(path);
		return r;
	}
	close(l->fd);
	l->fd = fd;
	l->size = records->size;
	l->is_torn = false;
	return sync_name(l, err);
}

/* --- Lifecycle --- */

static int open_file(struct ledger *l, struct err *err)
{
	int r = private_file_open(l->path, O_RDWR | O_CREAT | O_APPEND, &l->fd, err);

	return r < 0 ? r : sync_name(l, err);
}

static int read_file(struct ledger *l, ledger_read_fn *read, void *data, size_t *ret_cut, struct err *err)
{
	_cleanup_(buf_done) struct buf bytes = { 0 };
	int r;

	buf_init(&bytes);
	r = io_read_fd(l->fd, l->path, &bytes, LEDGER_MAX, err);
	if (r < 0)
		return r;
	l->size = read_records(bytes.data, bytes.size, read, data);
	*ret_cut = bytes.size - l->size;
	return *ret_cut ? truncate_torn(l, err) : 0;
}

int ledger_open(const char *path, ledger_read_fn *read, void *data, size_t *ret_cut, struct ledger **ret,
		struct err *err)
{
	struct ledger *l = xcalloc(1, sizeof(*l));
	int r;

	l->path = xstrdup(path);
	l->fd = -1;
	r = open_file(l, err);
	if (r >= 0)
		r = read_file(l, read, data, ret_cut, err);
	if (r < 0) {
		ledger_close(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct ledger *ledger_close(struct ledger *l)
{
	if (!l)
		return NULL;
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
	free(l);
	return NULL;
}
