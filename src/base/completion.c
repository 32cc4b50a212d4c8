/* completion.c: writes one script per shell; the type of an option's value is derived from its placeholder in --help. */
#include "completion.h"
#include "cleanup.h"
#include "intern.h"
#include "mem.h"
#include <string.h>

struct commands {
	const struct command_spec *const *specs;
	size_t count;
};

/* --- Facts from the table --- */

static bool is_end(const struct option_spec *o)
{
	return o->kind == 0 && !o->name && !o->letter && !o->help;
}

static bool is_shown(const struct option_spec *o)
{
	return o->kind != OPTION_HEADING && o->help;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; word && *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

static bool takes_directory(const struct option_spec *o)
{
	static const char *const names[] = { "DIR", NULL };

	return is_one_of(o->value, names);
}

static bool takes_file(const struct option_spec *o)
{
	static const char *const names[] = { "FILE", NULL };

	return is_one_of(o->value, names);
}

static bool takes_other(const struct option_spec *o)
{
	return o->value && !takes_file(o) && !takes_directory(o);
}

/* Tells whether "--" is followed by another command line. */
static bool runs_a_command(const struct command_spec *c)
{
	return c->usage && strstr(c->usage, "-- COMMAND");
}

/* Returns the values of `o` that the command lists, separated by blanks; n is 0 if there are none. */
static struct str choices_of(const struct command_spec *c, const struct option_spec *o)
{
	const char *line = c->choices ? c->choices : "";
	size_t n = o->name ? strlen(o->name) : 0;

	for (; n && *line; line += strcspn(line, "\n") + 1)
		if (!strncmp(line, o->name, n) && line[n] == ' ')
			return (struct str){ line + n + 1, strcspn(line + n + 1, "\n") };
	return (struct str){ "", 0 };
}

/* Returns "svgs|compress|index": the start of the usage line, if it is a choice of words; n is 0 otherwise. */
static struct str choice(const struct command_spec *c)
{
	const char *usage = c->usage ? c->usage : "";
	size_t n = strspn(usage, "abcdefghijklmnopqrstuvwxyz|");

	return (struct str){ usage, memchr(usage, '|', n) ? n : 0 };
}

static void put_words(struct buf *b, struct str words)
{
	for (size_t i = 0; i < words.n; i++)
		buf_putc(b, words.p[i] == '|' ? ' ' : words.p[i]);
}

/* Returns the first sentence of a help text, or its first line. */
static struct str brief(const char *help)
{
	size_t n = strcspn(help, "\n");
	const char *stop = memmem(help, n, ". ", 2);

	if (stop)
		n = (size_t)(stop - help);
	while (n && strchr(".:;, ", help[n - 1]))
		n--;
	return (struct str){ help, n };
}

/* Puts text in single quotes, with a backslash before each character in `special`. */
static void put_quoted(struct buf *b, struct str text, const char *special)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\'') {
			buf_puts(b, "'\\''");
			continue;
		}
		if (strchr(special, text.p[i]))
			buf_putc(b, '\\');
		buf_putc(b, text.p[i]);
	}
}

/* --- bash --- */

static void put_forms(struct buf *b, const struct option_spec *o)
{
	if (o->letter)
		buf_printf(b, " -%c", o->letter);
	if (o->name)
		buf_printf(b, " --%s", o->name);
}

static void put_bash_set(struct buf *b, const char *name, const struct command_spec *c, bool (*has)(const struct option_spec *))
{
	buf_printf(b, "\t\t%s='", name);
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (is_shown(o) && has(o))
			put_forms(b, o);
	buf_puts(b, " '\n");
}

static void put_bash_values(struct buf *b, const struct command_spec *c)
{
	if (!c->choices)
		return;
	buf_puts(b, "\t\tcase $before in\n");
	for (const struct option_spec *o = c->options; !is_end(o); o++) {
		struct str words = choices_of(c, o);

		if (!words.n)
			continue;
		buf_puts(b, "\t\t");
		if (o->letter)
			buf_printf(b, "-%c|", o->letter);
		buf_printf(b, "--%s) values='%.*s' ;;\n", o->name, (int)words.n, words.p);
	}
	buf_puts(b, "\t\tesac\n");
}

static void put_bash_command(struct buf *b, const struct command_spec *c)
{
	buf_printf(b, "\t%s)\n\t\toptions='", c->name);
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (is_shown(o))
			put_forms(b, o);
	buf_puts(b, " --help'\n");
	put_bash_set(b, "files", c, takes_file);
	put_bash_set(b, "directories", c, takes_directory);
	put_bash_set(b, "others", c, takes_other);
	if (choice(c).n) {
		buf_puts(b, "\t\toperands='");
		put_words(b, choice(c));
		buf_puts(b, "'\n");
	}
	put_bash_values(b, c);
	if (runs_a_command(c))
		buf_puts(b, "\t\truns=yes\n");
	buf_puts(b, "\t\t;;\n");
}

static void put_names(struct buf *b, const struct commands *all)
{
	for (size_t i = 0; i < all->count; i++)
		buf_printf(b, "%s%s", i ? " " : "", all->specs[i]->name);
}

/* Follows the cases of the commands: completes an operand of the command line after "--", a value, a file or an
 * option. */
static const char bash_end[] =
	"\t*) return ;;\n"
	"\tesac\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\t[ \"${COMP_WORDS[i]}\" != -- ] || break\n"
	"\tdone\n"
	"\tif [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
	"\t\tif [ -n \"$runs\" ] && [ \"$((i + 1))\" = \"$COMP_CWORD\" ]; then\n"
	"\t\t\tmapfile -t COMPREPLY < <(compgen -c -- \"$word\")\n"
	"\t\t\treturn\n"
	"\t\tfi\n"
	"\t\toptions='' before='' operands='' values=''\n"
	"\tfi\n"
	"\tif [ -n \"$values\" ]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\")\n"
	"\telif [[ -n $before && $others == *\" $before \"* ]]; then\n"
	"\t\treturn\n"
	"\telif [[ -n $before && $directories == *\" $before \"* ]]; then\n"
	"\t\tcompopt -o filenames\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -d -- \"$word\")\n"
	"\telif [[ $word == -* && ( -z $before || $files != *\" $before \"* ) ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")\n"
	"\telif [[ -n $operands && $files != *\" $before \"* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$word\")\n"
	"\telse\n"
	"\t\tcompopt -o filenames\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
	"\tfi\n"
	"}\n"
	"complete -F _strobe strobe\n";

static void put_bash(struct buf *b, const struct commands *all)
{
	buf_puts(b, "# bash completion for strobe, made by `strobe completion bash`.\n"
		    "_strobe()\n"
		    "{\n"
		    "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} i\n"
		    "\tlocal options='' files='' directories='' others='' operands='' values='' runs='' commands='");
	put_names(b, all);
	buf_puts(b, "'\n"
		    "\tCOMPREPLY=()\n"
		    "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
		    "\t\tmapfile -t COMPREPLY < <(compgen -W \"$commands help --help --version\" -- \"$word\")\n"
		    "\t\treturn\n"
		    "\tfi\n"
		    "\t# \"--output=FILE\" is three words for bash.\n"
		    "\tif [ \"$word\" = = ]; then\n"
		    "\t\tword=''\n"
		    "\telif [ \"$before\" = = ]; then\n"
		    "\t\tbefore=${COMP_WORDS[COMP_CWORD-2]}\n"
		    "\tfi\n"
		    "\tcase ${COMP_WORDS[1]} in\n"
		    "\thelp) operands=$commands ;;\n");
	for (size_t i = 0; i < all->count; i++)
		put_bash_command(b, all->specs[i]);
	buf_puts(b, bash_end);
}

/* --- zsh --- */

static const char *zsh_action(const struct option_spec *o)
{
	return takes_file(o) ? "_files" : takes_directory(o) ? "_files -/" : " ";
}

/* Puts '(-o --output)'{-o+,--output=}'[Write to FILE]:FILE:_files'; repeatable options begin with * instead. */
static void put_zsh_option(struct buf *b, const struct command_spec *c, const struct option_spec *o)
{
	struct str help = brief(o->help), words = choices_of(c, o);

	buf_puts(b, "\t\t\t");
	if (o->kind == OPTION_LIST)
		buf_puts(b, "'*'");
	else if (o->letter && o->name)
		buf_printf(b, "'(-%c --%s)'", o->letter, o->name);
	if (o->letter && o->name)
		buf_printf(b, "{-%c%s,--%s%s}", o->letter, o->value ? "+" : "", o->name, o->value ? "=" : "");
	else if (o->name)
		buf_printf(b, "--%s%s", o->name, o->value ? "=" : "");
	else
		buf_printf(b, "-%c%s", o->letter, o->value ? "+" : "");
	buf_puts(b, "'[");
	put_quoted(b, help, "[]\\");
	buf_putc(b, ']');
	if (o->value) {
		buf_putc(b, ':');
		put_quoted(b, (struct str){ o->value, strlen(o->value) }, ":\\");
		if (words.n)
			buf_printf(b, ":(%.*s)", (int)words.n, words.p);
		else
			buf_printf(b, ":%s", zsh_action(o));
	}
	buf_puts(b, "' \\\n");
}

static void put_zsh_command(struct buf *b, const struct command_spec *c)
{
	buf_printf(b, "\t\t%s)\n\t\t\t_arguments -s -S : \\\n", c->name);
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (is_shown(o))
			put_zsh_option(b, c, o);
	buf_puts(b, "\t\t\t'(- *)'{-h,--help}'[show help and exit]' \\\n");
	if (choice(c).n) {
		buf_puts(b, "\t\t\t'1:operation:(");
		put_words(b, choice(c));
		buf_puts(b, ")' ;;\n");
	} else if (runs_a_command(c)) {
		buf_puts(b, "\t\t\t'(-)1:command: _command_names -e' '*::arguments: _normal' ;;\n");
	} else {
		buf_puts(b, "\t\t\t'*:file:_files' ;;\n");
	}
}

/* The names must not be called `commands`, which is an array of zsh's own. */
static void put_zsh(struct buf *b, const struct commands *all)
{
	buf_puts(b, "#compdef strobe\n"
		    "# zsh completion for strobe, made by `strobe completion zsh`.\n"
		    "_strobe()\n"
		    "{\n"
		    "\tlocal -a names=(\n");
	for (size_t i = 0; i < all->count; i++) {
		buf_printf(b, "\t\t'%s:", all->specs[i]->name);
		put_quoted(b, brief(all->specs[i]->summary), ":\\");
		buf_puts(b, "'\n");
	}
	buf_puts(b, "\t\t'help:explain a command'\n"
		    "\t)\n"
		    "\tif ((CURRENT == 2)); then\n"
		    "\t\t_describe command names\n"
		    "\t\treturn\n"
		    "\tfi\n"
		    "\tlocal command=$words[2]\n"
		    "\tshift words\n"
		    "\t((CURRENT--))\n"
		    "\tcase $command in\n"
		    "\t\thelp) _describe command names ;;\n");
	for (size_t i = 0; i < all->count; i++)
		put_zsh_command(b, all->specs[i]);
	buf_puts(b, "\tesac\n"
		    "}\n"
		    "if [ \"$funcstack[1]\" = _strobe ]; then\n"
		    "\t_strobe \"$@\"\n"
		    "else\n"
		    "\tcompdef _strobe strobe\n"
		    "fi\n");
}

/* --- fish --- */

static void put_fish_option(struct buf *b, const struct command_spec *c, const struct option_spec *o)
{
	buf_printf(b, "complete -c strobe -n '__fish_seen_subcommand_from %s'", c->name);
	if (o->letter)
		buf_printf(b, " -s %c", o->letter);
	if (o->name)
		buf_printf(b, " -l %s", o->name);
	if (choices_of(c, o).n)
		buf_printf(b, " -x -a '%.*s'", (int)choices_of(c, o).n, choices_of(c, o).p);
	else if (takes_other(o))
		buf_puts(b, " -x");
	else if (takes_directory(o))
		buf_puts(b, " -x -a '(__fish_complete_directories (commandline -ct))'");
	else if (o->value)
		buf_puts(b, " -r -F");
	buf_puts(b, " -d '");
	put_quoted(b, brief(o->help), "\\");
	buf_puts(b, "'\n");
}

static void put_fish_name(struct buf *b, const char *name, const char *summary)
{
	buf_printf(b, "complete -c strobe -n __fish_use_subcommand -f -a %s -d '", name);
	put_quoted(b, brief(summary), "\\");
	buf_puts(b, "'\n");
}

static void put_fish_command(struct buf *b, const struct command_spec *c)
{
	put_fish_name(b, c->name, c->summary);
	for (const struct option_spec *o = c->options; !is_end(o); o++)
		if (is_shown(o))
			put_fish_option(b, c, o);
	buf_printf(b, "complete -c strobe -n '__fish_seen_subcommand_from %s' -s h -l help -d 'show help and exit'\n", c->name);
	if (choice(c).n) {
		buf_printf(b, "complete -c strobe -n '__fish_seen_subcommand_from %s' -f -a '", c->name);
		put_words(b, choice(c));
		buf_puts(b, "'\n");
	}
	if (runs_a_command(c))
		buf_printf(b, "complete -c strobe -n '__fish_seen_subcommand_from %s' -a '(__fish_complete_subcommand --fcs-skip=2)'\n",
			   c->name);
}

static void put_fish(struct buf *b, const struct commands *all)
{
	buf_puts(b, "# fish completion for strobe, made by `strobe completion fish`.\n");
	for (size_t i = 0; i < all->count; i++)
		put_fish_command(b, all->specs[i]);
	put_fish_name(b, "help", "explain a command");
	buf_puts(b, "complete -c strobe -n '__fish_seen_subcommand_from help' -f -a '");
	put_names(b, all);
	buf_puts(b, "'\n");
}

/* Combines the choices in the table with those that the program lists. */
static void expand_choices(const struct command_spec *c, struct command_spec *ret, struct buf *text)
{
	*ret = *c;
	buf_init(text);
	if (!c->more_choices)
		return;
	buf_puts(text, c->choices ? c->choices : "");
	c->more_choices(text);
	ret->choices = text->data;
}

static int put_script(const char *shell, const struct commands *all, struct buf *out, struct err *err)
{
	if (!strcmp(shell, "bash"))
		put_bash(out, all);
	else if (!strcmp(shell, "zsh"))
		put_zsh(out, all);
	else if (!strcmp(shell, "fish"))
		put_fish(out, all);
	else
		return err_set(err, -EINVAL, "unknown shell '%s'; there are scripts for bash, zsh and fish", shell);
	return 0;
}

int completion_script(const char *shell, const struct command_spec *const *commands, size_t count, struct buf *out,
		      struct err *err)
{
	_cleanup_(freep) struct command_spec *expanded = xcalloc(count + 1, sizeof(*expanded));
	_cleanup_(freep) const struct command_spec **specs = xcalloc(count + 1, sizeof(*specs));
	_cleanup_(freep) struct buf *texts = xcalloc(count + 1, sizeof(*texts));
	int r;

	for (size_t i = 0; i < count; i++) {
		expand_choices(commands[i], &expanded[i], &texts[i]);
		specs[i] = &expanded[i];
	}
	r = put_script(shell, &(struct commands){ specs, count }, out, err);
	for (size_t i = 0; i < count; i++)
		buf_done(&texts[i]);
	return r;
}
