/* check_settings.c: checks PHP's settings that affect sampling. */
#include "doctor.h"

#include "mem.h"
#include "php_setting_check.h"

#include <string.h>
#include <strings.h>

static double number(const struct php_settings *s, const char *name, double otherwise)
{
	struct setting_verdict verdict;
	const char *value = php_settings_get(s, name, NULL);
	double v;

	return value && !php_setting_check(name, value, &verdict) && php_setting_number(value, &v) ? v : otherwise;
}

/* Compares the value in effect: PHP ignores an invalid one, and keeps the previous value, here the default. */
static bool is(const struct php_settings *s, const char *name, const char *value)
{
	return !strcmp(php_settings_get(s, name, ""), value);
}

static bool is_on(const char *value)
{
	static const char *const off[] = { "", "0", "off", "no", "false", "none", "disable" };

	for (size_t i = 0; i < ARRAY_SIZE(off); i++)
		if (!strcasecmp(value, off[i]))
			return false;
	return true;
}

/* Parses "64M"; only zero or not matters. */
static bool is_size(const char *value)
{
	return strtod(value, NULL) > 0;
}

/* --- the JIT, as extension/sample/jit.c reads it */

static unsigned version_of(const struct php_binary *php)
{
	unsigned major = 0, minor = 0;

	sscanf(php->version, "%u.%u", &major, &minor);
	return major * 100 + minor;
}

static bool jit_is_on(const struct php_binary *php, const struct php_settings *s)
{
	const struct php_setting *line;
	bool new = version_of(php) >= 804;

	if (!php_settings_extensions(s, "opcache", &line) && version_of(php) < 805)
		return false;
	if (!is_on(php_settings_get(s, "opcache.enable", "1")))
		return false;
	if (!strcmp(php->sapi, "cli") && !is_on(php_settings_get(s, "opcache.enable_cli", "0")))
		return false;
	return is_size(php_settings_get(s, "opcache.jit_buffer_size", new ? "64M" : "0")) &&
	       is_on(php_settings_get(s, "opcache.jit", new ? "disable" : "tracing"));
}

/* Mirrors settings.c of the extension: "auto" waits for settings that need the call observer. */
static bool has_observer(const struct php_settings *s)
{
	const char *instrument = php_settings_get(s, "strobe.instrument", "auto"), *compat = php_settings_get(s, "strobe.compat", "");

	if (strcmp(instrument, "auto"))
		return is_on(instrument);
	return number(s, "strobe.trace_rate", 0) > 0 || *php_settings_get(s, "strobe.trigger_secret", "") ||
	       strstr(compat, "xhprof") || strstr(compat, "uprofiler");
}

/* --- findings */

/* Returns "strobe.mode = sample in /etc/php/8.2/fpm/conf.d/90-strobe.ini", with the file that has the setting `item`,
 * or else the one that loads the extension. The caller frees. */
static char *change_item(const struct php_settings *s, const struct php_setting *item, const char *name, const char *value)
{
	if (!item)
		php_settings_extensions(s, "strobe", &item);
	if (!item || !*item->file)
		return xasprintf("%s = %s", name, value);
	return xasprintf("%s = %s in %s; then restart that PHP", name, value, item->file);
}

char *doctor_change(const struct php_settings *s, const char *name, const char *value)
{
	return change_item(s, php_settings_find(s, name), name, value);
}

static void put_place(struct buf *b, const struct php_setting *item)
{
	if (!*item->file)
		buf_puts(b, " (on the command line)");
	else
		buf_printf(b, " (%s:%u)", item->file, item->line);
}

static void add_invalid(struct findings *f, enum level level, const char *area, const char *about, const struct php_settings *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct php_setting *item = &s->items[i];
		_cleanup_(freep) char *fix = NULL;
		_cleanup_(buf_done) struct buf place = { 0 };
		struct setting_verdict verdict;

		/* An invalid value that is overridden later is harmless. */
		if ((!item->no_effect && item != php_settings_find(s, item->name)) ||
		    !php_setting_check(item->name, item->value, &verdict))
			continue;
		buf_init(&place);
		put_place(&place, item);
		if (*verdict.use)
			fix = change_item(s, item, item->name, strcmp(item->name, "strobe.mode") ? verdict.use : "sample");
		else
			fix = xstrdup("remove the line, or correct the name");
		findings_add(f, strcmp(item->name, "strobe.mode") && strcmp(item->name, "strobe.socket") ? LEVEL_WARNING : level, area,
			     "setting-invalid", about, fix, "%s%s", verdict.why, place.data);
	}
}

void doctor_put_mode(const struct php_settings *s, struct buf *out)
{
	double rate = number(s, "strobe.request_rate", 1), traces = number(s, "strobe.trace_rate", 0);

	if (is(s, "strobe.mode", "sample")) {
		buf_puts(out, "samples every ");
		buf_printf(out, "%g s", number(s, "strobe.period", 0.01));
		buf_puts(out, is(s, "strobe.clock", "cpu") ? " of CPU time" : " of wall time");
		if (rate < 1)
			buf_printf(out, ", %g %% of requests", rate * 100);
	} else {
		buf_puts(out, "no sampling");
	}
	if (traces > 0)
		buf_printf(out, ", traces %g %% of requests", traces * 100);
	else if (*php_settings_get(s, "strobe.trigger_secret", ""))
		buf_puts(out, ", traces requests with the secret");
}

static void add_jit(struct findings *f, enum level level, const char *area, const char *about, const struct php_binary *php,
		    const struct php_settings *s)
{
	if (version_of(php) >= 805)
		findings_add(f, level, area, "jit", about, "strobe.instrument = 1 in php.ini samples at function calls",
			     "nothing is sampled: interrupts have not been tested on PHP %s", php->version);
	else
		findings_add(f, level, area, "jit", about,
			     "strobe.instrument = 1 in php.ini samples at function calls; or opcache.jit = disable",
			     "nothing is sampled: opcache.jit = %s, and code of PHP's JIT compiler must not be interrupted",
			     php_settings_get(s, "opcache.jit", "tracing"));
}

bool doctor_settings(struct findings *f, enum level level, const char *area, const char *about, const struct php_binary *php,
		     const struct php_settings *s)
{
	const struct php_setting *mode = php_settings_find(s, "strobe.mode");
	bool sample = is(s, "strobe.mode", "sample"), observer = has_observer(s);
	bool other_use = observer || *php_settings_get(s, "strobe.compat", "");
	struct setting_verdict verdict;
	_cleanup_(freep) char *fix = NULL;

	add_invalid(f, level, area, about, s);
	if (!sample && !(mode && php_setting_check("strobe.mode", mode->value, &verdict)) && !other_use) {
		_cleanup_(buf_done) struct buf place = { 0 };

		buf_init(&place);
		if (mode)
			put_place(&place, mode);
		fix = doctor_change(s, "strobe.mode", "sample");
		findings_add(f, level, area, "mode-off", about, fix, "the extension is loaded, but strobe.mode is off%s",
			     mode ? place.data : ", the default");
	}
	if (sample && number(s, "strobe.request_rate", 1) == 0) {
		fix = doctor_change(s, "strobe.request_rate", "1");
		findings_add(f, level, area, "rate-zero", about, fix, "strobe.request_rate is 0: no request is sampled");
		sample = false;
	}
	if (sample && !observer && (jit_is_on(php, s) || version_of(php) >= 805)) {
		add_jit(f, level, area, about, php, s);
		sample = false;
	}
	return sample || observer;
}
