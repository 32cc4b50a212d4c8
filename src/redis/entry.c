/* entry.c: finds the relevant fields. */
#include "entry.h"

#include "mem.h"
#include "strobe_wire.h"

#include <string.h>
#include <zstd.h>

static bool is(struct str s, const char *text)
{
	return s.n == strlen(text) && !memcmp(s.p, text, s.n);
}

/* Returns the index of the value of the first such field; -1 if there is none. */
static long find(const struct str *fields, size_t count, const char *name)
{
	for (size_t i = 0; i + 1 < count; i += 2)
		if (is(fields[i], name))
			return (long)i + 1;
	return -1;
}

static long find_line(const struct str *fields, size_t count)
{
	static const char *const names[] = { "line", "message", "stack", "data" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		long at = find(fields, count, names[i]);

		if (at >= 0)
			return at;
	}
	return count == 2 ? 1 : -1;
}

static bool is_label(struct str s)
{
	if (!s.n || s.n > STROBE_WIRE_LABEL_KEY)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (i && c >= '0' && c <= '9')))
			return false;
	}
	return true;
}

/* Skips names that are invalid for labels. */
static void add_label(struct labels *l, struct str name, struct str value)
{
	if (is_label(name) && l->count < STROBE_WIRE_LABELS)
		labels_set(l, name.p, name.n, value.p,
			   value.n < STROBE_WIRE_LABEL_VALUE ? value.n : STROBE_WIRE_LABEL_VALUE);
}

static int parse_id(struct str s, uint64_t *ret)
{
	uint64_t v = 0;

	if (s.n != 16)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		char c = (char)(s.p[i] | 0x20);

		if (s.p[i] >= '0' && s.p[i] <= '9')
			v = v << 4 | (uint64_t)(s.p[i] - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			return -EINVAL;
	}
	*ret = v;
	return 0;
}

static int unpack(struct str packed, struct entry *ret, struct err *err)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed.p, packed.n);
	size_t n;

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size == 0 || size > ENTRY_BYTES_MAX)
		return err_set(err, -EINVAL, "the field 'strobe' is compressed and does not declare a size of "
					     "at most %u bytes",
			       ENTRY_BYTES_MAX);
	ret->unpacked = xmalloc((size_t)size);
	n = ZSTD_decompress(ret->unpacked, (size_t)size, packed.p, packed.n);
	if (ZSTD_isError(n) || n != size)
		return err_set(err, -EINVAL, "the field 'strobe' is compressed and damaged: %s", ZSTD_getErrorName(n));
	ret->body = (struct str){ ret->unpacked, n };
	return 0;
}

static int read_messages(const struct str *fields, size_t count, struct str value, struct entry *ret, struct err *err)
{
	static const unsigned char zstd_magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	long id = find(fields, count, "id"), host = find(fields, count, "host");

	ret->is_messages = true;
	ret->body = value;
	if (id >= 0 && parse_id(fields[id], &ret->batch_id) < 0)
		return err_set(err, -EINVAL, "the field 'id' of an entry must be 16 hexadecimal digits");
	if (host >= 0)
		add_label(&ret->labels, fields[host - 1], fields[host]);
	if (value.n > ENTRY_BYTES_MAX)
		return err_set(err, -EINVAL, "the field 'strobe' has more than %u bytes", ENTRY_BYTES_MAX);
	if (value.n >= 4 && !memcmp(value.p, zstd_magic, 4))
		return unpack(value, ret, err);
	return 0;
}

int entry_read(const struct str *fields, size_t count, struct entry *ret, struct err *err)
{
	long messages = find(fields, count, "strobe"), line;

	if (messages >= 0)
		return read_messages(fields, count, fields[messages], ret, err);
	line = find_line(fields, count);
	if (line < 0)
		return err_set(err, -EINVAL, "an entry needs a field 'strobe' (messages) or 'line' (a folded stack)");
	ret->body = fields[line];
	for (size_t i = 0; i + 1 < count; i += 2)
		if ((long)i + 1 != line)
			add_label(&ret->labels, fields[i], fields[i + 1]);
	return 0;
}

void entry_done(struct entry *e)
{
	labels_done(&e->labels);
	free(e->unpacked);
	*e = (struct entry){ 0 };
}
