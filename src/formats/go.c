/* go.c: reads the output of `go tool pprof -raw`.
 *
 *	PeriodType: cpu nanoseconds
 *	Period: 10000000
 *	Samples:
 *	samples/count cpu/nanoseconds
 *	         19  190000000: 1 2 3
 *	                bytes:[1024]
 *	Locations
 *	     1: 0x1372f7f M=1 main.computeSum /src/main.go:39 s=0
 *	             main.run /src/main.go:20 s=0
 *	     2: 0x10300a6 M=1 runtime.main /go/src/runtime/proc.go:225 s=0
 *	Mappings
 *	1: 0x1000000/0x1400000/0x0 /tmp/a [FN]
 *
 * The line after "Samples:" names the values; samples have one number for each, and the locations of their stack,
 * leaf first. The value marked "[dflt]", or else the last one, is pprof's default, and becomes the first column
 * unless `script_values` selects the first one of the line. Labels below a sample are ignored. A location is named by
 * the text between its mapping and its file, or by its address; the lines below it are the functions that it was
 * inlined into, which become separate frames, with `script_values` only if the option `inlined` is set. Lines before
 * "Samples:" and from "Mappings" on are ignored.
 *
 * Times become cpu_ns or wall_ns, other values keep their names. Limits: LOCATIONS_MAX locations, STACKS_MAX
 * references to locations in all samples together.
 */
#include "format.h"
#include "stacks.h"
#include "mem.h"
#include "text.h"
#include <stdio.h>

#define LOCATIONS_MAX	((size_t)16 << 20)
#define STACKS_MAX	((size_t)64 << 20)
#define DEFAULT_MARK	"[dflt]"
#define INLINED_MAX	64u		/* functions per location: many samples may refer to it, repeatedly */

struct sample {
	size_t start, end;		/* range of its locations */
	int64_t values[PROFILE_COLUMNS];
};

struct go {
	struct profile *profile;
	bool with_inlined;
	bool first_value;		/* make this the first column, like the script that collapses such files */
	unsigned inlined;		/* functions that the last location was inlined into */
	uint32_t columns[PROFILE_COLUMNS], column_count;

	struct sample *samples;
	size_t sample_count, sample_capacity;
	int64_t *stack;			/* the locations of all samples, back to back */
	size_t stack_count, stack_capacity;

	struct map locations;		/* number of the location -> index of its first frame in `frames` */
	uint32_t *frames;		/* leaf first; UINT32_MAX ends each location */
	size_t frame_count, frame_capacity;
	uint64_t skipped;
};

static struct str take_word(struct str *line)
{
	struct str word;

	*line = line_trim_start(*line);
	word = (struct str){ line->p, 0 };
	while (word.n < line->n && !line_is_space(line->p[word.n]))
		word.n++;
	line->p += word.n;
	line->n -= word.n;
	return word;
}

/* --- The names of values --- */

/* Finds or adds the column of "cpu/nanoseconds". */
static int find_column(struct go *g, struct str word, uint32_t *ret, struct err *err)
{
	const char *slash = memchr(word.p, '/', word.n);
	struct str name = { word.p, slash ? (size_t)(slash - word.p) : word.n }, unit = { "count", 5 };
	char text[64], of[64];

	if (slash)
		unit = (struct str){ slash + 1, (size_t)(word.p + word.n - slash - 1) };
	if (text_ends(unit, DEFAULT_MARK))
		unit.n -= strlen(DEFAULT_MARK);
	if (name.n == 0 || name.n > 56 || unit.n == 0 || unit.n > 60)
		return err_set(err, -EINVAL, "the line after 'Samples:' names no values such as samples/count "
			       "cpu/nanoseconds");
	snprintf(of, sizeof(of), "%.*s", (int)unit.n, unit.p);
	snprintf(text, sizeof(text), "%.*s%s", (int)name.n, name.p, !strcmp(of, "nanoseconds") ? "_ns" : "");
	*ret = profile_column(g->profile, text, of);
	return *ret == UINT32_MAX ? err_set(err, -E2BIG, "it would make more than %u value "
							 "columns in all", PROFILE_COLUMNS) : 0;
}

/* Returns pprof's default value: the marked one, or else the last; empty if calls come first, which then stay the
 * first column. */
static struct str default_word(struct str line)
{
	struct str chosen = { NULL, 0 }, word = take_word(&line);

	if (text_starts(word, "calls/"))
		return chosen;
	for (chosen = word; word.n && !text_ends(chosen, DEFAULT_MARK); word = take_word(&line))
		chosen = word;
	return chosen;
}

static int read_columns(struct go *g, struct str line, struct err *err)
{
	struct str word = g->first_value ? (struct str){ NULL, 0 } : default_word(line);
	uint32_t unused;
	int r = word.n ? find_column(g, word, &unused, err) : 0;

	while (r >= 0 && (word = take_word(&line)).n && g->column_count < PROFILE_COLUMNS) {
		r = find_column(g, word, &g->columns[g->column_count], err);
		g->column_count++;
	}
	if (r >= 0 && word.n)
		return err_set(err, -E2BIG, "its samples have more than %u values", PROFILE_COLUMNS);
	if (r >= 0 && g->column_count == 0)
		return err_set(err, -EINVAL, "the line after 'Samples:' is empty, and should say samples/count "
			       "cpu/nanoseconds");
	return r;
}

/* --- Samples --- */

/* Reads a number that may be negative, as in differences. */
static bool take_value(struct str *line, int64_t *ret)
{
	bool negative = line->n && *line->p == '-';

	if (negative) {
		line->p++;
		line->n--;
	}
	if (!line_take_number(line, ret))
		return false;
	*ret = negative ? -*ret : *ret;
	return true;
}

/* Reads "  19  190000000: 1 2 3"; false if malformed. */
static bool add_sample(struct go *g, struct str line)
{
	struct sample s = { .start = g->stack_count };
	int64_t location;

	for (uint32_t i = 0; i < g->column_count; i++) {
		line = line_trim_start(line);
		if (!take_value(&line, &s.values[i]))
			return false;
	}
	if (line.n == 0 || *line.p != ':')
		return false;
	line.p++;
	line.n--;
	while ((line = line_trim_start(line)).n) {
		if (!line_take_number(&line, &location) || (line.n && !line_is_space(*line.p))) {
			g->stack_count = s.start;
			return false;
		}
		GROW(&g->stack, &g->stack_capacity, g->stack_count + 1);
		g->stack[g->stack_count++] = location;
	}
	s.end = g->stack_count;
	GROW(&g->samples, &g->sample_capacity, g->sample_count + 1);
	g->samples[g->sample_count++] = s;
	return true;
}

/* Matches "                bytes:[1024]" or "  key:["a" "b"]  other:[…]" below a sample. */
static bool is_label(struct str line)
{
	return line.n && line_is_space(*line.p) && line_has(line, ":[");
}

/* --- Locations --- */

static void add_frame(struct go *g, struct str name)
{
	GROW(&g->frames, &g->frame_capacity, g->frame_count + 2);
	g->frames[g->frame_count++] = profile_frame(g->profile, name, (struct str){ "", 0 }, 0);
	g->frames[g->frame_count] = UINT32_MAX;
}

/* Returns the name in "std::map<int, int>::at /src/a.cc:12:3 s=10": the text before " FILE:LINE", where the file is
 * empty, has no blanks, or begins with a slash. */
static struct str name_before_file(struct str s)
{
	const char *start = memmem(s.p, s.n, " s=", 3), *file;

	s = line_trim_start(s);
	if (start)
		s.n = start > s.p ? (size_t)(start - s.p) : 0;
	file = memmem(s.p, s.n, " /", 2);
	if (!file)
		file = memrchr(s.p, ' ', s.n);
	if (start && file && memchr(file, ':', (size_t)(s.p + s.n - file)))
		s.n = (size_t)(file - s.p);
	else
		s = take_word(&s);
	return s;
}

/* Returns the function's name, which follows an address, a mapping and "[F]" for folded locations. */
static struct str function_name(struct str line)
{
	struct str address = take_word(&line), rest = line, word = take_word(&rest);

	if (line_starts(word, "M=") && word.n > 2 && line_is_digit(word.p[2])) {
		line = rest;
		word = take_word(&rest);
	}
	if (word.n == 3 && !memcmp(word.p, "[F]", 3))
		line = rest;
	word = name_before_file(line);
	return word.n ? word : address;
}

/* Reads "  1: 0x1372f7f M=1 main.computeSum /src/main.go:39 s=0", or a function that it was inlined into. */
static bool add_location(struct go *g, struct str line)
{
	struct str rest = line_trim_start(line);
	bool indented = rest.p != line.p;
	int64_t number;
	uint32_t *slot;

	if (line_take_number(&rest, &number) && line_starts(rest, ": 0x")) {
		slot = map_slot(&g->locations, (uint64_t)number);
		g->frame_count += g->frame_count > 0;
		*slot = (uint32_t)g->frame_count;
		g->inlined = 0;
		rest.p += 2;
		rest.n -= 2;
		add_frame(g, function_name(rest));
		return true;
	}
	if (!indented || g->frame_count == 0)
		return false;
	if (g->with_inlined && g->inlined++ < INLINED_MAX)
		add_frame(g, name_before_file(line));
	return true;
}

/* --- The stacks --- */

static uint32_t add_node(struct go *g, uint32_t node, int64_t location)
{
	uint32_t first = map_get(&g->locations, (uint64_t)location), last = first;
	char text[32];

	if (first == MAP_NONE) {
		int n = snprintf(text, sizeof(text), "%lld", (long long)location);

		return profile_child(g->profile, node, profile_frame(g->profile, (struct str){ text, (size_t)n },
								     (struct str){ "", 0 }, 0));
	}
	while (g->frames[last + 1] != UINT32_MAX)
		last++;
	for (;; last--) {
		node = profile_child(g->profile, node, g->frames[last]);
		if (last == first)
			return node;
	}
}

static void add_stacks(struct go *g)
{
	for (size_t i = 0; i < g->sample_count; i++) {
		const struct sample *s = &g->samples[i];
		uint32_t node = PROFILE_ROOT;

		for (size_t at = s->end; at-- > s->start;)
			node = add_node(g, node, g->stack[at]);
		if (node == PROFILE_ROOT)
			node = profile_child(g->profile, node, profile_frame(g->profile, profile_given_name((struct str){ "", 0 }),
									     (struct str){ "", 0 }, 0));
		for (uint32_t c = 0; c < g->column_count; c++)
			profile_add(g->profile, node, g->columns[c], s->values[c]);
	}
}

/* --- Top level --- */

enum part { HEAD, COLUMNS, SAMPLES, LOCATIONS, TAIL };

static int read_line(struct go *g, enum part *part, uint64_t number, struct str line, struct err *err)
{
	if (line.n && *line.p == '#')
		return 0;
	switch (*part) {
	case HEAD:
		if (line_starts(line, "Samples:"))
			*part = COLUMNS;
		return 0;
	case COLUMNS:
		*part = SAMPLES;
		return read_columns(g, line, err);
	case SAMPLES:
		if (line_starts(line, "Locations"))
			*part = LOCATIONS;
		else if (line_trim_start(line).n && !add_sample(g, line) && !is_label(line))
			line_skip(&g->skipped, number, line, "is not a sample (numbers, a colon and locations)", err);
		return g->stack_count <= STACKS_MAX ? 0 :
		       err_set(err, -E2BIG, "its samples have more than %zu locations together",
								  STACKS_MAX);
	case LOCATIONS:
		if (line_starts(line, "Mappings"))
			*part = TAIL;
		else if (line_trim_start(line).n && !add_location(g, line))
			line_skip(&g->skipped, number, line, "is not a location", err);
		return g->frame_count <= LOCATIONS_MAX ? 0 : err_set(err, -E2BIG, "it has more than %zu locations",
								     LOCATIONS_MAX);
	case TAIL:
		break;
	}
	return 0;
}

static void go_done(struct go *g)
{
	map_done(&g->locations);
	free(g->samples);
	free(g->stack);
	free(g->frames);
}

static int go_read(struct profile *p, struct input *in, const struct format_options *o, struct err *err)
{
	const struct labels none = { 0 };
	struct go g = { .profile = p, .with_inlined = o->inlined || !o->script_values,
			.first_value = o->script_values };
	enum part part = HEAD;
	struct str line;
	int r = 0;

	map_init(&g.locations);
	profile_describe(p, 0, false, &none);
	while (r >= 0 && input_line(in, &line))
		r = read_line(&g, &part, in->line, line_without_return(line), err);
	if (r >= 0 && part == HEAD)
		r = err_set(err, -EINVAL, "it has no line 'Samples:'");
	if (r >= 0 && g.sample_count == 0 && !g.skipped)
		r = err_set(err, -ENODATA, "it has no samples");
	if (r >= 0 && g.sample_count == 0)
		r = -EINVAL;
	if (r >= 0)
		add_stacks(&g);
	r = r < 0 ? r : g.skipped < INT32_MAX ? (int)g.skipped : INT32_MAX;
	go_done(&g);
	return r;
}

static int go_sniff(const char *bytes, size_t n)
{
	struct str rest = { bytes, n }, line;
	bool period = false, samples = false;

	for (int i = 0; i < 100 && line_next(&rest, &line); i++) {
		period |= line_starts(line, "PeriodType:") || line_starts(line, "Period:");
		if (samples && memchr(line.p, '/', line.n))
			return period ? 97 : 80;
		samples = line_starts(line_without_return(line), "Samples:");
	}
	return 0;
}

const struct format format_go = {
	.name = "go",
	.suffixes = "",
	.sniff = go_sniff,
	.read = go_read,
	.about = "output of go tool pprof -raw",
};
