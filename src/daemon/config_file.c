/* config_file.c: keys of a mapping and names of variables become words of a command line. */

#include "config_file.h"

#include "arclamp_config.h"
#include "io.h"
#include "log.h"
#include "mem.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void config_init(struct config *c)
{
	*c = (struct config){ 0 };
	arena_init(&c->memory);
}

void config_done(struct config *c)
{
	yaml_tree_done(&c->tree);
	arena_done(&c->memory);
	free(c->argv);
	free(c->places);
	*c = (struct config){ 0 };
}

static char *text_of(struct config *c, const char *text)
{
	return arena_copy(&c->memory, text, strlen(text) + 1);
}

static void put_word(struct config *c, const char *word)
{
	GROW(&c->argv, &c->capacity, (size_t)c->argc + 2);
	c->argv[c->argc++] = text_of(c, word);
	c->argv[c->argc] = NULL;
}

static void put_option(struct config *c, const struct option_spec *o, const char *value)
{
	_cleanup_(freep) char *word = value ? xasprintf("--%s=%s", o->name, value) : xasprintf("--%s", o->name);

	put_word(c, word);
}

static void note_place(struct config *c, const struct option_spec *o, const char *item, const char *place)
{
	GROW(&c->places, &c->place_capacity, c->place_count + 1);
	c->places[c->place_count++] = (struct config_place){ o->name, item ? text_of(c, item) : NULL, text_of(c, place) };
}

const char *config_place(const struct config *c, const char *option)
{
	for (size_t i = c->place_count; i-- > 0;)
		if (!c->places[i].item && !strcmp(c->places[i].name, option))
			return c->places[i].place;
	return NULL;
}

const char *config_item_place(const struct config *c, const char *option, const char *item)
{
	for (size_t i = c->place_count; i-- > 0;)
		if (c->places[i].item && !strcmp(c->places[i].name, option) && !strcmp(c->places[i].item, item))
			return c->places[i].place;
	return NULL;
}

/* --- The table --- */

static bool is_end(const struct option_spec *o)
{
	return o->kind == 0 && !o->name && !o->letter && !o->help;
}

/* Whether the file can set this option; it cannot name itself. */
static bool is_key(const struct option_spec *o)
{
	return o->name && o->help && o->kind != OPTION_HEADING && strcmp(o->name, "config") != 0;
}

static const struct option_spec *find(const struct command_spec *spec, const char *name)
{
	for (const struct option_spec *o = spec->options; !is_end(o); o++)
		if (is_key(o) && !strcmp(o->name, name))
			return o;
	return NULL;
}

static const char *nearest(const struct command_spec *spec, const char *name)
{
	const char *names[128];
	size_t n = 0;

	for (const struct option_spec *o = spec->options; !is_end(o) && n + 1 < ARRAY_SIZE(names); o++)
		if (is_key(o))
			names[n++] = o->name;
	names[n] = NULL;
	return options_nearest(name, names);
}

static bool is_set(const struct option_spec *o)
{
	return o->kind == OPTION_LIST && ((const struct option_list *)o->target)->count > 0;
}

static bool is_number(const struct option_spec *o, const char *text)
{
	char *end;

	errno = 0;
	if (o->kind == OPTION_INT)
		strtol(text, &end, 10);
	else if (!isfinite(strtod(text, &end)))
		return false;
	return end != text && !*end && !errno;
}

/* --- The file --- */

static int put_scalar(struct config *c, const struct option_spec *o, const struct yaml_node *n, struct err *err)
{
	const char *text;
	bool flag;
	int r;

	if (o->kind == OPTION_FLAG) {
		r = yaml_get_bool(n, o->name, &flag, err);
		if (r >= 0 && flag)
			put_option(c, o, NULL);
		return r;
	}
	r = yaml_get_text(n, o->name, &text, err);
	if (r < 0)
		return r;
	if ((o->kind == OPTION_INT || o->kind == OPTION_DOUBLE) && !is_number(o, text))
		return yaml_error(n, err, "invalid '%s: %.60s'; use a %snumber", o->name, text, o->kind == OPTION_INT ? "whole " : "");
	put_option(c, o, text);
	if (o->kind == OPTION_LIST) {
		_cleanup_(freep) char *place = xasprintf("%s:%u", n->file, n->line);

		note_place(c, o, text, place);
	}
	return 0;
}

/* "- -" is a list in a list for YAML, and not standard input. */
static int put_item(struct config *c, const struct option_spec *o, const struct yaml_node *n, struct err *err)
{
	if (n->kind != YAML_SCALAR)
		return yaml_error(n, err, "an item of '%s' must be one value; %s", o->name,
				  n->kind == YAML_SEQUENCE ? "quote a \"-\"" : "write it without a key, as in \"- VALUE\"");
	return put_scalar(c, o, n, err);
}

static int put_value(struct config *c, const struct option_spec *o, const struct yaml_node *n, struct err *err)
{
	int r = 0;

	if (o->kind != OPTION_LIST || n->kind == YAML_SCALAR)
		return put_scalar(c, o, n, err);
	if ((r = yaml_want(n, YAML_SEQUENCE, o->name, err)) < 0)
		return r;
	for (const struct yaml_item *i = n->first; i && r >= 0; i = i->next)
		r = put_item(c, o, i->value, err);
	return r;
}

static int put_key(struct config *c, const struct command_spec *spec, const struct yaml_item *i, struct err *err)
{
	const struct option_spec *o = find(spec, i->key->text);
	_cleanup_(freep) char *place = xasprintf("%s:%u", i->key->file, i->key->line);
	const char *near = o ? NULL : nearest(spec, i->key->text);

	if (near)
		return yaml_error(i->key, err, "unknown key '%.60s'; did you mean '%s'?", i->key->text, near);
	if (!o)
		return yaml_error(i->key, err, "unknown key '%.60s'; the keys are the options of `strobe %s`",
				  i->key->text, spec->name);
	if (yaml_is_null(i->value) || is_set(o))
		return 0;
	note_place(c, o, NULL, place);
	return put_value(c, o, i->value, err);
}

static const char *variable_of(const struct option_spec *o, char out[80]);

static int put_file(struct config *c, const struct command_spec *spec, struct err *err)
{
	int r = 0;

	if (yaml_is_null(c->tree.root))
		return 0;
	r = yaml_want(c->tree.root, YAML_MAPPING, NULL, err);
	for (const struct yaml_item *i = c->tree.root->first; r >= 0 && i; i = i->next) {
		const struct option_spec *o = find(spec, i->key->text);
		char name[80];
		const char *set = o && o->kind == OPTION_LIST ? getenv(variable_of(o, name)) : NULL;

		if (!set || !*set)		/* a list in the environment replaces the file's */
			r = put_key(c, spec, i, err);
	}
	return r;
}

/* --- The environment --- */

static const char *variable_of(const struct option_spec *o, char out[80])
{
	snprintf(out, 80, "STROBE_%s", o->name);
	for (char *p = out; *p; p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
	return out;
}

static int put_flag(struct config *c, const struct option_spec *o, const char *name, const char *value, struct err *err)
{
	static const char *const yes[] = { "1", "yes", "true", "on" }, *const no[] = { "0", "no", "false", "off" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		if (!strcasecmp(value, yes[i])) {
			put_option(c, o, NULL);
			return 0;
		}
		if (!strcasecmp(value, no[i]))
			return 0;
	}
	return err_set(err, -EINVAL, "invalid %s '%.60s'; use yes or no", name, value);
}

/* URLs and names have no spaces. */
static void put_argument(struct config *c, const struct option_spec *o, const char *name, const char *value)
{
	_cleanup_(freep) char *copy = xstrdup(value);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " \t\n")))
		if (*word) {
			put_option(c, o, word);
			note_place(c, o, word, name);
		}
}

static int put_environment(struct config *c, const struct command_spec *spec, struct err *err)
{
	int r = 0;

	for (const struct option_spec *o = spec->options; !is_end(o) && r >= 0; o++) {
		char name[80];
		const char *value = is_key(o) ? getenv(variable_of(o, name)) : NULL;

		if (!value || !*value || is_set(o))
			continue;
		note_place(c, o, NULL, name);
		if (o->kind == OPTION_FLAG)
			r = put_flag(c, o, name, value, err);
		else if (o->kind == OPTION_LIST)
			put_argument(c, o, name, value);
		else if ((o->kind == OPTION_INT || o->kind == OPTION_DOUBLE) && !is_number(o, value))
			r = err_set(err, -EINVAL, "invalid %s '%.60s'; use a %snumber", name, value, o->kind == OPTION_INT ? "whole " : "");
		else
			put_option(c, o, value);
	}
	return r;
}

/* Variables that the daemon does not use, but that are not typos: those of the extension, traced requests, tests and
 * benchmarks, and those that Kubernetes sets in each container if a service is named "strobe". A trailing star
 * matches anything. */
static const char *const elsewhere[] = {
	"SOCKET", "CONFIG", "EXTENSION", "TRACE", "TOKEN", "READ_TOKEN",
	"ROOT", "BUILD", "IN_NAMESPACE", "CHROOT", "TEST_*", "KILLS", "RELAY_ROUNDS", "REQUESTS", "SEED", "SENDERS", "SET_CLOCK",
	"SOAK_SECONDS", "DRAIN_SECONDS", "RUN_FILES_QUEUED", "SWITCHES_PER_SECOND", "WITHOUT", "BENCH_*", "PEERS", "WORKLOADS",
	"PORT", "PORT_*", "SERVICE_*",
};

static bool is_elsewhere(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		size_t length = strcspn(elsewhere[i], "*");

		if (n >= length && strncmp(name, elsewhere[i], length) == 0 &&
		    (n == length || elsewhere[i][length] == '*'))
			return true;
	}
	return false;
}

/* Converts the name of a variable to a key of the file: "LABEL_VALUES" to label-values. Longer names than any option
 * are cut. */
static void key_of(const char *name, size_t n, char out[80])
{
	size_t i;

	for (i = 0; i < n && i < 79; i++)
		out[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	out[i] = '\0';
}

static bool is_variable_of(const struct command_spec *spec, const char *key, const char *name, size_t n)
{
	const struct option_spec *o = find(spec, key);
	char variable[80];

	return o && strncmp(variable_of(o, variable) + strlen("STROBE_"), name, n) == 0;
}

static void warn_of(const struct command_spec *spec, const char *name, size_t n, const char *key)
{
	static const char *const rest[] = { "socket", "config", NULL };		/* not keys of a file */
	const char *near = nearest(spec, key);
	char text[80];

	if (!near)
		near = options_nearest(key, rest);
	if (near)
		log_warning("unknown environment variable STROBE_%.*s; did you mean %s?", (int)(n < 60 ? n : 60), name,
			    variable_of(&(struct option_spec){ .name = near }, text));
	else
		log_warning("unknown environment variable STROBE_%.*s; the names are those of the options of "
			    "`strobe %s`, such as STROBE_LISTEN", (int)(n < 60 ? n : 60), name, spec->name);
}

void config_warn_of_variables(const struct command_spec *spec, const struct command_spec *other)
{
	for (char **p = environ; *p; p++) {
		const char *name = *p + strlen("STROBE_");
		size_t n = strcspn(*p, "=");
		char key[80];

		if (strncmp(*p, "STROBE_", strlen("STROBE_")) != 0 || !(*p)[n] || !(*p)[n + 1])
			continue;		/* an empty variable counts as unset */
		n -= strlen("STROBE_");
		key_of(name, n, key);
		if (!is_variable_of(spec, key, name, n) && !is_variable_of(other, key, name, n) &&
		    !is_elsewhere(name, n))
			warn_of(spec, name, n, key);
	}
}

int config_read(struct config *c, const struct command_spec *spec, const char *path, int argc, char **argv,
		struct err *err)
{
	bool may_be_missing = path && path[0] == '-' && path[1];
	bool is_arclamp = false;
	int r = 0;

	put_word(c, argv[0]);
	if (may_be_missing && access(++path, F_OK) < 0 && errno == ENOENT)
		path = NULL;
	if (path && (r = yaml_tree_read(path, &c->tree, err)) < 0)
		return r;
	if (path)
		is_arclamp = arclamp_config_is(c->tree.root);
	if (path && !is_arclamp && (r = put_file(c, spec, err)) < 0)
		return r;
	if ((r = put_environment(c, spec, err)) < 0)
		return r;
	for (int i = 1; i < argc; i++)
		put_word(c, argv[i]);
	return is_arclamp;
}
