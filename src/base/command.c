/* command.c: what every command does the same way: --help, wrong options, errors. */

#include "command.h"

#include <stdarg.h>
#include <string.h>

int command_options(const struct command_spec *spec, int argc, char **argv, bool stop_at_operand, int *ret_operands)
{
	struct err err = { 0 };
	struct buf help;
	int r;

	r = options_parse(spec, argc, argv, stop_at_operand, ret_operands, &err);
	if (r < 0)
		return command_usage(spec, "%s", err.text);
	if (r == 0)
		return -1;

	buf_init(&help);
	options_help(spec, &help);
	fwrite(help.data, 1, help.size, stdout);
	buf_done(&help);
	return fflush(stdout) ? EXIT_CANNOT : EXIT_FINE;
}

int command_cannot(const struct command_spec *spec, const struct err *err)
{
	fprintf(stderr, "strobe %s: %s\n", spec->name, err->text);
	return EXIT_CANNOT;
}

int command_usage(const struct command_spec *spec, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "strobe %s: ", spec->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nSee `strobe %s --help`.\n", spec->name);
	return EXIT_USAGE;
}

int command_choice(const struct command_spec *spec, const char *option, const char *value, const char *const *names,
		   unsigned *ret)
{
	const char *nearest;

	for (*ret = 0; value && names[*ret]; ++*ret)
		if (!strcmp(names[*ret], value))
			return 0;
	*ret = 0;
	if (!value)
		return 0;
	nearest = options_nearest(value, names);
	if (nearest)
		return command_usage(spec, "there is no --%s '%s'; did you mean '%s'?", option, value, nearest);
	return command_usage(spec, "there is no --%s '%s'", option, value);
}
