/* options.c: parses the command line according to the table; options_help.c prints the same table. */
#include "options.h"
#include "mem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

static bool is_end(const struct option_spec *o)
{
	return o->kind == 0 && !o->name && !o->letter && !o->help;
}

static bool takes_value(const struct option_spec *o)
{
	return o->kind != OPTION_FLAG && o->kind != OPTION_HEADING;
}

static const struct option_spec help_option = { OPTION_FLAG, 'h', "help", NULL, NULL, "" };

/* --- The nearest word --- */

#define NEAREST_MAX 48		/* longer words are not compared */

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the edit distance of two words: letters added, dropped, changed, or swapped with the next. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][NEAREST_MAX + 1];

	for (size_t j = 0; j <= m; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *row = rows[i % 3], *before = rows[(i + 2) % 3], *before2 = rows[(i + 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(least(before[j], row[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before2[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

/* Replaces `best` with `name` if that is nearer to the word. */
static void consider(const char *word, size_t n, const char *name, const char **best, size_t *best_distance)
{
	size_t m = strlen(name), d;

	if (n == 0 || n > NEAREST_MAX || m > NEAREST_MAX)
		return;
	d = distance(word, n, name, m);
	/* The start of a name is likely to be typed, no matter how long the rest is. */
	if (n >= 3 && m > n && !memcmp(word, name, n))
		d = 1;
	/* A third of the letters may be wrong; beyond that it is another word. */
	if (d <= 1 + n / 4 && d < n && d < *best_distance) {
		*best = name;
		*best_distance = d;
	}
}

const char *options_nearest(const char *word, const char *const *names)
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	for (; *names; names++)
		consider(word, strlen(word), *names, &best, &best_distance);
	return best;
}

void options_put_choices(struct buf *out, const char *const *names)
{
	for (size_t i = 0; names[i]; i++)
		buf_printf(out, "%s%s", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
}

static int unknown_long(const struct command_spec *c, const char *name, size_t n, struct err *err)
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (o->name && o->help && o->kind != OPTION_HEADING)
			consider(name, n, o->name, &best, &best_distance);
	consider(name, n, "help", &best, &best_distance);
	if (best)
		return err_set(err, -EINVAL, "unknown option '--%.*s'; did you mean '--%s'?", (int)least(n, 200),
			       name, best);
	return err_set(err, -EINVAL, "unknown option '--%.*s'", (int)least(n, 200), name);
}

/* --- Finding options --- */

static bool begins(const char *word, const char *name)
{
	return !strncmp(word, name, strlen(word));
}

/* Finds an option by its full name, or an unambiguous prefix. Returns NULL with the sentence in `err` if none or
 * several match. */
static const struct option_spec *find_long(const struct command_spec *c, const char *name, size_t n, struct err *err)
{
	const struct option_spec *found = NULL, *other = NULL;

	for (const struct option_spec *o = c->options;; o++) {
		bool last = is_end(o);

		if (last)
			o = &help_option;
		if (o->name && o->kind != OPTION_HEADING && !strncmp(o->name, name, n)) {
			if (!o->name[n])
				return o;
			/* Hidden options must be typed in full. */
			if (o->help && (!found || begins(o->name, found->name)))
				found = o;
			else if (o->help && !other && !begins(found->name, o->name))
				other = o;
		}
		if (last)
			break;
	}
	if (n == 0 || !found) {
		unknown_long(c, name, n, err);
		return NULL;
	}
	if (other && !begins(found->name, other->name)) {
		err_set(err, -EINVAL, "option '--%.*s' is ambiguous: '--%s' or '--%s'", (int)least(n, 200), name,
			found->name, other->name);
		return NULL;
	}
	return found;
}

static const struct option_spec *find_letter(const struct command_spec *c, char letter, struct err *err)
{
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (o->letter == letter && o->kind != OPTION_HEADING)
			return o;
	if (letter == 'h')
		return &help_option;
	err_set(err, -EINVAL, "unknown option '-%c'", letter);
	return NULL;
}

/* --- Storing values --- */

/* The options of the last command line, in its order. */
static struct {
	struct given {
		const struct option_spec *option;
		bool by_letter;
		const char *value;
	} *items;
	size_t count, capacity;
} given;

/* The option as the person typed it, for sentences. */
static const char *shown(const struct option_spec *o, bool by_letter, char out[64])
{
	if (o->name && !by_letter)
		snprintf(out, 64, "--%s", o->name);
	else
		snprintf(out, 64, "-%c", o->letter);
	return out;
}

struct option_given options_given(const struct command_spec *c, const char *name)
{
	struct option_given ret = { 0 };
	const struct option_spec *o = c->options;

	while (!is_end(o) && !(o->name && !strcmp(o->name, name)))
		o++;
	if (is_end(o)) {
		snprintf(ret.name, sizeof(ret.name), "%.60s=", name);
		return ret;
	}
	shown(o, false, ret.name);
	for (size_t i = given.count; i-- > 0;) {
		const struct given *g = &given.items[i];

		if (g->option->target == o->target) {
			shown(g->option, g->by_letter, ret.name);
			ret.value = g->value;
			break;
		}
	}
	return ret;
}

static int store_number(const struct option_spec *o, bool by_letter, const char *value, struct err *err)
{
	char *end = NULL, name[64];
	bool whole = o->kind == OPTION_INT;
	double d = 0;
	long l = 0;

	errno = 0;
	if (whole)
		l = strtol(value, &end, 10);
	else
		d = strtod(value, &end);
	if (end == value || *end || (!whole && !isfinite(d)))
		return err_set(err, -EINVAL, "invalid %s '%s'; use a %s", shown(o, by_letter, name), value,
			       whole ? "whole number" : "number");
	if (errno == ERANGE && whole)
		return err_set(err, -EINVAL, "invalid %s '%s'; use a number nearer to 0", shown(o, by_letter, name), value);
	if (whole)
		*(long *)o->target = l;
	else
		*(double *)o->target = d;
	return 0;
}

static int store(const struct option_spec *o, bool by_letter, const char *value, struct err *err)
{
	struct option_list *list = o->target;

	GROW(&given.items, &given.capacity, given.count + 1);
	given.items[given.count++] = (struct given){ o, by_letter, value };
	switch (o->kind) {
	case OPTION_FLAG:
		*(bool *)o->target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)o->target = value;
		return 0;
	case OPTION_LIST:
		GROW(&list->items, &list->capacity, list->count + 1);
		list->items[list->count++] = value;
		return 0;
	case OPTION_INT:
	case OPTION_DOUBLE:
		return store_number(o, by_letter, value, err);
	case OPTION_HEADING:
		break;
	}
	assert(!"a heading is no option");
	return -EINVAL;
}

/* --- Walking the command line --- */

struct walk {
	const struct command_spec *command;
	int argc, at;		/* argv[at] is the next one to be parsed */
	char **argv;
	bool help;
};

static int missing_value(const struct option_spec *o, bool by_letter, struct err *err)
{
	char name[64];

	return err_set(err, -EINVAL, "option '%s' needs a value: %s", shown(o, by_letter, name), o->value ? o->value : "VALUE");
}

static int take_long(struct walk *w, const char *text, struct err *err)
{
	const char *equals = strchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	const struct option_spec *o = find_long(w->command, text, n, err);

	if (!o)
		return -EINVAL;
	if (o == &help_option)
		w->help = true;
	if (!takes_value(o)) {
		if (equals)
			return err_set(err, -EINVAL, "option '--%s' takes no value", o->name);
		return o == &help_option ? 0 : store(o, false, NULL, err);
	}
	if (equals)
		return store(o, false, equals + 1, err);
	if (w->at == w->argc)
		return missing_value(o, false, err);
	return store(o, false, w->argv[w->at++], err);
}

/* Parses "-abc", "-oFILE" or "-o FILE". */
static int take_letters(struct walk *w, const char *text, struct err *err)
{
	for (; *text; text++) {
		const struct option_spec *o = find_letter(w->command, *text, err);
		int r;

		if (!o)
			return -EINVAL;
		if (o == &help_option) {
			w->help = true;
			continue;
		}
		if (!takes_value(o)) {
			r = store(o, true, NULL, err);
			if (r < 0)
				return r;
			continue;
		}
		if (text[1])
			return store(o, true, text + 1, err);
		if (w->at == w->argc)
			return missing_value(o, true, err);
		return store(o, true, w->argv[w->at++], err);
	}
	return 0;
}

/* "-title=Week", for commands that accept it. */
static bool is_single_dash(const struct command_spec *c, const char *text)
{
	size_t n = strcspn(text, "=");
	struct err err = { 0 };

	return c->single_dash && (!find_letter(c, *text, &err) || (n > 1 && find_long(c, text, n, &err)));
}

static int take_option(struct walk *w, const char *text, struct err *err)
{
	if (text[0] == '-')
		return take_long(w, text + 1, err);
	return is_single_dash(w->command, text) ? take_long(w, text, err) : take_letters(w, text, err);
}

int options_parse(const struct command_spec *c, int argc, char **argv, bool stop_at_operand, int *ret_operands,
		  struct err *err)
{
	struct walk w = { .command = c, .argc = argc, .at = 1, .argv = argv };
	int operands = 0, r = 0;

	given.count = 0;
	while (w.at < argc && !w.help) {
		char *word = argv[w.at++];

		if (!strcmp(word, "--"))
			break;
		/* A lone "-" is standard input, not an option. */
		if (word[0] != '-' || !word[1]) {
			if (stop_at_operand) {
				w.at--;
				break;
			}
			argv[1 + operands++] = word;
			continue;
		}
		r = take_option(&w, word + 1, err);
		if (r < 0)
			return r;
	}
	if (w.help)
		return 1;
	while (w.at < argc)
		argv[1 + operands++] = argv[w.at++];
	if (1 + operands < argc)
		argv[1 + operands] = NULL;
	*ret_operands = operands;
	return 0;
}
