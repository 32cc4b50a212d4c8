/* grep_inputs.c: selects logs by name and time, and queries stores by label. */

#include "grep_inputs.h"

#include "clock.h"
#include "format.h"
#include "daemon_request.h"
#include "io.h"
#include "log_forms.h"
#include "mem.h"
#include "secrets.h"
#include "store.h"
#include "text.h"
#include "token.h"
#include "url.h"

#include <string.h>

#define USUAL_CHANNEL	"excimer"
#define NAMED_MAX	12u		/* entry points and channels listed in a message */
#define TIMEOUT_MS	60000
#define ANSWER_MAX	((size_t)16 << 20)

void grep_inputs_init(struct grep_inputs *in)
{
	*in = (struct grep_inputs){ .profile = profile_new() };
	buf_init(&in->why);
	buf_init(&in->warnings);
}

void grep_inputs_done(struct grep_inputs *in)
{
	profile_free(in->profile);
	for (size_t i = 0; i < in->sources.count; i++)
		free((char *)in->sources.items[i]);
	free(in->sources.items);
	buf_done(&in->why);
	buf_done(&in->warnings);
}

/* Takes ownership of the text. */
static void add_source(struct grep_inputs *in, char *text)
{
	GROW(&in->sources.items, &in->sources.capacity, in->sources.count + 1);
	in->sources.items[in->sources.count++] = text;
}

/* Collects a reader's warning; an input without samples is not an error. */
static int loaded(struct grep_inputs *in, int r, const struct err *why)
{
	if (r > 0)
		buf_printf(&in->warnings, "strobe grep: %s\n", why->text);
	return r == -ENODATA ? 0 : r;
}

/* --- A tree of logs --- */

static bool is_of_channel(const struct tree_name *n, const char *channel)
{
	return channel ? text_is(n->profiler, channel) : !n->profiler.n || text_is(n->profiler, USUAL_CHANNEL);
}

static bool is_requested(const struct tree *t, const struct tree_file *f, const struct grep_query *a)
{
	return f->parts.kind == TREE_LOG && !strcmp(tree_period(t, f), a->resolution) &&
	       text_is(f->parts.entry, a->entrypoint) && is_of_channel(&f->parts, a->channel);
}

struct chosen {
	const struct tree_file *file;
	uint64_t begin;			/* start of the part that other forms lack */
};

static int oldest_first(const void *a, const void *b)
{
	const struct tree_file *x = ((const struct chosen *)a)->file, *y = ((const struct chosen *)b)->file;

	return x->mtime_ns != y->mtime_ns ? (x->mtime_ns < y->mtime_ns ? -1 : 1) : strcmp(x->name, y->name);
}

/* Converts a slice bound as Python does: negative ones count from the end, and all are clamped. */
static size_t bound(long at, size_t n)
{
	if (at < 0)
		return (size_t)-at > n ? 0 : n - (size_t)-at;
	return (size_t)at > n ? n : (size_t)at;
}

static int load_log(struct grep_inputs *in, const struct tree *t, const struct chosen *c, struct err *err)
{
	const struct format_options reading = { .format = &format_folded };
	_cleanup_(freep) char *path = tree_path(t, c->file);
	struct input input;
	int fd = log_form_open(t, (size_t)(c->file - t->files), c->begin, err), r;

	/* Old logs may have been removed since. */
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = input_open_fd(&input, path, fd, FORMAT_INPUT_MAX, err);
	if (r >= 0)
		r = format_load_input(&input, in->profile, &reading, err);
	input_close(&input);
	return loaded(in, r, err);
}

/* Adds `s` to "a, b and more" unless it is already there. */
static void name_once(struct buf *list, unsigned *count, struct intern *known, struct str s)
{
	size_t n = known->count;

	intern_add(known, s.p, s.n);
	if (known->count == n || *count > NAMED_MAX)
		return;
	buf_puts(list, ++*count > NAMED_MAX ? " and more" : *count > 1 ? ", " : "");
	if (*count <= NAMED_MAX)
		text_put_plain(list, s);
}

static void describe_logs(const struct tree *t, const struct grep_query *a, struct buf *out)
{
	_cleanup_(buf_done) struct buf entries = { 0 }, channels = { 0 };
	struct intern known[2];
	unsigned named[2] = { 0 };
	size_t logs = 0;

	buf_init(&entries);
	buf_init(&channels);
	intern_init(&known[0]);
	intern_init(&known[1]);
	for (size_t i = 0; i < t->count; i++) {
		const struct tree_name *n = &t->files[i].parts;

		if (n->kind != TREE_LOG || strcmp(tree_period(t, &t->files[i]), a->resolution) != 0)
			continue;
		logs++;
		name_once(&entries, &named[0], &known[0], n->entry);
		name_once(&channels, &named[1], &known[1], n->profiler.n ? n->profiler : (struct str){ "none", 4 });
	}
	intern_done(&known[0]);
	intern_done(&known[1]);
	buf_printf(out, "no log of the entry point '%s' and the channel '%s' in '%s/%s', which has %zu log%s",
		   a->entrypoint,
		   a->channel ? a->channel : USUAL_CHANNEL, t->base, a->resolution, logs, logs == 1 ? "" : "s");
	if (logs)
		buf_printf(out, ", of the entry points %s and the channels %s", entries.data, channels.data);
}

/* Chooses the requested logs, oldest first; of several forms of one log, those with lines that no other form has. */
static struct chosen *choose(const struct tree *t, const struct grep_query *a, size_t *ret_count)
{
	struct chosen *chosen = xcalloc(t->count + 1, sizeof(*chosen));
	size_t n = 0;

	for (size_t at = 0, forms; at < t->count; at += forms ? forms : 1) {
		forms = tree_logs_at(t, at);
		for (size_t i = at; i < at + forms && is_requested(t, &t->files[i], a); i++) {
			uint64_t begin = log_form_begin(t, at, i);

			if (begin != LOG_FORM_NOTHING)
				chosen[n++] = (struct chosen){ &t->files[i], begin };
		}
	}
	if (n)
		qsort(chosen, n, sizeof(*chosen), oldest_first);
	*ret_count = n;
	return chosen;
}

static int load_chosen(struct grep_inputs *in, const struct tree *t, const struct grep_query *a, struct err *err)
{
	size_t n, first, last;
	_cleanup_(freep) struct chosen *chosen = choose(t, a, &n);
	int r = 0;

	first = a->has_first ? bound(a->first, n) : 0;
	last = a->has_last ? bound(a->last, n) : n;
	if (!n)
		describe_logs(t, a, &in->why);
	else if (first >= last)
		buf_printf(&in->why, "the slice leaves none of %zu log%s", n, n == 1 ? "" : "s");
	for (size_t i = first; i < last && r >= 0; i++) {
		add_source(in, tree_path(t, chosen[i].file));
		r = load_log(in, t, &chosen[i], err);
	}
	return r;
}

int grep_inputs_logs(struct grep_inputs *in, const struct grep_query *a, struct err *err)
{
	struct tree t = { 0 };
	int r = tree_read(a->logs, &t, err);

	if (r >= 0)
		r = load_chosen(in, &t, a, err);
	tree_done(&t);
	return r;
}

int grep_inputs_add(struct grep_inputs *in, const char *name, int r, const struct err *err)
{
	add_source(in, xstrdup(name));
	if (r == -ENODATA && !in->why.size)
		buf_puts(&in->why, err->text);
	return loaded(in, r, err);
}

int grep_inputs_files(struct grep_inputs *in, char **files, size_t count, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++) {
		add_source(in, xstrdup(files[i]));
		r = loaded(in, format_load(files[i], in->profile, NULL, err), err);
	}
	return r;
}

/* --- A store, a daemon --- */

static size_t make_filters(const struct grep_query *a, struct label_filter *ret)
{
	size_t n = 0;

	if (strcmp(a->entrypoint, "all") != 0)
		ret[n++] = (struct label_filter){ "entry", a->entrypoint, LABEL_IS };
	if (a->channel)
		ret[n++] = (struct label_filter){ "profiler", a->channel, LABEL_IS };
	return n;
}

static void describe_store(struct grep_inputs *in, const struct store_query_stats *l)
{
	char first[32], last[32];

	if (!l->first_ns && !l->last_ns) {
		buf_puts(&in->why, "the store is empty");
		return;
	}
	clock_format(l->first_ns, first, sizeof(first));
	clock_format(l->last_ns, last, sizeof(last));
	buf_printf(&in->why, "%llu of %llu series of this time fit; the store holds samples from %s to %s",
		   (unsigned long long)l->series_matched, (unsigned long long)l->series, first, last);
}

static int parse_range(const struct grep_query *a, struct store_query *q, struct err *err)
{
	int64_t now = clock_wall_ns();

	if (clock_parse_time(a->from, now, &q->from_ns, NULL) < 0)
		return err_set(err, -EINVAL, "invalid --from '%s'; use " CLOCK_TIMES, a->from);
	if (clock_parse_time(a->to, now, &q->to_ns, NULL) < 0)
		return err_set(err, -EINVAL, "invalid --to '%s'; use " CLOCK_TIMES, a->to);
	if (q->from_ns >= q->to_ns)
		return err_set(err, -EINVAL, "--from %s is not before --to %s", a->from, a->to);
	return 0;
}

static char *describe_range(const char *where, const struct store_query *q)
{
	char from[32], to[32], shown[URL_MAX + 64];

	snprintf(shown, sizeof(shown), "%s", where);
	secrets_redact(shown, sizeof(shown));
	clock_format(q->from_ns, from, sizeof(from));
	clock_format(q->to_ns, to, sizeof(to));
	return xasprintf("%s, %s to %s", shown, from, to);
}

static void warn_of_missing(struct grep_inputs *in, struct store *s)
{
	char missing[256];

	store_missing(s, missing, sizeof(missing));
	if (*missing)
		buf_printf(&in->warnings, "strobe grep: " STORE_MISSING "\n", missing);
}

int grep_inputs_store(struct grep_inputs *in, const struct grep_query *a, struct err *err)
{
	struct label_filter filters[2];
	struct store_query q = { .filters = filters, .filter_count = make_filters(a, filters) };
	struct store_query_stats stats = { 0 };
	struct profile *found = NULL;
	struct store *s = NULL;
	int r = parse_range(a, &q, err);

	if (r >= 0)
		r = store_open(a->store, true, &s, err);
	if (r >= 0)
		r = store_query(s, &q, &found, &stats, err);
	if (r >= 0)
		warn_of_missing(in, s);
	store_close(s);
	if (r < 0)
		return r;
	profile_free(in->profile);
	in->profile = found;
	add_source(in, describe_range(a->store, &q));
	if (found->node_count <= 1)
		describe_store(in, &stats);
	return 0;
}

static void put_parameter(struct buf *path, const char *key, const char *before, const char *value)
{
	buf_printf(path, "&%s=%s", key, before);
	text_put_url(path, (struct str){ value, strlen(value) });
}

int grep_inputs_daemon(struct grep_inputs *in, const struct grep_query *a, struct err *err)
{
	_cleanup_(buf_done) struct buf path = { 0 }, token = { 0 }, body = { 0 };
	struct label_filter filters[2];
	size_t n = make_filters(a, filters);
	struct daemon_request q = { .address = a->url, .token_file = a->token_file, .timeout_ms = TIMEOUT_MS, .limit = ANSWER_MAX };
	struct store_query range;
	int r = parse_range(a, &range, err);

	buf_init(&path);
	buf_init(&token);
	buf_init(&body);
	buf_puts(&path, "/api/v1/profile?format=strobe");
	put_parameter(&path, "from", "", a->from);
	put_parameter(&path, "to", "", a->to);
	/* A leading = turns off special characters in the value. */
	for (size_t i = 0; i < n; i++)
		put_parameter(&path, filters[i].key, "%3D", filters[i].value);
	if (r >= 0)
		r = token_get(a->token_file, TOKEN_VARIABLE, &token, err);
	if (r < 0)
		return r;
	q.token = token.data;
	r = daemon_get(&q, path.data, NULL, &body, err);
	if (r == -ECONNREFUSED)
		return err_set(err, r, "no daemon answers at %s; start one with `strobe serve`", a->url);
	if (r < 0)
		return r;
	add_source(in, describe_range(a->url, &range));
	return loaded(in, format_load_bytes(a->url, body.data, body.size, in->profile, err), err);
}
