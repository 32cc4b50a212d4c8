/* downloads.c: one table for profiles and runs. */
#include "downloads.h"
#include "format.h"
#include <string.h>

static const struct download {
	const struct format *format;
	const char *type, *suffix;
} downloads[] = {
	{ &format_pprof, "application/octet-stream", "pb.gz" },
	{ &format_speedscope, "application/json", "speedscope.json" },
	{ &format_callgrind, "text/plain; charset=utf-8", "callgrind" },
	{ &format_xhprof, "application/octet-stream", "xhprof" },
	{ &format_xhprof_json, "application/json", "xhprof.json" },
	{ &format_chrome, "application/json", "trace.json" },
};

const struct download *download_by_name(const char *format)
{
	for (size_t i = 0; format && i < ARRAY_SIZE(downloads); i++)
		if (!strcmp(downloads[i].format->name, format))
			return &downloads[i];
	return NULL;
}

bool download_has_sides(const struct download *d)
{
	return d->format->has_any_columns;
}

bool download_has_lines(const struct download *d)
{
	return d->format->has_lines;
}

bool download_has_chart(const struct download *d)
{
	return d->format == &format_chrome || d->format == &format_speedscope;
}

int download_put(const struct download *d, const struct profile *p, uint32_t column, const char *name,
		 struct response *r, struct err *err)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	int code;

	response_streams(r);
	code = format_write(d->format, p, column, &r->body, err);
	if (code < 0)
		return code;
	buf_init(&b);
	buf_printf(&b, "attachment; filename=\"%s.%s\"", name, d->suffix);
	r->type = d->type;
	r->disposition = arena_copy(&r->bytes, b.data, b.size);
	return 0;
}
