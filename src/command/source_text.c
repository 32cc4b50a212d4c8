/* source_text.c: names come from a profile, which anybody may have made: only plain files are opened. */

#include "source_text.h"

#include "clock.h"
#include "io.h"
#include "mem.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void missing(struct source_text *t, const char *why)
{
	t->source.state = ANNOTATE_MISSING;
	buf_reset(&t->why);
	buf_puts(&t->why, "source not available: ");
	buf_puts(&t->why, why);
}

/* A descriptor or a negative errno. `directory` -1: paths are those of this process. */
static int open_source(const char *path, int directory)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, fd;

	if (directory >= 0)
		return io_open_in_root(directory, path, flags);
	fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

static void note_change(struct source_text *t, const struct stat *st, int64_t start_ns)
{
	int64_t modified = (int64_t)st->st_mtim.tv_sec * NS_PER_SECOND + st->st_mtim.tv_nsec;
	char date[32];

	t->source.state = !start_ns ? ANNOTATE_UNKNOWN : modified > start_ns ? ANNOTATE_CHANGED : ANNOTATE_SAME;
	if (t->source.state != ANNOTATE_CHANGED)
		return;
	clock_format(modified, date, sizeof(date));
	buf_printf(&t->why, "the source was modified at %s, after the recording began; lines may have moved", date);
}

static void take(struct source_text *t, int fd, const char *name, int64_t start_ns)
{
	struct err err = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		missing(t, "it is no file");
	} else if (io_read_fd(fd, name, &t->text, SOURCE_TEXT_MAX, &err) < 0) {
		missing(t, err.text);
	} else {
		note_change(t, &st, start_ns);
		t->source.text = (struct str){ t->text.data ? t->text.data : "", t->text.size };
	}
}

int source_text_read(struct source_text *t, struct str path, const char *root, int64_t start_ns, struct err *err)
{
	_cleanup_(freep) char *name = strndup(path.p, path.n);
	_cleanup_(fd_closep) int directory = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1, fd = -1;

	*t = (struct source_text){ 0 };
	buf_init(&t->text);
	buf_init(&t->why);
	if (root && directory < 0)
		return err_set(err, -errno, "cannot open '%s': %s", root, strerror(errno));
	if (!path.n || path.p[0] != '/' || strlen(name) != path.n)
		missing(t, "this is not a file name");
	else if ((fd = open_source(name, directory)) < 0)
		missing(t, strerror(-fd));
	else
		take(t, fd, name, start_ns);
	t->source.why = t->why.size ? t->why.data : NULL;
	return 0;
}

void source_text_done(struct source_text *t)
{
	buf_done(&t->text);
	buf_done(&t->why);
}
