/* command.c: code shared by all commands: --help, invalid options, errors. */

#include "command.h"

#include "clock.h"
#include "secrets.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
	return fflush(stdout) ? EXIT_ERROR : EXIT_OK;
}

int command_fail(const struct command_spec *spec, const struct err *err)
{
	fprintf(stderr, "strobe %s: %s\n", spec->name, err->text);
	return EXIT_ERROR;
}

int command_usage(const struct command_spec *spec, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	secrets_redact(text, sizeof(text));
	fprintf(stderr, "strobe %s: %s", spec->name, text);
	fprintf(stderr, "\nSee `strobe %s --help`.\n", spec->name);
	return EXIT_USAGE;
}

int command_invalid(const struct command_spec *spec, const char *option, const char *use, ...)
{
	struct option_given given = options_given(spec, option);
	char text[1024];
	va_list args;

	va_start(args, use);
	vsnprintf(text, sizeof(text), use, args);
	va_end(args);
	return command_usage(spec, "invalid %s '%.200s'; use %s", given.name, given.value ? given.value : "", text);
}

int command_duration(const struct command_spec *spec, const char *option, const char *text, int64_t *ret_ns)
{
	int64_t ns;

	if (!text)
		return 0;
	if (clock_parse_duration(text, &ns, NULL) < 0 || ns <= 0)
		return command_invalid(spec, option, "a duration above 0, such as " CLOCK_DURATIONS);
	*ret_ns = ns;
	return 0;
}

static int invalid_choice(const struct command_spec *spec, const char *option, const char *value, const char *const *names)
{
	struct option_given given = options_given(spec, option);
	const char *nearest = options_nearest(value, names);
	struct buf known;
	int code;

	if (nearest)
		return command_usage(spec, "invalid %s '%s'; did you mean '%s'?", given.name, value, nearest);
	buf_init(&known);
	for (size_t i = 0; names[i]; i++)
		buf_printf(&known, "%s%s", !i ? "" : names[i + 1] ? ", " : " or ", names[i]);
	code = command_usage(spec, "invalid %s '%s'; use %s", given.name, value, known.data);
	buf_done(&known);
	return code;
}

int command_choice(const struct command_spec *spec, const char *option, const char *value, const char *const *names,
		   unsigned *ret)
{
	*ret = 0;
	if (!value)
		return 0;
	for (unsigned i = 0; names[i]; i++)
		if (!strcmp(names[i], value)) {
			*ret = i;
			return 0;
		}
	return invalid_choice(spec, option, value, names);
}

bool command_wants_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(fd) && !(no_color && *no_color);
}

size_t command_terminal_width(int fd)
{
	struct winsize size;

	return isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}
