/* daemon_settings.c: the defaults of the daemon's settings, and their validation. */

#include "daemon_settings.h"

#include "clock.h"
#include "command.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "paths.h"
#include "peer_labels.h"
#include "queries.h"
#include "roles.h"
#include "secrets.h"
#include "size.h"
#include "source_text.h"
#include "strobe_wire.h"
#include "token.h"

#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define RETAIN_DAYS_MAX	36500
#define QUEUE_MIN	((uint64_t)1 << 20)
#define MIN_FREE	"256M"
#define STORE_MIN	((uint64_t)64 << 20)	/* below it an hour of a small site does not fit */
#define COUNT_MAX	1000000

struct settings settings;

/* Sets the defaults of all options. */
static void set_defaults(void)
{
	settings = (struct settings){
		.max_bytes = "10G", .runs_size = "2G", .queue_bytes = "256M", .query_memory = "1G",
		.retain_days = 30, .runs_days = 30,
		.runs_count = 10000, .label_values = 1000, .series = 10000,
	};
	config_init(&settings.config_read);
	buf_init(&settings.token);
	buf_init(&settings.read_token);
	buf_init(&settings.probe_token);
}

static void free_lists(struct settings *s)
{
	free(s->from.items);
	free(s->to.items);
	free(s->allow_hosts.items);
	free(s->proxies.items);
	free(s->writers.items);
	free(s->source_dirs.items);
	free(s->service_labels.items);
	free(s->label_rules.items);
	s->from = s->to = s->allow_hosts = s->proxies = s->writers = s->source_dirs = s->service_labels = s->label_rules =
		(struct option_list){ 0 };
}

static void done(struct settings *s)
{
	free_lists(s);
	config_done(&s->config_read);
	buf_done(&s->token);
	buf_done(&s->read_token);
	buf_done(&s->probe_token);
	arclamp_config_done(&s->arclamp_config);
	free(s->arclamp_sink);
	free(s->sinks);
	for (size_t i = 0; i < s->source_count; i++)
		free(s->sources[i]);
	free(s->sources);
	free(s->default_socket);
	free(s->default_store);
	free(s->default_state);
}

static int no_operands(const struct command_spec *spec, int operands, char **argv, struct err *err)
{
	return operands ? err_set(err, -EINVAL, "unexpected argument '%s'; %s takes options only", argv[1], spec->name) : 0;
}

static const struct command_spec *parsed;	/* whose options are those of `settings` */

/* Parsing may reorder the arguments, so each pass gets its own copy. */
static int parse(const struct command_spec *spec, int argc, char **argv, struct err *err)
{
	_cleanup_(freep) char **copy = xcalloc((size_t)argc + 1, sizeof(*copy));
	int operands = 0, r;

	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	parsed = spec;
	r = options_parse(spec, argc, copy, false, &operands, err);
	return r ? r : no_operands(spec, operands, copy, err);
}

/* Returns 0, 1 for --help, -EINVAL for invalid options, or another error if a file cannot be read. */
static int read_all(const struct command_spec *spec, int argc, char **argv, struct err *err)
{
	struct config config;
	const char *path;
	int r;

	set_defaults();
	r = parse(spec, argc, argv, err);
	if (r)
		return r;
	path = settings.config ? settings.config : getenv("STROBE_CONFIG");
	config_init(&config);
	r = config_read(&config, spec, path && *path ? path : NULL, argc, argv, err);
	free_lists(&settings);
	set_defaults();
	settings.config_read = config;
	if (r == 1)
		settings.arclamp = path[0] == '-' ? path + 1 : path;
	settings.has_file = path && *path;
	return r < 0 ? r : parse(spec, config.argc, config.argv, err);
}

static int wrong_at(const char *place, const char *option, struct err *err, const char *text)
{
	if (!place)
		return err_set(err, -EINVAL, "--%s%s", option, text);
	return strchr(place, ':') ? err_set(err, -EINVAL, "%s: '%s'%s", place, option, text) :
				    err_set(err, -EINVAL, "%s%s", place, text);
}

/* Prefixes an error with the origin of a setting: "/etc/strobe.yaml:7: ". */
static int wrong(const char *option, struct err *err, const char *format, ...) _printf_(3, 4);
static int wrong(const char *option, struct err *err, const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return wrong_at(config_place(&settings.config_read, option), option, err, text);
}

static int invalid_at(const char *place, const char *option, const char *value, struct err *err, const char *use)
{
	if (place && strchr(place, ':'))
		return err_set(err, -EINVAL, "%s: invalid '%s: %.80s'; use %s", place, option, value, use);
	return err_set(err, -EINVAL, "invalid %s '%.80s'; use %s", place ? place : options_given(parsed, option).name, value, use);
}

/* "invalid --series '0'; use 1 to 9", or with the origin: "invalid STROBE_SERIES '0'; …", "/etc/strobe.yaml:7: invalid
 * 'series: 0'; …". */
static int invalid(const char *option, struct err *err, const char *use, ...) _printf_(3, 4);
static int invalid(const char *option, struct err *err, const char *use, ...)
{
	struct option_given given = options_given(parsed, option);
	char text[512];
	va_list arguments;

	va_start(arguments, use);
	vsnprintf(text, sizeof(text), use, arguments);
	va_end(arguments);
	return invalid_at(config_place(&settings.config_read, option), option, given.value ? given.value : "", err, text);
}

/* The same for an item of a list. */
static int invalid_item(const char *option, const char *item, struct err *err, const char *use)
{
	const char *place = config_item_place(&settings.config_read, option, item);

	return invalid_at(place ? place : config_place(&settings.config_read, option), option, item, err, use);
}

/* The same for a sentence of another part, which may begin with the option: "--writer names users", or "invalid
 * --listen 'x'; use …". */
static void locate(struct err *err)
{
	const char *option = err->option, *place = option && err->item ? config_item_place(&settings.config_read, option, err->item) : NULL;
	_cleanup_(freep) char *text = xstrdup(err->text);
	_cleanup_(freep) char *named = option ? xasprintf("--%s", option) : NULL;
	_cleanup_(freep) char *refused = option ? xasprintf("invalid --%s '", option) : NULL;
	const char *rest = named && strncmp(text, named, strlen(named)) == 0 ? text + strlen(named) : NULL;
	const char *value = refused && strncmp(text, refused, strlen(refused)) == 0 ? text + strlen(refused) : NULL;

	if (option && !place)
		place = config_place(&settings.config_read, option);
	if (place && value && strchr(place, ':'))
		err_set(err, err->code, "%s: invalid '%s: %s", place, option, value);
	else if (place && value)
		err_set(err, err->code, "invalid %s '%s", place, value);
	else if (place && strchr(place, ':'))
		err_set(err, err->code, "%s: '%s'%s%s", place, option, rest ? "" : ": ", rest ? rest : text);
	else if (place)
		err_set(err, err->code, "%s%s%s", place, rest ? "" : ": ", rest ? rest : text);
}

/* A listener's URL has the channels of Arc Lamp's file appended, so it is not found in any list of the
 * configuration. */
static const char *place_of(const char *option, const char *url)
{
	const char *place = config_item_place(&settings.config_read, option, url);

	return place || strcmp(option, "store") ? place : config_place(&settings.config_read, option);
}

static int size_of(const char *option, const char *text, uint64_t *ret, struct err *err)
{
	return size_parse(text, ret, NULL) < 0 ? invalid(option, err, SIZE_EXAMPLES) : 0;
}

static int check_days(const char *option, double days, int64_t *ret_ns, struct err *err)
{
	if (!(days >= 0 && days <= RETAIN_DAYS_MAX))
		return invalid(option, err, "0 to %d days", RETAIN_DAYS_MAX);
	*ret_ns = (int64_t)(days * (double)NS_PER_DAY);
	return 0;
}

static int check_source_dirs(const struct option_list *dirs, struct err *err)
{
	struct err why = { 0 };

	for (size_t i = 0; i < dirs->count; i++)
		if (source_text_check_dir(dirs->items[i], &why) < 0)
			return invalid_item("source-dir", dirs->items[i], err, why.text);
		else if (!source_text_dir_exists(dirs->items[i]))
			log_warning("the directory of source-dir '%s' does not exist; the page cannot show source below it", dirs->items[i]);
	return 0;
}

static int check_service_labels(const struct option_list *labels, struct err *err)
{
	for (size_t i = 0; i < labels->count; i++) {
		size_t n = strlen(labels->items[i]);

		if (n > STROBE_WIRE_LABEL_KEY || !strobe_wire_is_label_key((const uint8_t *)labels->items[i], n))
			return invalid_item("service-label", labels->items[i], err, "the name of a label: letters, digits and _");
	}
	return 0;
}

static int check_label_rules(const struct option_list *rules, struct err *err)
{
	struct peer_labels *p;
	struct err why = { 0 };

	for (size_t i = 0; i < rules->count; i++) {
		if (peer_labels_new(rules->items + i, 1, &p, &why) < 0)
			return invalid_item("label-from", rules->items[i], err, why.text);
		peer_labels_free(p);
	}
	if (peer_labels_new(rules->items, rules->count, &p, &why) < 0)
		return wrong("label-from", err, ": %s", why.text);
	peer_labels_free(p);
	return 0;
}

static int check_count(const char *option, long n, unsigned *ret, struct err *err)
{
	if (n < 1 || n > COUNT_MAX)
		return invalid(option, err, "1 to %d", COUNT_MAX);
	*ret = (unsigned)n;
	return 0;
}

static void share_texts(const struct settings *s, struct daemon_options *o)
{
	o->place = place_of;
	o->locate = locate;
	o->listen = s->listen;
	o->probe_listen = s->probe_listen;
	o->sources = s->from.items;
	o->source_count = s->from.count;
	o->sinks = s->to.items;
	o->sink_count = s->to.count;
	o->state = s->state;
	o->arclamp_metrics = s->arclamp_metrics;
	o->allow_hosts = s->allow_hosts.items;
	o->allow_host_count = s->allow_hosts.count;
	o->source_dirs = s->source_dirs.items;
	o->source_dir_count = s->source_dirs.count;
	o->service_labels = s->service_labels.items;
	o->service_label_count = s->service_labels.count;
	o->label_rules = s->label_rules.items;
	o->label_rule_count = s->label_rules.count;
	o->roles = (struct roles_options){
		.proxies = s->proxies.items,
		.proxy_count = s->proxies.count,
		.user_header = s->user_header,
		.writers = s->writers.items,
		.writer_count = s->writers.count,
	};
}

int settings_check(struct daemon_options *o, struct err *err)
{
	const struct settings *s = &settings;
	int r;

	if ((r = check_days("retain", s->retain_days, &o->limits.max_age_ns, err)) < 0 ||
	    (r = size_of("max-bytes", s->max_bytes, &o->limits.max_bytes, err)) < 0 ||
	    (r = size_of("min-free", s->min_free ? s->min_free : MIN_FREE, &o->limits.min_free_bytes, err)) < 0 ||
	    (r = check_days("runs-age", s->runs_days, &o->limits.runs_max_age_ns, err)) < 0)
		return r;
	o->limits.min_free_is_guess = !s->min_free;
	if (o->limits.max_bytes && o->limits.max_bytes < STORE_MIN)
		return invalid("max-bytes", err, "64M or more, or 0 for no limit");
	if (s->runs_count < 0)
		return invalid("runs-count", err, "0 (all) or more");
	o->limits.runs_max_count = (uint64_t)s->runs_count;
	if ((r = size_of("runs-size", s->runs_size, &o->limits.runs_max_bytes, err)) < 0 ||
	    (r = size_of("queue-bytes", s->queue_bytes, &o->queue_bytes, err)) < 0 ||
	    (r = check_count("label-values", s->label_values, &o->label_values, err)) < 0 ||
	    (r = check_count("series", s->series, &o->series, err)) < 0)
		return r;
	if (o->queue_bytes < QUEUE_MIN)
		return invalid("queue-bytes", err, "1M or more");
	if ((r = size_of("query-memory", s->query_memory, &o->query_memory, err)) < 0)
		return r;
	if (o->query_memory < QUERY_MEMORY_MIN)
		return invalid("query-memory", err, "64M or more");
	if ((r = check_source_dirs(&s->source_dirs, err)) < 0 || (r = check_service_labels(&s->service_labels, err)) < 0)
		return r;
	if ((r = check_label_rules(&s->label_rules, err)) < 0)
		return r;
	if (s->probe_listen && s->listen && !strcmp(s->listen, "none"))
		return wrong("probe-listen", err, " needs an address of --listen");
	share_texts(s, o);
	return 0;
}

static int take_token(const char *option, const char *path, const char *variable, struct buf *token, const char **ret,
		      struct err *err)
{
	struct err why = { 0 };
	int r = token_get(path, variable, token, &why);

	if (r == -ENOENT)
		err_set(&why, r, "'%s' does not exist; create it with: " TOKEN_COMMAND " '%s'", path, path);
	if (r >= 0 && token->size && roles_check_token(token->data, &why) < 0)
		r = -EBADMSG;
	if (r < 0 && !path)
		return err_set(err, r, "%s: %s", variable, why.text);
	if (r < 0) {
		wrong(option, err, ": %s", why.text);
		return err->code = r;
	}
	if (path && token_file_is_exposed(path))
		log_warning("other users may read the token in '%s'; chmod 600 keeps it secret", path);
	*ret = token->size ? token->data : NULL;
	return 0;
}

int settings_tokens(struct daemon_options *o, struct err *err)
{
	struct settings *s = &settings;
	int r;

	if ((r = take_token("token-file", s->token_file, TOKEN_VARIABLE, &s->token, &o->roles.token, err)) < 0 ||
	    (r = take_token("read-token-file", s->read_token_file, TOKEN_READ_VARIABLE, &s->read_token, &o->roles.read_token, err)) < 0)
		return r;
	return take_token("probe-token-file", s->probe_token_file, TOKEN_PROBE_VARIABLE, &s->probe_token, &o->roles.probe_token, err);
}

static void add_arclamp_sink(struct daemon_options *o)
{
	struct settings *s = &settings;

	s->arclamp_sink = xasprintf("logs:%s", s->arclamp_config.logs.base);
	s->sinks = xcalloc(s->to.count + 1, sizeof(*s->sinks));
	s->sinks[0] = s->arclamp_sink;
	for (size_t i = 0; i < s->to.count; i++)
		s->sinks[i + 1] = s->to.items[i];
	o->sinks = s->sinks;
	o->sink_count = s->to.count + 1;
	o->logs = &s->arclamp_config.logs;
}

static bool names_channels(const char *url)
{
	for (const char *p = strchr(url, '?'); p; p = strchr(p + 1, '&'))
		if (strncmp(p + 1, "channel=", strlen("channel=")) == 0)
			return true;
	return false;
}

/* A listener in place of the file's Redis takes the channels that arclamp-log would have subscribed to. */
static void select_channels(struct daemon_options *o, const char *channels)
{
	struct settings *s = &settings;

	s->sources = xcalloc(o->source_count, sizeof(*s->sources));
	for (size_t i = 0; i < o->source_count; i++) {
		const char *url = o->sources[i];
		bool wants = strncmp(url, "resp:", strlen("resp:")) == 0 && !names_channels(url);

		s->sources[i] = wants ? xasprintf("%s%cchannel=%s", url, strchr(url, '?') ? '&' : '?', channels) :
			xstrdup(url);
	}
	s->source_count = o->source_count;
	o->sources = (const char *const *)s->sources;
}

int settings_arclamp(struct daemon_options *o, struct err *err)
{
	struct arclamp_config *c = &settings.arclamp_config;
	int r;

	if (!settings.arclamp)
		return 0;
	r = arclamp_config_read(settings.arclamp, c, err);
	if (r < 0)
		return err_about(err, "arclamp", NULL);
	for (size_t i = 0; i < c->warning_count; i++)
		log_warning("%s", c->warnings[i]);
	if (!o->source_count && !c->source_url) {
		err_set(err, -EINVAL, "%s", c->source_problem ? c->source_problem : "the file names no Redis; give --from");
		return err_about(err, "arclamp", NULL);
	}
	if (!o->source_count) {
		settings.default_source = c->source_url;
		o->sources = &settings.default_source;
		o->source_count = 1;
	} else if (c->channels_problem) {
		/* A listener would otherwise accept all channels instead of the intended ones. */
		err_set(err, -EINVAL, "%s", c->channels_problem);
		return err_about(err, "arclamp", NULL);
	} else if (c->channels) {
		select_channels(o, c->channels);
	}
	add_arclamp_sink(o);
	return 0;
}

int settings_default_source(struct daemon_options *o, struct err *err)
{
	int r;

	if (o->source_count)
		return 0;
	if (config_place(&settings.config_read, "from"))		/* an empty list: pushes only */
		return settings.listen && !strcmp(settings.listen, "none") ?
			wrong("from", err, " is empty, and with --listen none nothing can be pushed; add a source") : 0;
	r = paths_socket(&settings.default_socket, err);
	if (r < 0)
		return r;
	settings.default_source = settings.default_socket;
	o->sources = &settings.default_source;
	o->source_count = 1;
	return 0;
}

/* --- The command --- */

/* The inputs that SIGHUP rereads. */
static struct {
	const struct command_spec *spec;
	int argc;
	char **argv;
	int (*prepare)(struct daemon_options *o, struct err *err);
} command;

/* A reload replaces `settings`. `before` has the previous ones until the reload is complete, and `first` those of the
 * start, which the daemon keeps using for settings that cannot change (addresses, directories, the token). */
static struct settings first, before;
static bool has_first;

static int reload(struct daemon_options *ret, struct err *err)
{
	int r;

	before = settings;
	r = read_all(command.spec, command.argc, command.argv, err);
	*ret = (struct daemon_options){ 0 };
	return r < 0 ? r : command.prepare(ret, err);
}

static void apply_quiet(void)
{
	log_set_level(settings.quiet ? 1 : 2);
}

static void reloaded(bool taken)
{
	if (taken)
		apply_quiet();
	if (taken && !has_first) {
		first = before;
		has_first = true;
	} else if (taken) {
		done(&before);
	} else {
		done(&settings);
		settings = before;
	}
}

static int print_help(const struct command_spec *spec)
{
	_cleanup_(buf_done) struct buf help = { 0 };

	buf_init(&help);
	options_help(spec, &help);
	fwrite(help.data, 1, help.size, stdout);
	return fflush(stdout) ? EXIT_ERROR : EXIT_OK;
}

/* ps no longer shows the token, but shell histories and unit files do, and it was visible for a moment. */
static void warn_of_secrets(int argc, char **argv)
{
	bool found = false;

	for (int i = 1; i < argc && !found; i++) {
		_cleanup_(freep) char *word = xstrdup(argv[i]);

		found = secrets_redact(word, strlen(word) + 1);
	}
	if (found)
		log_warning("a password on the command line can be read by other users while a program starts; use "
			    "password-file=FILE, a variable such as STROBE_FROM, or the configuration file");
}

int settings_run(const struct command_spec *spec, const struct command_spec *other, int argc, char **argv,
		 int (*prepare)(struct daemon_options *o, struct err *err))
{
	struct daemon_options o = { 0 };
	struct err err = { 0 };
	int r;

	command.spec = spec;
	command.argc = argc;
	command.argv = argv;
	command.prepare = prepare;
	r = read_all(spec, argc, argv, &err);
	if (r == 1)
		return print_help(spec);
	if (r < 0 || (r = prepare(&o, &err)) < 0) {
		locate(&err);
		return r == -EINVAL ? command_usage(spec, "%s", err.text) : command_fail(spec, &err);
	}
	apply_quiet();
	warn_of_secrets(argc, argv);
	config_warn_of_variables(spec, other);
	if (settings.has_file || settings.arclamp) {
		o.reload = reload;
		o.reloaded = reloaded;
	}
	r = daemon_run(&o, &err);
	if (r < 0) {
		locate(&err);
		command_fail(spec, &err);
	}
	done(&settings);
	if (has_first)
		done(&first);
	return r == -ENODATA ? EXIT_NO_SAMPLES : r < 0 ? EXIT_ERROR : EXIT_OK;
}
