/* cmd_collect.c: `strobe collect`: forwards from any sources to any sinks, without a page. */

#include "commands.h"

#include "paths.h"
#include "daemon_settings.h"
#include "redis_url.h"

#include <string.h>

#define LISTEN	"127.0.0.1:8788"	/* one above serve's 8787 */

static const struct option_spec options[] = {
	{ OPTION_LIST, 0, "from", "URL", &settings.from, "Source (default: PHP's socket); repeatable.",
	  "The default is the socket of PHP on this machine." },
	{ OPTION_LIST, 0, "to", "URL", &settings.to, "Sink for samples; repeatable, up to 8." },
	{ OPTION_STRING, 0, "state", "DIR", &settings.state, "State directory (default: that of strobe serve).",
	  "It has the journal, spool and file offsets, and belongs to one collector only." },
	{ OPTION_STRING, 0, "listen", "HOST:PORT", &settings.listen,
	  "Address for metrics (default: " LISTEN ").",
	  "`none` serves nothing." },
	SETTINGS_LABELS,
	SETTINGS_CONFIG,
	SETTINGS_ARCLAMP,
	SETTINGS_LIMITS,
	SETTINGS_METRICS,
	{ OPTION_FLAG, 'q', "quiet", NULL, &settings.quiet, "Print warnings and errors only." },
	SETTINGS_CAPS,
	SETTINGS_ACCESS("User who may send profiles (*: all); repeatable."),
	{ 0 }
};

static const struct command_spec spec = {
	.name = "collect",
	.usage = "[--from URL]... --to URL... [OPTIONS]",
	.summary = "collect samples from sources and pass them to sinks",
	.description =
		"Passes the samples of every source to every sink. It runs until SIGTERM or Ctrl-C, or until EOF if "
		"standard input is the only source, and flushes all received samples before it exits.\n\n"
		"Sources: unix:SOCKET (the extension), resp://HOST:PORT (a listener that speaks Redis' protocol, for "
		"ArcLamp.php), redis://HOST[:PORT]/?channel=NAME (pub/sub), "
		"redis://HOST[:PORT]/?stream=NAME&group=NAME (acknowledged), file:PATH (folded lines in a file that "
		"grows), runs:DIR (run files written by xhprof_lib or uprofiler_lib), - (folded lines on "
		"standard input).\n\n"
		"Sinks: sqlite:DIR (a store, which `strobe serve` can show), clickhouse://HOST:8123/DATABASE (a store that "
		"several daemons share), logs:DIR (Arc Lamp's trace "
		"logs), redis://HOST[:PORT]/?stream=NAME (another collector), otlp://HOST:4318 and pyroscope://HOST:4040 "
		"(other profilers' servers).\n\n"
		"Parameters follow a ?, such as label.NAME=VALUE, period=DURATION (between two samples, for lines), claim-idle=DURATION "
		"(streams), idle=DURATION (resp:) and window=DURATION (sinks redis:); docs/pipeline.md and docs/relay.md list them "
		"all.\n\n"
		"rediss:// instead of redis:// is Redis over TLS; ca-file=FILE has the certificate of the authority that signed the server's.\n\n"
		"Metrics are at http://" LISTEN ": /metrics, /api/v1/status, /healthz and /readyz; "
		"`strobe status --url http://" LISTEN "` shows them.",
	.examples =
		"strobe collect --to 'redis://redis.example/?stream=strobe'\n"
		"strobe collect --from resp://127.0.0.1:6379 --to logs:/srv/arclamp/logs\n"
		"strobe collect --arclamp /etc/arclamp-log.yaml\n"
		"strobe collect --from - --to sqlite:/tmp/profiles < stacks.folded\n",
	.options = options,
};

/* A pipe on standard input needs no state, and must not conflict with a running daemon. */
static bool needs_state(const struct daemon_options *o)
{
	if (!o->source_count)
		return true;
	for (size_t i = 0; i < o->source_count; i++)
		if (strcmp(o->sources[i], "-") != 0 && strncmp(o->sources[i], "-?", 2) != 0)
			return true;
	for (size_t i = 0; i < o->sink_count; i++)
		if (redis_url_has_scheme(o->sinks[i]))
			return true;
	return false;
}

static int prepare(struct daemon_options *o, struct err *err)
{
	int r;

	if ((r = settings_check(o, err)) < 0 || (r = settings_tokens(o, err)) < 0 || (r = settings_arclamp(o, err)) < 0)
		return r;
	if (!o->sink_count && !settings.to.count && config_place(&settings.config_read, "to")) {
		err_set(err, -EINVAL, "--to is empty, so the samples have no sink; add one, such as sqlite:/var/lib/strobe");
		return err_about(err, "to", NULL);
	}
	if (!o->sink_count)
		return err_set(err, -EINVAL, "no sink for the samples; give --to, such as --to sqlite:/var/lib/strobe");
	if ((r = settings_default_source(o, err)) < 0)
		return r;
	if (!o->state && needs_state(o) && (r = paths_state(NULL, &settings.default_state, err)) < 0)
		return r;
	if (!o->state)
		o->state = settings.default_state;
	o->no_server = o->listen && strcmp(o->listen, "none") == 0;
	o->listen_may_fail = true;
	if (!o->listen)
		o->listen = LISTEN;
	return 0;
}

static int run(int argc, char **argv)
{
	return settings_run(&spec, command_serve.spec, argc, argv, prepare);
}

const struct command command_collect = { &spec, run };
