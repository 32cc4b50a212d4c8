/* php_setting_check.c: one table row per setting. */
#include "php_setting_check.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

enum kind { WORDS, NUMBER, WHOLE, ZERO_OR_NUMBER, SWITCH, COMPAT, LABELS, SOCKET, SECRET, KEEP };

static const struct rule {
	const char *name;
	enum kind kind;
	const char *unknown;		/* message about unknown words: "unknown mode" */
	const char *words[4];
	double min, max;
	const char *use;
} rules[] = {
	{ "mode", WORDS, "unknown mode", { "sample", "off", "" }, .use = "sample or off" },
	{ "clock", WORDS, "unknown clock", { "wall", "cpu" }, .use = "wall or cpu" },
	{ "period", NUMBER, .min = 0.0001, .max = 3600, .use = "0.0001 to 3600 seconds" },
	{ "flush", NUMBER, .min = 0.01, .max = 3600, .use = "0.01 to 3600 seconds" },
	{ "trace_flush", ZERO_OR_NUMBER, .min = 0.01, .max = 3600, .use = "0.01 to 3600 seconds, or 0" },
	{ "request_rate", NUMBER, .min = 0, .max = 1, .use = "a share from 0 to 1" },
	{ "trace_rate", NUMBER, .min = 0, .max = 1, .use = "a share from 0 to 1" },
	{ "max_depth", WHOLE, .min = 4, .max = 8192, .use = "4 to 8192 frames" },
	{ "trace_max_nodes", WHOLE, .min = 1024, .max = 67108864, .use = "1024 to 67108864 nodes" },
	{ "trace_flame_chart", SWITCH, .use = "1 or 0" },
	{ "trace_chart_calls", WHOLE, .min = 1024, .max = 16777216, .use = "1024 to 16777216 calls" },
	{ "instrument", SWITCH, .words = { "auto" }, .use = "auto, 1 or 0" },
	{ "lines", SWITCH, .use = "1 or 0" },
	{ "compat_builtins", SWITCH, .use = "1 or 0" },
	{ "compat", COMPAT, .use = "excimer, tideways_xhprof, xhprof or uprofiler" },
	{ "labels", LABELS, .use = "key=value,key=value in quotes" },
	{ "socket", SOCKET, .use = "/path or unix:/path" },
	{ "trigger_secret", SECRET, .use = "16 to 256 bytes" },
	{ "trace_keep", KEEP },
};

bool php_setting_number(const char *text, double *ret)
{
	char *end;

	/* Excludes hexadecimal numbers, infinity and leading blanks, which strtod would accept. */
	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;
	*ret = strtod(text, &end);
	return !*end && isfinite(*ret);
}

static const char *word_problem(const struct rule *r, const char *value)
{
	for (size_t i = 0; i < 4 && r->words[i]; i++)
		if (!strcmp(r->words[i], value))
			return NULL;
	return strcmp(value, "1") ? r->unknown : "PHP reads on, yes and true as 1, which is invalid here";
}

static const char *number_problem(const struct rule *r, const char *value)
{
	double v;

	if (!php_setting_number(value, &v))
		return "not a number";
	if (r->kind == ZERO_OR_NUMBER && v == 0)
		return NULL;
	if (v < r->min)
		return "too small";
	if (v > r->max)
		return "too large";
	return r->kind == WHOLE && v != floor(v) ? "not a whole number" : NULL;
}

static const char *switch_problem(const struct rule *r, const char *value)
{
	static const char *const words[] = { "", "0", "1", "on", "off", "yes", "no", "true", "false", "none", NULL };
	double v;

	if (r->words[0] && !strcmp(value, r->words[0]))
		return NULL;
	for (size_t i = 0; words[i]; i++)
		if (!strcasecmp(value, words[i]))
			return NULL;
	return php_setting_number(value, &v) && v != 0 ? NULL : "unknown value";
}

/* Copies the first invalid part of a list to `out`; false if all are valid. */
static bool wrong_name(const char *value, char *out, size_t size)
{
	static const char *const names[] = { "excimer", "tideways_xhprof", "xhprof", "uprofiler", NULL };

	for (;;) {
		size_t n, i = 0;

		value += strspn(value, ", \t");
		n = strcspn(value, ", \t");
		if (!n)
			return false;
		while (names[i] && (strlen(names[i]) != n || strncasecmp(names[i], value, n)))
			i++;
		if (!names[i]) {
			snprintf(out, size, "%.*s", (int)n, value);
			return true;
		}
		value += n;
	}
}

static bool is_label_key(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return false;
	return n > 0 && n <= 64 && !isdigit((unsigned char)p[0]);
}

static const char *wrong_label(const char *value, char *out, size_t size)
{
	for (;;) {
		const char *equals, *why = NULL;
		size_t n, key;

		value += strspn(value, ", \t");
		n = strcspn(value, ",");
		if (!n)
			return NULL;
		equals = memchr(value, '=', n);
		key = equals ? (size_t)(equals - value) : 0;
		while (key && (value[key - 1] == ' ' || value[key - 1] == '\t'))
			key--;
		if (!equals)
			why = "it has no \"=\"";
		else if (!is_label_key(value, key))
			why = "a key is 1 to 64 letters, digits and \"_\", and does not begin with a digit";
		if (why) {
			snprintf(out, size, "%.*s", (int)n, value);
			return why;
		}
		value += n;
	}
}

static const char *socket_problem(const char *path)
{
	if (!strncmp(path, "unix:", 5))
		path += 5;
	if (*path != '/' && strchr(path, ':'))
		return "reaches no daemon: not a path";
	if (strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return "reaches no daemon: longer than 107 bytes, the limit of socket paths";
	if (*path && *path != '/')
		return "is relative to PHP's working directory";
	return NULL;
}

static bool check_value(const struct rule *r, const char *name, const char *value, char *out, size_t size)
{
	const char *why = NULL;
	size_t n;
	char part[48];

	switch (r->kind) {
	case WORDS:
		why = word_problem(r, value);
		break;
	case NUMBER:
	case WHOLE:
	case ZERO_OR_NUMBER:
		why = number_problem(r, value);
		break;
	case SWITCH:
		why = switch_problem(r, value);
		break;
	case COMPAT:
		if (!wrong_name(value, part, sizeof(part)))
			return false;
		snprintf(out, size, "%s=%.60s: there is no stand-in for %s", name, value, part);
		return true;
	case LABELS:
		if (!(why = wrong_label(value, part, sizeof(part))))
			return false;
		snprintf(out, size, "%s=%.60s: \"%s\" is ignored: %s", name, value, part, why);
		return true;
	case SOCKET:
		if (!(why = socket_problem(value)))
			return false;
		snprintf(out, size, "%s=%.60s %s", name, value, why);
		return true;
	case SECRET:	/* never shown */
		n = strlen(value);
		if (!n || (n >= 16 && n <= 256))
			return false;
		snprintf(out, size, "%s is ignored: it has %zu byte%s", name, n, n == 1 ? "" : "s");
		return true;
	case KEEP:
		return false;
	}
	if (why)
		snprintf(out, size, "%s=%.60s is ignored: %s", name, value, why);
	return why;
}

static bool is_value_used(enum kind kind)
{
	return kind == COMPAT || kind == LABELS || kind == SOCKET;
}

bool php_setting_check(const char *name, const char *value, struct setting_verdict *ret)
{
	*ret = (struct setting_verdict){ 0 };
	if (strncmp(name, "strobe.", 7) || strstr(value, "${"))
		return false;
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!strcmp(rules[i].name, name + 7)) {
			snprintf(ret->use, sizeof(ret->use), "%s", rules[i].use ? rules[i].use : "");
			ret->ignored = check_value(&rules[i], name, value, ret->why, sizeof(ret->why)) && !is_value_used(rules[i].kind);
			return *ret->why;
		}
	snprintf(ret->why, sizeof(ret->why), "%.60s is not a setting of strobe " STROBE_VERSION, name);
	return true;
}
