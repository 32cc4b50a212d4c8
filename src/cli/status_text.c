/* status_text.c: what came in, what was lost and why, what is kept. */

#include "status_text.h"

#include "clock.h"
#include "intern.h"
#include "json_pairs.h"
#include "mem.h"
#include "text.h"

#include <string.h>

static const char *get(const struct json_pairs *p, const char *path)
{
	const char *v = json_pairs_get(p, path);

	return v ? v : "";
}

static uint64_t number(const struct json_pairs *p, const char *path)
{
	return strtoull(get(p, path), NULL, 10);
}

static void put_plain(struct buf *b, const char *text)
{
	text_put_plain(b, (struct str){ text, strlen(text) });
}

static void put_label(struct buf *b, const char *label)
{
	buf_printf(b, "%-12s", label);
}

static void put_seconds(struct buf *b, double s)
{
	uint64_t n = s > 0 ? (uint64_t)s : 0;

	if (n >= 86400)
		buf_printf(b, "%llu d %llu h", (unsigned long long)(n / 86400), (unsigned long long)(n / 3600 % 24));
	else if (n >= 3600)
		buf_printf(b, "%llu h %llu min", (unsigned long long)(n / 3600), (unsigned long long)(n / 60 % 60));
	else if (n >= 60)
		buf_printf(b, "%llu min %llu s", (unsigned long long)(n / 60), (unsigned long long)(n % 60));
	else
		buf_printf(b, "%llu s", (unsigned long long)n);
}

static void put_bytes(struct buf *b, uint64_t n)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB", "TB" };
	double v = (double)n;
	size_t i = 0;

	for (; v >= 1024 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1024;
	buf_put_fixed(b, v, i ? 1 : 0);
	buf_printf(b, " %s", units[i]);
}

/* "12 s ago", or "never". */
static void put_ago(struct buf *b, const struct json_pairs *p, const char *path)
{
	double at = strtod(get(p, path), NULL), now = strtod(get(p, "now"), NULL);

	if (at > 0) {
		put_seconds(b, now - at);
		buf_puts(b, " ago");
	} else {
		buf_puts(b, "never");
	}
}

/* Lists what below `prefix` is not zero: "socket_full 12, no_daemon 3". Returns whether there was anything. */
static bool put_reasons(struct buf *b, const struct json_pairs *p, const char *prefix)
{
	size_t n = strlen(prefix);
	bool any = false;

	for (size_t i = 0; i < p->count; i++) {
		uint64_t v = strtoull(p->items[i].value, NULL, 10);

		if (strncmp(p->items[i].path, prefix, n) || !v)
			continue;
		buf_puts(b, any ? ", " : "");
		put_plain(b, p->items[i].path + n);
		buf_putc(b, ' ');
		buf_put_grouped(b, (int64_t)v);
		any = true;
	}
	return any;
}

static void put_reason_line(struct buf *b, const struct json_pairs *p, const char *label, const char *prefix)
{
	put_label(b, label);
	if (!put_reasons(b, p, prefix))
		buf_puts(b, "nothing");
	buf_putc(b, '\n');
}

static void put_count(struct buf *b, const struct json_pairs *p, const char *path, const char *what)
{
	buf_put_grouped(b, (int64_t)number(p, path));
	buf_puts(b, what);
}

static void put_head(struct buf *b, const struct json_pairs *p, const char *url)
{
	buf_puts(b, "strobe ");
	put_plain(b, get(p, "version"));
	buf_printf(b, " at %s, up ", url);
	put_seconds(b, (double)number(p, "uptime_seconds"));
	if (!strcmp(get(p, "ready"), "true")) {
		buf_puts(b, ", ready\n");
		return;
	}
	buf_puts(b, ", NOT READY: ");
	put_plain(b, get(p, "not_ready"));
	buf_putc(b, '\n');
}

static void put_samples(struct buf *b, const struct json_pairs *p)
{
	put_label(b, "samples");
	put_count(b, p, "samples.received", " received, ");
	put_count(b, p, "samples.stored", " stored, ");
	put_count(b, p, "samples.queued", " on their way; the last came ");
	put_ago(b, p, "samples.last");
	buf_putc(b, '\n');
	put_reason_line(b, p, "dropped", "samples.dropped.");
	put_reason_line(b, p, "lost by PHP", "samples.dropped_by_senders.");
	put_label(b, "commits");
	put_count(b, p, "commits.done", " done, ");
	put_count(b, p, "commits.failed", " failed; the last was ");
	put_ago(b, p, "commits.last");
	buf_puts(b, strcmp(get(p, "commits.failing"), "true") ? "\n" : "; FAILING now\n");
}

/* Returns false when there is no source of this number. */
static bool put_source(struct buf *b, const struct json_pairs *p, unsigned i)
{
	_cleanup_(freep) char *prefix = xasprintf("sources.%u.", i);
	const char *const names[] = { "url", "connections", "messages", "rejected." };
	char *paths[ARRAY_SIZE(names)];
	bool found;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		paths[k] = xasprintf("%s%s", prefix, names[k]);
	found = json_pairs_get(p, paths[0]) != NULL;
	if (found) {
		put_label(b, "source");
		put_plain(b, get(p, paths[0]));
		buf_puts(b, ": ");
		put_count(b, p, paths[1], " processes connected, ");
		put_count(b, p, paths[2], " messages, rejected: ");
		if (!put_reasons(b, p, paths[3]))
			buf_puts(b, "none");
		buf_putc(b, '\n');
	}
	for (size_t k = 0; k < ARRAY_SIZE(names); k++)
		free(paths[k]);
	return found;
}

static void put_store(struct buf *b, const struct json_pairs *p)
{
	double oldest = strtod(get(p, "store.oldest"), NULL);
	char at[32];

	put_label(b, "store");
	put_plain(b, get(p, "store.url"));
	buf_puts(b, ": ");
	put_bytes(b, number(p, "store.bytes"));
	if (oldest > 0) {
		clock_format((int64_t)(oldest * 1e9), at, sizeof(at));
		buf_puts(b, ", ");
		put_count(b, p, "store.days", number(p, "store.days") == 1 ? " day" : " days");
		buf_printf(b, " since %s", at);
	} else {
		buf_puts(b, ", empty");
	}
	buf_putc(b, '\n');
}

int status_text_put(const char *url, const struct buf *json, struct buf *out, struct err *err)
{
	_cleanup_(json_pairs_done) struct json_pairs p = { 0 };

	if (!json_pairs_read(json->data, json->size, &p) || !json_pairs_get(&p, "version"))
		return err_set(err, -EBADMSG, "%s answers, but not as a strobe daemon does", url);
	put_head(out, &p, url);
	put_samples(out, &p);
	for (unsigned i = 0; put_source(out, &p, i); i++)
		;
	put_store(out, &p);
	return 0;
}
