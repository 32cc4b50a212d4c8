/* process_maps.c: parses /proc/PID/maps, and identifies the files in it. */
#include "process_maps.h"

#include "io.h"
#include "mem.h"
#include "text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define STATUS_MAX	((size_t)64 << 10)
#define MAPS_MAX	((size_t)64 << 20)	/* bytes; the kernel's default limit of 65,530 parts takes about 6 MB */

static bool hex(const char **p, const char *end, char stop, uint64_t *ret)
{
	const char *digit = *p;
	uint64_t v = 0;

	for (; digit < end && text_hex_digit(*digit) >= 0 && digit - *p < 16; digit++)
		v = v * 16 + (uint64_t)text_hex_digit(*digit);
	if (digit == *p || digit == end || *digit != stop)
		return false;
	*p = digit + 1;
	*ret = v;
	return true;
}

static enum map_kind kind_of(const struct process_map *m)
{
	struct str path = { m->path, strlen(m->path) };

	if (text_is(path, "[vdso]"))
		return MAP_VDSO;
	if (text_is(path, "[vsyscall]") || text_is(path, "[uprobes]"))
		return MAP_KERNEL;
	if (*m->path != '/' || text_starts(path, "/dev/zero") || text_starts(path, "/memfd:") || text_starts(path, "/SYSV") ||
	    text_starts(path, "/anon_hugepage"))
		return MAP_ANONYMOUS;
	return MAP_FILE;
}

/* Returns whether the line is well-formed. */
static bool take_line(struct process_maps *m, const char *p, const char *end)
{
	static const char deleted[] = " (deleted)";
	struct process_map one = { .path = "" };
	uint64_t major_number, minor_number;
	const char *mode;
	size_t n;

	if (!hex(&p, end, '-', &one.start) || !hex(&p, end, ' ', &one.end) || end - p < 5 || p[4] != ' ' || one.end <= one.start)
		return false;
	mode = p;
	p += 5;
	if (!hex(&p, end, ' ', &one.offset) || !hex(&p, end, ':', &major_number) || !hex(&p, end, ' ', &minor_number))
		return false;
	if (p == end || *p < '0' || *p > '9')
		return false;
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		one.inode = one.inode * 10 + (uint64_t)(*p - '0');
	while (p < end && *p == ' ')
		p++;
	one.executable = mode[2] == 'x';
	one.shared = mode[3] == 's';
	if (!one.executable && !one.shared)
		return true;
	one.device = (uint32_t)(major_number << 20 | minor_number);
	n = (size_t)(end - p);
	if (n > strlen(deleted) && text_ends((struct str){ p, n }, deleted)) {
		one.deleted = true;
		n -= strlen(deleted);
	}
	if (n)
		one.path = arena_copy(&m->paths, p, n);
	one.kind = kind_of(&one);
	if (!one.executable && one.kind != MAP_ANONYMOUS)
		return true;
	GROW(&m->list, &m->capacity, m->count + 1);
	m->list[m->count++] = one;
	return true;
}

void process_maps_parse(struct process_maps *m, const char *text, size_t n)
{
	*m = (struct process_maps){ 0 };
	arena_init(&m->paths);
	for (const char *p = text, *end = text + n; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;

		m->malformed += stop > p && !take_line(m, p, stop);
		p = stop + 1;
	}
}

void process_maps_done(struct process_maps *m)
{
	free(m->list);
	arena_done(&m->paths);
	*m = (struct process_maps){ 0 };
}

/* --- A process --- */

int process_maps_read(struct process_maps *m, pid_t pid, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char path[64];
	int r;

	*m = (struct process_maps){ 0 };
	buf_init(&text);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	r = io_read_file(path, &text, MAPS_MAX, err);
	if (r == -ENOENT || r == -ESRCH)
		return err_set(err, -ESRCH, "process %d has exited", (int)pid);
	if (r == -EACCES || r == -EPERM)
		return err_set(err, -EACCES, "cannot read the mappings of process %d, which is another user's; run as root or with "
			       "CAP_SYS_PTRACE", (int)pid);
	if (r < 0)
		return r;
	process_maps_parse(m, text.data, text.size);
	return 0;
}

/* --- The file behind --- */

/* The device is not compared: btrfs, and overlayfs over several file systems, report another one here than in the
 * list. */
static int check_file(const struct process_map *m, int fd)
{
	_cleanup_(fd_closep) int own = fd;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && st.st_ino == m->inode ? TAKE_FD(own) : -ESTALE;
}

static int try_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static int open_in_root(pid_t pid, int root, const char *path)
{
	_cleanup_(fd_closep) int own = -1;
	char text[64];

	if (root < 0) {
		snprintf(text, sizeof(text), "/proc/%d/root", (int)pid);
		root = own = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return root < 0 ? -errno : io_open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

int process_maps_open(pid_t pid, int root, const struct process_map *m, struct err *err)
{
	char path[128];
	int fd, by_root;

	/* Finds deleted files as well, but only CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE may use it. */
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
	fd = try_open(path);
	if (fd >= 0)
		return fd;
	by_root = check_file(m, open_in_root(pid, root, m->path));
	if (by_root >= 0)
		return by_root;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = check_file(m, try_open(path));
	if (fd >= 0)
		return fd;
	fd = check_file(m, try_open(m->path));
	if (fd >= 0)
		return fd;
	if (by_root == -EACCES || by_root == -EPERM)
		return err_set(err, -EACCES, "cannot open '%s' of process %d; run as root or with CAP_SYS_PTRACE", m->path, (int)pid);
	return err_set(err, -ESTALE, "'%s' of process %d no longer exists: it was %s", m->path, (int)pid,
		       m->deleted ? "deleted" : "replaced");
}

/* --- Identity --- */

bool process_identity_read(struct process_identity *p, pid_t pid)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	const char *line;
	unsigned uid;
	char path[64];

	*p = (struct process_identity){ .inner_pid = pid, .uid = (uid_t)-1 };
	buf_init(&text);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (io_read_file(path, &text, STATUS_MAX, NULL) < 0)
		return false;
	/* The real and the effective one. */
	line = strstr(text.data, "\nUid:");
	if (line && sscanf(line, "\nUid: %*u %u", &uid) == 1)
		p->uid = uid;
	/* The outermost namespace first, the innermost last. */
	line = strstr(text.data, "\nNSpid:");
	for (line = line ? line + strlen("\nNSpid:") : ""; *line == '\t' || *line == ' ';) {
		char *end;
		long n = strtol(line, &end, 10);

		if (end == line || n <= 0)
			break;
		p->inner_pid = (pid_t)n;
		line = end;
	}
	return true;
}
