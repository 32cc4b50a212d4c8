/* format.c: the list of formats, and reading a file whatever its format. */
#include "format.h"
#include "decompress.h"
#include "guess.h"
#include "io.h"
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

const struct format *const formats[] = { &format_strobe, &format_folded, &format_xhprof, NULL };

const struct format *format_by_name(const char *name)
{
	for (const struct format *const *f = formats; *f; f++)
		if (!strcmp((*f)->name, name))
			return *f;
	return NULL;
}

/* Whether the space separated `list` has the `n` bytes at `word`. */
static bool has_word(const char *list, const char *word, size_t n)
{
	while (*list) {
		size_t length = strcspn(list, " ");

		if (length == n && !memcmp(list, word, n))
			return true;
		list += length;
		list += strspn(list, " ");
	}
	return false;
}

/* The suffix of a compressed file is the one before .gz and the like. */
static struct str suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = name + strlen(name), *dot;

	for (int i = 0; i < 2; i++) {
		dot = memrchr(name, '.', (size_t)(end - name));
		if (!dot)
			break;
		if (i || !has_word("gz zst", dot + 1, (size_t)(end - dot - 1)))
			return (struct str){ dot + 1, (size_t)(end - dot - 1) };
		end = dot;
	}
	return (struct str){ "", 0 };
}

const struct format *format_by_path(const char *path)
{
	struct str suffix = suffix_of(path);

	for (const struct format *const *f = formats; *f && suffix.n; f++)
		if (has_word((*f)->suffixes, suffix.p, suffix.n))
			return *f;
	return NULL;
}

static const struct format *format_by_content(const char *bytes, size_t n)
{
	const struct format *best = NULL;
	int best_score = 0;

	for (const struct format *const *f = formats; *f; f++) {
		int score = (*f)->sniff ? (*f)->sniff(bytes, n < FORMAT_SNIFF_MAX ? n : FORMAT_SNIFF_MAX) : 0;

		if (score > best_score && (*f)->read) {
			best = *f;
			best_score = score;
		}
	}
	return best;
}

/* Reads what is not compressed (any more). */
static int load_plain(const char *name, const char *bytes, size_t n, struct profile *p, struct err *err)
{
	const struct format *f;
	struct err why = { 0 };
	int r;

	if (n == 0)
		return err_set(err, -ENODATA, "'%s' is empty: there is no profile in it", name);
	f = format_by_content(bytes, n);
	if (!f)
		return err_set(err, -ENOTSUP, "'%s' is not a profile that I know: %s", name, guess_content(bytes, n));
	r = f->read(p, bytes, n, &why);
	if (r)
		err_set(err, why.code ? why.code : -EINVAL, "'%s' (%s): %s", name, f->name, why.text);
	return r;
}

int format_load_limited(const char *name, const char *bytes, size_t n, size_t limit, struct profile *p, struct err *err)
{
	struct buf plain;
	struct err why = { 0 };
	int r;

	buf_init(&plain);
	plain.limit = limit + 1;
	r = n > limit ? err_set(&why, -EFBIG, "it has more than %zu bytes", limit) : decompress(bytes, n, &plain, limit, &why);
	if (r > 0)
		r = load_plain(name, plain.data, plain.size, p, err);
	else if (r == 0)
		r = load_plain(name, bytes, n, p, err);
	else
		err_set(err, r, "cannot read '%s': %s", name, why.text);
	buf_done(&plain);
	return r;
}

int format_load_bytes(const char *name, const char *bytes, size_t n, struct profile *p, struct err *err)
{
	return format_load_limited(name, bytes, n, FORMAT_INPUT_MAX, p, err);
}

/* A file as bytes: mapped when it is large (a day of logs need not be copied), else read. A mapped file that is cut
 * while it is read would end the program, which is why a small one, such as a log that is being rotated, is not. */
#define MAP_ABOVE ((size_t)32 << 20)

static int load_mapped(const char *path, int fd, size_t size, struct profile *p, struct err *err)
{
	void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	int r;

	if (bytes == MAP_FAILED)
		return err_set(err, -errno, "cannot read '%s': %s", path, strerror(errno));
	madvise(bytes, size, MADV_SEQUENTIAL);
	r = format_load_bytes(path, bytes, size, p, err);
	munmap(bytes, size);
	return r;
}

int format_load(const char *path, struct profile *p, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	_cleanup_(buf_done) struct buf b = { 0 };
	struct stat st;
	int r;

	buf_init(&b);
	b.limit = FORMAT_INPUT_MAX + ((size_t)1 << 20);
	if (strcmp(path, "-")) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
		if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size > FORMAT_INPUT_MAX)
			return err_set(err, -EFBIG, "'%s' has %lld bytes, and %zu is the limit", path,
				       (long long)st.st_size, FORMAT_INPUT_MAX);
		if (S_ISREG(st.st_mode) && (size_t)st.st_size > MAP_ABOVE)
			return load_mapped(path, fd, (size_t)st.st_size, p, err);
	}
	r = io_read_file(path, &b, FORMAT_INPUT_MAX, err);
	if (r < 0)
		return r;
	return format_load_bytes(strcmp(path, "-") ? path : "standard input", b.data, b.size, p, err);
}
