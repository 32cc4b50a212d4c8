/* undo.c: the file of undo records, and truncation of half-written files. */
#include "undo.h"

#include "batch_ids.h"
#include "buf.h"
#include "io.h"
#include "ledger.h"
#include "log.h"
#include "mem.h"
#include "private_file.h"
#include "strobe_wire.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define RENEW_BYTES	((size_t)4 << 20)
#define ID_BYTES	10u		/* a varint of random bits */
#define ENDED_MAX	(LEDGER_HEADER + 11)	/* size of the record that a batch ended or was rolled back */

enum record_kind {
	BEGUN = 1,
	ENDED = 2,
	ROLLED_BACK = 3,
	IDS = 4,
};

struct undo {
	char *base, *directory, *path;
	int lock_fd;
	struct ledger *file;
	uint64_t rolled_back;

	struct batch_ids ids;			/* batches that have ended */

	/* a batch has begun and not ended */
	bool is_begun;
	uint64_t id;
	struct undo_file *files;
	size_t file_count;
};

/* --- In memory --- */

bool undo_knows(const struct undo *u, uint64_t id)
{
	return batch_ids_has(&u->ids, id);
}

void undo_keep_ids(struct undo *u, const uint64_t *open, size_t count)
{
	batch_ids_keep(&u->ids, open, count, UNDO_IDS);
}

static void forget_begun(struct undo *u)
{
	for (size_t i = 0; i < u->file_count; i++)
		free((char *)u->files[i].path);
	free(u->files);
	u->files = NULL;
	u->file_count = 0;
	u->is_begun = false;
}

static void remember_begun(struct undo *u, uint64_t id, const struct undo_file *files, size_t count)
{
	forget_begun(u);
	u->is_begun = true;
	u->id = id;
	u->files = xcalloc(count + 1, sizeof(*files));
	for (size_t i = 0; i < count; i++) {
		u->files[i] = files[i];
		u->files[i].path = xstrdup(files[i].path);
	}
	u->file_count = count;
}

uint64_t undo_count(const struct undo *u)
{
	return u->rolled_back;
}

/* --- Truncating --- */

static int cut(const char *path, uint64_t length, struct err *err)
{
	_cleanup_(fd_closep) int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || ftruncate(fd, (off_t)length))
		return err_set(err, -errno, "cannot truncate '%s' to %llu bytes to undo a "
					    "partial append: %s", path, (unsigned long long)length, strerror(errno));
	return 0;
}

/* Files that were removed or replaced by others in the meantime are left alone. */
static int roll_back_file(const struct undo *u, const struct undo_file *f, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", u->base, f->path);
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT || errno == ENOTDIR ? 0 :
			err_set(err, -errno, "cannot stat '%s': %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return 0;
	if (!f->inode) {
		if (unlink(path) && errno != ENOENT)
			return err_set(err, -errno, "cannot remove '%s', which has part of a batch: %s",
				       path, strerror(errno));
		return 0;
	}
	if (st.st_ino != f->inode) {
		log_warning("'%s' was replaced while a batch was being written; some of its lines may be duplicated",
			    path);
		return 0;
	}
	return (uint64_t)st.st_size > f->length ? cut(path, f->length, err) : 0;
}

/* --- Records --- */

static int append_id(struct undo *u, enum record_kind kind, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };

	buf_init(&body);
	buf_put_varint(&body, kind);
	buf_put_varint(&body, u->id);
	return ledger_append(u->file, &body, true, err);
}

/* Replaces the file by one with the ids only. */
static int renew(struct undo *u, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 }, all = { 0 };

	buf_init(&body);
	buf_init(&all);
	buf_put_varint(&body, IDS);
	buf_put_varint(&body, u->ids.count);
	for (size_t i = 0; i < u->ids.count; i++)
		buf_put_varint(&body, u->ids.ids[i]);
	ledger_put(&all, body.data, body.size);
	return ledger_replace(u->file, &all, err);
}

/* With many ids the file may be large although nothing in it could be dropped. */
static bool is_mostly_over(const struct undo *u)
{
	size_t size = ledger_size(u->file);

	return size > RENEW_BYTES && size / 2 > ID_BYTES * u->ids.count;
}

int undo_begin(struct undo *u, uint64_t id, const struct undo_file *files, size_t count, struct err *err)
{
	_cleanup_(buf_done) struct buf body = { 0 };
	int r;

	buf_init(&body);
	buf_put_varint(&body, BEGUN);
	buf_put_varint(&body, id);
	buf_put_varint(&body, count);
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(files[i].path);

		buf_put_varint(&body, n);
		buf_put(&body, files[i].path, n);
		buf_put_varint(&body, files[i].inode);
		buf_put_varint(&body, files[i].length);
	}
	if (is_mostly_over(u) && (r = renew(u, err)) < 0)
		return r;
	r = ledger_append(u->file, &body, true, err);
	if (r >= 0)
		remember_begun(u, id, files, count);
	return r;
}

int undo_end(struct undo *u, struct err *err)
{
	int r = append_id(u, ENDED, err);

	if (r < 0)
		return r;
	batch_ids_add(&u->ids, u->id);
	forget_begun(u);
	return 0;
}

/* Recording the rollback is optional, since repeating it changes nothing; but later writers may append. */
int undo_roll_back(struct undo *u, struct err *err)
{
	int r;

	if (!u->is_begun)
		return 0;
	for (size_t i = 0; i < u->file_count; i++) {
		r = roll_back_file(u, &u->files[i], err);
		if (r < 0)
			return r;
	}
	/* Rare, and may touch thousands of files, so the whole file system is synced once. */
	if (syncfs(u->lock_fd))
		return err_set(err, -errno, "cannot sync the file system of '%s': %s", u->path, strerror(errno));
	append_id(u, ROLLED_BACK, NULL);
	forget_begun(u);
	u->rolled_back++;
	return 0;
}

/* --- Reading --- */

struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t next(struct reader *r)
{
	struct strobe_wire_cursor c = { r->p, r->end };
	uint64_t v = 0;

	if (r->bad || !strobe_wire_get_varint(&c, &v))
		r->bad = true;
	else
		r->p = c.p;
	return v;
}

/* Accepts "hourly/2026-11-21_18.index.log", but nothing that leads out of the base. */
static bool is_below(const char *path)
{
	const char *slash = strchr(path, '/');

	return slash && slash > path && *path != '.' && slash[1] && slash[1] != '.' && !strchr(slash + 1, '/');
}

static char *next_path(struct reader *r)
{
	uint64_t n = next(r);
	char *path;

	if (r->bad || n > (uint64_t)(r->end - r->p)) {
		r->bad = true;
		return xstrdup("");
	}
	path = xstrndup((const char *)r->p, n);
	r->p += n;
	r->bad |= !is_below(path);
	return path;
}

static void read_begun(struct undo *u, struct reader *r)
{
	uint64_t count;

	forget_begun(u);
	u->id = next(r);
	count = next(r);
	if (r->bad || count > (uint64_t)(r->end - r->p))
		return;
	u->is_begun = true;
	u->files = xcalloc(count + 1, sizeof(*u->files));
	while (u->file_count < count && !r->bad) {
		struct undo_file *f = &u->files[u->file_count++];

		f->path = next_path(r);
		f->inode = next(r);
		f->length = next(r);
	}
	if (r->bad)
		forget_begun(u);
}

static void read_record(void *data, const uint8_t *body, size_t n)
{
	struct reader r = { body, body + n, false };
	uint64_t kind = next(&r), id;
	struct undo *u = data;

	switch (kind) {
	case BEGUN:
		read_begun(u, &r);
		break;
	case ENDED:
		id = next(&r);
		if (!r.bad)
			batch_ids_add(&u->ids, id);
		forget_begun(u);
		break;
	case ROLLED_BACK:
		forget_begun(u);
		break;
	case IDS:
		for (uint64_t count = next(&r); count && !r.bad; count--) {
			id = next(&r);
			if (!r.bad)
				batch_ids_add(&u->ids, id);
		}
		break;
	}
}

/* After the record that a batch began, a crash can have truncated at most the record of its end. Anything more is
 * damage of another kind, and files may have grown long since: truncating them would lose more than it saves. */
static int check_rest(struct undo *u, size_t bytes, struct err *err)
{
	int r;

	if (!u->is_begun || bytes <= ENDED_MAX)
		return 0;
	log_warning("'%s' is damaged; nothing is rolled back, and some lines of the last batch may be duplicated",
		    u->path);
	/* The damage has been truncated by now, so the next reader would find the batch begun, and nothing after it. */
	r = append_id(u, ROLLED_BACK, err);
	forget_begun(u);
	return r;
}

static int read_file(struct undo *u, struct err *err)
{
	size_t cut;
	int r = ledger_open(u->path, read_record, u, &cut, &u->file, err);

	return r < 0 ? r : check_rest(u, cut, err);
}

/* --- Lifecycle --- */

static int lock_tree(struct undo *u, struct err *err)
{
	_cleanup_(freep) char *path = xasprintf("%s/lock", u->directory);

	int r = private_file_open(path, O_RDWR | O_CREAT, &u->lock_fd, err);

	if (r < 0)
		return r;
	if (flock(u->lock_fd, LOCK_EX | LOCK_NB))
		return err_set(err, -EBUSY, "another process writes trace logs to '%s'; use one process for all "
					    "channels, or a directory for each", u->base);
	return 0;
}

static int start(struct undo *u, struct err *err)
{
	int r;

	if ((r = io_make_dirs(u->base, 0755, err)) < 0 || (r = io_make_dirs(u->directory, 0755, err)) < 0 ||
	    (r = lock_tree(u, err)) < 0 || (r = read_file(u, err)) < 0)
		return r;
	return undo_roll_back(u, err);
}

int undo_open(const char *base, struct undo **ret, struct err *err)
{
	struct undo *u = xcalloc(1, sizeof(*u));
	int r;

	u->base = xstrdup(base);
	u->directory = xasprintf("%s/.strobe", base);
	u->path = xasprintf("%s/batches", u->directory);
	u->lock_fd = -1;
	batch_ids_init(&u->ids);
	r = start(u, err);
	if (r < 0) {
		undo_close(u);
		return r;
	}
	*ret = u;
	return 0;
}

struct undo *undo_close(struct undo *u)
{
	if (!u)
		return NULL;
	forget_begun(u);
	ledger_close(u->file);
	batch_ids_done(&u->ids);
	if (u->lock_fd >= 0)
		close(u->lock_fd);
	free(u->base);
	free(u->directory);
	free(u->path);
	free(u);
	return NULL;
}
