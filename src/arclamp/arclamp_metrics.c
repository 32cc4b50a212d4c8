/* arclamp_metrics.c: scans all names once, then writes one family after the other. */

#include "arclamp_metrics.h"

#include "clock.h"
#include "mem.h"
#include "tree.h"

#include <string.h>

/* The oldest and newest time of a kind of file. */
struct span {
	bool any;
	int64_t oldest_ns, newest_ns;
};

struct series {
	char *labels;			/* period="daily",profiler="excimer",entry="all" */
	struct span logs[2];		/* plain, compressed */
	struct span svgs, whole_svgs;
	uint64_t truncated;
};

struct metrics {
	struct series *series;
	size_t count, capacity;
	struct intern names;		/* labels, indexed like the series */
	struct span temporary;
};

static void stretch(struct span *s, int64_t ns)
{
	if (!s->any || ns < s->oldest_ns)
		s->oldest_ns = ns;
	if (!s->any || ns > s->newest_ns)
		s->newest_ns = ns;
	s->any = true;
}

static void put_value(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			strchr("_.-", c);

		buf_putc(out, plain && c ? c : '_');
	}
}

static struct str plain_str(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Like Arc Lamp's awk script, takes everything before the entry point for the profiler, even if it has several
 * parts. */
static struct str last_part(struct str s)
{
	const char *point = s.n ? memrchr(s.p, '.', s.n) : NULL;

	return point ? (struct str){ point + 1, (size_t)(s.p + s.n - point) - 1 } : s;
}

static struct series *series_of(struct metrics *m, const char *period, struct str profiler, struct str entry)
{
	_cleanup_(buf_done) struct buf labels = { 0 };
	uint32_t id;

	buf_init(&labels);
	buf_puts(&labels, "period=\"");
	put_value(&labels, plain_str(period));
	buf_puts(&labels, "\",profiler=\"");
	put_value(&labels, profiler);
	buf_puts(&labels, "\",entry=\"");
	put_value(&labels, entry);
	buf_puts(&labels, "\"");
	if (m->count >= ARCLAMP_SERIES_MAX && intern_find(&m->names, labels.data, labels.size) == UINT32_MAX &&
	    m->count < ARCLAMP_SERIES_MAX + TREE_PERIODS_MAX)
		return series_of(m, period, plain_str(""), plain_str("other"));
	id = intern_add(&m->names, labels.data, labels.size);
	if (id == m->count) {
		GROW(&m->series, &m->capacity, m->count + 1);
		m->series[m->count++] = (struct series){ .labels = xstrdup(labels.data) };
	}
	return &m->series[id];
}

static void add_file(struct metrics *m, const struct tree *t, const struct tree_file *f)
{
	struct series *s;

	if (f->parts.kind == TREE_TEMPORARY) {
		stretch(&m->temporary, f->mtime_ns);
		return;
	}
	s = series_of(m, tree_period(t, f), last_part(f->parts.profiler), f->parts.entry);
	if (f->parts.kind == TREE_LOG) {
		stretch(&s->logs[f->parts.packing != TREE_PLAIN], f->mtime_ns);
		return;
	}
	stretch(&s->svgs, f->mtime_ns);
	/* Same bounds as the script: less than 21 bytes, and more than 21. */
	if (f->bytes < 21)
		s->truncated++;
	if (f->bytes > 21)
		stretch(&s->whole_svgs, f->mtime_ns);
}

/* --- Families --- */

static void family(struct buf *out, const char *name, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_time(struct buf *out, const char *name, const char *labels, const char *more, int64_t ns)
{
	buf_printf(out, "%s{%s%s} %lld.%09lld\n", name, labels, more, (long long)(ns / NS_PER_SECOND),
		   (long long)(ns % NS_PER_SECOND));
}

static void put_logs(const struct metrics *m, bool newest, struct buf *out)
{
	const char *name = newest ? "arclamp_newest_log_seconds" : "arclamp_oldest_log_seconds";

	family(out, name, newest ? "Time of the last write to the newest log." : "Time of the last write to the "
		"oldest log.");
	for (size_t i = 0; i < m->count; i++)
		for (int packed = 0; packed < 2; packed++) {
			const struct span *s = &m->series[i].logs[packed];

			if (s->any)
				put_time(out, name, m->series[i].labels,
					 packed ? ",compressed=\"yes\"" : ",compressed=\"no\"",
					 newest ? s->newest_ns : s->oldest_ns);
		}
}

static void put_svgs(const struct metrics *m, bool newest, struct buf *out)
{
	const char *name = newest ? "arclamp_newest_svg_seconds" : "arclamp_oldest_svg_seconds";

	family(out, name, newest ? "Time when the newest complete picture was drawn." : "When the oldest picture "
	       "was drawn.");
	for (size_t i = 0; i < m->count; i++) {
		const struct span *s = newest ? &m->series[i].whole_svgs : &m->series[i].svgs;

		if (s->any)
			put_time(out, name, m->series[i].labels, "", newest ? s->newest_ns : s->oldest_ns);
	}
}

static void put_truncated(const struct metrics *m, struct buf *out)
{
	family(out, "arclamp_truncated_svg_files_total", "Pictures of at most 20 bytes, which is gzip of nothing.");
	for (size_t i = 0; i < m->count; i++)
		buf_printf(out, "arclamp_truncated_svg_files_total{%s} %llu\n", m->series[i].labels,
			   (unsigned long long)m->series[i].truncated);
}

static void put_bytes(const struct tree *t, const char *name, const char *help, struct buf *out)
{
	family(out, name, help);
	for (uint32_t i = 0; i < t->period_count; i++) {
		buf_printf(out, "%s{period=\"", name);
		put_value(out, plain_str(t->periods[i].name));
		buf_printf(out, "\"} %llu\n", (unsigned long long)t->periods[i].bytes);
	}
}

static int by_labels(const void *a, const void *b)
{
	return strcmp(((const struct series *)a)->labels, ((const struct series *)b)->labels);
}

static void put_all(struct metrics *m, const struct tree *logs, const struct tree *svgs, int64_t now_ns,
		    struct buf *out)
{
	int64_t temporary = m->temporary.any ? m->temporary.oldest_ns : now_ns;

	if (m->count)
		qsort(m->series, m->count, sizeof(*m->series), by_labels);
	put_logs(m, false, out);
	put_logs(m, true, out);
	family(out, "arclamp_oldest_temporary_file_seconds", "Time of the last write to the oldest temporary "
							     "file; the current time if there is none.");
	buf_printf(out, "arclamp_oldest_temporary_file_seconds %lld.%09lld\n", (long long)(temporary / NS_PER_SECOND),
		   (long long)(temporary % NS_PER_SECOND));
	put_svgs(m, false, out);
	put_svgs(m, true, out);
	put_truncated(m, out);
	put_bytes(logs, "arclamp_log_bytes_total", "Size of the logs.", out);
	put_bytes(svgs, "arclamp_svg_bytes_total", "Size of the pictures.", out);
}

int arclamp_metrics_put(const char *logs, const char *svgs, int64_t now_ns, struct buf *out, struct err *err)
{
	struct tree of_logs = { 0 }, of_svgs = { 0 };
	struct metrics m = { 0 };
	int r = tree_read(logs, &of_logs, err);

	intern_init(&m.names);
	if (r >= 0 && svgs) {
		r = tree_read(svgs, &of_svgs, err);
		r = r == -ENOENT ? 0 : r;
	}
	for (size_t i = 0; i < of_logs.count && r >= 0; i++)
		if (of_logs.files[i].parts.kind != TREE_PICTURE)
			add_file(&m, &of_logs, &of_logs.files[i]);
	for (size_t i = 0; i < of_svgs.count && r >= 0; i++)
		if (of_svgs.files[i].parts.kind == TREE_PICTURE)
			add_file(&m, &of_svgs, &of_svgs.files[i]);
	if (r >= 0)
		put_all(&m, &of_logs, &of_svgs, now_ns, out);
	for (size_t i = 0; i < m.count; i++)
		free(m.series[i].labels);
	free(m.series);
	intern_done(&m.names);
	tree_done(&of_logs);
	tree_done(&of_svgs);
	return r;
}
