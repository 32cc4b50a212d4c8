/* top_plain.c: plain tables, one per period. */

#include "top_plain.h"

#include "clock.h"
#include "json.h"
#include "top_columns.h"

#include <string.h>

static size_t rows_to_put(const struct top_view *v, size_t limit)
{
	return limit && limit < v->rows->count ? limit : v->rows->count;
}

void top_put_plain(struct buf *out, const struct top_view *v, const struct top_status *f, size_t limit, int64_t now_ns)
{
	size_t shown = rows_to_put(v, limit);
	struct top_columns c;
	char time[24];

	clock_format(now_ns, time, sizeof(time));
	buf_printf(out, "%s ", time);
	top_put_load(out, v, f);
	buf_puts(out, "; ");
	top_put_counts(out, v, f);
	buf_putc(out, '\n');
	if (v->rows->count) {
		top_columns_choose(&c, v, 0);
		top_columns_put_headings(&c, v, out, 0);
		buf_putc(out, '\n');
		for (size_t i = 0; i < shown; i++) {
			top_columns_put_row(&c, v, &v->rows->rows[i], out, 0);
			buf_putc(out, '\n');
		}
		if (shown < v->rows->count)
			buf_printf(out, "%zu more rows; --rows 0 prints all\n", v->rows->count - shown);
	} else if (v->rows->left_out) {
		buf_printf(out, "none of %zu rows matches /%s/\n", v->rows->left_out, v->filter);
	} else {
		top_put_notes(out, f);
	}
	buf_putc(out, '\n');
}

static void put_number(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

static void put_row(struct json *j, const struct top_view *v, const struct top_row *row)
{
	json_open_object(j);
	json_key(j, top_by_name(v->by));
	json_bytes(j, row->name);
	if (row->file.n) {
		json_key(j, "file");
		json_bytes(j, row->file);
	}
	if (row->line)
		put_number(j, "line", row->line);
	if (v->has_on_cpu) {
		put_number(j, "self_ns", row->self);
		put_number(j, "total_ns", row->total);
	}
	if (v->has_off_cpu) {
		put_number(j, "off_cpu_self_ns", row->off_self);
		put_number(j, "off_cpu_total_ns", row->off_total);
	}
	json_end(j);
}

static void put_counts(struct json *j, const struct record_summary *s)
{
	const u64 *c = s->counters;

	put_number(j, "ticks", (int64_t)(s->is_remote ? s->remote.ticks : c[COUNTER_TICKS]));
	put_number(j, "kept", (int64_t)(s->is_remote ? s->remote.kept : c[COUNTER_SAMPLES]));
	put_number(j, "lost", (int64_t)record_summary_lost(s));
	put_number(j, "unreadable", (int64_t)record_summary_unreadable(s));
}

/* Puts an array of lines. */
static void put_notes(struct json *j, const struct top_status *f)
{
	_cleanup_(buf_done) struct buf text = { 0 };

	buf_init(&text);
	top_put_notes(&text, f);
	json_key(j, "notes");
	json_open_array(j);
	for (const char *at = text.data; *at; at += strcspn(at, "\n") + 1)
		json_bytes(j, (struct str){ at, strcspn(at, "\n") });
	json_end(j);
}

void top_put_json(struct buf *out, const struct top_view *v, const struct top_status *f, size_t limit, int64_t now_ns)
{
	size_t shown = rows_to_put(v, limit);
	struct json j;
	char time[24];

	clock_format(now_ns, time, sizeof(time));
	json_init(&j, out);
	json_open_object(&j);
	json_key(&j, "time");
	json_str(&j, time);
	json_key(&j, "seconds");
	json_double(&j, (double)f->length_ns / 1e9);
	put_number(&j, "on_cpu_ns", v->rows->on_cpu);
	put_number(&j, "off_cpu_ns", v->rows->off_cpu);
	put_counts(&j, &f->summary);
	record_summary_put_counts(&f->summary, &j);
	put_notes(&j, f);
	json_key(&j, "by");
	json_str(&j, top_by_name(v->by));
	json_key(&j, "rows");
	json_open_array(&j);
	for (size_t i = 0; i < shown; i++)
		put_row(&j, v, &v->rows->rows[i]);
	json_end(&j);
	put_number(&j, "more", (int64_t)(v->rows->count - shown));
	json_end(&j);
	buf_putc(out, '\n');
}
