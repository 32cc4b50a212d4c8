/* main.c: the command table. */

#include "commands.h"

#include "arena.h"
#include "secrets.h"

#include <string.h>

/* Commands that newcomers need come first. */
const struct command *const commands[] = {
	&command_run,
	&command_record,
	&command_top,
	&command_dump,
	&command_files,
	&command_serve,
	&command_collect,
	&command_status,
	&command_doctor,
	&command_import,
	&command_flamegraph,
	&command_report,
	&command_annotate,
	&command_callgraph,
	&command_diff,
	&command_collapse,
	&command_convert,
	&command_export,
	&command_grep,
	&command_completion,
};
const size_t command_count = ARRAY_SIZE(commands);

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->spec->name, name))
			return commands[i];
	return NULL;
}

static int flush(struct buf *b)
{
	bool written = fwrite(b->data, 1, b->size, stdout) == b->size && fflush(stdout) == 0;

	buf_done(b);
	return written ? EXIT_OK : EXIT_ERROR;
}

static int help(void)
{
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "Strobe shows where PHP spends its time, in production and on a laptop.\n\n"
		     "Usage: strobe COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		buf_printf(&b, "  %-12s %s\n", commands[i]->spec->name, commands[i]->spec->summary);
	buf_puts(&b, "\n"
		     "`strobe COMMAND --help` explains one command, `strobe --version` prints the\n"
		     "version. Start with one of these:\n\n"
		     "  strobe run -- php script.php      profile one PHP command, no setup\n"
		     "  strobe serve                      collect, store and show, on this machine\n");
	return flush(&b);
}

/* strobe(1) lists the commands. Pages of single commands are generated from their options. */
static void overview_page(struct buf *b)
{
	buf_puts(b, ".TH STROBE 1 \"\" \"Strobe " STROBE_VERSION "\" \"Strobe manual\"\n"
		    ".SH NAME\nstrobe \\- continuous profiler for PHP\n"
		    ".SH SYNOPSIS\n.B strobe\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
		    ".SH DESCRIPTION\n"
		    "Samples PHP inside its processes, keeps the samples, and shows them as flame graphs and tables.\n"
		    ".SH COMMANDS\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		buf_printf(b, ".TP\n\\fBstrobe\\-%s\\fR(1)\n%s%s\n", commands[i]->spec->name, commands[i]->spec->summary,
			   strstr(commands[i]->spec->summary, "...") ? "" : ".");
	buf_puts(b, ".SH ENVIRONMENT\n"
		    ".TP\n.B STROBE_SOCKET\nThe socket between PHP and the daemon, instead of "
		    "/run/strobe/strobe.sock (root) or $XDG_RUNTIME_DIR/strobe/strobe.sock.\n"
		    ".TP\n.B STROBE_TOKEN\nThe token of the daemon, for commands that ask it, and for the daemon itself.\n"
		    ".TP\n.B STROBE_CONFIG\nThe configuration file of the daemon, instead of \\-\\-config.\n"
		    ".TP\n.B XDG_STATE_HOME\nThe directory above the default store, instead of ~/.local/state.\n"
		    ".TP\n.B NO_COLOR\nNo colors if it is set and not empty.\n"
		    ".PP\nEach option of strobe\\-serve(1) and strobe\\-collect(1) has a variable too, such as STROBE_LISTEN for "
		    "\\-\\-listen.\n"
		    ".SH EXIT STATUS\n"
		    "0 success, 1 invalid command line, 2 failure (see the message), 3 difference above the limit, "
		    "4 no samples. strobe\\-run(1) passes on the status of its command.\n");
}

static int unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 2];
	const char *nearest;
	size_t n = 0;

	for (; n < ARRAY_SIZE(commands); n++)
		names[n] = commands[n]->spec->name;
	names[n++] = "help";
	names[n] = NULL;

	nearest = options_nearest(name, names);
	if (nearest)
		fprintf(stderr, "strobe: unknown command '%s'; did you mean '%s'?\n", name, nearest);
	else
		fprintf(stderr, "strobe: unknown command '%s'; `strobe --help` lists the commands.\n", name);
	return EXIT_USAGE;
}

/* Runs `strobe help [COMMAND]`, and the hidden `strobe man [COMMAND]` that the build uses to create man pages. */
static int explain(const char *name, void (*page)(const struct command_spec *, struct buf *),
		   void (*overview)(struct buf *))
{
	const struct command *c = NULL;
	struct buf b;

	if (!name && !overview)
		return help();
	if (name && !strcmp(name, "help"))
		return help();
	if (name && !(c = find(name)))
		return unknown(name);

	buf_init(&b);
	if (c)
		page(c->spec, &b);
	else
		overview(&b);
	return flush(&b);
}

/* Other users can see a command line (ps), so commands get a copy, and passwords in the original are erased. */
static char **private_words(struct arena *words, int argc, char **argv)
{
	char **copy = arena_alloc(words, ((size_t)argc + 1) * sizeof(*copy));

	copy[argc] = NULL;
	for (int i = 0; i < argc; i++) {
		copy[i] = arena_copy(words, argv[i], strlen(argv[i]));
		secrets_redact(argv[i], strlen(argv[i]) + 1);
	}
	return copy;
}

int main(int argc, char **given)
{
	static struct arena words;	/* kept until exit: options are reordered and point into it */
	char **argv;
	const struct command *c;
	const char *first;

	arena_init(&words);
	argv = private_words(&words, argc, given);
	if (argc < 2)
		return help();
	first = argv[1];

	if (!strcmp(first, "--help") || !strcmp(first, "-h"))
		return help();
	if (!strcmp(first, "help") && argc > 3) {
		fprintf(stderr, "strobe help: unexpected argument '%s'\n", given[3]);
		return EXIT_USAGE;
	}
	if (!strcmp(first, "help"))
		return explain(argc > 2 ? argv[2] : NULL, options_help, NULL);
	if (!strcmp(first, "man"))
		return explain(argc > 2 ? argv[2] : NULL, options_man, overview_page);
	if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
		puts("strobe " STROBE_VERSION);
		return fflush(stdout) ? EXIT_ERROR : EXIT_OK;
	}
	if (*first == '-') {
		fprintf(stderr, "strobe: options come after the command; '%s' is not known here. See `strobe "
			"--help`.\n", given[1]);
		return EXIT_USAGE;
	}

	c = find(first);
	return c ? c->run(argc - 1, argv + 1) : unknown(given[1]);
}
