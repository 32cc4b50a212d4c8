/* source_url.c: parameters about lines. */
#include "source_url.h"

#include "clock.h"
#include "mem.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

void source_hints_init(struct source_hints *h)
{
	*h = (struct source_hints){ 0 };
	labels_init(&h->labels);
}

void source_hints_done(struct source_hints *h)
{
	labels_done(&h->labels);
}

static int set_label(struct source_hints *h, const char *key, const char *value, struct err *err)
{
	if (!strobe_wire_is_label_key((const uint8_t *)key, strlen(key)) || strlen(value) > STROBE_WIRE_LABEL_VALUE)
		return err_set(err, -EINVAL, "'label.%.60s': a label's name has letters, digits and _, its value up to "
			       "%u bytes", key, STROBE_WIRE_LABEL_VALUE);
	if (h->labels.count == STROBE_WIRE_LABELS && !labels_get(&h->labels, key))
		return err_set(err, -EINVAL, "there are more than %u labels", STROBE_WIRE_LABELS);
	labels_set(&h->labels, key, strlen(key), value, strlen(value));
	return 1;
}

int source_hints_set(struct source_hints *h, const char *name, const char *value, struct err *err)
{
	int r;

	if (!strncmp(name, "label.", 6))
		return set_label(h, name + 6, value, err);
	if (!strcmp(name, "clock")) {
		if (strcmp(value, "wall") && strcmp(value, "cpu"))
			return err_set(err, -EINVAL, "clock=%.60s: use wall or cpu", value);
		h->clock = *value == 'w' ? STROBE_CLOCK_WALL : STROBE_CLOCK_CPU;
		return 1;
	}
	if (strcmp(name, "period"))
		return 0;
	r = clock_parse_duration(value, &h->period_ns, err);
	if (r < 0)
		return err_prefix(err, "period");
	return h->period_ns > 0 ? 1 : err_set(err, -EINVAL, "period=%.60s: it must be positive", value);
}

struct message_metadata source_hints_about(const struct source_hints *h)
{
	return (struct message_metadata){
		.labels = h->labels.count ? &h->labels : NULL,
		.clock = h->clock,
		.period_ns = h->period_ns,
	};
}

bool source_url_same_place(const char *a, const char *b)
{
	size_t n = strcspn(a, "?");

	return n == strcspn(b, "?") && strncmp(a, b, n) == 0;
}

char *source_url_path(const char *path, size_t n)
{
	char *copy = xstrndup(path, n), *out = copy;

	for (const char *p = copy; *p;) {
		if (p[0] == '/' && p[1] == '/')
			p++;
		else if (p[0] == '/' && p[1] == '.' && p[2] == '/')
			p += 2;
		else
			*out++ = *p++;
	}
	*out = '\0';
	return copy;
}

/* Resolves from the right, since only the last parts can be missing. */
static char *resolve(const char *path)
{
	_cleanup_(freep) char *parent = NULL, *real_parent = NULL;
	char *real = realpath(path, NULL);
	const char *name = strrchr(path, '/');

	if (real || !name[1])
		return real ? real : xstrdup(path);
	parent = xstrndup(path, name > path ? (size_t)(name - path) : 1);
	real_parent = resolve(parent);
	return xasprintf("%s/%s", strcmp(real_parent, "/") ? real_parent : "", name + 1);
}

char *source_url_directory(const char *path)
{
	_cleanup_(freep) char *closed = xasprintf("%s/", path);
	_cleanup_(freep) char *plain = source_url_path(closed, strlen(closed));
	size_t n = strlen(plain);

	assert(*path == '/' && n <= PATH_MAX);
	if (n > 1)
		plain[n - 1] = '\0';
	return resolve(plain);
}
