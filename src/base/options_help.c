/* options_help.c: prints the table of options as --help text and as a man page. */
#include "options.h"
#include "clock.h"
#include "mem.h"
#include "text.h"
#include <assert.h>
#include <string.h>

#define WIDTH		80
#define INDENT		2
#define NO_BREAK	'~'	/* does not occur in usages */
#define HELP_COLUMN	28	/* minimum */

static bool is_end(const struct option_spec *o)
{
	return o->kind == 0 && !o->name && !o->letter && !o->help;
}

static void put_spaces(struct buf *out, size_t n)
{
	while (n--)
		buf_putc(out, ' ');
}

/* Breaks `text` at spaces so that no line is wider than WIDTH; the first begins at `column`, others at `indent`. A
 * newline ends a line; empty lines are kept. A word that is too wide gets its own line. */
static void put_wrapped(struct buf *out, const char *text, size_t column, size_t indent)
{
	bool fresh = true;	/* only the indent has been written on this line */

	while (*text) {
		size_t n = strcspn(text, " \n"), width = text_columns((struct str){ text, n });

		if (n) {
			if (!fresh && column + 1 + width > WIDTH) {
				buf_putc(out, '\n');
				put_spaces(out, indent);
				column = indent;
			} else if (!fresh) {
				buf_putc(out, ' ');
				column++;
			}
			buf_put(out, text, n);
			column += width;
			fresh = false;
		}
		text += n;
		if (*text == '\n') {
			buf_putc(out, '\n');
			if (text[1] && text[1] != '\n')
				put_spaces(out, indent);
			column = indent;
			fresh = true;
		}
		text += *text != 0;
	}
	buf_putc(out, '\n');
}

/* Tells whether the options take durations, or the description mentions them for URLs. */
static bool has_durations(const struct command_spec *c)
{
	bool has = c->description && strstr(c->description, "DURATION");

	for (const struct option_spec *o = c->options; !is_end(o); o++)
		has |= o->help && o->value && !strcmp(o->value, "DURATION");
	return has;
}

static void put_description(struct buf *out, const struct command_spec *c)
{
	buf_init(out);
	buf_puts(out, c->description ? c->description : c->summary);
	if (c->more)
		c->more(out);
	while (out->size && out->data[out->size - 1] == '\n')
		out->data[--out->size] = 0;
	if (has_durations(c))
		buf_puts(out, "\n\nDURATION is " CLOCK_DURATION_FORMS ".");
}

/* Puts "-o, --output FILE". */
static void put_forms(struct buf *out, const struct option_spec *o)
{
	if (o->letter)
		buf_printf(out, "-%c", o->letter);
	else
		buf_puts(out, "    ");
	if (o->name)
		buf_printf(out, "%s--%s", o->letter ? ", " : "", o->name);
	if (o->value)
		buf_printf(out, " %s", o->value);
}

static size_t forms_width(const struct option_spec *o)
{
	_cleanup_(buf_done) struct buf forms = { 0 };

	buf_init(&forms);
	put_forms(&forms, o);
	return text_columns((struct str){ forms.data, forms.size });
}

/* All texts of a command begin in the same column, after its longest option. */
static size_t help_column(const struct command_spec *c)
{
	size_t column = HELP_COLUMN;

	for (const struct option_spec *o = c->options; !is_end(o); o++) {
		size_t end = o->kind != OPTION_HEADING && o->help ? INDENT + forms_width(o) + 2 : 0;

		column = end > column ? end : column;
	}
	return column;
}

static void put_option(struct buf *out, const struct option_spec *o, size_t column)
{
	size_t end = INDENT + forms_width(o);

	assert(end + 2 <= column);
	put_spaces(out, INDENT);
	put_forms(out, o);
	put_spaces(out, column - end);
	put_wrapped(out, o->help, column, column);
}

static const struct option_spec help_option = { OPTION_FLAG, 'h', "help", NULL, NULL, "Show this help and exit." };

/* Puts the first line of --help. "[--by GROUP]" is not broken. */
static void put_usage(struct buf *out, const struct command_spec *c)
{
	_cleanup_(freep) char *usage = xstrdup(c->usage ? c->usage : "");
	size_t column, begin = out->size;
	unsigned depth = 0;

	for (char *p = usage; *p; p++) {
		depth += *p == '[';
		depth -= *p == ']';
		if (*p == ' ' && depth)
			*p = NO_BREAK;
	}

	buf_printf(out, "Usage: strobe %s", c->name);
	column = out->size < 24 ? out->size + 1 : 8;
	if (c->usage && *c->usage) {
		buf_putc(out, ' ');
		put_wrapped(out, usage, column, column);
	} else {
		buf_putc(out, '\n');
	}
	for (size_t i = begin; i < out->size; i++)
		if (out->data[i] == NO_BREAK)
			out->data[i] = ' ';
}

static void put_indented(struct buf *out, const char *lines)
{
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		put_spaces(out, n ? INDENT : 0);
		buf_put(out, lines, n);
		buf_putc(out, '\n');
		lines += n + (lines[n] != 0);
	}
}

/* --help comes last before the first heading, or at the end of the table if it begins with one. `o` is the next entry. */
static bool is_place_for_help(const struct command_spec *c, const struct option_spec *o, bool *shown, unsigned options_before)
{
	bool has_headings_only = c->options->kind == OPTION_HEADING;

	if (*shown || !(is_end(o) || (o->kind == OPTION_HEADING && options_before && !has_headings_only)))
		return false;
	*shown = true;
	return true;
}

static bool has_details(const struct command_spec *c)
{
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (o->detail)
			return true;
	return false;
}

void options_help(const struct command_spec *c, struct buf *out)
{
	_cleanup_(buf_done) struct buf description = { 0 };
	size_t column = help_column(c);
	bool help_shown = false;
	unsigned options = 0;
	struct buf text;

	buf_init(&text);
	put_usage(&text, c);
	buf_putc(&text, '\n');
	put_description(&description, c);
	put_wrapped(&text, description.data, 0, 0);
	if (c->options->kind != OPTION_HEADING)
		buf_puts(&text, "\nOptions:\n");
	for (const struct option_spec *o = c->options;; o++) {
		if (is_place_for_help(c, o, &help_shown, options))
			put_option(&text, &help_option, column);
		if (is_end(o))
			break;
		if (o->kind == OPTION_HEADING) {
			buf_printf(&text, "\n%s:\n", o->help);
		} else if (o->help) {
			put_option(&text, o, column);
			options++;
		}
	}
	if (c->examples) {
		buf_puts(&text, "\nExamples:\n");
		put_indented(&text, c->examples);
	}
	if (has_details(c))
		buf_printf(&text, "\n`man strobe-%s` has more about the options.\n", c->name);
	buf_put(out, text.data, text.size);
	buf_done(&text);
}

/* --- The man page --- */

/* Escapes backslashes and hyphens for roff, and a dot or an apostrophe at the start of a line. */
static void put_roff(struct buf *out, const char *text)
{
	bool start = out->size == 0 || out->data[out->size - 1] == '\n';

	for (; *text; text++) {
		if (start && (*text == '.' || *text == '\''))
			buf_puts(out, "\\&");
		if (*text == '\\')
			buf_puts(out, "\\e");
		else if (*text == '-')
			buf_puts(out, "\\-");
		else
			buf_putc(out, *text);
		start = *text == '\n';
	}
}

/* Paragraphs are separated by empty lines. */
static void put_roff_paragraphs(struct buf *out, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		struct buf part;

		buf_init(&part);
		buf_put(&part, text, end ? (size_t)(end - text) : strlen(text));
		put_roff(out, part.data);
		buf_done(&part);
		if (!end)
			break;
		buf_puts(out, "\n.PP\n");
		text = end + strspn(end, "\n");
	}
	buf_putc(out, '\n');
}

static void put_roff_option(struct buf *out, const struct option_spec *o)
{
	buf_puts(out, ".TP\n");
	if (o->letter)
		buf_printf(out, "\\fB\\-%c\\fR", o->letter);
	if (o->name) {
		buf_puts(out, o->letter ? ", \\fB\\-\\-" : "\\fB\\-\\-");
		put_roff(out, o->name);
		buf_puts(out, "\\fR");
	}
	if (o->value) {
		buf_puts(out, " \\fI");
		put_roff(out, o->value);
		buf_puts(out, "\\fR");
	}
	buf_putc(out, '\n');
	put_roff(out, o->help);
	if (o->detail) {
		buf_putc(out, ' ');
		put_roff(out, o->detail);
	}
	buf_putc(out, '\n');
}

void options_man(const struct command_spec *c, struct buf *out)
{
	_cleanup_(buf_done) struct buf description = { 0 };
	bool help_shown = false;
	unsigned options = 0;
	struct buf title;

	buf_init(&title);
	for (const char *p = c->name; *p; p++)
		buf_putc(&title, *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
	buf_printf(out, ".TH \"STROBE\\-%s\" 1 \"\" \"Strobe %s\" \"Strobe manual\"\n.SH NAME\nstrobe\\-", title.data,
		   STROBE_VERSION);
	buf_done(&title);
	put_roff(out, c->name);
	buf_puts(out, " \\- ");
	put_roff(out, c->summary);
	buf_puts(out, "\n.SH SYNOPSIS\n\\fBstrobe ");
	put_roff(out, c->name);
	buf_puts(out, "\\fR ");
	put_roff(out, c->usage ? c->usage : "");
	buf_puts(out, "\n.SH DESCRIPTION\n");
	put_description(&description, c);
	put_roff_paragraphs(out, description.data);
	buf_puts(out, ".SH OPTIONS\n");
	for (const struct option_spec *o = c->options;; o++) {
		if (is_place_for_help(c, o, &help_shown, options))
			put_roff_option(out, &help_option);
		if (is_end(o))
			break;
		if (o->kind == OPTION_HEADING) {
			buf_puts(out, ".SS ");
			put_roff(out, o->help);
			buf_putc(out, '\n');
		} else if (o->help) {
			put_roff_option(out, o);
			options++;
		}
	}
	if (c->examples) {
		buf_puts(out, ".SH EXAMPLES\n.nf\n");
		put_roff(out, c->examples);
		buf_puts(out, c->examples[strlen(c->examples) - 1] == '\n' ? ".fi\n" : "\n.fi\n");
	}
}
