/* cmd_import.c: `strobe import`: stores profiles of any format as runs. */

#include "commands.h"

#include "clock.h"
#include "format.h"
#include "mem.h"
#include "paths.h"
#include "profile_url.h"
#include "run_name.h"
#include "secrets.h"
#include "store.h"
#include "strobe_wire.h"
#include "text.h"
#include "url.h"

#include <string.h>
#include <sys/stat.h>

static const char *source, *id, *name, *url, *store_url;
static struct option_list labels;
static bool quiet;

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "source", "NAME", &source, "Source (default: from profile or file name).",
	  "SOURCE has 1 to 64 letters, digits, '.', '_' or '-'." },
	{ OPTION_STRING, 0, "id", "ID", &id, "Run ID (default: from profile or file name).",
	  "It can only be given for a single file. If neither has an ID, it is a hash of the content." },
	{ OPTION_STRING, 0, "name", "TEXT", &name, "Display name of the run." },
	{ OPTION_STRING, 0, "url", "URL", &url, "URL of the profiled request." },
	{ OPTION_LIST, 0, "label", "LABEL=VALUE", &labels, "Label to filter by; repeatable." },
	PROFILE_URL_OPTION,
	{ OPTION_STRING, 0, "store", "URL", &store_url, "Store to write to (default: that of strobe serve).",
	  "URL is sqlite:DIR or clickhouse://…" },
	{ OPTION_FLAG, 'q', "quiet", NULL, &quiet, "Print only the stored runs, and errors." },
	{ 0 }
};

static const struct command_spec spec = {
	.name = "import",
	.usage = "[OPTIONS] FILE...|-",
	.summary = "store profiles as runs, which the daemon lists and shows",
	.description =
		"Reads each FILE, of any known format (`strobe convert --help` lists them; also compressed by gzip "
		"or zstd; - is standard input) or the URL of a page of `strobe serve`, stores it as one run, and prints its "
		"SOURCE/ID, one per line.\n\n"
		"It writes to the store directly, with or without a running daemon. The daemon shows runs at /runs "
		"and /api/v1/runs, and removes the oldest by age, count and size; see `strobe serve --help`. If a file "
		"has no timestamp, its modification time is the end of the run. Source and ID come from the "
		"profile if it has them, or from a file name such as ID.SOURCE.xhprof or ID.SOURCE.uprofiler; otherwise "
		"the source is \"default\", and the ID a hash of the content.\n\n"
		"Importing the same run again changes nothing, with or without an ID; a different run under an "
		"existing ID is refused.\n\n"
		"The exit code is 2 when a file could not be stored (the others are), and 4 when one is empty.",
	.examples =
		"strobe import --source shop /tmp/*.xhprof\n"
		"strobe import --source shop --id before --name 'no cache yet' profile.strobe\n"
		"zcat web1.gz | strobe import --source shop --url /cart --label host=web1 -\n",
	.options = options,
};

static void set(struct profile *p, const char *key, const char *value)
{
	if (value)
		labels_set(&p->labels, key, strlen(key), value, strlen(value));
}

/* Validates options before anything is stored. */
static int check_options(int operands)
{
	const struct { const char *option, *value; } keys[] = { { "--source", source }, { "--id", id } };

	if (operands == 0)
		return command_usage(&spec, "missing file, as in: strobe import --source shop profile.strobe");
	if (id && operands > 1)
		return command_usage(&spec, "--id names a single run, but %d files were given", operands);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].value && !strobe_wire_is_run_key(keys[i].value, strlen(keys[i].value)))
			return command_usage(&spec, "invalid %s '%.80s'; use 1 to %u letters, digits, '.', '_' or '-'",
					     keys[i].option, keys[i].value, STROBE_WIRE_RUN_KEY);
	for (size_t i = 0; i < labels.count; i++) {
		size_t n = strcspn(labels.items[i], "=");

		if (labels.items[i][n] != '=' || n > STROBE_WIRE_LABEL_KEY ||
		    !strobe_wire_is_label_key((const uint8_t *)labels.items[i], n))
			return command_usage(&spec,
			  "invalid --label '%.80s'; use LABEL=VALUE, where LABEL has letters, digits and _",
					     labels.items[i]);
	}
	return 0;
}

/* Sets the name from the command line, else from the profile, else from the file. */
static void set_default_name(struct profile *p, const char *file)
{
	struct run_name named;
	bool has = run_name_of_file(file, &named);

	if (source || (has && !labels_get(&p->labels, "source")))
		set(p, "source", source ? source : named.source);
	if (id || (has && !labels_get(&p->labels, "id")))
		set(p, "id", id ? id : named.id);
}

static void describe(struct profile *p)
{
	set(p, "name", name);
	set(p, "url", url);
	for (size_t i = 0; i < labels.count; i++) {
		size_t n = strcspn(labels.items[i], "=");
		const char *value = labels.items[i] + n + 1;

		labels_set(&p->labels, labels.items[i], n, value, strlen(value));
	}
}

/* Files are written at the end of a request, so their mtime is the end time. */
static void take_time_of_file(struct profile *p, const char *file)
{
	uint32_t wall = profile_find_column(p, "wall_ns");
	int64_t took = wall == UINT32_MAX ? 0 : profile_sum(p, wall);
	struct stat st;

	if (p->start_ns > 0 || !strcmp(file, "-") || stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	p->end_ns = st.st_mtim.tv_sec * NS_PER_SECOND + st.st_mtim.tv_nsec;
	p->start_ns = took > 0 && took < p->end_ns ? p->end_ns - took : p->end_ns;
}

/* `why` may be NULL. */
static int reject_empty(const char *file, const char *why)
{
	fprintf(stderr, "strobe import: nothing was sampled: '%s'%s%s, so there is nothing to store\n", file,
		why ? ": " : " holds no values", why ? why : "");
	return EXIT_NO_SAMPLES;
}

/* Returns 0, or an exit code after printing the reason. */
static int import(struct store *s, const char *file, size_t *added)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	struct store_new_run run = { .profile = p };
	char hash[STROBE_WIRE_RUN_KEY + 1];
	struct err err = { 0 };
	const struct format_options reading = { .keep_chart = true, .keep_lines = true };
	bool is_url = profile_url_is(file);
	int r;

	profile_keep_chart(p, true);
	profile_keep_lines(p, true);
	if (profile_url_refuse_store(file, &err) < 0)
		return command_fail(&spec, &err);
	r = is_url ? profile_url_load(file, p, &reading, NULL, 0, &err) : format_load(file, p, &reading, &err);

	if (r == -ENODATA)
		return reject_empty(file, is_url ? err.text : NULL);
	if (r < 0)
		return command_fail(&spec, &err);
	if (r > 0)
		fprintf(stderr, "strobe import: %s\n", err.text);
	if (!profile_has_samples(p))
		return reject_empty(file, NULL);
	set_default_name(p, file);
	describe(p);
	if (!labels_get(&p->labels, "id") && run_name_of_profile(p, hash))
		set(p, "id", hash);
	take_time_of_file(p, file);
	r = store_add_runs(s, &run, 1, clock_wall_ns(), &err);
	if (r < 0)
		return command_fail(&spec, &err);
	if (run.result < 0) {
		fprintf(stderr, "strobe import: '%s' was not stored: %s\n", file, run.err.text);
		return EXIT_ERROR;
	}
	if (run.result == 0 && !quiet)
		fprintf(stderr, "strobe import: '%s' is already stored\n", file);
	printf("%s/%s\n", run.source, run.id);
	*added += run.result == 1;
	return 0;
}

static int import_all(char **files, size_t count)
{
	_cleanup_(freep) char *default_store = NULL;
	char shown[URL_MAX + 64];
	struct store *s = NULL;
	struct err err = { 0 };
	size_t added = 0;
	int code = 0;

	if ((!store_url && paths_store(&default_store, &err) < 0) ||
	    store_open_runs(store_url ? store_url : default_store, &s, &err) < 0)
		return command_fail(&spec, &err);
	for (size_t i = 0; i < count; i++) {
		int one = import(s, files[i], &added);

		code = one == EXIT_ERROR || !code ? one : code;
	}
	store_close(s);
	snprintf(shown, sizeof(shown), "%s", store_url ? store_url : default_store);
	secrets_redact(shown, sizeof(shown));
	if (added && !quiet)
		fprintf(stderr, "strobe import: stored %zu run%s in %s; a daemon with this store shows %s at /runs\n", added,
			added == 1 ? "" : "s", shown, added == 1 ? "it" : "them");
	return fflush(stdout) ? EXIT_ERROR : code;
}

static int run(int argc, char **argv)
{
	int operands, code;

	if ((code = command_options(&spec, argc, argv, false, &operands)) >= 0)
		return code;
	if ((code = check_options(operands)))
		return code;
	return import_all(argv + 1, (size_t)operands);
}

const struct command command_import = { &spec, run };
