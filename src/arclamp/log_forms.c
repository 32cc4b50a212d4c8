/* log_forms.c: writes and reads the notes of compressed logs. */

#include "log_forms.h"

#include "mem.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#define STEP	((size_t)256 << 10)

struct note {
	uint64_t bytes, hash;		/* size and hash of the log */
	uint64_t other_bytes;		/* size of the other compressed file; 0: none */
	int64_t other_ns;
};

#define NOTE	"strobe export compress: %" PRIu64 " bytes, %016" PRIx64 ", and %" PRIu64 " of %" PRId64
#define NOTE_IN	"strobe export compress: %" SCNu64 " bytes, %" SCNx64 ", and %" SCNu64 " of %" SCNd64

static bool read_note(const struct tree *t, size_t i, struct note *ret)
{
	_cleanup_(fd_closep) int fd = t->files[i].parts.packing == TREE_PLAIN ? -1 : tree_open(t, &t->files[i], NULL);
	char text[COMPRESS_COMMENT_MAX + 1];

	return fd >= 0 && compress_read_comment(fd, text) &&
	       sscanf(text, NOTE_IN, &ret->bytes, &ret->hash, &ret->other_bytes, &ret->other_ns) == 4;
}

/* Hashes the first `n` bytes; -ENODATA if the file is shorter. */
static int hash_start(int fd, uint64_t n, uint64_t *ret, struct err *err)
{
	_cleanup_(freep) char *bytes = xmalloc(STEP);
	XXH64_state_t *state = XXH64_createState();
	uint64_t done = 0;
	ssize_t got = 1;

	if (!state)
		return err_set(err, -ENOMEM, "out of memory");
	XXH64_reset(state, 0);
	while (done < n && got > 0) {
		got = pread(fd, bytes, n - done < STEP ? (size_t)(n - done) : STEP, (off_t)done);
		if (got > 0) {
			XXH64_update(state, bytes, (size_t)got);
			done += (uint64_t)got;
		}
	}
	*ret = XXH64_digest(state);
	XXH64_freeState(state);
	if (got < 0)
		return err_set(err, -errno, "cannot read it: %s", strerror(errno));
	return done < n ? err_set(err, -ENODATA, "it was truncated meanwhile") : 0;
}

/* Returns the number of leading bytes of the log that the note covers. */
static uint64_t bytes_of_log_in(const struct tree *t, size_t plain, const struct note *n)
{
	_cleanup_(fd_closep) int fd = tree_open(t, &t->files[plain], NULL);
	struct stat st;
	uint64_t hash;

	if (fd < 0 || fstat(fd, &st) < 0 || !n->bytes || (uint64_t)st.st_size < n->bytes ||
	    hash_start(fd, n->bytes, &hash, NULL) < 0 || hash != n->hash)
		return 0;
	return (uint64_t)st.st_size == n->bytes ? LOG_FORM_NOTHING : n->bytes;
}

static bool names(const struct note *n, const struct tree_file *f)
{
	return n->other_bytes && n->other_bytes == f->bytes && n->other_ns == f->mtime_ns;
}

/* Returns the offset in files[i] of the first byte that files[k] lacks. */
static uint64_t begin_beside(const struct tree *t, size_t i, size_t k)
{
	struct note of_i, of_k;
	bool i_has_note = read_note(t, i, &of_i), k_has_note = read_note(t, k, &of_k);

	if (k_has_note && t->files[i].parts.packing == TREE_PLAIN)
		return bytes_of_log_in(t, i, &of_k);
	/* If each contains the other, the first one counts as complete. */
	if (k_has_note && names(&of_k, &t->files[i]))
		return i_has_note && names(&of_i, &t->files[k]) && i < k ? 0 : LOG_FORM_NOTHING;
	return !i_has_note && k < i && t->files[k].mtime_ns == t->files[i].mtime_ns ? LOG_FORM_NOTHING : 0;
}

uint64_t log_form_begin(const struct tree *t, size_t at, size_t i)
{
	size_t n = tree_logs_at(t, at);
	uint64_t begin = 0;

	for (size_t k = at; k < at + n; k++) {
		uint64_t b = k == i ? 0 : begin_beside(t, i, k);

		begin = b > begin ? b : begin;
	}
	return begin;
}

int log_form_open(const struct tree *t, size_t i, uint64_t begin, struct err *err)
{
	_cleanup_(fd_closep) int fd = tree_open(t, &t->files[i], err);

	if (fd < 0)
		return fd;
	if (begin && lseek(fd, (off_t)begin, SEEK_SET) < 0)
		return err_set(err, -errno, "cannot read '%s/%s/%s': %s", t->base, tree_period(t, &t->files[i]),
			       t->files[i].name, strerror(errno));
	return TAKE_FD(fd);
}

int log_forms_note(const struct tree *t, size_t at, size_t plain, const char *name, char ret[COMPRESS_COMMENT_MAX + 1],
		   struct err *err)
{
	_cleanup_(fd_closep) int fd = tree_open(t, &t->files[plain], err);
	struct note n = { .bytes = t->files[plain].bytes };
	size_t count = tree_logs_at(t, at);
	int r = fd < 0 ? fd : hash_start(fd, n.bytes, &n.hash, err);

	if (r < 0)
		return r;
	/* A file of this name is replaced by the new one, so at most one other remains. */
	for (size_t i = at; i < at + count; i++)
		if (i != plain && strcmp(t->files[i].name, name) != 0) {
			n.other_bytes = t->files[i].bytes;
			n.other_ns = t->files[i].mtime_ns;
		}
	snprintf(ret, COMPRESS_COMMENT_MAX + 1, NOTE, n.bytes, n.hash, n.other_bytes, n.other_ns);
	return 0;
}
