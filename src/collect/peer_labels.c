/* peer_labels.c: applies label rules to two files of /proc. */
#include "peer_labels.h"

#include "cgroup_names.h"
#include "io.h"
#include "mem.h"
#include "strobe_wire.h"
#include "text.h"

#include <assert.h>

#define CGROUP_MAX		((size_t)64 << 10)
#define ENVIRONMENT_MAX		((size_t)2 << 20)	/* the kernel's default limit for a program */
#define SHORT_ID		12u

enum kind { CGROUP, ENVIRONMENT, OTEL, DAEMON_ENVIRONMENT };

static const char *const kinds[] = { "cgroup", "env", "otel", "daemon-env" };
static const char *const cgroup_parts[] = { "container", "pod", "unit", "slice" };

struct rule {
	char *label, *name;
	enum kind kind;
};

struct peer_labels {
	struct rule rules[PEER_LABELS_MAX];
	size_t count;
	bool wants_cgroup, wants_environment;
};

/* --- Rules --- */

static int find_kind(const char *text, enum kind *ret, const char **ret_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i]);

		if (strncmp(text, kinds[i], n) || text[n] != ':' || !text[n + 1])
			continue;
		*ret = (enum kind)i;
		*ret_name = text + n + 1;
		return 0;
	}
	return -EINVAL;
}

static bool is_cgroup_part(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cgroup_parts); i++)
		if (!strcmp(name, cgroup_parts[i]))
			return true;
	return false;
}

static int add_rule(struct peer_labels *p, const char *text, struct err *err)
{
	const char *is = strchr(text, '='), *name = NULL;
	enum kind kind;

	if (!is || !strobe_wire_is_label_key((const uint8_t *)text, (size_t)(is - text)))
		return err_set(err, -EINVAL, "LABEL=KIND:NAME, as in pod=env:POD_NAME, with letters, digits and _ in LABEL");
	if (find_kind(is + 1, &kind, &name) < 0)
		return err_set(err, -EINVAL, "cgroup:, env:, otel: or daemon-env: and a name after the =");
	if (kind == CGROUP && !is_cgroup_part(name))
		return err_set(err, -EINVAL, "cgroup:container, cgroup:pod, cgroup:unit or cgroup:slice");
	p->rules[p->count++] = (struct rule){ xstrndup(text, (size_t)(is - text)), xstrdup(name), kind };
	p->wants_cgroup |= kind == CGROUP;
	p->wants_environment |= kind == ENVIRONMENT || kind == OTEL;
	return 0;
}

static bool has_label(const struct peer_labels *p, const char *rule)
{
	for (size_t i = 0; i < p->count; i++) {
		size_t n = strlen(p->rules[i].label);

		if (!strncmp(rule, p->rules[i].label, n) && rule[n] == '=')
			return true;
	}
	return false;
}

int peer_labels_new(const char *const *rules, size_t n, struct peer_labels **ret, struct err *err)
{
	struct peer_labels *p;
	int r = 0;

	*ret = NULL;
	if (!n)
		return 0;
	if (n > PEER_LABELS_MAX)
		return err_set(err, -EINVAL, "there are more than %u label rules", PEER_LABELS_MAX);
	p = xcalloc(1, sizeof(*p));
	for (size_t i = 0; i < n && r >= 0; i++)
		r = has_label(p, rules[i]) ? err_set(err, -EINVAL, "'%s': the label already has a rule", rules[i]) :
					     add_rule(p, rules[i], err);
	if (r < 0) {
		peer_labels_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

struct peer_labels *peer_labels_free(struct peer_labels *p)
{
	for (size_t i = 0; p && i < p->count; i++) {
		free(p->rules[i].label);
		free(p->rules[i].name);
	}
	free(p);
	return NULL;
}

/* --- Values --- */

static void set_label(struct labels *l, const struct rule *rule, struct str value)
{
	if (value.n)
		labels_set(l, rule->label, strlen(rule->label), value.p,
			   value.n < STROBE_WIRE_LABEL_VALUE ? value.n : STROBE_WIRE_LABEL_VALUE);
}

static void set_from_cgroup(struct labels *l, const struct rule *rule, const struct cgroup_names *names)
{
	char uid[64];

	if (!strcmp(rule->name, "container")) {
		set_label(l, rule, (struct str){ names->container.p, names->container.n ? SHORT_ID : 0 });
	} else if (!strcmp(rule->name, "pod")) {
		assert(names->pod.n < sizeof(uid));
		for (size_t i = 0; i < names->pod.n; i++)
			uid[i] = names->pod.p[i] == '_' ? '-' : names->pod.p[i];
		set_label(l, rule, (struct str){ uid, names->pod.n });
	} else {
		set_label(l, rule, !strcmp(rule->name, "unit") ? names->unit : names->slice);
	}
}

/* Finds NAME=… among parts that end with `end`. */
static struct str find_value(struct str text, char end, const char *name)
{
	size_t size = strlen(name);

	for (size_t at = 0, n; at < text.n; at += n + 1) {
		const char *part = text.p + at, *stop = memchr(part, end, text.n - at);

		n = stop ? (size_t)(stop - part) : text.n - at;
		if (n > size && !memcmp(part, name, size) && part[size] == '=')
			return (struct str){ part + size + 1, n - size - 1 };
	}
	return (struct str){ NULL, 0 };
}

/* "service.name=shop,deployment.environment=production", the values percent-encoded. */
static void set_from_otel(struct labels *l, const struct rule *rule, struct str environment)
{
	struct str value = { NULL, 0 };
	_cleanup_(freep) char *decoded = NULL;

	if (!strcmp(rule->name, "service.name"))
		value = find_value(environment, '\0', "OTEL_SERVICE_NAME");
	if (value.n) {
		set_label(l, rule, value);
		return;
	}
	value = find_value(find_value(environment, '\0', "OTEL_RESOURCE_ATTRIBUTES"), ',', rule->name);
	decoded = xstrndup(value.n ? value.p : "", value.n);
	if (text_unescape_url(decoded, value.n, &value.n) == 0)
		set_label(l, rule, (struct str){ decoded, value.n });
}

void peer_labels_from(const struct peer_labels *p, struct str cgroup, struct str environment, struct labels *ret)
{
	struct cgroup_names names;

	cgroup_names_read(cgroup, &names);
	for (size_t i = 0; i < p->count; i++) {
		const struct rule *rule = &p->rules[i];
		const char *own = rule->kind == DAEMON_ENVIRONMENT ? getenv(rule->name) : NULL;

		if (rule->kind == CGROUP)
			set_from_cgroup(ret, rule, &names);
		else if (rule->kind == ENVIRONMENT)
			set_label(ret, rule, find_value(environment, '\0', rule->name));
		else if (rule->kind == OTEL)
			set_from_otel(ret, rule, environment);
		else if (own)
			set_label(ret, rule, (struct str){ own, strlen(own) });
	}
}

static int read_file(pid_t pid, const char *name, size_t limit, struct buf *text, struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return io_read_file(path, text, limit, err);
}

int peer_labels_read(const struct peer_labels *p, pid_t pid, struct labels *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf cgroup = { 0 }, environment = { 0 };
	int r = 0, r2 = 0;

	buf_init(&cgroup);
	buf_init(&environment);
	if (pid <= 0 && (p->wants_cgroup || p->wants_environment))
		r = err_set(err, -ESRCH, "a process from another PID namespace is connected, which /proc does "
					 "not show here; run the daemon in the host's PID namespace");
	if (pid > 0 && p->wants_cgroup)
		r = read_file(pid, "cgroup", CGROUP_MAX, &cgroup, err);
	if (pid > 0 && p->wants_environment)
		r2 = read_file(pid, "environ", ENVIRONMENT_MAX, &environment, err);
	if (r2 >= 0 && environment.size && !memchr(environment.data, '=', environment.size))
		r2 = err_set(err, -ENODATA, "process %d has overwritten its environment, as PHP-FPM does with its process title; let PHP add "
					    "variables: strobe.labels=\"pod=${POD_NAME}\"",
			     (int)pid);
	peer_labels_from(p, (struct str){ cgroup.data, cgroup.size }, (struct str){ environment.data, environment.size }, ret);
	return r < 0 ? r : r2 < 0 ? r2 : 0;
}
