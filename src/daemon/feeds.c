/* feeds.c: the list of sources and sinks, in the order in which they were added. */

#include "feeds.h"

#include "mem.h"

#include <assert.h>
#include <string.h>

struct feed *feeds_add(struct feeds *l, enum feed_kind kind, const char *given)
{
	struct feed *f = xcalloc(1, sizeof(*f));

	*f = (struct feed){ .list = l, .kind = kind, .state = FEED_OPENED, .wanted = true, .given = xstrdup(given) };
	GROW(&l->items, &l->capacity, l->count + 1);
	return l->items[l->count++] = f;
}

void feeds_take_out(struct feed *f)
{
	struct feeds *l = f->list;
	size_t i = 0;

	while (i < l->count && l->items[i] != f)
		i++;
	assert(i < l->count);
	memmove(l->items + i, l->items + i + 1, (--l->count - i) * sizeof(*l->items));
}

struct feed *feed_close(struct feed *f)
{
	source_close(f->source);
	sink_close(f->sink);
	free(f->given);
	free(f);
	return NULL;
}

void feeds_remove(struct feed *f)
{
	feeds_take_out(f);
	feed_close(f);
}

void feeds_done(struct feeds *l)
{
	assert(!l->count);
	free(l->items);
	*l = (struct feeds){ 0 };
}

struct feed *feeds_next(const struct feeds *l, size_t *at, enum feed_kind kind, unsigned states)
{
	while (*at < l->count) {
		struct feed *f = l->items[(*at)++];

		if (f->kind == kind && (states & (f->state | (f->wanted ? FEED_WANTED : FEED_UNWANTED))))
			return f;
	}
	return NULL;
}

void feeds_remove_all(struct feeds *l, enum feed_kind kind, unsigned states)
{
	struct feed *f;

	FEEDS_WHILE_ANY(f, l, kind, states)
		feeds_remove(f);
}

size_t feeds_count(const struct feeds *l, enum feed_kind kind, unsigned states)
{
	struct feed *f;
	size_t n = 0;

	FEEDS_EACH(f, l, kind, states)
		n++;
	return n;
}

size_t feeds_sources(const struct feeds *l, unsigned states, struct source **ret)
{
	struct feed *f;
	size_t n = 0;

	FEEDS_EACH(f, l, FEED_SOURCE, states)
		ret[n++] = f->source;
	return n;
}

/* Reduces a URL without options to its path, the form that people type. */
static const char *path_of(const char *url)
{
	if (strncmp(url, "unix:/", 6) == 0 && !strchr(url, '?'))
		return url + strlen("unix:");
	return strncmp(url, "sqlite:/", 8) == 0 ? url + strlen("sqlite:") : url;
}

/* Returns the path of a socket with its real directory, whether or not the socket exists; NULL if the directory does
 * not exist. */
static char *real_socket(const char *path)
{
	_cleanup_(freep) char *copy = xstrdup(path), *directory = NULL;
	char *name = strrchr(copy, '/');

	*name++ = '\0';
	directory = realpath(*copy ? copy : "/", NULL);
	return directory ? xasprintf("%s/%s", directory, name) : NULL;
}

/* A socket has no parameters, so the same one in another spelling is no change. */
static bool is_same_socket(const char *a, const char *b)
{
	_cleanup_(freep) char *real_a = NULL, *real_b = NULL;

	if (strncmp(a, "sqlite:", 7) == 0 || strncmp(b, "sqlite:", 7) == 0 || *path_of(a) != '/' || *path_of(b) != '/')
		return false;
	real_a = real_socket(path_of(a));
	real_b = real_socket(path_of(b));
	return real_a && real_b && strcmp(real_a, real_b) == 0;
}

bool feeds_same_url(const char *a, const char *b)
{
	return strcmp(path_of(a), path_of(b)) == 0 || is_same_socket(a, b);
}

bool feeds_has_url(const char *const *urls, size_t n, const char *url)
{
	for (size_t i = 0; i < n; i++)
		if (feeds_same_url(urls[i], url))
			return true;
	return false;
}

struct feed *feeds_find(const struct feeds *l, enum feed_kind kind, unsigned states, const char *url)
{
	struct feed *f;

	FEEDS_EACH(f, l, kind, states)
		if (feeds_same_url(f->given, url))
			return f;
	return NULL;
}
