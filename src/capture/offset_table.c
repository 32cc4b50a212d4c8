/* offset_table.c: reads a table of offsets. */

#include "offset_table.h"

#include "mem.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_MAX	0x80000000ul
#define TEXT_MAX	((size_t)1 << 20)

/* A version while it is being read: tells which fields are set. */
struct draft {
	union {
		struct offset_version version;
		char bytes[OFFSET_VERSION_BYTES];
	};
	bool given[OFFSET_FIELDS];
};

struct reader {
	const struct offset_form *form;
	const char *name, *p, *end;
	unsigned line;
	struct draft all;
	struct draft drafts[OFFSET_VERSIONS];
	size_t count;
};

static int bad(const struct reader *r, struct err *err, const char *what, const char *at, size_t n)
{
	return err_set(err, -EINVAL, "%s, line %u: %s '%.*s'", r->name, r->line, what, (int)(n < 64 ? n : 64), at);
}

static const struct offset_field *find_field(const struct offset_form *form, const char *name, size_t n)
{
	for (size_t i = 0; i < form->field_count; i++)
		if (strlen(form->fields[i].name) == n && !memcmp(form->fields[i].name, name, n))
			return &form->fields[i];
	return NULL;
}

static size_t field_size(const struct offset_field *f)
{
	return f->wide ? sizeof(uint32_t) : sizeof(uint16_t);
}

static void set_field(const struct reader *r, struct draft *d, const struct offset_field *f, unsigned long value)
{
	uint32_t wide = (uint32_t)value;
	uint16_t narrow = (uint16_t)value;

	memcpy(d->bytes + f->at, f->wide ? (const void *)&wide : &narrow, field_size(f));
	d->given[f - r->form->fields] = true;
}

static bool parse_number(const char *p, size_t n, unsigned long *ret)
{
	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)p[i]) || (*ret = *ret * 10 + (unsigned)(p[i] - '0')) > NUMBER_MAX)
			return false;
	}
	return n > 0 && n <= 10;
}

static int read_pair(struct reader *r, struct draft *d, const char *word, size_t n, struct err *err)
{
	const char *equals = memchr(word, '=', n);
	const struct offset_field *f;
	unsigned long value;

	if (!equals)
		return bad(r, err, "expected name=number, not", word, n);
	f = find_field(r->form, word, (size_t)(equals - word));
	if (!f)
		return bad(r, err, "unknown field", word, (size_t)(equals - word));
	if (!parse_number(equals + 1, (size_t)(word + n - equals - 1), &value) || value >= f->limit || value % f->bytes)
		return bad(r, err, "impossible number in", word, n);
	set_field(r, d, f, value);
	return 0;
}

static struct draft *find_draft(struct reader *r, unsigned major, unsigned minor)
{
	struct draft *d;

	for (size_t i = 0; i < r->count; i++)
		if (r->drafts[i].version.major == major && r->drafts[i].version.minor == minor)
			return &r->drafts[i];
	if (r->count == OFFSET_VERSIONS)
		return NULL;
	d = &r->drafts[r->count++];
	d->version.major = major;
	d->version.minor = minor;
	return d;
}

static int read_version(struct reader *r, const char *word, size_t n, struct draft **ret, struct err *err)
{
	const char *point = memchr(word, '.', n);
	unsigned long major, minor;

	if (n == 3 && !memcmp(word, "all", 3)) {
		*ret = &r->all;
		return 0;
	}
	if (!point || !parse_number(word, (size_t)(point - word), &major) ||
	    !parse_number(point + 1, (size_t)(word + n - point - 1), &minor) || major > 99 || minor > 99)
		return bad(r, err, "expected a version such as 8.4, or all, not", word, n);
	*ret = find_draft(r, (unsigned)major, (unsigned)minor);
	return *ret ? 0 : bad(r, err, "there are too many versions; left no room for", word, n);
}

static int read_line(struct reader *r, const char *p, const char *end, struct err *err)
{
	struct draft *d = NULL;
	int e = 0;

	while (e >= 0) {
		const char *word;

		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p == end || *p == '#')
			return 0;
		word = p;
		while (p < end && !isspace((unsigned char)*p))
			p++;
		e = d ? read_pair(r, d, word, (size_t)(p - word), err) : read_version(r, word, (size_t)(p - word), &d, err);
	}
	return e;
}

/* Fills in the fields of the line "all", and checks that nothing is missing. */
static int complete(const struct reader *r, struct draft *d, struct err *err)
{
	const struct offset_form *form = r->form;

	for (size_t i = 0; i < form->field_count; i++) {
		const struct offset_field *f = &form->fields[i];

		if (!d->given[i] && r->all.given[i])
			memcpy(d->bytes + f->at, r->all.bytes + f->at, field_size(f));
		else if (!d->given[i] && !f->optional)
			return err_set(err, -EINVAL, "%s: %s %u.%u has no %s", r->name, form->language, d->version.major,
				       d->version.minor, f->name);
	}
	return 0;
}

int offset_table_read(const struct offset_form *form, const char *name, const char *text, size_t n,
		      void (*add)(void *data, const void *version), void *data, struct err *err)
{
	_cleanup_(freep) struct reader *r = xcalloc(1, sizeof(*r));
	int e;

	assert(form->field_count <= OFFSET_FIELDS && form->version_size <= OFFSET_VERSION_BYTES);
	if (n > TEXT_MAX)
		return err_set(err, -EFBIG, "%s is too large for an offset table", name);
	*r = (struct reader){ .form = form, .name = name, .p = text, .end = text + n };
	while (r->p < r->end) {
		const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
		const char *end = newline ? newline : r->end;

		r->line++;
		if ((e = read_line(r, r->p, end, err)) < 0)
			return e;
		r->p = newline ? newline + 1 : r->end;
	}
	for (size_t i = 0; i < r->count; i++)
		if ((e = complete(r, &r->drafts[i], err)) < 0)
			return e;
	for (size_t i = 0; i < r->count; i++)
		add(data, r->drafts[i].bytes);
	return 0;
}

static size_t place_of(const struct offset_form *form, const void *list, size_t count, unsigned major, unsigned minor)
{
	for (size_t i = 0; i < count; i++) {
		const struct offset_version *v = (const void *)((const char *)list + i * form->version_size);

		if (v->major == major && v->minor == minor)
			return i;
	}
	return count;
}

const void *offset_version_find(const struct offset_form *form, const void *list, size_t count, unsigned major, unsigned minor)
{
	size_t i = place_of(form, list, count, major, minor);

	return i < count ? (const char *)list + i * form->version_size : NULL;
}

size_t offset_version_put(const struct offset_form *form, void *list, size_t count, size_t capacity, const void *version)
{
	struct offset_version v;
	size_t i;

	memcpy(&v, version, sizeof(v));
	i = place_of(form, list, count, v.major, v.minor);
	if (i == capacity)
		return count;
	memcpy((char *)list + i * form->version_size, version, form->version_size);
	return i == count ? count + 1 : count;
}
