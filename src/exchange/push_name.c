/* push_name.c: splits a name into application, type and labels. */
#include "push_name.h"

#include <string.h>

#define NAME_MAX_BYTES	8192u		/* the limit of a whole URL */

static const struct push_type types[] = {
	{ "cpu", "process_cpu", "samples", "count", STROBE_CLOCK_CPU },
	{ "itimer", "process_cpu", "samples", "count", STROBE_CLOCK_CPU },
	{ "wall", "wall", "samples", "count", STROBE_CLOCK_WALL },
	{ "seconds", "wall", "samples", "count", STROBE_CLOCK_WALL },
	{ "milliseconds", "wall", "samples", "count", STROBE_CLOCK_WALL },
	{ "microseconds", "wall", "samples", "count", STROBE_CLOCK_WALL },
	{ "nanoseconds", "wall", "samples", "count", STROBE_CLOCK_WALL },
	{ "alloc_objects", "memory", "alloc_objects", "count", STROBE_CLOCK_NONE },
	{ "alloc_space", "memory", "alloc_space", "bytes", STROBE_CLOCK_NONE },
	{ "inuse_objects", "memory", "inuse_objects", "count", STROBE_CLOCK_NONE },
	{ "inuse_space", "memory", "inuse_space", "bytes", STROBE_CLOCK_NONE },
	{ "mutex_count", "mutex", "mutex_contentions", "count", STROBE_CLOCK_NONE },
	{ "mutex_duration", "mutex", "mutex_delay", "nanoseconds", STROBE_CLOCK_NONE },
	{ "block_count", "block", "block_contentions", "count", STROBE_CLOCK_NONE },
	{ "block_duration", "block", "block_delay", "nanoseconds", STROBE_CLOCK_NONE },
};

static bool only(struct str s, const char *more)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i], lower = (char)(c | 0x20);

		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && (!c || !strchr(more, c)))
			return false;
	}
	return s.n > 0;
}

/* Strips blanks around names, keys and values, as Pyroscope does. */
static struct str trimmed(struct str s)
{
	static const char blanks[] = " \t\n\v\f\r";

	while (s.n && strchr(blanks, *s.p) && *s.p) {
		s.p++;
		s.n--;
	}
	while (s.n && strchr(blanks, s.p[s.n - 1]) && s.p[s.n - 1])
		s.n--;
	return s;
}

static const struct push_type *take_type(struct str *app)
{
	const char *dot = memrchr(app->p, '.', app->n);
	size_t n = dot ? app->n - (size_t)(dot - app->p) - 1 : 0;

	for (size_t i = 0; n && dot > app->p && i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].suffix) == n && !memcmp(types[i].suffix, dot + 1, n)) {
			app->n -= n + 1;
			return &types[i];
		}
	return &types[0];
}

/* Parses "k=v,k2=v2"; there is no quoting or escaping. */
static int read_labels(struct pushed *p, struct str s, struct labels *ret, struct err *err)
{
	while (s.n) {
		const char *comma = memchr(s.p, ',', s.n), *equals;
		struct str pair = { s.p, comma ? (size_t)(comma - s.p) : s.n }, key;

		s.p += pair.n + (comma != NULL);
		s.n -= pair.n + (comma != NULL);
		pair = trimmed(pair);
		if (!pair.n)
			continue;
		equals = memchr(pair.p, '=', pair.n);
		key = trimmed((struct str){ pair.p, equals ? (size_t)(equals - pair.p) : 0 });
		if (!only(key, "_."))
			return err_set(err, -EINVAL, "name: '%.*s' is not a label as key=value with letters, digits, '_' or '.' in the key",
				       (int)(pair.n < 80 ? pair.n : 80), pair.p);
		pushed_label(p, ret, key, trimmed((struct str){ equals + 1, pair.n - (size_t)(equals - pair.p) - 1 }));
	}
	return 0;
}

int push_name(struct pushed *p, struct str text, bool typed, struct labels *ret, const struct push_type **ret_type,
	      struct err *err)
{
	struct str name = trimmed(text);
	const char *brace = memchr(name.p, '{', name.n);
	struct str app = { name.p, brace ? (size_t)(brace - name.p) : name.n }, labels = { app.p + app.n + 1, name.n - app.n - 2 };
	int r;

	if (name.n > NAME_MAX_BYTES)
		return err_set(err, -EINVAL, "name exceeds the limit of %u bytes", NAME_MAX_BYTES);
	if (brace && name.p[name.n - 1] != '}')
		return err_set(err, -EINVAL, "name has no '}' at its end: it looks like app.cpu{key=value}");
	app = trimmed(app);
	if (!only(app, "_./-"))
		return err_set(err, -EINVAL, "name does not begin with an application: letters, digits, '_', '.', '/' or '-', as in "
			       "app.cpu{key=value}");
	if (brace && (r = read_labels(p, labels, ret, err)) < 0)
		return r;
	*ret_type = typed ? take_type(&app) : &types[0];
	if (labels_get(ret, "service_name"))
		labels_set(ret, "app_name", 8, app.p, app.n < STROBE_WIRE_LABEL_VALUE ? app.n : STROBE_WIRE_LABEL_VALUE);
	else
		labels_set(ret, "service_name", 12, app.p, app.n < STROBE_WIRE_LABEL_VALUE ? app.n : STROBE_WIRE_LABEL_VALUE);
	return 0;
}
