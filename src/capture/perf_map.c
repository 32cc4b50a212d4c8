/* perf_map.c: parses perf maps, and searches them by address. */
#include "perf_map.h"

#include "io.h"
#include "mem.h"
#include "text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct perf_map_entry {
	uint64_t start, size;
	const char *name;
	size_t line;			/* later lines win */
};

/* Parses up to 16 digits and the character after them. */
static bool hex(const char **p, const char *end, uint64_t *ret)
{
	const char *digit = *p;
	uint64_t v = 0;

	if (end - digit > 2 && digit[0] == '0' && (digit[1] == 'x' || digit[1] == 'X'))
		*p = digit += 2;
	for (; digit < end && text_hex_digit(*digit) >= 0 && digit - *p < 16; digit++)
		v = v * 16 + (uint64_t)text_hex_digit(*digit);
	if (digit == *p || digit == end || *digit != ' ')
		return false;
	*p = digit + 1;
	*ret = v;
	return true;
}

static bool take_line(struct perf_map *m, const char *p, const char *end)
{
	struct perf_map_entry e;
	size_t n;

	if (!hex(&p, end, &e.start) || !hex(&p, end, &e.size))
		return false;
	while (p < end && *p == ' ')
		p++;
	n = (size_t)(end - p);
	n = strnlen(p, n < PERF_MAP_NAME ? n : PERF_MAP_NAME);
	if (!n || !e.size || e.start + e.size < e.start || m->count >= PERF_MAP_ENTRIES)
		return false;
	e.name = arena_copy(&m->names, p, n);
	e.line = m->count;
	GROW(&m->list, &m->capacity, m->count + 1);
	m->list[m->count++] = e;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct perf_map_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

void perf_map_parse(struct perf_map *m, const char *text, size_t n)
{
	size_t kept = 0;

	*m = (struct perf_map){ 0 };
	arena_init(&m->names);
	for (const char *p = text, *end = text + n; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;

		m->malformed += stop > p && !take_line(m, p, stop);
		p = stop + 1;
	}
	if (m->count)
		qsort(m->list, m->count, sizeof(*m->list), by_start);
	for (size_t i = 0; i < m->count; i++)
		if (i + 1 == m->count || m->list[i + 1].start != m->list[i].start)
			m->list[kept++] = m->list[i];
	m->count = kept;
}

void perf_map_done(struct perf_map *m)
{
	free(m->list);
	arena_done(&m->names);
	*m = (struct perf_map){ 0 };
}

int perf_map_read(struct perf_map *m, int root, const struct process_identity *who)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	_cleanup_(fd_closep) int fd = -1;
	struct stat st;
	char path[64];

	*m = (struct perf_map){ 0 };
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)who->inner_pid);
	fd = io_open_in_root(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_uid != who->uid && st.st_uid != 0)
		return -EPERM;
	buf_init(&text);
	/* Only this much is read: the newest code is at the end of a file that grows for days, and a part is better
	 * than nothing. */
	if (st.st_size > (off_t)PERF_MAP_MAX && lseek(fd, st.st_size - (off_t)PERF_MAP_MAX, SEEK_SET) < 0)
		return -errno;
	if (io_read_fd(fd, path, &text, PERF_MAP_MAX + PERF_MAP_MAX / 4, NULL) < 0)
		return -EFBIG;
	perf_map_parse(m, text.data, text.size);
	return 0;
}

const char *perf_map_find(const struct perf_map *m, uint64_t address)
{
	size_t low = 0, high = m->count;
	const struct perf_map_entry *e;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->list[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	e = low ? &m->list[low - 1] : NULL;
	return e && address - e->start < e->size ? e->name : NULL;
}
