/* source.c: selects the implementation of a source by the scheme of its URL, and has the code that all sources
 * share. */

#include "source.h"

#include "clock.h"
#include "file_source.h"
#include "folded_line.h"
#include "lock.h"
#include "mem.h"
#include "redis_source.h"
#include "resp_source.h"
#include "runs_source.h"
#include "unix_source.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

static const struct source_ops *const schemes[] = { &unix_source_ops, &resp_source_ops, &redis_source_ops,
						    &redis_tls_source_ops, &file_source_ops, &runs_source_ops };

/* Guards the state texts of all sources, which change seldom. */
static struct lock state_lock = LOCK_INITIALIZER;

static const struct source_ops *find(const char *url)
{
	if (*url == '/')		/* people type a bare path */
		return &unix_source_ops;
	if (url[0] == '-' && (!url[1] || url[1] == '?'))
		return &stdin_source_ops;
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]->scheme);

		if (!strncmp(url, schemes[i]->scheme, n) && url[n] == ':')
			return schemes[i];
	}
	return NULL;
}

int source_open(const char *url, struct loop *loop, const struct source_receiver *receiver, struct source **ret,
		struct err *err)
{
	const struct source_ops *ops = find(url);

	if (!ops)
		return err_set(err, -EINVAL, "cannot collect from '%.*s': a source looks like unix:SOCKET, "
			       "resp://HOST:PORT, redis://HOST/?channel=NAME, redis://HOST/?stream=NAME, "
			       "file:PATH, runs:DIR or -",
			       /* no passwords */
			       (int)(strchr(url, '@') ? strcspn(url, ":") : strnlen(url, 200)), url);
	return ops->open(url, loop, receiver, ret, err);
}

bool source_acknowledges(const char *url)
{
	const struct source_ops *ops = find(url);

	return ops && ops->acknowledges && ops->acknowledges(url);
}

/* Reduces a unix: URL without options to its path, the form that people type. */
static const char *without_scheme(const char *url)
{
	return strncmp(url, "unix:/", 6) == 0 && !strchr(url, '?') ? url + strlen("unix:") : url;
}

bool source_same_input(const char *a, const char *b)
{
	const struct source_ops *ops = find(a);

	if (strcmp(without_scheme(a), without_scheme(b)) == 0)
		return true;
	return ops && ops == find(b) && ops->same_input && ops->same_input(a, b);
}

void source_stop(struct source *s)
{
	if (s && s->ops->stop)
		s->ops->stop(s);
}

struct source *source_close(struct source *s)
{
	return s ? s->ops->close(s) : NULL;
}

void source_done(struct source *s)
{
	free(s->url);
	free(s->identity);
	free(s->state);
}

const char *source_identity(const struct source *s)
{
	return s->identity ? s->identity : s->url;
}

bool source_takes_pushes(const struct source *s)
{
	return s->ops && !strcmp(s->ops->scheme, "http");
}

/* --- Messages and lines --- */

enum strobe_wire_error source_parse(struct source *s, const void *bytes, size_t n, struct strobe_wire_message *ret)
{
	enum strobe_wire_error e = strobe_wire_parse(bytes, n, ret);

	/* A run must be one message, since a continuation might never arrive. */
	if (!e && ret->info.kind != STROBE_WIRE_SAMPLES && ret->info.flags & STROBE_WIRE_CONTINUED)
		e = STROBE_WIRE_BAD_HEADER;
	if (e)
		s->counters.rejected[e]++;
	return e;
}

void source_take(struct source *s, struct message_metadata about, const struct strobe_wire_message *m)
{
	const struct source_receiver *r = &s->receiver;

	s->counters.messages++;
	s->counters.bytes += m->size;
	s->counters.last_message_ns = clock_wall_ns();
	about.source = s;
	if (!strobe_wire_is_open(m->info.kind))
		r->message(r->data, &about, m);
	else if (r->open)
		r->open(r->data, &about, m);
}

enum strobe_wire_error source_message(struct source *s, struct message_metadata about, const void *bytes, size_t n)
{
	struct strobe_wire_message m;
	enum strobe_wire_error e = source_parse(s, bytes, n, &m);

	if (!e)
		source_take(s, about, &m);
	return e;
}

const char *source_line_error_name(enum source_line_error e)
{
	static const char *const names[SOURCE_LINE_ERRORS] = {
		"ok", "blank", "no_count", "bad_count", "newline", "too_long", "too_deep",
	};

	return (unsigned)e < SOURCE_LINE_ERRORS ? names[e] : "other";
}

const char *source_file_error_name(enum source_file_error e)
{
	static const char *const names[SOURCE_FILE_ERRORS] = {
		"name", "link", "kind", "large", "damaged", "unreadable",
	};

	return (unsigned)e < SOURCE_FILE_ERRORS ? names[e] : "other";
}

const char *source_push_protocol_name(enum source_push_protocol p)
{
	static const char *const names[SOURCE_PUSH_PROTOCOLS] = { "ingest", "push", "otlp" };

	return (unsigned)p < SOURCE_PUSH_PROTOCOLS ? names[p] : "other";
}

const char *source_push_error_name(enum source_push_error e)
{
	static const char *const names[SOURCE_PUSH_ERRORS] = {
		"parameters", "unsupported", "damaged", "large", "busy", "profiles",
	};

	return (unsigned)e < SOURCE_PUSH_ERRORS ? names[e] : "other";
}

static size_t depth_of(struct str stack)
{
	size_t depth = 1;

	for (const char *p = stack.p, *end = p + stack.n; (p = memchr(p, ';', (size_t)(end - p))); p++)
		depth++;
	return depth;
}

static enum source_line_error check_line(const char *line, size_t n)
{
	struct folded_line l;

	if (n > SOURCE_LINE_MAX)
		return SOURCE_LINE_TOO_LONG;
	if (memchr(line, '\n', n))
		return SOURCE_LINE_BAD_BYTE;
	switch (folded_line_parse(line, n, false, &l)) {
	case FOLDED_STACK:
		break;
	case FOLDED_BLANK:
		return SOURCE_LINE_BLANK;
	case FOLDED_LARGE_COUNT:
		return SOURCE_LINE_BAD_COUNT;
	default:
		return SOURCE_LINE_NO_COUNT;
	}
	if (l.count.whole < 1 || l.count.whole > SOURCE_LINE_COUNT_MAX || l.count.fraction != 0)
		return SOURCE_LINE_BAD_COUNT;
	/* A frame takes two bytes at least. */
	if (l.stack.n >= 2 * SOURCE_LINE_DEPTH && depth_of(l.stack) > SOURCE_LINE_DEPTH)
		return SOURCE_LINE_TOO_DEEP;
	return SOURCE_LINE_OK;
}

enum source_line_error source_line(struct source *s, struct message_metadata about, const char *line, size_t n)
{
	enum source_line_error e = check_line(line, n);

	if (e) {
		s->counters.rejected_lines[e]++;
		return e;
	}
	s->counters.lines++;
	s->counters.bytes += n;
	s->counters.last_message_ns = clock_wall_ns();
	about.source = s;
	s->receiver.line(s->receiver.data, &about, line, n);
	return e;
}

static const char *sentence(enum source_line_error e)
{
	static const char *const sentences[SOURCE_LINE_ERRORS] = {
		"it is fine", "it is blank", "a folded line ends with a space and a count, as in main;work 12",
		"its count must be a whole number from 1 to 10^12", "it holds a newline",
		"it is above a megabyte", "it has more than 10,000 frames",
	};

	assert(e < SOURCE_LINE_ERRORS);
	return sentences[e];
}

size_t source_lines(struct source *s, struct message_metadata about, const char *text, size_t n, struct err *err)
{
	const char *at = text, *end = text + n;
	size_t taken = 0, rejected = 0;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *line_end = newline ? newline : end;
		enum source_line_error e = SOURCE_LINE_BLANK;

		if (line_end > at)
			e = source_line(s, about, at, (size_t)(line_end - at));
		taken += e == SOURCE_LINE_OK;
		if (e && e != SOURCE_LINE_BLANK && !rejected++)
			err_set(err, -EINVAL, "line %zu is invalid: %s", taken + rejected, sentence(e));
		at = line_end + 1;
	}
	return taken;
}

/* --- State --- */

void source_set_awaited(struct source *s, const char *path)
{
	bool is_readable = access(path, R_OK) == 0;

	s->awaited_errno = is_readable ? 0 : errno;
	s->awaited = is_readable ? NULL : path;
}

void source_set_state(struct source *s, bool is_up, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	lock_take(&state_lock);
	free(s->state);
	s->state = text;
	s->is_up = is_up;
	lock_release(&state_lock);
}

bool source_state(struct source *s, char *text, size_t size)
{
	bool is_up;

	lock_take(&state_lock);
	snprintf(text, size, "%s", s->state ? s->state : "");
	is_up = s->is_up;
	lock_release(&state_lock);
	return is_up;
}
