/* cgroup_names.c: parses the components of each path. */
#include "cgroup_names.h"

#include "text.h"

#include <ctype.h>

#define UID_SIZE	36u		/* 8-4-4-4-12 digits */
#define STATIC_UID	32u		/* static pods, whose manifest is a file: a hash without dashes */

struct str cgroup_container_id(struct str name)
{
	size_t digits = 0;

	for (size_t i = 0; i < name.n; i++) {
		digits = isxdigit((unsigned char)name.p[i]) ? digits + 1 : 0;
		if (digits == CGROUP_CONTAINER_DIGITS && (i + 1 == name.n || !isxdigit((unsigned char)name.p[i + 1])))
			return (struct str){ name.p + i + 1 - digits, digits };
	}
	return (struct str){ NULL, 0 };
}

static size_t count_digits(struct str s)
{
	size_t n = 0;

	while (n < s.n && isxdigit((unsigned char)s.p[n]))
		n++;
	return n;
}

static bool is_uid(struct str s)
{
	static const size_t dashes[] = { 8, 13, 18, 23 };

	if (s.n < UID_SIZE)
		return false;
	for (size_t i = 0, d = 0; i < UID_SIZE; i++) {
		bool is_dash = d < ARRAY_SIZE(dashes) && dashes[d] == i;

		d += is_dash;
		if (is_dash ? s.p[i] != '-' && s.p[i] != '_' : !isxdigit((unsigned char)s.p[i]))
			return false;
	}
	return true;
}

/* Returns the part after the last "pod" of "kubepods-burstable-podUID.slice" or "podUID". */
static struct str pod_uid(struct str name)
{
	for (size_t at = name.n; at-- > 0; ) {
		struct str rest = { name.p + at, name.n - at };

		if (!text_starts(rest, "pod"))
			continue;
		rest = (struct str){ rest.p + 3, rest.n - 3 };
		if (is_uid(rest))
			return (struct str){ rest.p, UID_SIZE };
		if (count_digits(rest) == STATIC_UID)
			return (struct str){ rest.p, STATIC_UID };
	}
	return (struct str){ NULL, 0 };
}

/* Podman's and CRI-O's monitor of a container has a cgroup of its own, named after the container:
 * "libpod-conmon-ID.scope". */
static bool is_monitor(struct str name)
{
	return text_has(name, "-conmon-");
}

static void read_component(struct str name, struct cgroup_names *ret)
{
	struct str id = is_monitor(name) ? (struct str){ NULL, 0 } : cgroup_container_id(name);
	struct str pod = pod_uid(name);

	if (pod.n)
		ret->pod = pod;
	if (id.n)
		ret->container = id;
	else if (!ret->container.n && text_ends(name, ".service"))
		ret->unit = name;
	else if (!ret->container.n && text_ends(name, ".slice"))
		ret->slice = name;
}

/* containerd joins the parts with colons if the systemd driver is configured on one side only. */
static void read_path(struct str path, struct cgroup_names *ret)
{
	for (size_t at = 0, n; at < path.n; at += n + 1) {
		for (n = 0; at + n < path.n && path.p[at + n] != '/' && path.p[at + n] != ':'; n++)
			;
		read_component((struct str){ path.p + at, n }, ret);
	}
}

static struct str behind_colons(struct str line)
{
	for (int i = 0; i < 2; i++) {
		const char *colon = memchr(line.p, ':', line.n);

		if (!colon)
			return (struct str){ line.p, 0 };
		line = (struct str){ colon + 1, line.n - (size_t)(colon + 1 - line.p) };
	}
	return line;
}

/* With version 1 a process may be in its container's group for some controllers only, so the first line with a value
 * wins. */
static void keep_first(struct cgroup_names *ret, const struct cgroup_names *line)
{
	if (!ret->container.n)
		ret->container = line->container;
	if (!ret->pod.n)
		ret->pod = line->pod;
	if (!ret->unit.n)
		ret->unit = line->unit;
	if (!ret->slice.n)
		ret->slice = line->slice;
}

void cgroup_names_read(struct str text, struct cgroup_names *ret)
{
	*ret = (struct cgroup_names){ 0 };
	for (size_t at = 0, n; at < text.n; at += n + 1) {
		const char *newline = memchr(text.p + at, '\n', text.n - at);
		struct cgroup_names line = { 0 };

		n = newline ? (size_t)(newline - text.p) - at : text.n - at;
		read_path(behind_colons((struct str){ text.p + at, n }), &line);
		keep_first(ret, &line);
	}
}
