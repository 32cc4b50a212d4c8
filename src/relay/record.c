/* record.c: headers of records, and the search for them in damaged files. */
#include "record.h"

#include "hash.h"
#include "strobe_wire.h"

#include <assert.h>
#include <string.h>

#define VERSION		2u
#define LAST		1u
#define FIRST		2u

void record_seal(struct record *r, const void *body, size_t n, uint8_t h[RECORD_HEADER])
{
	assert(n <= RECORD_BODY);		/* readers reject larger bodies */
	assert(r->kind >= RECORD_ENTRY && r->kind <= RECORD_IDS && (r->kind != RECORD_ENTRY || r->sequence > 0));
	r->size = (uint32_t)n;
	r->has_sums = true;
	r->hash = XXH3_64bits(body, n);
	memcpy(h, "SPLR", 4);
	h[4] = VERSION;
	h[5] = (uint8_t)r->kind;
	h[6] = (uint8_t)((r->last ? LAST : 0) | (r->first ? FIRST : 0));
	h[7] = 0;
	strobe_wire_put_le(h + 8, r->sequence, 8);
	strobe_wire_put_le(h + 16, r->window, 8);
	strobe_wire_put_le(h + 24, (uint64_t)r->time_ns, 8);
	strobe_wire_put_le(h + 32, r->samples, 8);
	strobe_wire_put_le(h + 40, r->runs, 4);
	strobe_wire_put_le(h + 44, r->size, 4);
	strobe_wire_put_le(h + 48, r->owner, 8);
	strobe_wire_put_le(h + 56, r->hash, 8);
	strobe_wire_put_le(h + 64, r->samples_before, 8);
	strobe_wire_put_le(h + 72, r->runs_before, 8);
	strobe_wire_put_le(h + 80, XXH3_64bits(h, 80), 8);
}

/* Magic and kind. */
static bool looks_like_header(const uint8_t *h)
{
	return !memcmp(h, "SPLR", 4) && h[5] >= RECORD_ENTRY && h[5] <= RECORD_IDS;
}

/* Checks rules 1 to 3, except that the body ends inside the file. */
static bool parse(const uint8_t *h, size_t n, struct record *r)
{
	bool has_sums;
	size_t hashed;

	if (n < RECORD_HEADER_1 || !looks_like_header(h) || h[4] < 1 || h[4] > VERSION)
		return false;
	has_sums = h[4] == VERSION;
	hashed = (has_sums ? RECORD_HEADER : RECORD_HEADER_1) - 8;
	if (n < hashed + 8 || strobe_wire_get_le(h + hashed, 8) != XXH3_64bits(h, hashed))
		return false;
	*r = (struct record){
		.kind = (enum record_kind)h[5],
		.first = h[6] & FIRST,
		.last = h[6] & LAST,
		.sequence = strobe_wire_get_le(h + 8, 8),
		.window = strobe_wire_get_le(h + 16, 8),
		.time_ns = (int64_t)strobe_wire_get_le(h + 24, 8),
		.samples = strobe_wire_get_le(h + 32, 8),
		.runs = (uint32_t)strobe_wire_get_le(h + 40, 4),
		.size = (uint32_t)strobe_wire_get_le(h + 44, 4),
		.owner = strobe_wire_get_le(h + 48, 8),
		.hash = strobe_wire_get_le(h + 56, 8),
		.samples_before = has_sums ? strobe_wire_get_le(h + 64, 8) : 0,
		.runs_before = has_sums ? strobe_wire_get_le(h + 72, 8) : 0,
		.has_sums = has_sums,
	};
	return r->size <= RECORD_BODY;
}

/* Reads up to n bytes, fewer only at the end of the file. Returns how many, or -errno. */
static ssize_t read_at(int fd, void *bytes, size_t n, off_t at)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(fd, (char *)bytes + done, n - done, at + (off_t)done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (r == 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

int record_at(int fd, off_t at, off_t end, struct record *ret)
{
	uint8_t h[RECORD_HEADER];
	ssize_t n;

	if (end - at < (off_t)RECORD_HEADER_1)
		return 0;
	n = read_at(fd, h, end - at < (off_t)sizeof(h) ? (size_t)(end - at) : sizeof(h), at);
	if (n < 0)
		return (int)n;
	return parse(h, (size_t)n, ret) && record_size(ret) <= end - at;
}

off_t record_find(int fd, off_t from, off_t end)
{
	uint8_t bytes[4096 + 3];
	struct record r;

	while (end - from >= (off_t)RECORD_HEADER_1) {
		ssize_t n = read_at(fd, bytes, sizeof(bytes), from);

		if (n < 4)
			return end;
		for (ssize_t i = 0; i + 4 <= n; i++)
			if (bytes[i] == 'S' && !memcmp(bytes + i, "SPLR", 4) && record_at(fd, from + i, end, &r) == 1)
				return from + i;
		from += n - 3;
	}
	return end;
}

/* A record of ours with a damaged version field is not one of another version. */
unsigned record_foreign_version(int fd, off_t at, off_t end)
{
	uint8_t h[RECORD_HEADER] = { 0 };
	ssize_t n = read_at(fd, h, end - at < (off_t)sizeof(h) ? (size_t)(end - at) : sizeof(h), at);
	unsigned version = h[4];
	struct record r;

	if (n < (ssize_t)RECORD_HEADER_1 || !looks_like_header(h) || h[7] || version <= VERSION)
		return 0;
	for (h[4] = 1; h[4] <= VERSION; h[4]++)
		if (parse(h, (size_t)n, &r))
			return 0;
	return version;
}

int record_body(int fd, off_t at, const struct record *r, struct buf *ret)
{
	ssize_t n;

	assert(r->size <= RECORD_BODY);		/* by rule 3, regardless of the file */
	buf_reset(ret);
	if (!buf_reserve(ret, r->size))
		return -ENOMEM;
	n = read_at(fd, ret->data, r->size, at + (off_t)record_header_size(r));
	if (n < 0)
		return (int)n;
	if ((size_t)n != r->size || XXH3_64bits(ret->data, r->size) != r->hash)
		return -EBADMSG;
	buf_wrote(ret, r->size);
	return 0;
}

int record_write(int fd, off_t at, const void *bytes, size_t n)
{
	const char *p = bytes;

	assert(at >= 0);
	while (n) {
		ssize_t w = pwrite(fd, p, n, at);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 && errno == EFBIG ? -ENOSPC : w < 0 && errno != EINVAL ? -errno : -EIO;
		p += w;
		at += w;
		n -= (size_t)w;
	}
	return 0;
}
