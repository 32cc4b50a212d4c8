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
	struct config config_read;		/* all that was said, wherever */
	struct buf token, read_token, probe_token;
	char *default_socket, *default_store, *default_state;
	const char *default_source;		/* a list of one */
	struct arclamp_config arclamp_config;	/* of the file that `arclamp` or `config` names */
	char *arclamp_sink;			/* its URL */
	const char **sinks;			/* with it; NULL: those of `to` */
	char **sources;				/* those of `from`, listeners with the channels of that file; NULL: as
						 * they are */
	size_t source_count;
	const char *config;
	bool has_file;				/* or there could be one: SIGHUP reads it again */
	struct option_list from, to, allow_hosts, proxies, writers, source_dirs, label_rules;
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
#define SETTINGS_CONFIG \
	{ OPTION_STRING, 'c', "config", "FILE", &settings.config, \
	  "Read options from this YAML file, whose keys are their names; also from variables such as STROBE_LISTEN. A minus " \
	  "in front (-c -/etc/strobe.yaml) means that the file may be missing." }
#define SETTINGS_LIMITS \
	{ OPTION_DOUBLE, 0, "retain", "DAYS", &settings.retain_days, \
	  "Remove what is older from a store; 30 unless given, 0 keeps all." }, \
	{ OPTION_STRING, 0, "max-bytes", "SIZE", &settings.max_bytes, \
	  "Remove the oldest days of a store above this size (500M, 10G), and when one day is left its oldest hours; 10G unless " \
	  "given, 64M at least, 0 is no limit." }, \
	{ OPTION_STRING, 0, "min-free", "SIZE", &settings.min_free, \
	  "The same while the disk has less room than this; unless given 256M, or a tenth of a smaller disk; 0 is no limit." }
#define SETTINGS_CAPS \
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Caps (what is above them is dropped or becomes `other`, and is counted)" }, \
	{ OPTION_STRING, 0, "queue-bytes", "SIZE", &settings.queue_bytes, \
	  "Memory of what waits for one sink that is slow or fails; 256M unless given." }, \
	{ OPTION_INT, 0, "label-values", "N", &settings.label_values, \
	  "Values of one label on one day; further ones count as `other`; 1,000 unless given." }, \
	{ OPTION_INT, 0, "series", "N", &settings.series, \
	  "Sets of labels in one second; further ones count as entry `other`; 10,000 unless given." }
#define SETTINGS_LABELS \
	{ OPTION_LIST, 0, "label-from", "RULE", &settings.label_rules, \
	  "Add a label that says where a PHP process runs: LABEL=cgroup:container (or pod, unit, slice), LABEL=env:VARIABLE, " \
	  "LABEL=otel:ATTRIBUTE, LABEL=daemon-env:VARIABLE; may be given several times." }
#define SETTINGS_ARCLAMP \
	{ OPTION_STRING, 0, "arclamp", "FILE", &settings.arclamp, \
	  "Write the trace logs of this arclamp-log.yaml, and collect from its Redis unless --from is given. -c takes such a " \
	  "file, too." }
#define SETTINGS_METRICS \
	{ OPTION_STRING, 0, "arclamp-metrics", "DIR", &settings.arclamp_metrics, \
	  "Add the arclamp_* series of this tree of trace logs to /metrics." }
#define SETTINGS_WHO \
	{ OPTION_HEADING, 0, NULL, NULL, NULL, "Access control" }, \
	{ OPTION_STRING, 0, "token-file", "FILE", &settings.token_file, \
	  "Ask every visitor for the token in this file, or in the variable STROBE_TOKEN. One is needed to listen beyond this machine, or a trusted proxy." }, \
	{ OPTION_STRING, 0, "read-token-file", "FILE", &settings.read_token_file, \
	  "Another token, which may look and not add or remove runs; or in STROBE_READ_TOKEN." }, \
	{ OPTION_LIST, 0, "trusted-proxy", "ADDRESS", &settings.proxies, \
	  "Believe this reverse proxy (192.0.2.7, 10.0.0.0/8) who its users are; may be given several times. They may look." }, \
	{ OPTION_STRING, 0, "user-header", "NAME", &settings.user_header, \
	  "Header in which such a proxy names the user; X-Forwarded-User unless given." }, \
	{ OPTION_LIST, 0, "writer", "USER", &settings.writers, \
	  "User of such a proxy who may also add and remove runs (* is every one); may be given several times." }, \
	{ OPTION_LIST, 0, "allow-host", "NAME", &settings.allow_hosts, \
	  "Also answer under this name, such as that of a reverse proxy; may be given several times." }, \
	{ OPTION_STRING, 0, "probe-listen", "ADDRESS", &settings.probe_listen, \
	  "Also answer /healthz, /readyz and /metrics, and nothing else, at this address; nowhere unless given." }, \
	{ OPTION_STRING, 0, "probe-token-file", "FILE", &settings.probe_token_file, \
	  "File with a token for these three only, at either address, or STROBE_PROBE_TOKEN. --probe-listen beyond this machine needs one." }

/* Numbers and sizes, checked, into `o`; texts stay shared with the settings. -EINVAL with a sentence that begins with
 * the option's name and with the place where it was set. */
int settings_check(struct daemon_options *o, struct err *err);

/* Resolves options: the text of tokens, Arc Lamp's file, the socket as the default source. */
int settings_tokens(struct daemon_options *o, struct err *err);
int settings_arclamp(struct daemon_options *o, struct err *err);	/* before the default source */
int settings_default_source(struct daemon_options *o, struct err *err);

#endif
