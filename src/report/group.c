/* group.c: groups stacks by file, class, namespace or package, and filters them.
 *
 * Each result is a profile of the same kind, so all tables and pictures work with it; recursion within a class counts
 * once, like that of a function. Edges are grouped, too; but they have no stacks, so a selection of stacks comes from
 * the estimated tree. */

#include "report.h"

#include "edges.h"
#include "mem.h"
#include "same_kind.h"
#include "text.h"

#include <string.h>

static const struct {
	const char *one, *many, *key;		/* key: NULL if it is `one` */
} names[REPORT_BY_COUNT] = {
	[REPORT_BY_FUNCTION] = { "function", "functions" },
	[REPORT_BY_LINE] = { "line", "lines" },
	[REPORT_BY_FILE] = { "file", "files" },
	[REPORT_BY_CLASS] = { "class", "classes" },
	[REPORT_BY_NAMESPACE] = { "namespace", "namespaces" },
	[REPORT_BY_PACKAGE] = { "package", "packages" },
	[REPORT_BY_OWN] = { "function", "functions", "own" },
};

const char *report_by_name(enum report_by by, bool plural)
{
	return plural ? names[by].many : names[by].one;
}

const char *report_by_key(enum report_by by)
{
	return names[by].key ? names[by].key : names[by].one;
}

bool report_by_parse(const char *text, enum report_by *ret)
{
	for (enum report_by by = 0; by < REPORT_BY_COUNT; by++)
		if (!strcmp(text, report_by_key(by))) {
			*ret = by;
			return true;
		}
	return false;
}

/* "{closure:A\B::c():12}" is code of A\B::c; before PHP 8.4 it is "A\B::{closure}". */
static struct str without_closure(struct str s)
{
	static const char mark[] = "{closure:";
	const char *stop;

	if (!text_starts(s, mark))
		return s;
	s = (struct str){ s.p + strlen(mark), s.n - strlen(mark) };
	stop = memmem(s.p, s.n, "()", 2);
	return stop ? (struct str){ s.p, (size_t)(stop - s.p) } : (struct str){ s.p, 0 };
}

/* The position of the last :: outside of brackets, which closures and templates have; SIZE_MAX if there is none. */
static size_t last_scope(struct str s)
{
	size_t at = SIZE_MAX;
	int depth = 0;

	for (size_t i = 0; i + 1 < s.n; i++) {
		if (strchr("{(<", s.p[i]) && s.p[i])
			depth++;
		else if (strchr("})>", s.p[i]) && s.p[i])
			depth -= depth > 0;
		else if (depth == 0 && s.p[i] == ':' && s.p[i + 1] == ':')
			at = i;
	}
	return at;
}

/* Anonymous classes are called "Its\Parent@anonymous", NUL, and the path of the file. */
static struct str class_of(struct str name)
{
	struct str s = without_closure(name);
	size_t scope = last_scope(s);

	return (struct str){ s.p, scope == SIZE_MAX ? 0 : scope };
}

static struct str namespace_of(struct str name)
{
	struct str s = without_closure(name), class = class_of(name);
	const char *nul, *slash;

	if (class.n)
		s = class;
	if ((nul = memchr(s.p, '\0', s.n)))
		s.n = (size_t)(nul - s.p);
	slash = memrchr(s.p, '\\', s.n);
	return (struct str){ s.p, slash ? (size_t)(slash - s.p) : 0 };
}

/* Returns vendor/name of ".../vendor/vendor/name/..." (the last match), or an empty string. */
static struct str vendor_package(struct str path)
{
	static const char mark[] = "/vendor/";
	struct str found = { "", 0 };

	for (const char *at = path.p, *end = path.p + path.n;
	     (at = memmem(at, (size_t)(end - at), mark, strlen(mark)));) {
		const char *vendor = at + strlen(mark), *name, *stop;

		name = memchr(vendor, '/', (size_t)(end - vendor));
		stop = name ? memchr(name + 1, '/', (size_t)(end - name - 1)) : NULL;
		if (stop && name > vendor && stop > name + 1)
			found = (struct str){ vendor, (size_t)(stop - vendor) };
		at = vendor - 1;
	}
	return found;
}

/* Returns "plugins/shop" of ".../wp-content/plugins/shop/..." for a plugin or theme of WordPress, or an empty
 * string. */
static struct str wordpress_package(struct str path)
{
	static const char *const folders[] = { "/wp-content/plugins/", "/wp-content/mu-plugins/", "/wp-content/themes/" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const char *at = memmem(path.p, path.n, folders[i], strlen(folders[i])), *name, *stop;
		const char *end = path.p + path.n;

		if (!at)
			continue;
		name = at + strlen(folders[i]);
		stop = memchr(name, '/', (size_t)(end - name));
		stop = stop ? stop : end;
		at += strlen("/wp-content/");
		return (struct str){ at, stop > name ? (size_t)(stop - at) : 0 };
	}
	return (struct str){ "", 0 };
}

static struct str base_name(struct str path)
{
	const char *slash = memrchr(path.p, '/', path.n);

	return slash ? (struct str){ slash + 1, (size_t)(path.p + path.n - slash - 1) } : path;
}

/* Whether the file is a library or program, not a script, judged by its name or directory. */
static bool is_module(struct str file)
{
	static const char *const places[] = { "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/bin/", "/sbin/", "/lib/",
					      "/lib64/" };

	if (text_ends(base_name(file), ".so") || text_has(base_name(file), ".so.") || text_starts(file, "["))
		return true;
	if (text_ends(file, ".php"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (text_starts(file, places[i]))
			return true;
	return false;
}

static bool is_kernel(struct str name, struct str file)
{
	return text_ends(name, "_[k]") || text_starts(file, "[kernel") || text_starts(file, "[guest.kernel");
}

/* Returns "Symfony\Component" of "Symfony\Component\Console\Helper". */
static struct str two_parts(struct str namespace)
{
	const char *first = memchr(namespace.p, '\\', namespace.n), *second;
	const char *end = namespace.p + namespace.n;

	second = first ? memchr(first + 1, '\\', (size_t)(end - first - 1)) : NULL;
	return second ? (struct str){ namespace.p, (size_t)(second - namespace.p) } : namespace;
}

static struct str package_of(struct str name, struct str file)
{
	struct str package = vendor_package(file);

	if (!package.n)
		package = wordpress_package(file);
	if (package.n)
		return package;
	if (is_kernel(name, file))
		return (struct str){ "[kernel]", 8 };
	return is_module(file) ? base_name(file) : two_parts(namespace_of(name));
}

void report_put_line(struct str file, uint32_t line, struct buf *out)
{
	buf_put(out, file.p, file.n);
	if (file.n && line)
		buf_printf(out, ":%u", line);
	else
		buf_puts(out, file.n ? " [no line]" : "[no file]");
}

static void put_or(struct buf *out, struct str s, const char *otherwise)
{
	if (s.n)
		buf_put(out, s.p, s.n);
	else
		buf_puts(out, otherwise);
}

void report_group_name(const struct profile *p, uint32_t frame, enum report_by by, struct buf *out)
{
	struct str name = profile_name(p, frame), file = profile_file(p, frame);

	switch (by) {
	case REPORT_BY_LINE:
		report_put_line(file, p->frames[frame].line, out);
		break;
	case REPORT_BY_FILE:
		put_or(out, file, "[no file]");
		break;
	case REPORT_BY_CLASS:
		put_or(out, class_of(name), "[no class]");
		break;
	case REPORT_BY_NAMESPACE:
		put_or(out, namespace_of(name), "[no namespace]");
		break;
	case REPORT_BY_PACKAGE:
		put_or(out, package_of(name, file), "[no package]");
		break;
	default:
		buf_put(out, name.p, name.n);
	}
}

/* A group merges several functions, so its recursion levels do not follow from theirs. */
static void group_edges(struct profile *r, const struct profile *p, const uint32_t *frames)
{
	uint32_t columns[PROFILE_COLUMNS];
	const struct edges_places to = { .columns = columns, .frames = frames, .column_count = p->column_count, .fold = true };

	for (uint32_t c = 0; c < p->column_count; c++)
		columns[c] = c;
	r->edges = edges_new();
	edges_add(r->edges, p->edges, &to);
}

static struct profile *group_frames(const struct profile *p, enum report_by by)
{
	struct profile *r = same_kind(p);
	_cleanup_(freep) uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames));
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));
	_cleanup_(buf_done) struct buf name = { 0 };

	buf_init(&name);
	for (uint32_t f = 0; f < p->frame_count; f++) {
		buf_reset(&name);
		report_group_name(p, f, by, &name);
		frames[f] = profile_frame(r, (struct str){ name.data, name.size }, (struct str){ "", 0 }, 0);
	}
	copy_values(r, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		nodes[n] = profile_child(r, nodes[p->parents[n]], frames[p->node_frames[n]]);
		copy_values(r, nodes[n], p, n);
	}
	if (p->edges)
		group_edges(r, p, frames);
	return r;
}

/* Composer's own files are beside the packages: .../vendor/composer/ClassLoader.php. */
static bool is_composer(struct str file)
{
	static const char folder[] = "/vendor/composer/";

	return memmem(file.p, file.n, folder, sizeof(folder) - 1) || text_ends(file, "/vendor/autoload.php");
}

static bool is_own(struct str name, struct str file)
{
	return file.n && !vendor_package(file).n && !is_composer(file) && !is_module(file) && !is_kernel(name, file) &&
	       !text_starts(file, "/usr/share/php");
}

bool *report_own_frames(const struct profile *p)
{
	bool *own = xcalloc((size_t)p->frame_count + 1, sizeof(*own)), has_files = false;

	for (uint32_t f = 0; f < p->frame_count; f++) {
		own[f] = is_own(profile_name(p, f), profile_file(p, f));
		has_files |= profile_file(p, f).n > 0;
	}
	for (uint32_t f = 0; f < p->frame_count && !has_files; f++)
		own[f] = true;
	return own;
}

static bool has_values(const struct profile *p, uint32_t node)
{
	for (uint32_t c = 0; c < p->column_count; c++)
		if (p->columns[c].self[node])
			return true;
	return false;
}

/* Values of stacks before they reach own code, or that never reach it, go to a function of its own, so that rows and
 * boxes still add up. */
static uint32_t other_code(struct profile *r)
{
	static const char name[] = "[other code]";

	return profile_child(r, PROFILE_ROOT, profile_frame(r, (struct str){ name, sizeof(name) - 1 }, (struct str){ "", 0 }, 0));
}

static struct profile *own_code(const struct profile *p)
{
	struct profile *r = same_kind(p);
	_cleanup_(freep) bool *own = report_own_frames(p);
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));

	copy_values(r, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t f = p->node_frames[n], parent = nodes[p->parents[n]];

		nodes[n] = !own[f] ? parent : profile_child_at(r, parent, profile_frame(r, profile_name(p, f), profile_file(p, f),
											p->frames[f].line), profile_line(p, n));
		if (nodes[n] != PROFILE_ROOT)
			copy_values(r, nodes[n], p, n);
		else if (has_values(p, n))
			copy_values(r, other_code(r), p, n);
	}
	return r;
}

struct profile *report_group(const struct profile *p, enum report_by by)
{
	_cleanup_(profile_freep) struct profile *lines = by == REPORT_BY_LINE && report_has_lines(p) ? report_lines(p, false) : NULL;

	if (by == REPORT_BY_OWN)
		return own_code(p);
	return group_frames(lines ? lines : p, by);
}

/* Computes by node whether its own values are kept. */
static bool *select_nodes(const struct profile *p, const bool *focus, const bool *ignore)
{
	_cleanup_(freep) bool *out = xcalloc(p->node_count, sizeof(*out));
	bool *in = xcalloc(p->node_count, sizeof(*in));

	in[PROFILE_ROOT] = !focus;
	for (uint32_t n = 1; n < p->node_count; n++) {
		in[n] = in[p->parents[n]] || focus[n];
		out[n] = out[p->parents[n]] || (ignore && ignore[n]);
	}
	for (uint32_t n = 0; n < p->node_count; n++)
		in[n] = in[n] && !out[n];
	return in;
}

bool *report_nodes_of(const struct profile *p, const bool *frames)
{
	bool *nodes = xcalloc(p->node_count, sizeof(*nodes));

	for (uint32_t n = 1; n < p->node_count; n++)
		nodes[n] = frames[p->node_frames[n]];
	return nodes;
}

struct profile *report_filter(const struct profile *p, const bool *focus, const bool *ignore)
{
	_cleanup_(freep) bool *in = focus ? report_nodes_of(p, focus) : NULL;
	_cleanup_(freep) bool *out = ignore ? report_nodes_of(p, ignore) : NULL;

	return report_filter_nodes(p, in, out);
}

struct profile *report_filter_nodes(const struct profile *p, const bool *focus, const bool *ignore)
{
	struct profile *r = same_kind(p);
	_cleanup_(freep) bool *keep = select_nodes(p, focus, ignore);
	_cleanup_(freep) bool *needed = xcalloc(p->node_count, sizeof(*needed));
	_cleanup_(freep) bool *calls = xcalloc(p->node_count, sizeof(*calls));
	_cleanup_(freep) uint32_t *nodes = xcalloc(p->node_count, sizeof(*nodes));

	/* A node that has callees but no values of its own is needed only if one of them is. */
	for (uint32_t n = p->node_count - 1; n > 0; n--) {
		needed[n] = needed[n] || (keep[n] && (!calls[n] || has_values(p, n)));
		calls[p->parents[n]] = true;
		needed[p->parents[n]] = needed[p->parents[n]] || needed[n];
	}
	if (p->node_lines)
		profile_begin_lines(r);
	if (keep[PROFILE_ROOT])
		copy_values(r, PROFILE_ROOT, p, PROFILE_ROOT);
	for (uint32_t n = 1; n < p->node_count; n++) {
		uint32_t f = p->node_frames[n];

		if (!needed[n])
			continue;
		nodes[n] = profile_child_at(r, nodes[p->parents[n]],
					    profile_frame(r, profile_name(p, f), profile_file(p, f), p->frames[f].line),
					    profile_line(p, n));
		if (keep[n])
			copy_values(r, nodes[n], p, n);
	}
	return r;
}
