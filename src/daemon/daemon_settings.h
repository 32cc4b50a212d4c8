/* daemon_settings.h: the common options of `strobe serve` and `strobe collect`, as text and resolved. */
#ifndef DAEMON_DAEMON_SETTINGS_H
#define DAEMON_DAEMON_SETTINGS_H

#include "arclamp_config.h"
#include "buf.h"
#include "config_file.h"
#include "daemon.h"
#include "options.h"

/* Targets of the option tables of both commands. Strings belong to `config` or to the command line. */
struct settings {
	struct config config_read;		/* all options, from every place */
	struct buf token, read_token, probe_token;
	char *default_socket, *default_store, *default_state;
	const char *default_source;		/* a list with one item */
	struct arclamp_config arclamp_config;	/* the file that `arclamp` or `config` names */
	char *arclamp_sink;			/* URL of the tree that this file names */
	const char **sinks;			/* `to` and that sink; NULL: only `to` */
	char **sources;				/* `from`, where listeners have the channels of that file; NULL:
						 * `from` unchanged */
	size_t source_count;
	const char *config;
	bool has_file;				/* a configuration file is in use or may appear, so SIGHUP rereads
						 * it */
	struct option_list from, to, allow_hosts, proxies, writers, source_dirs, service_labels, label_rules;
	const char *listen, *store, *state, *token_file, *read_token_file, *user_header, *arclamp, *arclamp_metrics;
	const char *probe_listen, *probe_token_file, *max_bytes, *min_free, *runs_size, *queue_bytes, *query_memory;
	double retain_days, runs_days;
	long runs_count, label_values, series;
	bool quiet;
};

extern struct settings settings;

/* Runs such a command: fills the settings from the command line, the environment and the configuration file, lets
 * `prepare` fill the options (all zero before), and runs the daemon. SIGHUP makes it do both again, or ends it if there
 * is no configuration file. Variables that are options of `other` are not unknown. Returns the exit code. */
int settings_run(const struct command_spec *spec, const struct command_spec *other, int argc, char **argv,
		 int (*prepare)(struct daemon_options *o, struct err *err));

/* The rows that both option tables have. */
#define SETTINGS_CONFIG                                                                                                                                          \
	{                                                                                                                                                        \
		OPTION_STRING, 'c', "config", "FILE", &settings.config,                                                                                          \
			"Read options from this YAML file.",                                                                                                     \
			"With - before its name, the file may be missing. Options can also be set by environment variables, such as STROBE_LISTEN for --listen." \
	}
#define SETTINGS_LIMITS                                                                                                     \
	{ OPTION_DOUBLE, 0, "retain", "DAYS", &settings.retain_days,                                                        \
	  "Expire older samples (default: 30; 0: never)." },                                                                \
		{ OPTION_STRING, 0, "max-bytes", "SIZE", &settings.max_bytes,                                               \
		  "Size of samples (default: 10G; 0: no limit).",                                                           \
		  "Above this size the oldest samples are evicted. The minimum is 64M." },                                  \
	{                                                                                                                   \
		OPTION_STRING, 0, "min-free", "SIZE", &settings.min_free,                                                   \
			"Disk space kept free (default: 256M; 0: none).",                                                   \
			"If less space is free, the oldest samples are evicted. On a small disk the default is 10% of its size." \
	}
#define SETTINGS_CAPS                                                                                                              \
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Limits (data beyond them is dropped or becomes `other`, and is counted)" },        \
		{ OPTION_STRING, 0, "queue-bytes", "SIZE", &settings.queue_bytes,                                                  \
		  "Queue of each sink in memory (default: 256M)." },                                                               \
		{ OPTION_INT, 0, "label-values", "N", &settings.label_values,                                                      \
		  "Values of one label per day (default: 1,000)." },                                                               \
	{                                                                                                                          \
		OPTION_INT, 0, "series", "N", &settings.series,                                                                    \
			"Label sets per second (default: 10,000).", "Samples of further sets are counted under the entry `other`." \
	}
#define SETTINGS_LABELS                                                                                                                                        \
	{                                                                                                                                                      \
		OPTION_LIST, 0, "label-from", "RULE", &settings.label_rules,                                                                                   \
			"Add a label, as in pod=env:POD_NAME; repeatable.",                                                                                    \
			"RULE is LABEL=KIND:NAME; KIND:NAME is cgroup:container, cgroup:pod, cgroup:unit, cgroup:slice, env:VAR, otel:ATTR or daemon-env:VAR." \
	}
#define SETTINGS_ARCLAMP \
	{ OPTION_STRING, 0, "arclamp", "FILE", &settings.arclamp, \
	  "Write the trace logs of this arclamp-log.yaml.", \
	  "Collects from its Redis unless --from is given." }
#define SETTINGS_METRICS                                                               \
	{                                                                              \
		OPTION_STRING, 0, "arclamp-metrics", "DIR", &settings.arclamp_metrics, \
			"Add arclamp_* metrics of the logs in DIR."                    \
	}
#define SETTINGS_ACCESS(writer_help)                                                                                      \
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Access control" },                                        \
		{ OPTION_STRING, 0, "token-file", "FILE", &settings.token_file,                           \
		  "Require the token in FILE (or STROBE_TOKEN).",                                         \
		  "A daemon that listens beyond loopback needs it, unless it trusts a proxy." },                                  \
		{ OPTION_STRING, 0, "read-token-file", "FILE", &settings.read_token_file,                 \
		  "Read-only token (or STROBE_READ_TOKEN)." },                                            \
		{ OPTION_LIST, 0, "trusted-proxy", "CIDR", &settings.proxies,                             \
		  "Trust user names from this network; repeatable.", "CIDR is an IP address or a range, such as 10.0.0.0/8." }, \
		{ OPTION_STRING, 0, "user-header", "HEADER", &settings.user_header,                       \
		  "User name header (default: X-Forwarded-User)." },                                      \
		{ OPTION_LIST, 0, "writer", "USER", &settings.writers,                                    \
		  writer_help },                                     \
		{ OPTION_LIST, 0, "allow-host", "HOST", &settings.allow_hosts,                            \
		  "Also accept this host name; repeatable." },                                            \
		{ OPTION_STRING, 0, "probe-listen", "HOST:PORT", &settings.probe_listen,                  \
		  "Serve only health checks and /metrics here." },                                        \
	{                                                                                                 \
		OPTION_STRING, 0, "probe-token-file", "FILE", &settings.probe_token_file,                 \
			"Token for probes (or STROBE_PROBE_TOKEN)."                                       \
	}

/* Numbers and sizes, checked, into `o`; texts stay shared with the settings. -EINVAL with a sentence that begins with
 * the option's name and with the place where it was set. */
int settings_check(struct daemon_options *o, struct err *err);

/* Resolves options: the text of tokens, Arc Lamp's file, the socket as the default source. */
int settings_tokens(struct daemon_options *o, struct err *err);
int settings_arclamp(struct daemon_options *o, struct err *err);	/* before the default source */
int settings_default_source(struct daemon_options *o, struct err *err);

#endif
