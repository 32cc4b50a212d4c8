/* callgrind_write.c: writes a function per name, file and level of recursion; callgrind.c has the grammar.
 *
 * A recursive function, direct or indirect, is foo, foo'2, foo'3 …, as in callgrind with --separate-recs, so the
 * inclusive cost of foo in calls= lines counts nothing twice. Columns are events, except "calls", which is the count
 * on calls= lines; without that column the count is the number of stacks. Costs are attributed to executed lines
 * where known, else to the first line of the function.
 */
#include "callgrind.h"
#include "callgrind_lines.h"
#include "edges.h"
#include "mem.h"
#include "notes.h"
#include "saturate.h"
#include <string.h>

struct writer {
	const struct profile *profile;
	struct edges *edges;
	struct callgrind_lines *lines;	/* NULL: no lines are known */
	struct buf *out;
	struct notes notes;
	uint32_t columns[PROFILE_COLUMNS], column_count, calls;
	uint32_t *first, *next;		/* lists of pairs by caller; UINT32_MAX: end */
	bool *file_known, *function_known;	/* already written with their names */
	uint32_t file;			/* file of the last fl= line, a string */
	uint64_t ended;			/* number of names with characters that would end the line */
};

/* Replaces characters that would end the line. */
static void put_text(struct writer *w, struct str s, const char *none)
{
	bool changed = false;

	if (!s.n)
		buf_puts(w->out, none);
	for (size_t i = 0; i < s.n; i++) {
		bool is_end = s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == 0;

		if (is_end)
			buf_puts(w->out, "\xef\xbf\xbd");
		else
			buf_putc(w->out, s.p[i]);
		changed |= is_end;
	}
	w->ended += changed;
}

/* Puts "fl=(3) /src/a.php" at first, then "fl=(3)". */
static void put_file(struct writer *w, const char *key, uint32_t file)
{
	buf_printf(w->out, "%s=(%u)", key, file + 1);
	if (!w->file_known[file]) {
		struct str none = { "", 0 };

		buf_putc(w->out, ' ');
		put_text(w, file < w->profile->strings.count ? intern_get(&w->profile->strings, file) : none, "???");
	}
	buf_putc(w->out, '\n');
	w->file_known[file] = true;
}

static void put_function(struct writer *w, const char *key, uint32_t function)
{
	const struct edges_node *f = &w->edges->nodes[function];

	buf_printf(w->out, "%s=(%u)", key, function + 1);
	if (!w->function_known[function]) {
		buf_putc(w->out, ' ');
		if (f->frame == UINT32_MAX)
			buf_puts(w->out, CALLGRIND_ROOT);
		else
			put_text(w, profile_name(w->profile, f->frame), PROFILE_UNKNOWN);
		if (f->level)
			buf_printf(w->out, "'%u", f->level + 1);
	}
	buf_putc(w->out, '\n');
	w->function_known[function] = true;
}

static const struct profile_frame *frame_of(const struct writer *w, uint32_t function)
{
	uint32_t frame = w->edges->nodes[function].frame;

	return frame == UINT32_MAX ? NULL : &w->profile->frames[frame];
}

static uint32_t line_of(const struct writer *w, uint32_t function)
{
	const struct profile_frame *f = frame_of(w, function);

	return f ? f->line : 0;
}

static void put_costs(struct writer *w, uint32_t line, const int64_t *values)
{
	buf_put_u64(w->out, line);
	for (uint32_t c = 0; c < w->column_count; c++) {
		buf_putc(w->out, ' ');
		buf_put_i64(w->out, values[w->columns[c]]);
	}
	buf_putc(w->out, '\n');
}

static void put_call(struct writer *w, const struct edges_pair *p, uint32_t line, uint32_t stacks, const int64_t *values)
{
	const struct profile_frame *callee = frame_of(w, p->callee);
	int64_t calls = w->calls == UINT32_MAX ? stacks : values[w->calls];

	if (callee->file != w->file)
		put_file(w, "cfi", callee->file);
	put_function(w, "cfn", p->callee);
	/* With 0 calls, readers would treat the line as the caller's own. */
	buf_printf(w->out, "calls=%lld %u\n", (long long)(calls > 0 ? calls : 1), callee->line);
	put_costs(w, line ? line : line_of(w, p->caller), values);
}

static void put_calls(struct writer *w, uint32_t pair)
{
	const struct edges_pair *p = &w->edges->pairs[pair];

	if (!w->lines)
		put_call(w, p, 0, p->stacks, p->value);
	for (uint32_t i = w->lines ? w->lines->pairs.first[pair] : UINT32_MAX; i != UINT32_MAX; i = w->lines->pairs.list[i].next) {
		const struct callgrind_cost *c = &w->lines->pairs.list[i];

		put_call(w, p, c->line, c->stacks, c->values);
	}
}

static void put_own(struct writer *w, uint32_t function)
{
	uint32_t i = w->lines ? w->lines->functions.first[function] : UINT32_MAX;

	if (i == UINT32_MAX)
		put_costs(w, line_of(w, function), w->edges->nodes[function].self);
	for (; i != UINT32_MAX; i = w->lines->functions.list[i].next) {
		const struct callgrind_cost *c = &w->lines->functions.list[i];

		put_costs(w, c->line ? c->line : line_of(w, function), c->values);
	}
}

static bool has_own(const struct writer *w, uint32_t function)
{
	for (uint32_t c = 0; c < w->column_count; c++)
		if (w->edges->nodes[function].self[w->columns[c]])
			return true;
	return false;
}

static void put_one(struct writer *w, uint32_t function, uint32_t no_file)
{
	const struct profile_frame *f = frame_of(w, function);
	uint32_t file = f ? f->file : no_file;

	buf_putc(w->out, '\n');
	if (file != w->file)
		put_file(w, "fl", file);
	w->file = file;
	put_function(w, "fn", function);
	if (has_own(w, function) || w->first[function] == UINT32_MAX)
		put_own(w, function);
	for (uint32_t i = w->first[function]; i != UINT32_MAX; i = w->next[i])
		put_calls(w, i);
}

static void put_header(struct writer *w)
{
	const struct profile *p = w->profile;

	buf_puts(w->out, "# callgrind format\nversion: 1\ncreator: strobe-" STROBE_VERSION "\n");
	for (size_t i = 0; i < p->labels.count; i++) {
		if (!strcmp(p->labels.items[i].key, "entry"))
			buf_puts(w->out, "cmd: ");
		else
			buf_printf(w->out, "desc: %s: ", p->labels.items[i].key);
		put_text(w, (struct str){ p->labels.items[i].value, strlen(p->labels.items[i].value) }, "");
		buf_putc(w->out, '\n');
	}
	if (w->calls == UINT32_MAX)
		buf_puts(w->out, "desc: " CALLGRIND_NO_CALLS "\n");
	if (w->lines)
		buf_puts(w->out, "desc: " CALLGRIND_LINES_RAN "\n");
	if (!w->edges->levels)
		buf_puts(w->out, "desc: " CALLGRIND_NO_LEVELS "\n");
	buf_puts(w->out, "positions: line\n");
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Event names must be words; the long name has the unit. */
static void put_event(struct writer *w, const char *name)
{
	for (const char *p = *name ? name : "unnamed"; *p; p++)
		buf_putc(w->out, is_word(*p) ? *p : '_');
}

static void put_events(struct writer *w)
{
	for (uint32_t c = 0; c < w->column_count; c++) {
		const struct profile_column *column = &w->profile->columns[w->columns[c]];

		buf_puts(w->out, "event: ");
		put_event(w, column->name);
		buf_puts(w->out, " : ");
		put_event(w, column->name);
		buf_puts(w->out, " (");
		put_event(w, column->unit);
		buf_puts(w->out, ")\n");
	}
	buf_puts(w->out, "events:");
	for (uint32_t c = 0; c < w->column_count; c++) {
		buf_putc(w->out, ' ');
		put_event(w, w->profile->columns[w->columns[c]].name);
	}
	buf_puts(w->out, "\n");
}

static void put_totals(struct writer *w)
{
	buf_puts(w->out, "\ntotals:");
	for (uint32_t c = 0; c < w->column_count; c++) {
		int64_t sum = 0;

		for (uint32_t f = 0; f < w->edges->node_count; f++)
			saturating_add(&sum, w->edges->nodes[f].self[w->columns[c]]);
		buf_putc(w->out, ' ');
		buf_put_i64(w->out, sum);
	}
	buf_putc(w->out, '\n');
}

/* Backwards, so that callees are in the order of the tree. */
static void link_pairs(struct writer *w)
{
	const struct edges *e = w->edges;

	w->first = xmalloc(e->node_count * sizeof(*w->first));
	w->next = xmalloc(((size_t)e->pair_count + 1) * sizeof(*w->next));
	for (uint32_t f = 0; f < e->node_count; f++)
		w->first[f] = UINT32_MAX;
	for (uint32_t i = e->pair_count; i-- > 0;) {
		w->next[i] = w->first[e->pairs[i].caller];
		w->first[e->pairs[i].caller] = i;
	}
}

static void put_all(struct writer *w, uint32_t no_file)
{
	put_header(w);
	put_events(w);
	link_pairs(w);
	w->file_known = xcalloc(w->profile->strings.count + 1, sizeof(*w->file_known));
	w->function_known = xcalloc(w->edges->node_count, sizeof(*w->function_known));
	w->file = UINT32_MAX;
	for (uint32_t f = 0; f < w->edges->node_count && !w->out->overflow; f++)
		put_one(w, f, no_file);
	put_totals(w);
	if (w->ended)
		notes_add(&w->notes, w->ended, "%llu name%s NUL or newline characters, which were replaced by U+FFFD",
			  (unsigned long long)w->ended, w->ended == 1 ? " contains" : "s contain");
}

static void choose_columns(struct writer *w, uint32_t column)
{
	const struct profile *p = w->profile;

	w->calls = profile_find_column(p, "calls");
	for (uint32_t c = 0; c < p->column_count; c++)
		if (column == UINT32_MAX ? c != w->calls || p->column_count == 1 : c == column) {
			w->columns[w->column_count++] = c;
			(p->edges ? notes_edges_below_zero : notes_below_zero)(&w->notes, p, c);
		}
}

static void take_lines(struct writer *w, struct callgrind_lines *lines, const struct edges_options *o)
{
	callgrind_lines_init(lines, w->profile, w->edges, o->ret_nodes, o->ret_pairs);
	w->lines = lines;
}

int callgrind_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err)
{
	bool has_lines = p->node_lines && !p->edges;
	_cleanup_(freep) uint32_t *nodes = has_lines ? xmalloc(p->node_count * sizeof(*nodes)) : NULL;
	_cleanup_(freep) uint32_t *pairs = has_lines ? xmalloc(p->node_count * sizeof(*pairs)) : NULL;
	const struct edges_options o = { .by = EDGES_BY_NAME_AND_FILE, .above_zero = true, .column = column,
					 .ret_nodes = nodes, .ret_pairs = pairs };
	struct callgrind_lines lines;
	struct writer w = { .profile = p, .out = out };
	uint32_t no_file = intern_find(&p->strings, "", 0);
	int r;

	if (!p->column_count)
		return err_set(err, -ENODATA, "nothing to write: the profile has no values");
	notes_init(&w.notes);
	choose_columns(&w, column);
	w.edges = edges_of(p, &o);
	if (has_lines)
		take_lines(&w, &lines, &o);
	/* The root has no file, and there may be no other function without one. */
	put_all(&w, no_file == UINT32_MAX ? (uint32_t)p->strings.count : no_file);
	r = notes_result(&w.notes, out, "file", err);
	edges_free(w.edges);
	if (w.lines)
		callgrind_lines_done(w.lines);
	free(w.first);
	free(w.next);
	free(w.file_known);
	free(w.function_known);
	notes_done(&w.notes);
	return r;
}
