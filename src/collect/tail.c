/* tail.c: reads by offset, so that the descriptor's own position does not matter. */

#include "tail.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

struct tail *tail_new(int fd, uint64_t device, uint64_t inode, uint32_t epoch, uint64_t offset)
{
	struct tail *t = xcalloc(1, sizeof(*t));

	*t = (struct tail){ .fd = fd, .device = device, .inode = inode, .epoch = epoch };
	line_feed_init(&t->feed, 0, NULL, NULL);
	t->feed.line_at = t->feed.end = offset;
	return t;
}

struct tail *tail_free(struct tail *t)
{
	if (!t)
		return NULL;
	if (t->fd >= 0)
		close(t->fd);
	line_feed_done(&t->feed);
	free(t->lines);
	free(t);
	return NULL;
}

int tail_read(struct tail *t, char *piece, size_t size)
{
	struct stat st;
	ssize_t n;

	if (fstat(t->fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size < t->feed.end)
		return -ESTALE;
	do
		n = pread(t->fd, piece, size, (off_t)t->feed.end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (n == 0) {
		if (!t->quiet_since_ns)
			t->quiet_since_ns = clock_monotonic_ns();
		return 0;
	}
	t->quiet_since_ns = 0;
	line_feed_put(&t->feed, piece, (size_t)n);
	return 1;
}

/* --- Acknowledgement --- */

void tail_note(struct tail *t, uint64_t at)
{
	assert(t->first <= t->end && t->end <= t->capacity);
	assert(t->first == t->end || t->lines[t->end - 1].at < at);
	if (t->end == t->capacity && t->first > t->capacity / 2) {
		memmove(t->lines, t->lines + t->first, (t->end - t->first) * sizeof(*t->lines));
		t->end -= t->first;
		t->first = 0;
	}
	GROW(&t->lines, &t->capacity, t->end + 1);
	t->lines[t->end++] = (struct tail_line){ .at = at };
}

bool tail_acknowledge(struct tail *t, uint64_t at)
{
	size_t low = t->first, high = t->end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->lines[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->end || t->lines[low].at != at)
		return false;
	t->ahead += !t->lines[low].acknowledged;
	t->lines[low].acknowledged = true;
	for (; t->first < t->end && t->lines[t->first].acknowledged; t->first++) {
		assert(t->ahead > 0);
		t->ahead--;
	}
	assert(t->ahead < t->end - t->first || (t->first == t->end && !t->ahead));
	return true;
}

bool tail_is_done(const struct tail *t)
{
	return t->first == t->end;
}

uint64_t tail_offset(const struct tail *t)
{
	return tail_is_done(t) ? t->feed.line_at : t->lines[t->first].at;
}

uint64_t tail_mark(int fd, uint64_t offset)
{
	char bytes[TAIL_MARK];
	size_t size = offset < sizeof(bytes) ? (size_t)offset : sizeof(bytes);
	ssize_t n = size ? pread(fd, bytes, size, 0) : 0;

	return n == (ssize_t)size && n > 0 ? XXH3_64bits(bytes, size) : 0;
}
