/* cmd_serve.c: `strobe serve`: collects, stores and shows profiles. */

#include "commands.h"

#include "paths.h"
#include "daemon_settings.h"

static const struct option_spec options[] = {
	{ OPTION_STRING, 0, "listen", "HOST:PORT", &settings.listen,
	  "Address to serve on (default: 127.0.0.1:8787).",
	  "The page and the API are served there. Port 0 picks a free one." },
	{ OPTION_LIST, 0, "from", "URL", &settings.from, "Source (default: PHP's socket); repeatable.",
	  "Examples are unix:/run/strobe/strobe.sock and runs:/var/xhprof; strobe-collect(1) lists all kinds." },
	{ OPTION_STRING, 0, "store", "URL", &settings.store,
	  "Store, such as sqlite:/var/lib/strobe.",
	  "Servers of ClickHouse are named clickhouse://db1:8123/strobe." },
	{ OPTION_LIST, 0, "to", "URL", &settings.to, "Additional sink for samples; repeatable.",
	  "See strobe-collect(1)." },
	{ OPTION_STRING, 0, "state", "DIR", &settings.state,
	  "State directory (default: that of the store)." },
	SETTINGS_LABELS,
	SETTINGS_CONFIG,
	SETTINGS_ARCLAMP,
	SETTINGS_LIMITS,
	SETTINGS_METRICS,
	{ OPTION_FLAG, 'q', "quiet", NULL, &settings.quiet, "Print warnings and errors only." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL,
	  "Runs (single profiles: traced requests, imported and posted profiles)" },
	{ OPTION_DOUBLE, 0, "runs-age", "DAYS", &settings.runs_days,
	  "Expire older runs (default: 30; 0: never).", "The age counts from when a run was stored." },
	{ OPTION_INT, 0, "runs-count", "N", &settings.runs_count,
	  "Runs kept per source (default: 10,000; 0: all)." },
	{ OPTION_STRING, 0, "runs-size", "SIZE", &settings.runs_size,
	  "Total size of runs (default: 2G; 0: no limit)." },
	SETTINGS_CAPS,
	{ OPTION_STRING, 0, "query-memory", "SIZE", &settings.query_memory,
	  "Memory for queries and answers (default: 1G).",
	  "All queries and unsent answers share it; at least 64M. Larger results are pruned." },
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Page and Grafana" },
	{ OPTION_LIST, 0, "source-dir", "DIR", &settings.source_dirs, "Show source files below DIR; repeatable.",
	  "All readers see them. PATH=DIR if the files have moved from PATH to DIR." },
	{ OPTION_LIST, 0, "service-label", "LABEL", &settings.service_labels,
	  "Label for Grafana's service_name; repeatable.",
	  "The first match counts (default: service_name, service, entry)." },
	SETTINGS_ACCESS("User who may write (*: all); repeatable."),
	{ 0 }
};

static const struct command_spec spec = {
	.name = "serve",
	.usage = "[OPTIONS]",
	.summary = "collect samples, store them and show them in the browser",
	.description =
		"Receives the samples of all PHP processes on this machine, keeps them in SQLite, and serves the "
		"web interface with flame graphs and tables. It runs until SIGTERM or Ctrl-C, and flushes all "
		"received samples before it exits.\n\n"
		"With no options, root's daemon listens on /run/strobe/strobe.sock and keeps its samples in "
		"/var/lib/strobe; that of another user uses $XDG_RUNTIME_DIR/strobe/strobe.sock (or, without that "
		"variable, /run/user/UID or the store's directory) and $XDG_STATE_HOME/strobe (or "
		"~/.local/state/strobe). STROBE_SOCKET names another socket.\n\n"
		"Accepted samples are committed every second. Lost samples are counted by reason: see `strobe "
		"status`.",
	.examples =
		"strobe serve\n"
		"strobe serve --listen 127.0.0.1:9000 --retain 90 --max-bytes 50G\n"
		"strobe serve --listen 0.0.0.0:8787 --token-file /etc/strobe/token\n"
		"strobe serve --source-dir /srv/app/src --source-dir /srv/app/vendor\n",
	.options = options,
};

static int prepare(struct daemon_options *o, struct err *err)
{
	int r;

	if ((r = settings_check(o, err)) < 0 || (r = settings_tokens(o, err)) < 0 ||
	    (r = settings_arclamp(o, err)) < 0 || (r = settings_default_source(o, err)) < 0)
		return r;
	o->store_url = settings.store;
	if (!o->store_url && (r = paths_store(&settings.default_store, err)) < 0)
		return r;
	if (!o->store_url)
		o->store_url = settings.default_store;
	if (!o->state && (r = paths_state(o->store_url, &settings.default_state, err)) < 0)
		return r;
	if (!o->state)
		o->state = settings.default_state;
	return 0;
}

static int run(int argc, char **argv)
{
	return settings_run(&spec, command_collect.spec, argc, argv, prepare);
}

const struct command command_serve = { &spec, run };
