/* source_text.c: names come from an untrusted profile: only regular files are opened. */

#include "source_text.h"

#include "clock.h"
#include "io.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool source_text_is_name(struct str name)
{
	static const char *const endings[] = { ".php", ".phtml", ".inc", ".pl", ".pm" };

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (name.n > n && !memcmp(name.p + name.n - n, endings[i], n))
			return true;
	}
	return false;
}

/* Tells whether it is a valid path for C's functions, and not a URL such as phar://. */
static bool is_path(struct str path)
{
	return path.n > 1 && path.p[0] == '/' && !memchr(path.p, '\0', path.n) && path.n < PATH_MAX;
}

static void missing(struct source_text *t, const char *why)
{
	t->state = SOURCE_MISSING;
	buf_reset(&t->words);
	buf_puts(&t->words, "source not available: ");
	buf_puts(&t->words, why);
}

static void note_change(struct source_text *t, const struct stat *st, int64_t start_ns)
{
	int64_t modified = (int64_t)st->st_mtim.tv_sec * NS_PER_SECOND + st->st_mtim.tv_nsec;
	char date[32];

	t->state = !start_ns ? SOURCE_UNKNOWN : modified > start_ns ? SOURCE_CHANGED : SOURCE_SAME;
	if (t->state != SOURCE_CHANGED)
		return;
	clock_format(modified, date, sizeof(date));
	buf_printf(&t->words, "the source was modified at %s, after the recording began; lines may have moved", date);
}

/* Returns a descriptor or a negative errno. O_PATH has no side effects on devices or pipes; if the result is regular,
 * that same file is then opened. */
static int open_regular(int path_fd)
{
	char again[40];
	struct stat st;
	int fd;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", path_fd);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Returns false if there is no text; `t` then has a reason. */
static bool take(struct source_text *t, int fd, const char *name, size_t most, int64_t start_ns)
{
	struct err err = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0 || io_read_fd(fd, name, &t->bytes, most, &err) < 0) {
		missing(t, *err.text ? err.text : strerror(errno));
		return false;
	}
	note_change(t, &st, start_ns);
	t->text = (struct str){ t->bytes.data ? t->bytes.data : "", t->bytes.size };
	return true;
}

static void begin(struct source_text *t)
{
	*t = (struct source_text){ 0 };
	buf_init(&t->bytes);
	buf_init(&t->words);
}

static void end(struct source_text *t)
{
	t->why = t->words.size ? t->words.data : NULL;
}

int source_text_read(struct source_text *t, struct str path, const char *root, int64_t start_ns, struct err *err)
{
	_cleanup_(freep) char *name = strndup(path.p, path.n);
	_cleanup_(fd_closep) int directory = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, found = -1, fd = -1;

	begin(t);
	if (root && directory < 0)
		return err_set(err, -errno, "cannot open '%s': %s", root, strerror(errno));
	if (!is_path(path))
		missing(t, "this is not a file name");
	else if ((found = root ? io_open_in_root(directory, name, O_PATH) : open(name, O_PATH | O_CLOEXEC)) < 0)
		missing(t, strerror(root ? -found : errno));
	else if ((fd = open_regular(found)) < 0)
		missing(t, fd == -ENOTSUP ? "it is not a regular file" : strerror(-fd));
	else
		take(t, fd, name, SOURCE_TEXT_MAX, start_ns);
	end(t);
	return 0;
}

/* --- Below configured directories --- */

struct place {
	struct str prefix;		/* in the profile */
	const char *directory;		/* here */
};

static struct place place_of(const char *dir)
{
	const char *equals = strstr(dir, "=/");

	return (struct place){ { dir, equals ? (size_t)(equals - dir) : strlen(dir) }, equals ? equals + 1 : dir };
}

static struct str without_slashes(struct str s)
{
	while (s.n && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

static bool has_dots(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (at[2] == '/' || !at[2]))
			return true;
	return false;
}

int source_text_check_dir(const char *dir, struct err *err)
{
	struct place p = place_of(dir);
	_cleanup_(freep) char *prefix = strndup(p.prefix.p, p.prefix.n);

	if (*prefix != '/' || has_dots(prefix) || has_dots(p.directory) || strlen(p.directory) >= PATH_MAX)
		return err_set(err, -EINVAL, "an absolute path such as /srv/app, or /srv/app=/home/checkout if the files that profiles show below /srv/app are below "
					     "/home/checkout on this machine");
	return 0;
}

bool source_text_dir_exists(const char *dir)
{
	struct stat st;

	return stat(place_of(dir).directory, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns the size of `prefix` and a slash at the start of `path`; 0 if it is not below. */
static size_t below(struct str path, struct str prefix)
{
	prefix = without_slashes(prefix);
	if (path.n <= prefix.n + 1 || memcmp(path.p, prefix.p, prefix.n) || path.p[prefix.n] != '/')
		return 0;
	return prefix.n + 1;
}

/* Returns the directory with the longest matching name, and in *ret_at where the rest of the path begins; NULL: none. */
static const char *find_place(struct str path, const char *const *dirs, size_t count, size_t *ret_at)
{
	const char *found = NULL;

	*ret_at = 0;
	for (size_t i = 0; i < count; i++) {
		struct place p = place_of(dirs[i]);
		_cleanup_(freep) char *real = p.directory == dirs[i] ? realpath(p.directory, NULL) : NULL;
		size_t given = below(path, p.prefix), resolved = real ? below(path, (struct str){ real, strlen(real) }) : 0;
		size_t at = given > resolved ? given : resolved;

		if (at > *ret_at) {
			*ret_at = at;
			found = p.directory;
		}
	}
	return found;
}

/* Returns a file or an O_PATH descriptor below `directory`, or a negative errno. */
static int find_below(int directory, const char *rest)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, directory, rest, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

static bool begins(struct str text, const char *with)
{
	return text.n >= strlen(with) && !memcmp(text.p, with, strlen(with));
}

static void refuse_if_not_code(struct source_text *t, struct str path)
{
	if (source_text_is_name(path) || begins(t->text, "<?") || begins(t->text, "#!"))
		return;
	t->text = (struct str){ 0 };
	missing(t, "only files of PHP and Perl are shown, which end in .php, .phtml, .inc, .pl or .pm, or begin with <? or #!");
}

/* Puts the directory of a file: for "/srv/app/src/Cart.php" /srv/app/src, unless that is the root. */
static void put_folder(struct buf *out, struct str path)
{
	const char *slash = memrchr(path.p, '/', path.n);

	buf_put(out, path.p, slash == path.p ? 1 : (size_t)(slash - path.p));
}

static void explain_no_directory(struct source_text *t, struct str path, bool has_dirs)
{
	missing(t, has_dirs ? "the file is in none of the directories that `strobe serve` may show; start it with --source-dir " :
		"`strobe serve` may show no files; start it with --source-dir ");
	put_folder(&t->words, path);
	buf_puts(&t->words, " or a directory above that");
}

/* Tells whether at some point there are more ".." than folders. */
static bool dots_lead_out(struct str rest)
{
	const char *at = rest.p, *end = rest.p + rest.n;
	long depth = 0;

	while (at < end && depth >= 0) {
		const char *slash = memchr(at, '/', (size_t)(end - at));
		size_t n = slash ? (size_t)(slash - at) : (size_t)(end - at);

		if (n == 2 && !memcmp(at, "..", 2))
			depth--;
		else if (n && !(n == 1 && *at == '.'))
			depth++;
		at += n + 1;
	}
	return depth < 0;
}

static void explain_escape(struct source_text *t, struct str rest, const char *directory)
{
	bool by_dots = dots_lead_out(rest);

	missing(t, by_dots ? "the \"..\" in its path leads out of " : "a symbolic link leads out of ");
	buf_puts(&t->words, directory);
	buf_puts(&t->words, by_dots ? ", and only files below it are shown" : "; name the directory that it leads to with another --source-dir");
}

static void explain_failure(struct source_text *t, int code, struct str path, size_t at, const char *directory)
{
	switch (code) {
	case -ENOENT:
	case -ENOTDIR:
		missing(t, "there is no such file on the daemon's machine; if the code is in another directory there, use --source-dir ");
		buf_put(&t->words, path.p, at > 1 ? at - 1 : 1);
		buf_puts(&t->words, "=/path/of/the/code");
		break;
	case -EXDEV:
	case -ELOOP:
		explain_escape(t, (struct str){ path.p + at, path.n - at }, directory);
		break;
	case -EACCES:
	case -EPERM:
		missing(t, "the user that `strobe serve` runs as may not read the file; grant it read access");
		break;
	case -ENOTSUP:
		missing(t, "it is not a regular file");
		break;
	default:
		missing(t, strerror(-code));
	}
}

static void read_below(struct source_text *t, struct str path, size_t at, const char *directory, int64_t start_ns)
{
	_cleanup_(fd_closep) int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), found = -1, fd = -1;
	_cleanup_(freep) char *rest = strndup(path.p + at, path.n - at);
	int code = root < 0 ? -errno : (found = find_below(root, rest));

	if (code >= 0)
		code = fd = open_regular(found);
	if (code < 0)
		explain_failure(t, code, path, at, directory);
	else if (take(t, fd, rest, SOURCE_TEXT_PAGE_MAX, start_ns))
		refuse_if_not_code(t, path);
}

void source_text_below(struct source_text *t, struct str path, const char *const *dirs, size_t count, int64_t start_ns)
{
	const char *directory;
	size_t at;

	begin(t);
	if (!path.n)
		missing(t, "no file is known: PHP's own functions and native code have none");
	else if (memmem(path.p, path.n, " : eval()'d code", 16))
		missing(t, "code that eval() ran is in no file");
	else if (!is_path(path))
		missing(t, "its name is not that of a file");
	else if (!(directory = find_place(path, dirs, count, &at)))
		explain_no_directory(t, path, count > 0);
	else
		read_below(t, path, at, directory, start_ns);
	end(t);
}

void source_text_done(struct source_text *t)
{
	buf_done(&t->bytes);
	buf_done(&t->words);
}
