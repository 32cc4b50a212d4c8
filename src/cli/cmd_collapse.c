/* cmd_collapse.c: `strobe collapse`: any known profile as folded stacks, one line each. */

#include "commands.h"

#include "format.h"
#include "inputs.h"
#include "io.h"

static const char *output = "-", *column, *from;
static struct format_options reading;		/* what readers are asked for: one line below for each */

static const struct option_spec options[] = {
	{ OPTION_STRING, 'o', "output", "OUT", &output, "A file to write to; - is standard output, which is the default." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from,
	  "What the input is, if that shall not be seen by its content: folded, strobe, xhprof, ..." },
	{ OPTION_STRING, 0, "column", "NAME", &column,
	  "What is counted: samples, wall_ns, cpu_ns, calls, memory_bytes, ...; unless given, time of a trace and "
	  "samples of a sampling profile. --metric is the same." },
	{ OPTION_STRING, 0, "metric", "NAME", &column, NULL },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "collapse",
	.usage = "[FILE...|-] [-o OUT]",
	.summary = "write profiles as folded stacks, one line each",
	.description =
		"Reads profiles of any known format (.strobe, folded stacks, what xhprof, tideways_xhprof and uprofiler "
		"keep; also compressed by gzip or zstd), adds them up and writes each stack once: frames from the root to the leaf with ; between them, a space, "
		"and the value. Stacks are sorted, so that equal profiles give equal text. Without FILE it reads "
		"what is piped into it, else profile.strobe, which `strobe run` writes.\n\n"
		"The exit code is 4 when nothing was sampled.",
	.examples =
		"strobe collapse profile.strobe | grep -F Parser\n"
		"strobe collapse a.folded b.folded -o both.folded\n",
	.options = options,
};

static int collapse(const struct inputs *in)
{
	_cleanup_(buf_done) struct buf folded = { 0 };
	struct err err = { 0 };
	uint32_t number;
	int code, left_out;

	buf_init(&folded);
	if ((code = inputs_column(in, &spec, column, &number)))
		return code;
	if (!inputs_have_values(in, &spec, number, false))
		return EXIT_NOTHING;
	left_out = format_folded.write(in->profile, number, &folded, &err);
	if (left_out > 0)
		fprintf(stderr, "strobe %s: %s\n", spec.name, err.text);
	if (left_out < 0 || io_write_file(output, folded.data, folded.size, &err) < 0)
		return command_cannot(&spec, &err);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = inputs_from(&spec, from, &reading.format)))
		return code;
	code = inputs_load_as(&in, &spec, &reading, argv + 1, (size_t)operands);
	if (!code)
		code = collapse(&in);
	inputs_done(&in);
	return code;
}

const struct command command_collapse = { &spec, run };
