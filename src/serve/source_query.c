/* source_query.c: chooses the file by the cost of its lines, and iterates over source and costs together. */

#include "source_query.h"

#include "mem.h"
#include "saturate.h"
#include "text.h"

#include <string.h>

bool source_query_fits(const struct view *v)
{
	return v->function && v->by != REPORT_BY_NAMESPACE && v->by != REPORT_BY_PACKAGE;
}

/* Lines of a function, or of all functions of a class; else those of a file. */
static bool is_of_functions(const struct view *v)
{
	return v->by != REPORT_BY_FILE && v->by != REPORT_BY_LINE;
}

/* --- The subject --- */

/* Calls without a line, as report_put_line names them. */
static const char no_line[] = " [no line]";

/* Returns the file of "/srv/app/Cart.php:12" and of "/srv/app/Cart.php [no line]". */
static struct str file_of_line(struct str s)
{
	const char *colon = memrchr(s.p, ':', s.n);

	if (text_ends(s, no_line))
		return (struct str){ s.p, s.n - strlen(no_line) };
	return colon ? (struct str){ s.p, (size_t)(colon - s.p) } : s;
}

static struct str subject_of(const struct view *v)
{
	struct str s = { v->function, strlen(v->function) };

	return v->by == REPORT_BY_LINE ? file_of_line(s) : s;
}

static bool is_same(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool is_shown_as(struct str file, const char *wanted, struct buf *shown)
{
	buf_reset(shown);
	text_put_plain(shown, file);
	return shown->size == strlen(wanted) && !memcmp(shown->data, wanted, shown->size);
}

/* Whether a function of that name has moved from one of the two files to the other. */
static bool has_moved(const struct profile_query *a, struct str name, struct str file, const char *wanted, struct buf *shown)
{
	const struct profile *p = a->profile;

	for (uint32_t f = 0; a->is_diff && f < p->frame_count; f++) {
		struct str after = profile_file(p, f), before = intern_get(&p->strings, a->diff.files_before[f]);

		if (!is_same(profile_name(p, f), name) || is_same(after, before))
			continue;
		if ((is_same(file, before) && is_shown_as(after, wanted, shown)) || (is_same(file, after) && is_shown_as(before, wanted, shown)))
			return true;
	}
	return false;
}

/* Selects among functions of one name those of the view's file. Moves are known only after both sides have been compared. */
static bool is_in_file(const struct profile_query *a, const struct profile *p, uint32_t frame, struct buf *shown)
{
	const char *wanted = a->view.function_file;

	if (!wanted || (a->view.has_base && !a->is_diff))
		return true;
	return is_shown_as(profile_file(p, frame), wanted, shown) || has_moved(a, profile_name(p, frame), profile_file(p, frame), wanted, shown);
}

/* By frame, whether the view selects it: names are compared as pages show them, see function_query. */
static bool *find_frames(const struct profile_query *a, const struct profile *p)
{
	const struct view *v = &a->view;
	_cleanup_(buf_done) struct buf wanted = { 0 }, shown = { 0 }, name = { 0 };
	bool *of = report_no_frames(p);

	buf_init(&wanted);
	buf_init(&shown);
	buf_init(&name);
	text_put_plain(&wanted, is_of_functions(v) ? profile_visible_name(subject_of(v)) : subject_of(v));
	for (uint32_t f = 0; f < p->frame_count; f++) {
		buf_reset(&shown);
		buf_reset(&name);
		report_group_name(p, f, is_of_functions(v) ? v->by : REPORT_BY_FILE, &name);
		text_put_plain(&shown, (struct str){ name.data, name.size });
		of[f] = shown.size && shown.size == wanted.size && !memcmp(shown.data, wanted.data, wanted.size) && is_in_file(a, p, f, &shown);
	}
	return of;
}

struct profile *source_query_subject(const struct profile_query *a, const struct profile *p)
{
	_cleanup_(profile_freep) struct profile *own = a->view.by == REPORT_BY_OWN ? report_group(p, REPORT_BY_OWN) : NULL;
	const struct profile *from = own ? own : p;
	_cleanup_(freep) bool *of = find_frames(a, from);

	return report_filter(from, of, NULL);
}

/* --- Choosing a file --- */

struct side {
	const struct profile *subject;	/* NULL: this side does not exist */
	struct profile *lines;		/* NULL: it has none */
	bool *of;			/* by frame of `lines` */
	uint32_t column;
	struct str file;		/* .n 0: none */
	uint32_t start;
};

static void note_other(struct source_query *s, struct str file)
{
	size_t n = s->other_count < SOURCE_ASK_OTHERS ? s->other_count : SOURCE_ASK_OTHERS;

	if (is_same(file, s->file))
		return;
	for (size_t i = 0; i < n; i++)
		if (is_same(file, s->others[i]))
			return;
	if (n < SOURCE_ASK_OTHERS)
		s->others[n] = file;
	s->other_count++;
}

/* The file of the most expensive line. */
static void choose_by_lines(struct side *d, const struct flat_row *rows, size_t count)
{
	for (size_t i = 0; i < count && !d->file.n; i++)
		if (d->of[rows[i].frame] && d->lines->frames[rows[i].frame].line)
			d->file = profile_file(d->lines, rows[i].frame);
}

static int compare_frames(const void *a, const void *b, void *profile)
{
	return profile_compare_frames(profile, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Returns its own frames with a file, in an order independent of the store. The caller frees. */
static uint32_t *own_frames(const struct profile *p, const bool *of, size_t *ret_count)
{
	uint32_t *list = xcalloc((size_t)p->frame_count + 1, sizeof(*list));
	size_t n = 0;

	for (uint32_t f = 0; f < p->frame_count; f++)
		if (of[f] && profile_file(p, f).n)
			list[n++] = f;
	qsort_r(list, n, sizeof(*list), compare_frames, (void *)p);
	*ret_count = n;
	return list;
}

static void choose_by_definition(struct side *d, const bool *of)
{
	size_t count;
	_cleanup_(freep) uint32_t *own = own_frames(d->subject, of, &count);

	if (count)
		d->file = profile_file(d->subject, own[0]);
}

/* The first definition of a name that is defined several times in one file. */
static uint32_t start_in(const struct profile *p, const bool *of, struct str file)
{
	uint32_t start = 0;

	for (uint32_t f = 0; f < p->frame_count; f++) {
		uint32_t line = p->frames[f].line;

		if (of[f] && line && is_same(profile_file(p, f), file) && (!start || line < start))
			start = line;
	}
	return start;
}

static void side_init(struct side *d, const struct profile_query *a, const struct profile *subject, const char *column)
{
	const struct view *v = &a->view;
	_cleanup_(freep) struct flat_row *rows = NULL;
	_cleanup_(freep) bool *of = NULL;
	size_t count = 0;

	*d = (struct side){ .subject = subject, .column = UINT32_MAX };
	if (!subject)
		return;
	d->column = profile_find_column(subject, column);
	of = find_frames(a, subject);
	if (report_has_lines(subject) && d->column != UINT32_MAX) {
		d->lines = report_lines(subject, is_of_functions(v));
		d->of = find_frames(a, d->lines);
		rows = report_flat(d->lines, d->column, REPORT_SORT_TOTAL, &count);
		choose_by_lines(d, rows, count);
	}
	choose_by_definition(d, of);
	if (v->by == REPORT_BY_FUNCTION || v->by == REPORT_BY_OWN)
		d->start = start_in(subject, of, d->file);
}

/* --- The cost of its lines --- */

static struct annotate_lines lines_of(const struct side *d)
{
	_cleanup_(freep) bool *in_file = NULL;
	struct annotate_lines lines = { 0 };

	if (!d->lines)
		return lines;
	in_file = report_no_frames(d->lines);
	for (uint32_t f = 0; f < d->lines->frame_count; f++)
		in_file[f] = d->of[f] && is_same(profile_file(d->lines, f), d->file);
	annotate_lines_of(d->lines, d->column, in_file, &lines);
	return lines;
}

/* Maps a line to the later side. Lines do not move before line 1. */
static uint32_t moved(uint32_t line, int64_t by)
{
	int64_t to = (int64_t)line + by;

	return to < 1 ? 1 : to > UINT32_MAX ? UINT32_MAX : (uint32_t)to;
}

static void add_line(struct source_query *s, uint32_t number, const struct annotate_line *before,
		     const struct annotate_line *after)
{
	size_t i = s->lines.count;

	if (!i || s->lines.list[i - 1].line != number)
		s->lines.list[s->lines.count++].line = number;
	else
		i--;
	if (after) {
		saturating_add(&s->lines.list[i].self, after->self);
		saturating_add(&s->lines.list[i].total, after->total);
	}
	if (before) {
		saturating_add(&s->values[2 * i], profile_scaled(&s->query->diff.scaling, before->self));
		saturating_add(&s->values[2 * i + 1], profile_scaled(&s->query->diff.scaling, before->total));
	}
}

static void join_lines(struct source_query *s, const struct annotate_lines *before, const struct annotate_lines *after, int64_t by)
{
	size_t b = 0, a = 0;

	s->lines.list = xcalloc(before->count + after->count + 1, sizeof(*s->lines.list));
	s->values = xcalloc(2 * (before->count + after->count) + 1, sizeof(*s->values));
	while (b < before->count || a < after->count) {
		uint32_t then = b < before->count ? moved(before->list[b].line, by) : UINT32_MAX;

		if (b == before->count || (a < after->count && after->list[a].line <= then)) {
			add_line(s, after->list[a].line, NULL, &after->list[a]);
			a++;
		} else {
			add_line(s, then, &before->list[b], NULL);
			b++;
		}
	}
}

static int64_t most_self(const struct source_query *s)
{
	int64_t most = 0;

	for (size_t i = 0; i < s->lines.count; i++) {
		int64_t before = s->sides > 1 ? s->values[2 * i] : 0, after = s->lines.list[i].self;

		most = before > most ? before : most;
		most = after > most ? after : most;
	}
	return most;
}

static void take_values(struct source_query *s, const struct side *before, const struct side *after)
{
	struct annotate_lines b = before ? lines_of(before) : (struct annotate_lines){ 0 }, a = lines_of(after);
	int64_t by = before && before->start && after->start ? (int64_t)after->start - before->start : 0, most;
	size_t last = s->sides - 1;

	join_lines(s, &b, &a, by);
	if (before) {
		s->self[0] = profile_scaled(&s->query->diff.scaling, b.self);
		s->total[0] = profile_scaled(&s->query->diff.scaling, b.total);
		s->whole[0] = report_whole(s->query->profile, s->query->before);
	}
	s->self[last] = a.self;
	s->total[last] = a.total;
	s->whole[last] = s->query->whole;
	annotate_lines_done(&b);
	annotate_lines_done(&a);
	most = most_self(s);
	s->hot_from = most / 2 + most % 2;
}

/* --- Warnings --- */

static uint32_t lines_in(struct str text)
{
	uint32_t lines = text.n && text.p[text.n - 1] != '\n';

	for (const char *at = text.p, *end = text.p + text.n; at < end && (at = memchr(at, '\n', (size_t)(end - at))); at++)
		lines++;
	return lines;
}

static void add_sentence(struct source_query *s, const char *sentence)
{
	buf_puts(&s->words, s->words.size ? "; " : "");
	buf_puts(&s->words, sentence);
}

static void check_length(struct source_query *s)
{
	uint32_t have = s->source.text.p ? lines_in(s->source.text) : 0, last = 0;
	char text[240];

	if (s->lines.count)
		last = s->lines.list[s->lines.count - 1].line;
	if (s->start > last)
		last = s->start;
	if (!s->source.text.p || last <= have)
		return;
	s->source.state = SOURCE_CHANGED;
	snprintf(text, sizeof(text), "the source has %u line%s, but the profile refers to line %u: it is another "
				     "version of the file; give a directory with the right one as "
				     "--source-dir PATH=DIR",
		 have, have == 1 ? "" : "s", last);
	add_sentence(s, text);
}

static void check_lines(struct source_query *s, const struct side *before, const struct side *after)
{
	struct str function = { s->query->view.function, strlen(s->query->view.function) };

	if ((after->subject && report_has_lines(after->subject)) || (before && before->subject && report_has_lines(before->subject))) {
		if (!s->lines.count && s->file.n)
			add_sentence(s, "no sample hit any of its lines");
		else if (s->query->view.by == REPORT_BY_LINE && text_ends(function, no_line))
			add_sentence(s, "the lines of its calls are not known; these are the known lines of its file");
		return;
	}
	if (s->query->lines_left_out)
		add_sentence(s, "lines are left out: with them this takes more memory than --query-memory allows; select a shorter range or "
				"fewer labels");
	else if (s->file.n)
		add_sentence(s, "this profile has no executed lines: neither exact traces nor samples with strobe.lines=0 have any");
}

static void check(struct source_query *s, const struct side *before, const struct side *after)
{
	if (s->source.why)
		add_sentence(s, s->source.why);
	check_length(s);
	check_lines(s, before, after);
	if (before && before->file.n && after->file.n && !is_same(before->file, after->file))
		add_sentence(s, "the file had another path before, so its lines may differ");
	s->why = s->words.size ? s->words.data : NULL;
}

/* --- */

static void list_others(struct source_query *s, const struct side *d)
{
	_cleanup_(freep) bool *of = find_frames(s->query, d->subject);
	size_t count;
	_cleanup_(freep) uint32_t *own = own_frames(d->subject, of, &count);

	for (size_t i = 0; i < count; i++)
		note_other(s, profile_file(d->subject, own[i]));
}

static long context_of(const struct source_query *s)
{
	if (s->query->view.all_lines || s->query->view.by == REPORT_BY_FILE)
		return -1;
	return s->lines.count ? SOURCE_ASK_CONTEXT : SOURCE_ASK_DEFINITION;
}

/* For a single line its surroundings are shown, even if none of them was executed. */
static uint32_t line_of_view(const struct view *v)
{
	const char *colon = strrchr(v->function, ':');

	return v->by == REPORT_BY_LINE && colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

void source_query(struct source_query *s, const struct profile_query *a, const struct server_context *context)
{
	const char *column = a->columns[a->chosen].name;
	struct side before = { 0 }, after = { 0 };
	const struct side *shown = &after;
	int64_t start_ns = 0;

	*s = (struct source_query){ .query = a, .sides = a->is_diff ? 2 : 1 };
	buf_init(&s->words);
	side_init(&before, a, a->subject_before, column);
	side_init(&after, a, a->subject, column);
	if (!after.file.n && before.file.n)
		shown = &before;
	s->of_lines[0] = before.lines;
	s->of_lines[1] = after.lines;
	s->file = shown->file;
	s->start = a->view.by == REPORT_BY_LINE ? line_of_view(&a->view) : shown->start;
	if (shown->subject)
		start_ns = shown->subject->start_ns;
	take_values(s, a->is_diff ? &before : NULL, &after);
	if (after.subject)
		list_others(s, &after);
	source_text_below(&s->source, s->file, context->options.source_dirs, context->options.source_dir_count, start_ns);
	check(s, a->is_diff ? &before : NULL, &after);
	s->walk = annotate_walk_of(&s->lines, s->source.text, context_of(s), s->start);
	free(before.of);
	free(after.of);
}

void source_query_done(struct source_query *s)
{
	if (!s->query)
		return;
	annotate_lines_done(&s->lines);
	free(s->values);
	for (size_t i = 0; i < SOURCE_SIDES; i++)
		profile_free(s->of_lines[i]);
	source_text_done(&s->source);
	buf_done(&s->words);
}

bool source_query_next(struct source_query *s, struct source_line *ret)
{
	struct annotate_shown l;
	size_t last = s->sides - 1;

	if (s->shown == SOURCE_ASK_ROWS || !annotate_next(&s->walk, &l))
		return false;
	s->shown++;
	*ret = (struct source_line){ .number = l.number, .after_gap = l.after_gap, .text = l.text };
	if (!l.took)
		return true;
	if (s->sides > 1) {
		ret->self[0] = s->values[2 * (l.took - s->lines.list)];
		ret->total[0] = s->values[2 * (l.took - s->lines.list) + 1];
	}
	ret->self[last] = l.took->self;
	ret->total[last] = l.took->total;
	for (size_t i = 0; i < s->sides; i++)
		ret->hot |= ret->self[i] > 0 && ret->self[i] >= s->hot_from;
	return true;
}

void source_query_text(struct buf *out, struct str text)
{
	struct str rest = { text.p, text_cut(text, SOURCE_ASK_WIDTH) };
	bool is_cut = rest.n < text.n;

	while (rest.n) {
		const char *tab = memchr(rest.p, '\t', rest.n);
		size_t n = tab ? (size_t)(tab - rest.p) : rest.n;

		text_put_plain(out, (struct str){ rest.p, n });
		if (tab)
			buf_putc(out, '\t');
		rest.p += n + (tab != NULL);
		rest.n -= n + (tab != NULL);
	}
	if (is_cut)
		buf_puts(out, "…");
}
