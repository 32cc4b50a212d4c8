/* top_view.c: maps keys to changes of the view. */

#include "top_view.h"

#include "mem.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const help[] = {
	"q, Ctrl-C     quit",
	"space, p      freeze the table; recording continues. Again: resume",
	"a             the time since the start, or the last seconds",
	"r, z          reset: the time since the start begins now",
	"",
	"s t o O n     sort by self, total, off-CPU, off-CPU total, name",
	"1 2 3 4 5     the same; < and > take the neighboring column",
	"Tab, g        rows by function, class, file, namespace, package,",
	"              entry, pool, container; Shift-Tab, G: backwards",
	"f             by function",
	"d             requests that run now: URI, age, function; Enter: stack",
	"Enter         of an entry, pool, container or pid: its functions;",
	"              Backspace, Esc: of everything again",
	"/             filter rows by a regular expression; Esc: all rows",
	"arrows, j k   select; PgUp PgDn Home End",
	"",
	"w, S          save a picture or profile of the table, by the",
	"              suffix: .svg .html .folded .pb.gz .json .strobe",
	"i             the counters of ticks, samples and losses",
	"?, h, F1      this help; any key ends it",
};

size_t top_view_help(const char *const **ret)
{
	*ret = help;
	return ARRAY_SIZE(help);
}

void top_view_init(struct top_view *v)
{
	*v = (struct top_view){ .has_on_cpu = true, .has_off_cpu = true };
}

void top_view_done(struct top_view *v)
{
	if (v->has_filter)
		regfree(&v->regex);
	v->has_filter = false;
	free(v->scope_value);
	free(v->stack);
	v->scope_value = v->stack = NULL;
}

int top_view_filter(struct top_view *v, const char *text, struct err *err)
{
	regex_t regex;
	char why[100];
	int r = *text ? regcomp(&regex, text, REG_EXTENDED | REG_ICASE) : 0;

	if (r) {
		regerror(r, &regex, why, sizeof(why));
		return err_set(err, -EINVAL, "invalid regular expression '%s': %s", text, why);
	}
	if (v->has_filter)
		regfree(&v->regex);
	v->has_filter = *text;
	if (*text)
		v->regex = regex;
	if (text != v->filter)
		snprintf(v->filter, sizeof(v->filter), "%s", text);
	return 0;
}

static void say(struct top_view *v, const char *text)
{
	snprintf(v->message, sizeof(v->message), "%.290s", text);
}

static size_t row_count(const struct top_view *v)
{
	if (v->requests)
		return v->request_rows ? v->request_rows->count : 0;
	return v->rows ? v->rows->count : 0;
}

void top_view_clamp(struct top_view *v)
{
	size_t count = row_count(v), page = v->page ? v->page : 1;

	if (v->selected >= count)
		v->selected = count ? count - 1 : 0;
	if (v->first > v->selected)
		v->first = v->selected;
	if (v->selected >= v->first + page)
		v->first = v->selected - page + 1;
	if (v->first + page > count)
		v->first = count > page ? count - page : 0;
}

static bool same_text(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

/* Returns the current index of a row of the previous table; SIZE_MAX if the row is gone. */
static size_t place_of(const struct top_rows *rows, const struct top_row *row)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].line == row->line && same_text(rows->rows[i].name, row->name) &&
		    same_text(rows->rows[i].file, row->file))
			return i;
	return SIZE_MAX;
}

void top_view_fill(struct top_view *v, const struct live *l, struct top_rows *rows)
{
	size_t place = SIZE_MAX;

	top_rows_fill(rows, l, v->period, &v->scope, v->by);
	if (v->has_filter)
		top_rows_filter(rows, &v->regex);
	top_rows_sort(rows, v->sort);
	/* The first row was not selected by the user, so the selection stays on the first row. */
	if (!v->requests && v->selected && v->rows && v->selected < v->rows->count)
		place = place_of(rows, &v->rows->rows[v->selected]);
	if (place != SIZE_MAX)
		v->selected = place;
	v->rows = rows;
	top_view_clamp(v);
}

void top_view_take_requests(struct top_view *v, const struct request_rows *before, const struct request_rows *rows)
{
	size_t place = SIZE_MAX;

	for (size_t i = 0; v->selected && v->selected < before->count && i < rows->count; i++)
		if (same_text(rows->rows[i].thread, before->rows[v->selected].thread))
			place = i;
	if (v->requests && place != SIZE_MAX)
		v->selected = place;
	v->request_rows = rows;
	top_view_clamp(v);
}

/* --- sorting, grouping and other choices */

static bool has_sort(const struct top_view *v, enum top_sort sort)
{
	if (sort == TOP_SELF || sort == TOP_TOTAL)
		return v->has_on_cpu;
	return sort == TOP_NAME || v->has_off_cpu;
}

static enum top_action sort_by(struct top_view *v, enum top_sort sort)
{
	if (!has_sort(v, sort)) {
		say(v, sort < TOP_OFF_SELF ? "time on CPU is not recorded; start without --off-cpu" :
		    "waits are not recorded; start without --on-cpu");
		return TOP_REDRAW;
	}
	v->sort = sort;
	return TOP_REFILL;
}

static enum top_action sort_next(struct top_view *v, unsigned step)
{
	do
		v->sort = (enum top_sort)((v->sort + step) % TOP_SORTS);
	while (!has_sort(v, v->sort));
	return TOP_REFILL;
}

static enum top_action group_by(struct top_view *v, enum top_by by)
{
	v->by = by;
	v->requests = false;
	v->selected = v->first = 0;
	return TOP_REFILL;
}

static enum top_action group_next(struct top_view *v, unsigned step)
{
	enum top_by by = (enum top_by)((v->by + step) % TOP_BYS);

	return group_by(v, by == TOP_BY_PID && !v->has_pid ? (enum top_by)((by + step) % TOP_BYS) : by);
}

static enum top_action show_requests(struct top_view *v, bool shown)
{
	v->requests = shown;
	v->selected = v->first = 0;
	return TOP_REFILL;
}

static enum top_action show_stack(struct top_view *v)
{
	struct str stack;

	if (!v->request_rows || v->selected >= v->request_rows->count)
		return TOP_NOTHING;
	stack = v->request_rows->rows[v->selected].stack;
	free(v->stack);
	v->stack = xstrndup(stack.p, stack.n);
	return TOP_REDRAW;
}

static enum top_action go_into(struct top_view *v)
{
	const struct top_row *row;

	if (!top_by_label(v->by) || !v->rows || v->selected >= v->rows->count)
		return TOP_NOTHING;
	row = &v->rows->rows[v->selected];
	free(v->scope_value);
	v->scope_value = xstrndup(row->name.p, row->name.n);
	v->scope = (struct live_scope){ top_by_label(v->by), v->scope_value };
	return group_by(v, TOP_BY_FUNCTION);
}

static enum top_action go_back(struct top_view *v)
{
	struct err err;

	if (v->requests && !*v->filter)
		return show_requests(v, false);
	if (*v->filter) {
		top_view_filter(v, "", &err);
		return TOP_REFILL;
	}
	if (!v->scope.key)
		return TOP_REDRAW;
	v->scope = (struct live_scope){ 0 };
	return TOP_REFILL;
}

static enum top_action move(struct top_view *v, long by)
{
	size_t count = row_count(v);

	if (by < 0)
		v->selected = v->selected > (size_t)-by ? v->selected - (size_t)-by : 0;
	else
		v->selected = count - v->selected > (size_t)by ? v->selected + (size_t)by : count;
	top_view_clamp(v);
	return TOP_REDRAW;
}

/* --- typing */

static enum top_action begin_prompt(struct top_view *v, enum top_prompt prompt, const char *text)
{
	v->prompt = prompt;
	snprintf(v->input, sizeof(v->input), "%s", text);
	return TOP_REDRAW;
}

static enum top_action end_prompt(struct top_view *v)
{
	struct err err = { 0 };

	if (v->prompt == TOP_PROMPT_SAVE) {
		v->prompt = TOP_NO_PROMPT;
		return *v->input ? TOP_SAVE : TOP_REDRAW;
	}
	if (top_view_filter(v, v->input, &err) < 0) {
		say(v, err.text);
		return TOP_REDRAW;
	}
	v->prompt = TOP_NO_PROMPT;
	v->selected = v->first = 0;
	return TOP_REFILL;
}

static void erase(char *text)
{
	size_t n = strlen(text);

	while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
		n--;
	text[n ? n - 1 : 0] = 0;
}

static void type(char *text, uint32_t c)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	text_put_code_point(&b, c);
	if (strlen(text) + b.size <= TOP_INPUT_MAX)
		strcat(text, b.data);
}

static enum top_action prompt_key(struct top_view *v, uint32_t key)
{
	switch (key) {
	case TOP_KEY_ENTER:
		return end_prompt(v);
	case TOP_KEY_ESCAPE:
		v->prompt = TOP_NO_PROMPT;
		return TOP_REDRAW;
	case TOP_KEY_BACKSPACE:
		erase(v->input);
		return TOP_REDRAW;
	case 'u' - '`':			/* Ctrl-U, as in shells */
		*v->input = 0;
		return TOP_REDRAW;
	}
	if (key >= ' ' && key != 127 && text_is_code_point(key))
		type(v->input, key);
	return TOP_REDRAW;
}

/* --- */

static enum top_action motion_key(struct top_view *v, uint32_t key)
{
	long page = v->page > 1 ? (long)v->page - 1 : 1;

	switch (key) {
	case TOP_KEY_UP:
	case 'k':
		return move(v, -1);
	case TOP_KEY_DOWN:
	case 'j':
		return move(v, 1);
	case TOP_KEY_PAGE_UP:
		return move(v, -page);
	case TOP_KEY_PAGE_DOWN:
		return move(v, page);
	case TOP_KEY_HOME:
		return move(v, INT32_MIN);
	case TOP_KEY_END:
		return move(v, INT32_MAX);
	default:
		return TOP_NOTHING;
	}
}

static enum top_action table_key(struct top_view *v, uint32_t key)
{
	switch (key) {
	case 's':
	case '1':
		return sort_by(v, TOP_SELF);
	case 't':
	case '2':
		return sort_by(v, TOP_TOTAL);
	case 'o':
	case '3':
		return sort_by(v, TOP_OFF_SELF);
	case 'O':
	case '4':
		return sort_by(v, TOP_OFF_TOTAL);
	case 'n':
	case '5':
		return sort_by(v, TOP_NAME);
	case '>':
	case TOP_KEY_RIGHT:
		return sort_next(v, 1);
	case '<':
	case TOP_KEY_LEFT:
		return sort_next(v, TOP_SORTS - 1);
	case TOP_KEY_TAB:
	case 'g':
		return group_next(v, 1);
	case TOP_KEY_BACK_TAB:
	case 'G':
		return group_next(v, TOP_BYS - 1);
	case 'd':
		return show_requests(v, !v->requests);
	case 'f':
		return group_by(v, TOP_BY_FUNCTION);
	case TOP_KEY_ENTER:
		return v->requests ? show_stack(v) : go_into(v);
	case TOP_KEY_BACKSPACE:
	case TOP_KEY_ESCAPE:
		return go_back(v);
	default:
		return motion_key(v, key);
	}
}

enum top_action top_view_key(struct top_view *v, uint32_t key, const char *suggested)
{
	*v->message = 0;
	if (key == TOP_KEY_RESIZE)
		return TOP_REDRAW;
	if (v->prompt)
		return prompt_key(v, key);
	if (v->help || v->notes || v->stack) {
		v->help = v->notes = false;
		free(v->stack);
		v->stack = NULL;
		return TOP_REDRAW;
	}
	switch (key) {
	case 'q':
		return TOP_QUIT;
	case ' ':
	case 'p':
		v->paused = !v->paused;
		return TOP_REFILL;
	case 'a':
		v->period = v->period == LIVE_WINDOW ? LIVE_ALL : LIVE_WINDOW;
		return TOP_REFILL;
	case 'r':
	case 'z':
		return TOP_RESET;
	case '/':
		return begin_prompt(v, TOP_PROMPT_FILTER, v->filter);
	case 'w':
	case 'S':
		return begin_prompt(v, TOP_PROMPT_SAVE, suggested);
	case 'i':
		v->notes = true;
		return TOP_REDRAW;
	case '?':
	case 'h':
	case TOP_KEY_HELP:
		v->help = true;
		return TOP_REDRAW;
	case TOP_KEY_NONE:
	case TOP_KEY_OTHER:
		return TOP_NOTHING;
	default:
		return table_key(v, key);
	}
}
