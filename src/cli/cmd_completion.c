/* cmd_completion.c: `strobe completion SHELL`; the build installs the output. */

#include "commands.h"

#include "completion.h"
#include "mem.h"

#include <string.h>

static const struct option_spec options[] = { { 0 } };

static const struct command_spec spec = {
	.name = "completion",
	.usage = "bash|zsh|fish",
	.summary = "print the completion script of a shell",
	.description =
		"Prints a script that completes commands, options, their values and files. `make install` "
		"installs it for all three shells; this command is for a standalone binary.",
	.examples =
		"source <(strobe completion bash)\n"
		"strobe completion zsh >~/.zsh/functions/_strobe\n"
		"strobe completion fish >~/.config/fish/completions/strobe.fish\n",
	.options = options,
};

static int put_script(const char *shell, struct buf *out, struct err *err)
{
	_cleanup_(freep) const struct command_spec **specs = xcalloc(command_count, sizeof(*specs));

	for (size_t i = 0; i < command_count; i++)
		specs[i] = commands[i]->spec;
	return completion_script(shell, specs, command_count, out, err);
}

static int run(int argc, char **argv)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if (!operands)
		return command_usage(&spec, "missing shell; use bash, zsh or fish");
	if (operands > 1)
		return command_usage(&spec, "unexpected argument '%s'", argv[2]);
	buf_init(&out);
	if (put_script(argv[1], &out, &err) < 0)
		return command_usage(&spec, "%s", err.text);
	return fwrite(out.data, 1, out.size, stdout) == out.size && fflush(stdout) == 0 ? EXIT_OK : EXIT_ERROR;
}

const struct command command_completion = { &spec, run };
