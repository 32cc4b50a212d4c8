/* test_options.c: tests the command line, errors in it, and its help. */
#include "options.h"
#include "test.h"
#include "text.h"

static bool reverse, quiet, hidden;
static const char *output, *title;
static struct option_list labels;
static long width;
static double minimum;

static const struct option_spec specs[] = {
	{ OPTION_STRING, 'o', "output", "FILE", &output, "where to write the picture; - is standard output" },
	{ OPTION_FLAG, 'r', "reverse", NULL, &reverse, "turn stacks over" },
	{ OPTION_FLAG, 'q', NULL, NULL, &quiet, "say nothing" },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Looks" },
	{ OPTION_STRING, 0, "title", "TEXT", &title, "the text above the picture" },
	{ OPTION_INT, 'w', "width", "PIXELS", &width, "Width of the picture (default: 1200).",
	  "In a browser, the window's. Not below 8-10." },
	{ OPTION_INT, 0, "width-of-all", "PIXELS", &width, "how wide everything is together" },
	{ OPTION_DOUBLE, 0, "minwidth", "PIXELS", &minimum, "leave out frames that are narrower" },
	{ OPTION_LIST, 'l', "label", "KEY=VALUE", &labels, "only samples with this label" },
	{ OPTION_FLAG, 0, "hash", NULL, &hidden, NULL },
	{ 0 },
};

static struct command_spec command = {
	"flamegraph", "[FILE…] [-o OUT]", "draw a flame graph",
	"Reads profiles of any known format and draws one picture of all of them.\n\n"
	".With two paragraphs, of which the second begins with a dot and is long enough to be wrapped at the end "
	"of a line.", "strobe flamegraph profile.strobe -o out.svg\nstrobe collapse x | strobe flamegraph -\n", specs,
};

static char line[400], *words[40];
static int operands;
static struct err err;

/* Splits `text` at spaces and parses it. */
static int parse(const char *text, bool stop)
{
	int argc = 0;

	free(labels.items);
	labels = (struct option_list){ 0 };
	reverse = quiet = hidden = false;
	output = title = NULL;
	width = 0;
	minimum = 0;
	operands = -1;
	err = (struct err){ 0 };
	snprintf(line, sizeof(line), "strobe %s", text);
	for (char *p = line; *p;) {
		words[argc++] = p;
		p += strcspn(p, " ");
		if (*p)
			*p++ = 0;
	}
	words[argc] = NULL;
	return options_parse(&command, argc, words, stop, &operands, &err);
}

TEST(options_have_long_and_short_forms)
{
	CHECK_INT(parse("-o a.svg --title=hello -w 100 --minwidth 0.5 -r", false), 0);
	CHECK_STR(output, "a.svg");
	CHECK_STR(title, "hello");
	CHECK_INT(width, 100);
	CHECK(minimum == 0.5);
	CHECK(reverse && !quiet);
	CHECK_INT(operands, 0);
}

TEST(short_options_can_be_combined_and_followed_directly_by_a_value)
{
	CHECK_INT(parse("-rqoout.svg", false), 0);
	CHECK(reverse && quiet);
	CHECK_STR(output, "out.svg");
	CHECK_INT(parse("-rw -5", false), 0);
	CHECK_INT(width, -5);
}

TEST(a_value_may_be_empty_or_hold_an_equals_sign)
{
	CHECK_INT(parse("--title= --label=a=b -l c=d", false), 0);
	CHECK_STR(title, "");
	CHECK_INT(labels.count, 2);
	CHECK_STR(labels.items[0], "a=b");
	CHECK_STR(labels.items[1], "c=d");
}

TEST(operands_may_stand_anywhere_and_are_moved_to_the_front)
{
	CHECK_INT(parse("one -r two - -o x three -- -q --four", false), 0);
	CHECK_INT(operands, 6);
	CHECK_STR(words[1], "one");
	CHECK_STR(words[2], "two");
	CHECK_STR(words[3], "-");
	CHECK_STR(words[4], "three");
	CHECK_STR(words[5], "-q");
	CHECK_STR(words[6], "--four");
	CHECK(!words[7]);
	CHECK(!quiet && reverse);
}

TEST(a_command_to_run_keeps_its_own_options)
{
	CHECK_INT(parse("-r php -o x -- -v", true), 0);
	CHECK_INT(operands, 5);
	CHECK_STR(words[1], "php");
	CHECK_STR(words[2], "-o");
	CHECK_STR(words[4], "--");
	CHECK(!output);
	CHECK_INT(parse("-r -- php -o x", true), 0);
	CHECK_INT(operands, 3);
	CHECK_STR(words[1], "php");
}

TEST(a_unique_prefix_of_an_option_is_accepted)
{
	CHECK_INT(parse("--rev --out=x --wid 3", false), 0);
	CHECK(reverse);
	CHECK_STR(output, "x");
	CHECK_INT(width, 3);
	CHECK_INT(parse("--ha", false), -EINVAL);
	CHECK_INT(parse("--hash", false), 0);
	CHECK(hidden);
}

TEST(an_option_that_is_a_prefix_of_all_matching_names_is_chosen)
{
	CHECK_INT(parse("x --wid 7", false), 0);
	CHECK_INT(width, 7);
	CHECK_INT(parse("x --width- 8", false), 0);
	CHECK_INT(width, 8);
}

TEST(long_options_with_a_single_dash_are_accepted_if_enabled)
{
	CHECK(parse("x -title Week", false) < 0);
	command.single_dash = true;
	CHECK_INT(parse("x -title Week -rev -min=2 -ofile -q", false), 0);
	CHECK_STR(title, "Week");
	CHECK_STR(output, "file");
	CHECK(reverse && quiet && minimum == 2);
	CHECK_INT(parse("x -rq -hash", false), 0);
	CHECK(reverse && quiet && hidden);
	CHECK(parse("x -titel Week", false) < 0);
	CHECK_STR(err.text, "unknown option '--titel'; did you mean '--title'?");
	command.single_dash = false;
}

TEST(a_help_option_takes_precedence_over_others)
{
	CHECK_INT(parse("--help", false), 1);
	CHECK_INT(parse("-rh", false), 1);
	CHECK_INT(parse("x --he", false), 1);
	CHECK_INT(parse("-- --help", false), 0);
}

TEST(a_misspelled_option_gets_a_suggestion)
{
	CHECK_INT(parse("--ouput x", false), -EINVAL);
	CHECK_STR(err.text, "unknown option '--ouput'; did you mean '--output'?");
	CHECK_INT(parse("--wdith=3", false), -EINVAL);
	CHECK_STR(err.text, "unknown option '--wdith'; did you mean '--width'?");
	CHECK_INT(parse("--reversed", false), -EINVAL);
	CHECK_STR(err.text, "unknown option '--reversed'; did you mean '--reverse'?");
	CHECK_INT(parse("--tint", false), -EINVAL);
	CHECK_STR(err.text, "unknown option '--tint'");
	CHECK_INT(parse("-x", false), -EINVAL);
	CHECK_STR(err.text, "unknown option '-x'");
}

TEST(other_errors_name_the_option)
{
	CHECK_INT(parse("-o", false), -EINVAL);
	CHECK_STR(err.text, "option '-o' needs a value: FILE");
	CHECK_INT(parse("--title", false), -EINVAL);
	CHECK_STR(err.text, "option '--title' needs a value: TEXT");
	CHECK_INT(parse("--reverse=yes", false), -EINVAL);
	CHECK_STR(err.text, "option '--reverse' takes no value");
	CHECK_INT(parse("-w 3px", false), -EINVAL);
	CHECK_STR(err.text, "invalid -w '3px'; use a whole number");
	CHECK_INT(parse("--width=", false), -EINVAL);
	CHECK_INT(parse("--width=99999999999999999999", false), -EINVAL);
	CHECK_STR(err.text, "invalid --width '99999999999999999999'; use a number nearer to 0");
	CHECK_INT(parse("--minwidth=nan", false), -EINVAL);
	CHECK_INT(parse("--minwidth=1e999", false), -EINVAL);
	CHECK_STR(err.text, "invalid --minwidth '1e999'; use a number");
	CHECK_INT(parse("--=x", false), -EINVAL);
}

static void check_given(const char *words_given, const char *option, const char *name, const char *value)
{
	struct option_given g;

	CHECK_INT(parse(words_given, false), 0);
	g = options_given(&command, option);
	CHECK_STR(g.name, name);
	CHECK_STR(g.value ? g.value : "none", value);
}

TEST(errors_can_name_an_option_as_it_was_typed)
{
	check_given("-w 3", "width", "-w", "3");
	check_given("-qw3", "width", "-w", "3");
	check_given("--width=4 --minwidth 1", "width", "--width", "4");
	check_given("--wid 4", "width", "--width", "4");
	check_given("-w 3 --width-of-all 5", "width", "--width-of-all", "5");	/* the same target */
	check_given("--width-of-all 5 -w 3", "width", "-w", "3");
	check_given("-w 3", "title", "--title", "none");
	check_given("-w 3", "scale", "scale=", "none");
}

TEST(an_ambiguous_prefix_names_both)
{
	static bool a, b;
	static const struct option_spec two[] = {
		{ OPTION_FLAG, 0, "on-cpu", NULL, &a, "x" }, { OPTION_FLAG, 0, "off-cpu", NULL, &b, "x" },
		{ OPTION_FLAG, 0, "on", NULL, &b, "x" }, { 0 },
	};
	static const struct command_spec c = { "record", "", "x", NULL, NULL, two };
	char *argv[] = { "strobe", "--o", NULL };
	char *exact[] = { "strobe", "--on", NULL };
	int n;

	CHECK_INT(options_parse(&c, 2, argv, false, &n, &err), -EINVAL);
	CHECK_STR(err.text, "option '--o' is ambiguous: '--on' or '--off-cpu'");
	CHECK_INT(options_parse(&c, 2, exact, false, &n, &err), 0);
	CHECK(b && !a);
}

TEST(suggestions_are_limited_to_similar_words)
{
	static const char *const names[] = { "flamegraph", "collapse", "report", "run", "serve", "status", NULL };

	CHECK_STR(options_nearest("flamgraph", names), "flamegraph");
	CHECK_STR(options_nearest("flame", names), "flamegraph");
	CHECK_STR(options_nearest("rnu", names), "run");
	CHECK_STR(options_nearest("statsu", names), "status");
	CHECK_STR(options_nearest("server", names), "serve");
	CHECK(!options_nearest("xyz", names));
	CHECK(!options_nearest("", names));
	CHECK(!options_nearest("a", names));
}

/* No line may be wider than a terminal of 80 columns. */
static size_t widest(const char *text)
{
	size_t most = 0;

	for (; *text; text += *text != 0) {
		size_t n = strcspn(text, "\n"), columns = text_columns((struct str){ text, n });

		most = columns > most ? columns : most;
		text += n;
	}
	return most;
}

TEST(help_shows_every_option_in_80_columns)
{
	struct buf b;

	buf_init(&b);
	options_help(&command, &b);
	CHECK_STR(b.data,
		  "Usage: strobe flamegraph [FILE…] [-o OUT]\n"
		  "\n"
		  "Reads profiles of any known format and draws one picture of all of them.\n"
		  "\n"
		  ".With two paragraphs, of which the second begins with a dot and is long enough\n"
		  "to be wrapped at the end of a line.\n"
		  "\n"
		  "Options:\n"
		  "  -o, --output FILE          where to write the picture; - is standard output\n"
		  "  -r, --reverse              turn stacks over\n"
		  "  -q                         say nothing\n"
		  "  -h, --help                 Show this help and exit.\n"
		  "\n"
		  "Looks:\n"
		  "      --title TEXT           the text above the picture\n"
		  "  -w, --width PIXELS         Width of the picture (default: 1200).\n"
		  "      --width-of-all PIXELS  how wide everything is together\n"
		  "      --minwidth PIXELS      leave out frames that are narrower\n"
		  "  -l, --label KEY=VALUE      only samples with this label\n"
		  "\n"
		  "Examples:\n"
		  "  strobe flamegraph profile.strobe -o out.svg\n"
		  "  strobe collapse x | strobe flamegraph -\n"
		  "\n"
		  "`man strobe-flamegraph` has more about the options.\n");
	CHECK(widest(b.data) <= 80);
	buf_done(&b);
}

TEST(the_man_page_escapes_roff_syntax)
{
	struct buf b;

	buf_init(&b);
	options_man(&command, &b);
	CHECK(strstr(b.data, ".TH \"STROBE\\-FLAMEGRAPH\" 1"));
	CHECK(strstr(b.data, "\n.SH NAME\nstrobe\\-flamegraph \\- draw a flame graph\n"));
	CHECK(strstr(b.data, "\n.PP\n\\&.With two paragraphs"));
	CHECK(strstr(b.data, "\n.TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\nwhere to write"));
	CHECK(strstr(b.data, "\nWidth of the picture (default: 1200). In a browser, the window's. Not below 8\\-10.\n"));
	CHECK(strstr(b.data, "\n.SS Looks\n"));
	CHECK(!strstr(b.data, "hash"));
	CHECK(strstr(b.data, "\n.SH EXAMPLES\n.nf\nstrobe flamegraph profile.strobe \\-o out.svg\n"));
	buf_done(&b);
}

TEST_MAIN()
