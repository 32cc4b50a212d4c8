/* options.h: parses the command line of one command according to a table, which also generates --help and the man page.
 *
 * Long options take "--name VALUE" and "--name=VALUE"; a long option may be shortened to a unique prefix, or to a
 * prefix of several names of which it is the shortest ("--wid" is --width even if there is --width-of); short ones
 * may be combined (-ab) and take "-oFILE" and "-o FILE". "--" ends options. --help and -h are added automatically.
 * An unknown option is an error that names the nearest known one. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

enum option_kind {
	OPTION_FLAG,		/* bool */
	OPTION_STRING,		/* const char *, points into argv */
	OPTION_LIST,		/* struct option_list: may be given several times */
	OPTION_INT,		/* long */
	OPTION_DOUBLE,		/* double */
	OPTION_HEADING,		/* only a line in --help */
};

struct option_list {
	const char **items;
	size_t count, capacity;
};

struct option_spec {
	enum option_kind kind;
	char letter;		/* 0 if there is no short form */
	const char *name;	/* without "--"; NULL if there is only a letter */
	const char *value;	/* placeholder of the value in --help, such as "FILE"; NULL for flags */
	void *target;
	const char *help;	/* one sentence on one line of --help; NULL hides the option (accepted, not shown) */
	const char *detail;	/* additional sentences for the man page; NULL: none */
};

struct command_spec {
	const char *name;	/* "flamegraph" */
	const char *usage;	/* "[FILE…] [-o OUT]" */
	const char *summary;	/* one line, no full stop */
	const char *description;	/* paragraphs for --help and the man page; NULL if the summary is enough */
	const char *examples;	/* lines; NULL if there are none */
	const struct option_spec *options;	/* ends with kind 0 and no name, letter or help: {0} */
	bool single_dash;	/* "-name" means "--name", too, like Getopt::Long; "-oFILE" is still -o unless it
				 * begins a name */
	const char *choices;	/* values of options for shell completion, a line per option: "clock wall cpu\n"; NULL if
				 * there are none */
	void (*more_choices)(struct buf *out);	/* adds lines to `choices` from the program's tables; NULL if none */
	void (*more)(struct buf *out);	/* adds to the description from the program's tables; NULL if
					 * none */
};

/* Parses argv[1…]. Operands are moved to the front of argv[1…]; *ret_operands is their number. With
 * `stop_at_operand`, everything from the first operand on is an operand (`strobe run -- php -v`). Returns 0, 1 if
 * --help was requested (the caller prints options_help), or -EINVAL. */
int options_parse(const struct command_spec *c, int argc, char **argv, bool stop_at_operand, int *ret_operands,
		  struct err *err);

/* One use of an option, for errors about its value. */
struct option_given {
	char name[64];		/* as it was typed, but a prefix is completed: "--rows", "-n", or an alias, which has the same target */
	const char *value;	/* points into argv; NULL for flags, and for options that were not given */
};

/* The last time that the option called `name` (without "--") was given in what options_parse read last, or its long name
 * if it was not given. For the name of no option, which then is a parameter of a URL, the name is "name=". */
struct option_given options_given(const struct command_spec *c, const char *name);

void options_help(const struct command_spec *c, struct buf *out);	/* text, at most 80 columns */
void options_man(const struct command_spec *c, struct buf *out);	/* roff for man strobe-NAME(1) */

/* Returns the item of `names` (ends with NULL) with the smallest edit distance to `word`, or NULL if none is close. */
const char *options_nearest(const char *word, const char *const *names);

/* Appends "a, b or c". `names` ends with NULL. */
void options_put_choices(struct buf *out, const char *const *names);

#endif
