/* cmd_convert.c: `strobe convert`: converts profiles between formats. */

#include "commands.h"

#include "format.h"
#include "gzip.h"
#include "inputs.h"
#include "io.h"
#include "mem.h"
#include "pprof.h"
#include "render.h"
#include "text.h"

#include <string.h>
#include <zstd.h>

static const char *output = "-", *format_name, *column, *from;
static struct format_options reading;
static bool no_lines, quiet;

static const struct option_spec options[] = {
	{ OPTION_STRING, 'f', "format", "FORMAT", &format_name, "Output format (default: by the suffix of -o).",
	  "FORMAT is one of the formats listed above." },
	{ OPTION_STRING, 'o', "output", "FILE", &output, "Write to FILE (default: -, standard output).",
	  "Files named .gz or .zst are compressed." },
	{ OPTION_STRING, 0, "from", "FORMAT", &from, "Input format (default: auto-detect)." },
	PROFILE_URL_OPTION,
	{ OPTION_STRING, 0, "column", "COLUMN", &column, "Write only this column (default: all that fit).",
	  "Columns are values such as samples or cpu_ns. Alias: --metric." },
	{ OPTION_STRING, 0, "metric", "COLUMN", &column, NULL },
	{ OPTION_FLAG, 0, "no-lines", NULL, &no_lines, "Leave out executed lines.",
	  "Files of strobe, pprof, speedscope and callgrind can hold them." },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Do not report data that the format cannot hold." },
	{ 0 }
};

/* Appends one line per format. */
static void list_formats(struct buf *out)
{
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->read || (*f)->write)
			buf_printf(out, "%s (%s): %s.\n", (*f)->name,
				   !(*f)->read ? "written" : !(*f)->write ? "read" : "read, written",
				   (*f)->about ? (*f)->about : "a format of profiles");
}

static void format_choices(struct buf *out)
{
	inputs_format_choices(out);
	buf_puts(out, "format");
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->write)
			buf_printf(out, " %s", (*f)->name);
	buf_putc(out, '\n');
}

static const struct command_spec spec = {
	.name = "convert",
	.usage = "[FILE...|-] [-f FORMAT] [-o FILE]",
	.summary = "write profiles in another format: pprof, speedscope, callgrind, ...",
	.description =
		"Reads profiles of any known format, also compressed by gzip or zstd, adds them up and writes them "
		"in the format of -f, or the one that the suffix of the output file selects. Without FILE it reads standard "
		"input if that is piped, else profile.strobe, which `strobe run` writes. A FILE may also be the URL of a page or of the API "
		"of `strobe serve`. Data that a format cannot "
		"hold is left out, with a note on standard error.\n\n"
		"The exit code is 4 when nothing was sampled.\n\n"
		"Formats:\n",
	.more = list_formats,
	.examples =
		"strobe convert profile.strobe -o profile.pb.gz\n"
		"strobe convert -f callgrind -o callgrind.out.1 profile.strobe\n"
		"strobe convert cart.xhprof -f speedscope > cart.speedscope.json\n",
	.more_choices = format_choices,
	.options = options,
};

/* --- The output format --- */

static int unknown_format(void)
{
	_cleanup_(buf_done) struct buf known = { 0 };
	const char *names[64] = { NULL }, *nearest;
	size_t n = 0;

	buf_init(&known);
	for (const struct format *const *f = formats; *f; f++)
		if ((*f)->write && n + 1 < ARRAY_SIZE(names))
			names[n++] = (*f)->name;
	options_put_choices(&known, names);
	if (format_name && format_by_name(format_name))
		return command_invalid(&spec, "format", "%s ('%s' is read only)", known.data, format_name);
	nearest = format_name ? options_nearest(format_name, names) : NULL;
	if (nearest)
		return command_usage(&spec, "invalid %s '%s'; did you mean '%s'?", options_given(&spec, "format").name, format_name, nearest);
	if (format_name)
		return command_invalid(&spec, "format", "%s", known.data);
	if (strcmp(output, "-"))
		return command_usage(&spec, "cannot infer the output format from '%s'; use -f %s", output,
				     known.data);
	return command_usage(&spec, "no output format; use -f %s", known.data);
}

/* Returns 0, or an exit code after printing the reason. */
static int choose_format(const struct format **ret)
{
	const struct format *f = format_name ? format_by_name(format_name) : format_by_path(output);

	if (!f || !f->write)
		return unknown_format();
	if (f == &format_xhprof && (text_path_ends(output, ".json") || text_path_ends(output, ".json.gz")))
		f = &format_xhprof_json;
	if (f->is_binary && !strcmp(output, "-") && isatty(STDOUT_FILENO))
		return command_usage(&spec, "%s is a binary format; write it to a file with -o", f->name);
	*ret = f;
	return 0;
}

/* --- Writing --- */

/* Whether the last column was derived from samples and period; readers of the output derive it again. */
static bool is_derived(const struct profile *p, uint32_t c)
{
	uint32_t samples = profile_find_column(p, "samples");

	if (samples == UINT32_MAX || samples == c || p->period_ns <= 0 ||
	    (strcmp(p->columns[c].name, "wall_ns") && strcmp(p->columns[c].name, "cpu_ns")))
		return false;
	for (uint32_t n = 0; n < p->node_count; n++) {
		int64_t time;

		if (__builtin_mul_overflow(p->columns[samples].self[n], p->period_ns, &time) ||
		    time != p->columns[c].self[n])
			return false;
	}
	return true;
}

static int write_format(const struct format *f, const struct profile *p, uint32_t number, struct buf *out,
			struct err *err)
{
	struct profile view = *p;	/* shares all memory with `p` */
	int r;

	if (f == &format_strobe && number == UINT32_MAX && p->column_count > 1 && is_derived(p, p->column_count - 1))
		view.column_count--;
	r = f == &format_pprof && text_path_ends(output, ".pb") ? pprof_write_plain(&view, number, out, err) :
								  format_write(f, &view, number, out, err);
	if (r > 0 && !quiet)
		fprintf(stderr, "strobe %s: %s\n", spec.name, err->text);
	if (r >= 0 && p->estimated && !f->has_edges && !quiet)
		fprintf(stderr, "strobe %s: " RENDER_ESTIMATE "\n", spec.name);
	return r;
}

static int put_zstd(struct buf *out, const struct buf *plain, struct err *err)
{
	size_t room = ZSTD_compressBound(plain->size), n;
	char *at = buf_reserve(out, room);

	if (!at)
		return err_set(err, -EFBIG, "the result is too large to compress");
	n = ZSTD_compress(at, room, plain->data, plain->size, 3);
	if (ZSTD_isError(n))
		return err_set(err, -EIO, "cannot compress: %s", ZSTD_getErrorName(n));
	buf_wrote(out, n);
	return 0;
}

static int write_output(const struct format *f, struct buf *plain, struct err *err)
{
	_cleanup_(buf_done) struct buf packed = { 0 };
	int r = 0;

	buf_init(&packed);
	if (text_path_ends(output, ".zst"))
		r = put_zstd(&packed, plain, err);
	else if (text_path_ends(output, ".gz") && !f->is_compressed)
		r = gzip_put(&packed, plain->data, plain->size, err);
	else
		return io_write_file(output, plain->data, plain->size, err);
	return r < 0 ? r : io_write_file(output, packed.data, packed.size, err);
}

static bool holds_one_column(const struct format *f)
{
	return f == &format_folded || f == &format_chrome || f == &format_stap;
}

/* --- One side of a comparison --- */

static bool is_side(const char *name)
{
	return !strcmp(name, "before") || !strcmp(name, "after");
}

/* Selects one side of a comparison for formats that cannot have both. If the input is a URL, that side is fetched
 * with all its values, as in the server's downloads: `sides` gets the URLs. */
static bool take_sides(const struct format *f, char **files, size_t count, char **sides)
{
	const char *side = column && is_side(column) ? column : "after";

	for (size_t i = 0; i < count; i++)
		if (f->has_any_columns || !profile_url_is_comparison(files[i]) || profile_url_value(files[i], "side=").n)
			return false;
	for (size_t i = 0; i < count; i++)
		sides[i] = profile_url_side(files[i], side);
	return count > 0;
}

/* In files, the side of a comparison is a column without the name of its value, which xhprof's keys need. It is
 * derived from the unit, as for files of other programs. Returns whether there is one. */
static bool name_side(struct profile *p, uint32_t *number)
{
	uint32_t before = profile_find_column(p, "before"), after = profile_find_column(p, "after");
	struct profile_column *c;

	if (before == UINT32_MAX || after == UINT32_MAX)
		return false;
	*number = column ? *number : after;
	c = &p->columns[*number];
	snprintf(c->name, sizeof(c->name), "%s",
		 !strcmp(c->unit, "nanoseconds") ? "wall_ns" : !strcmp(c->unit, "bytes") ? "memory_bytes" :
						       c->counts_calls			 ? "calls" :
											   "samples");
	return true;
}

static bool is_xhprof(const struct format *f)
{
	return f == &format_xhprof || f == &format_xhprof_json;
}

/* --- The command --- */

static int convert(struct inputs *in, const struct format *f)
{
	_cleanup_(buf_done) struct buf out = { 0 };
	struct err err = { 0 };
	uint32_t number = in->profile->column_count ? profile_pick_column(in->profile, NULL) : UINT32_MAX;
	bool has_values = profile_has_samples(in->profile) || profile_has_values(in->profile, PROFILE_ROOT), is_one_side;
	int code;

	buf_init(&out);
	/* Other formats hold all columns, so no column has to be selected. */
	if ((column || holds_one_column(f)) && (code = inputs_column(in, &spec, column, &number)))
		return code;
	if ((column || !has_values) && !inputs_have_values(in, &spec, number, true))
		return EXIT_NO_SAMPLES;
	is_one_side = is_xhprof(f) && name_side(in->profile, &number);
	if (is_one_side && !column && !quiet)
		inputs_report_second_side(&spec);
	if (holds_one_column(f) && !column && !quiet)
		inputs_report_side(in->profile, &spec, number);
	if (write_format(f, in->profile, column || is_one_side || holds_one_column(f) ? number : UINT32_MAX, &out, &err) < 0 ||
	    write_output(f, &out, &err) < 0)
		return command_fail(&spec, &err);
	return EXIT_OK;
}

static int load(struct inputs *in, const struct format *f, char **files, size_t count)
{
	char **sides = xcalloc(count + 1, sizeof(*sides));
	bool has_sides = take_sides(f, files, count, sides);
	int code;

	if (has_sides && column && is_side(column))
		column = NULL;
	else if (has_sides && !quiet)
		inputs_report_second_side(&spec);
	code = inputs_load_as(in, &spec, &reading, has_sides ? sides : files, count);
	if (!code)
		code = convert(in, f);
	for (size_t i = 0; i < count; i++)
		free(sides[i]);
	free(sides);
	return code;
}

static int run(int argc, char **argv)
{
	struct inputs in = { 0 };
	const struct format *f = NULL;
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = choose_format(&f)) || (code = inputs_format(&spec, from, &reading.format)))
		return code;
	reading.keep_lines = f->has_lines && !no_lines;
	reading.keep_chart = true;
	code = load(&in, f, argv + 1, (size_t)operands);
	inputs_done(&in);
	return code;
}

const struct command command_convert = { &spec, run };
