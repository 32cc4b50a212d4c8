/* settings.c: the ini table and validation. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "settings.h"

#include "php_strobe.h"
#include "request_labels.h"
#include "secret.h"
#include "setting_words.h"
#include "settings_report.h"
#include "socket_path.h"
#include "standin.h"
#include "trace_keep.h"
#include "tracer.h"
#include "trigger.h"

#include "php_ini.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

/* The arguments of a handler, to pass to another one. */
#define PASS_ON entry, new_value, mh_arg1, mh_arg2, mh_arg3, stage

/* PHP passes "1" for on, yes or true in php.ini and -d. */
static const char *word_problem(const zend_string *value, const char *what)
{
	return zend_string_equals_literal(value, "1") ? "PHP reads on, yes and true as 1, which is invalid here" : what;
}

static ZEND_INI_MH(on_mode)
{
	static const char *const words[] = { "sample", "off", NULL };
	static const char *const on[] = { "1", "on", "yes", "true", "enabled", "always", NULL };
	const char *meant;

	if (zend_string_equals_literal(new_value, "sample")) {
		STROBE_G(sample) = true;
		return SUCCESS;
	}
	if (ZSTR_LEN(new_value) == 0 || zend_string_equals_literal(new_value, "off")) {
		STROBE_G(sample) = false;
		return SUCCESS;
	}
	meant = setting_nearest(ZSTR_VAL(new_value), ZSTR_LEN(new_value), words);
	for (size_t i = 0; on[i]; i++)
		if (strcasecmp(ZSTR_VAL(new_value), on[i]) == 0)
			meant = words[0];
	return setting_refuse(stage, entry, new_value, word_problem(new_value, "unknown mode"), "sample or off", meant);
}

static ZEND_INI_MH(on_clock)
{
	static const char *const words[] = { "wall", "cpu", NULL };

	if (zend_string_equals_literal(new_value, "wall"))
		STROBE_G(cpu_clock) = false;
	else if (zend_string_equals_literal(new_value, "cpu"))
		STROBE_G(cpu_clock) = true;
	else
		return setting_refuse(stage, entry, new_value, word_problem(new_value, "unknown clock"), "wall or cpu",
				      setting_nearest(ZSTR_VAL(new_value), ZSTR_LEN(new_value), words));
	return SUCCESS;
}

/* Returns the reason why a value is not a number in this range, or NULL if it is. */
static const char *range_problem(const zend_string *value, double min, double max, double *ret)
{
	if (!setting_number(value, ret))
		return "not a number";
	return *ret < min ? "too small" : *ret > max ? "too large" : NULL;
}

static ZEND_INI_MH(on_period)
{
	char guess[SETTING_GUESS];
	double v;
	const char *why = range_problem(new_value, STROBE_MIN_PERIOD, STROBE_MAX_PERIOD, &v);

	if (why)
		return setting_refuse(stage, entry, new_value, why, "0.0001 to 3600 seconds",
				      setting_guess_seconds(new_value, STROBE_MIN_PERIOD, STROBE_MAX_PERIOD, guess));
	STROBE_G(period) = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_flush)
{
	char guess[SETTING_GUESS];
	double v;
	const char *why = range_problem(new_value, STROBE_MIN_FLUSH, STROBE_MAX_FLUSH, &v);

	if (why)
		return setting_refuse(stage, entry, new_value, why, "0.01 to 3600 seconds",
				      setting_guess_seconds(new_value, STROBE_MIN_FLUSH, STROBE_MAX_FLUSH, guess));
	STROBE_G(flush) = v;
	return SUCCESS;
}

/* Seconds between two hand-overs of an unfinished trace; 0: none. */
static int set_hand_over(int stage, const zend_ini_entry *entry, const zend_string *value, double *ret)
{
	char guess[SETTING_GUESS];
	double v;
	const char *why = range_problem(value, 0, STROBE_MAX_FLUSH, &v);

	if (!why && v > 0 && v < STROBE_MIN_FLUSH)
		why = "too small";
	if (why)
		return setting_refuse(stage, entry, value, why, "0.01 to 3600 seconds, or 0",
				      setting_guess_seconds(value, STROBE_MIN_FLUSH, STROBE_MAX_FLUSH, guess));
	*ret = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_trace_flush)
{
	return set_hand_over(stage, entry, new_value, &STROBE_G(trace_flush));
}

static ZEND_INI_MH(on_flush_waiting)
{
	return set_hand_over(stage, entry, new_value, &STROBE_G(flush_waiting));
}

/* A share of requests. */
static int set_share(int stage, const zend_ini_entry *entry, const zend_string *value, double *ret)
{
	char guess[SETTING_GUESS];
	double v;
	const char *why = range_problem(value, 0, 1, &v);

	if (why)
		return setting_refuse(stage, entry, value, why, "a share from 0 to 1",
				      setting_guess_share(value, guess));
	*ret = v;
	return SUCCESS;
}

static ZEND_INI_MH(on_request_rate)
{
	return set_share(stage, entry, new_value, &STROBE_G(request_rate));
}

static int set_count(int stage, const zend_ini_entry *entry, const zend_string *value, double min, double max,
		     const char *allowed, zend_long *ret)
{
	char guess[SETTING_GUESS];
	double v;
	const char *why = range_problem(value, min, max, &v);

	if (!why && v != floor(v))
		why = "not a whole number";
	if (why)
		return setting_refuse(stage, entry, value, why, allowed, setting_guess_range(value, min, max, guess));
	*ret = (zend_long)v;
	return SUCCESS;
}

static ZEND_INI_MH(on_max_depth)
{
	return set_count(stage, entry, new_value, STROBE_MIN_DEPTH, STROBE_MAX_DEPTH, "4 to 8192 frames",
			 &STROBE_G(max_depth));
}

static ZEND_INI_MH(on_trace_max_nodes)
{
	return set_count(stage, entry, new_value, STROBE_MIN_NODES, STROBE_MAX_NODES, "1024 to 67108864 nodes",
			 &STROBE_G(trace_max_nodes));
}

static ZEND_INI_MH(on_trace_chart_calls)
{
	return set_count(stage, entry, new_value, STROBE_MIN_CHART, STROBE_MAX_CHART, "1024 to 16777216 calls",
			 &STROBE_G(trace_chart_calls));
}

/* "auto" depends on other settings, so settings_register decides. */
static ZEND_INI_MH(on_instrument)
{
	static const char *const words[] = { "auto", "on", "off", NULL };
	bool on;

	if (zend_string_equals_literal(new_value, "auto") || setting_switch(new_value, &on))
		return SUCCESS;
	return setting_refuse(stage, entry, new_value, "unknown value", "auto, 1 or 0",
			      setting_nearest(ZSTR_VAL(new_value), ZSTR_LEN(new_value), words));
}

static ZEND_INI_MH(on_switch)
{
	bool on;

	if (!setting_switch(new_value, &on))
		return setting_refuse(stage, entry, new_value, "unknown value", "1 or 0", NULL);
	return OnUpdateBool(PASS_ON);
}

/* By then the call observer can no longer be registered for a pool or a directory. */
static void report_without_observer(int stage, const char *name)
{
	if (stage != ZEND_INI_STAGE_STARTUP && !tracer_available())
		settings_report(stage, "%s has no effect: PHP was started without the call observer; set "
				"strobe.instrument=1 in php.ini", name);
}

static ZEND_INI_MH(on_trace_rate)
{
	int r = set_share(stage, entry, new_value, &STROBE_G(trace_rate));

	if (r == SUCCESS && STROBE_G(trace_rate) > 0)
		report_without_observer(stage, ZSTR_VAL(entry->name));
	return r;
}

static ZEND_INI_MH(on_trace_keep)
{
	if (trace_keep_on_change(PASS_ON) == SUCCESS)
		return SUCCESS;
	return setting_refuse(stage, entry, new_value, "unknown condition",
			      "slow:500ms, slow:2s, status:404, status:5xx and failed, separated by commas", NULL);
}

static ZEND_INI_MH(on_trigger_secret)
{
	int r = trigger_on_change(PASS_ON);
	size_t n = new_value ? ZSTR_LEN(new_value) : 0;

	/* The value must not be shown. */
	if (n && (n < SECRET_MIN || n > SECRET_MAX))
		settings_report(stage, "%s is ignored: it has %zu byte%s; use 16 to 256 bytes", ZSTR_VAL(entry->name), n,
				n == 1 ? "" : "s");
	else if (r == SUCCESS && n)
		report_without_observer(stage, ZSTR_VAL(entry->name));
	return r;
}

/* Known names are used even if others are unknown. */
static ZEND_INI_MH(on_compat)
{
	char unknown[64];
	const char *meant;
	struct shown_value value;

	standin_parse(ZSTR_VAL(new_value), unknown, sizeof(unknown));
	if (*unknown && settings_report_wanted(stage)) {
		value = shown_value(ZSTR_VAL(new_value), ZSTR_LEN(new_value));
		meant = setting_nearest(unknown, strcspn(unknown, ","), standin_names);
		settings_report(stage, "%s=%s: there is no stand-in for %s; use excimer, tideways_xhprof, xhprof or "
				"uprofiler%s%s%s", ZSTR_VAL(entry->name), value.text,
				shown_value(unknown, strlen(unknown)).text, meant ? " (did you mean " : "",
				meant ? meant : "", meant ? "?)" : "");
	}
	return OnUpdateString(PASS_ON);
}

/* Valid labels are used, unless the program can be told of the error (ini_set). */
static ZEND_INI_MH(on_labels)
{
	struct label_problem problem;

	if (request_labels_check(ZSTR_VAL(new_value), &problem)) {
		if (stage == ZEND_INI_STAGE_RUNTIME)
			return FAILURE;
		settings_report(stage, "%s=%s: \"%s\" is ignored: %s; use key=value,key=value in quotes",
				ZSTR_VAL(entry->name), shown_value(ZSTR_VAL(new_value), ZSTR_LEN(new_value)).text,
				shown_value(problem.part, problem.size).text, problem.why);
	}
	return OnUpdateString(PASS_ON);
}

/* An invalid path is kept nevertheless: samples must not go to another daemon than intended. */
static ZEND_INI_MH(on_socket)
{
	const char *path = ZSTR_VAL(new_value);
	const char *why = NULL;

	if (strncmp(path, "unix:", 5) == 0)
		path += 5;
	if (*path != '/' && strchr(path, ':'))
		why = "reaches no daemon: not a path";
	else if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		why = "reaches no daemon: longer than 107 bytes, the limit of socket paths";
	else if (*path && *path != '/')
		why = "is relative to PHP's working directory";
	if (why)
		settings_report(stage, "%s=%s %s; use /path or unix:/path", ZSTR_VAL(entry->name),
				shown_value(ZSTR_VAL(new_value), ZSTR_LEN(new_value)).text, why);
	return OnUpdateString(PASS_ON);
}

/* The socket determines where data is sent, so scripts cannot change it; all other settings only determine what is
 * measured. */
PHP_INI_BEGIN()
	PHP_INI_ENTRY("strobe.mode", "off", PHP_INI_ALL, on_mode)
	PHP_INI_ENTRY("strobe.clock", "wall", PHP_INI_ALL, on_clock)
	PHP_INI_ENTRY("strobe.period", "0.01", PHP_INI_ALL, on_period)
	PHP_INI_ENTRY("strobe.flush", "1", PHP_INI_ALL, on_flush)
	PHP_INI_ENTRY("strobe.request_rate", "1.0", PHP_INI_ALL, on_request_rate)
	PHP_INI_ENTRY("strobe.max_depth", "512", PHP_INI_ALL, on_max_depth)
	STD_PHP_INI_BOOLEAN("strobe.lines", "1", PHP_INI_ALL, on_switch, lines, zend_strobe_globals, strobe_globals)
	STD_PHP_INI_ENTRY("strobe.socket", "", PHP_INI_SYSTEM, on_socket, socket, zend_strobe_globals, strobe_globals)
	STD_PHP_INI_ENTRY("strobe.labels", "", PHP_INI_ALL, on_labels, labels, zend_strobe_globals, strobe_globals)
	STD_PHP_INI_ENTRY("strobe.compat", "", PHP_INI_SYSTEM, on_compat, compat, zend_strobe_globals, strobe_globals)
	PHP_INI_ENTRY("strobe.instrument", "auto", PHP_INI_SYSTEM, on_instrument)
	STD_PHP_INI_BOOLEAN("strobe.compat_builtins", "0", PHP_INI_SYSTEM, on_switch, compat_builtins,
			    zend_strobe_globals, strobe_globals)
	PHP_INI_ENTRY("strobe.trace_rate", "0", PHP_INI_ALL, on_trace_rate)
	PHP_INI_ENTRY("strobe.trace_flush", "0", PHP_INI_ALL, on_trace_flush)
	PHP_INI_ENTRY("strobe.flush_waiting", "0", PHP_INI_SYSTEM, on_flush_waiting)
	PHP_INI_ENTRY("strobe.trace_keep", "", PHP_INI_ALL, on_trace_keep)
	PHP_INI_ENTRY_EX("strobe.trigger_secret", "", PHP_INI_SYSTEM | PHP_INI_PERDIR, on_trigger_secret, trigger_show)
	PHP_INI_ENTRY("strobe.trace_max_nodes", "262144", PHP_INI_ALL, on_trace_max_nodes)
	STD_PHP_INI_BOOLEAN("strobe.trace_flame_chart", "0", PHP_INI_ALL, on_switch, trace_flame_chart,
			    zend_strobe_globals, strobe_globals)
	PHP_INI_ENTRY("strobe.trace_chart_calls", "1000000", PHP_INI_ALL, on_trace_chart_calls)
PHP_INI_END()

/* The observer can only be registered during PHP's startup, so settings that need it later must request it now. */
static bool wants_observer(void)
{
	const zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), ZEND_STRL("strobe.instrument"));

	if (entry && entry->value && !zend_string_equals_literal(entry->value, "auto"))
		return zend_ini_parse_bool(entry->value);
	return STROBE_G(trace_rate) > 0 || trigger_is_configured() || (standin_wanted() & STANDIN_TRACERS);
}

/* PHP does not report unknown names. */
static void report_unknown_names(void)
{
	const char *names[sizeof(ini_entries) / sizeof(*ini_entries)] = { NULL };
	HashTable *configured = (HashTable *)php_ini_get_configuration_hash();
	zend_string *name;

	for (size_t i = 0; ini_entries[i].name; i++)
		names[i] = ini_entries[i].name + strlen("strobe.");
	ZEND_HASH_FOREACH_STR_KEY(configured, name) {
		const char *meant;

		if (!name || strncasecmp(ZSTR_VAL(name), "strobe.", strlen("strobe.")) != 0 ||
		    zend_hash_exists(EG(ini_directives), name))
			continue;
		meant = setting_nearest(ZSTR_VAL(name) + strlen("strobe."), ZSTR_LEN(name) - strlen("strobe."), names);
		settings_report(ZEND_INI_STAGE_STARTUP, "%s is not a setting of strobe %s%s%s%s; %s it",
				shown_value(ZSTR_VAL(name), ZSTR_LEN(name)).text, PHP_STROBE_VERSION,
				meant ? " (did you mean strobe." : "", meant ? meant : "", meant ? "?)" : "", meant ? "rename" : "remove");
	} ZEND_HASH_FOREACH_END();
}

void settings_register(int module_number)
{
	socket_path_startup();
	settings_report_startup();
	zend_register_ini_entries_ex(ini_entries, module_number, MODULE_PERSISTENT);
	trigger_startup();
	STROBE_G(instrument) = wants_observer();
	report_unknown_names();
}

void settings_unregister(int module_number)
{
	zend_unregister_ini_entries_ex(module_number, MODULE_PERSISTENT);
	socket_path_shutdown();
	settings_report_shutdown();
}
