/* drop_report.c: remembers the last reported value of each counter. */
#include "drop_report.h"

#include "mem.h"

#include <stdarg.h>
#include <string.h>

void drop_report_init(struct drop_report *r)
{
	*r = (struct drop_report){ 0 };
	intern_init(&r->names);
	buf_init(&r->list);
}

void drop_report_done(struct drop_report *r)
{
	intern_done(&r->names);
	free(r->reported);
	buf_done(&r->list);
}

/* The first drop is logged immediately. */
bool drop_report_is_due(const struct drop_report *r, int64_t now_ns)
{
	return !r->has_line || now_ns - r->last_ns >= DROP_REPORT_NS;
}

static uint64_t *reported(struct drop_report *r, const char *name)
{
	size_t known = r->names.count;
	uint32_t i = intern_add(&r->names, name, strlen(name));

	GROW(&r->reported, &r->capacity, (size_t)i + 1);
	if (i == known)
		r->reported[i] = 0;
	return &r->reported[i];
}

/* "3 lines of x", "1 line of x", "1 entry of x": the first word of `name` is a plural. */
static void put_count(struct buf *out, uint64_t n, const char *name)
{
	size_t word = strcspn(name, " "), stem = word;

	if (n == 1 && word > 3 && !strncmp(name + word - 3, "ies", 3))
		stem = word - 3;
	else if (n == 1 && word > 1 && name[word - 1] == 's')
		stem = word - 1;
	buf_printf(out, "%llu %.*s%s%s", (unsigned long long)n, (int)stem, name, word - stem == 3 ? "y" : "", name + word);
}

void drop_report_note(struct drop_report *r, uint64_t count, const char *format, ...)
{
	_cleanup_(freep) char *name = NULL;
	uint64_t *before;
	va_list ap;

	if (!count)
		return;
	va_start(ap, format);
	if (vasprintf(&name, format, ap) < 0)
		name = NULL;
	va_end(ap);
	if (!name)
		return;
	before = reported(r, name);
	if (count < *before)
		*before = 0;
	if (count > *before) {
		buf_puts(&r->list, r->list.size ? ", " : "");
		put_count(&r->list, count - *before, name);
	}
	*before = count;
}

bool drop_report_line(struct drop_report *r, int64_t now_ns, struct buf *out)
{
	if (!r->list.size)
		return false;
	buf_puts(out, "dropped: ");
	buf_put(out, r->list.data, r->list.size);
	buf_reset(&r->list);
	r->last_ns = now_ns;
	r->has_line = true;
	return true;
}
