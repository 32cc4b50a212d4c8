/* find.c: finds a function by name, part of a name, or pattern. */

#include "report.h"

#include "mem.h"
#include "options.h"
#include "text.h"

#include <ctype.h>
#include <regex.h>
#include <string.h>

#define NAMED 4			/* names listed in an error */
#define NAME_SHOWN 80		/* code points of each */
#define COMPARED 50000		/* names compared to find the nearest */

static bool equal(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static bool equal_letters(struct str a, struct str b)
{
	return a.n == b.n && !strncasecmp(a.p, b.p, a.n);
}

static bool contains(struct str name, struct str part)
{
	return part.n && memmem(name.p, name.n, part.p, part.n);
}

static bool contains_letters(struct str name, struct str part)
{
	for (size_t i = 0; part.n && i + part.n <= name.n; i++)
		if (!strncasecmp(name.p + i, part.p, part.n))
			return true;
	return false;
}

static bool fits(const regex_t *regex, struct str name)
{
	regmatch_t range = { 0, (regoff_t)name.n };

	return regexec(regex, name.p, 1, &range, REG_STARTEND) == 0;
}

bool *report_no_frames(const struct profile *p)
{
	return xcalloc((size_t)p->frame_count + 1, sizeof(bool));
}

bool *report_shared_names(const struct profile *p)
{
	_cleanup_(freep) uint32_t *first = xcalloc(p->strings.count + 1, sizeof(*first));	/* by name: a frame of it, + 1 */
	_cleanup_(freep) bool *shared = xcalloc(p->strings.count + 1, sizeof(*shared));
	bool *ret = report_no_frames(p);

	for (uint32_t f = 0; f < p->frame_count; f++) {
		uint32_t name = p->frames[f].name;

		if (!first[name])
			first[name] = f + 1;
		else if (p->frames[first[name] - 1].file != p->frames[f].file)
			shared[name] = true;
	}
	for (uint32_t f = 0; f < p->frame_count; f++)
		ret[f] = shared[p->frames[f].name];
	return ret;
}

int report_match(const struct profile *p, const char *text, bool *ret, struct err *err)
{
	regex_t regex;
	char why[200];
	int r = regcomp(&regex, text, REG_EXTENDED | REG_ICASE), count = 0;

	if (r) {
		regerror(r, &regex, why, sizeof(why));
		return err_set(err, -EINVAL, "invalid regular expression '%.200s': %s", text, why);
	}
	for (uint32_t f = 0; f < p->frame_count; f++)
		count += ret[f] = fits(&regex, profile_name(p, f));
	regfree(&regex);
	return count;
}

typedef bool (*relation)(struct str name, struct str text);

static size_t match(const struct profile *p, relation is, struct str text, bool *ret)
{
	size_t count = 0;

	for (uint32_t f = 0; f < p->frame_count; f++)
		count += ret[f] = is(profile_name(p, f), text);
	return count;
}

/* Returns the distinct names of the frames in `of`, largest total first if known. The caller frees. */
static uint32_t *distinct(const struct profile *p, const bool *of, size_t *ret_count)
{
	uint32_t *frames = xcalloc((size_t)p->frame_count + 1, sizeof(*frames));
	_cleanup_(freep) bool *seen = xcalloc(p->strings.count + 1, sizeof(*seen));
	_cleanup_(freep) struct flat_row *rows = NULL;
	size_t n = 0, count = p->frame_count;

	if (p->column_count)
		rows = report_flat(p, profile_pick_column(p, NULL), REPORT_SORT_TOTAL, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t f = rows ? rows[i].frame : (uint32_t)i;

		if ((of && !of[f]) || seen[p->frames[f].name])
			continue;
		seen[p->frames[f].name] = true;
		frames[n++] = f;
	}
	*ret_count = n;
	return frames;
}

static void put_name(struct buf *out, struct str name)
{
	buf_putc(out, '\'');
	text_put_plain(out, (struct str){ name.p, text_cut(name, NAME_SHOWN) });
	buf_puts(out, text_columns(name) > NAME_SHOWN ? "…'" : "'");
}

static int ambiguous(const struct profile *p, const char *text, const uint32_t *frames, size_t count, struct err *err)
{
	_cleanup_(buf_done) struct buf list = { 0 };

	buf_init(&list);
	for (size_t i = 0; i < count && i < NAMED; i++) {
		buf_puts(&list, i ? ", " : "");
		put_name(&list, profile_name(p, frames[i]));
	}
	if (count > NAMED)
		buf_printf(&list, " and %zu more", count - NAMED);
	return err_set(err, -ENOTUNIQ, "'%.200s' matches %zu functions: %s; give the whole name of one", text, count,
		       list.data);
}

/* The name without its class and namespace. */
static const char *last_part(const char *name)
{
	const char *part = name;

	for (const char *at = name; *at; at++)
		if (at[0] == '\\' || (at[0] == ':' && at[1] == ':'))
			part = at + (at[0] == '\\' ? 1 : 2);
	return part;
}

/* Returns the frame with the nearest name, or UINT32_MAX. Strings of a profile are NUL-terminated. */
static uint32_t nearest(const struct profile *p, const char *text, bool parts)
{
	size_t count;
	_cleanup_(freep) uint32_t *frames = distinct(p, NULL, &count);
	_cleanup_(freep) const char **list = xcalloc(count + 1, sizeof(*list));
	const char *found;

	count = count < COMPARED ? count : COMPARED;
	for (size_t i = 0; i < count; i++)
		list[i] = parts ? last_part(profile_name(p, frames[i]).p) : profile_name(p, frames[i]).p;
	list[count] = NULL;
	found = options_nearest(parts ? last_part(text) : text, list);
	for (size_t i = 0; found && i < count; i++)
		if (list[i] == found)
			return frames[i];
	return UINT32_MAX;
}

static int unknown(const struct profile *p, const char *text, struct err *err)
{
	_cleanup_(buf_done) struct buf hint = { 0 };
	uint32_t frame = nearest(p, text, false);

	buf_init(&hint);
	if (frame == UINT32_MAX)
		frame = nearest(p, text, true);
	if (frame == UINT32_MAX)
		return err_set(err, -ENOENT, "there is no function '%.200s' among %u; `strobe report -n 0` lists them",
			       text, p->frame_count);
	put_name(&hint, profile_name(p, frame));
	return err_set(err, -ENOENT, "there is no function '%.200s' among %u; did you mean %s?", text, p->frame_count,
		       hint.data);
}

int report_find(const struct profile *p, const char *text, bool *ret, struct err *err)
{
	static const relation relations[] = { equal, equal_letters, contains, contains_letters };
	_cleanup_(freep) uint32_t *frames = NULL;
	struct str wanted = { text, strlen(text) };
	size_t count = 0, names;

	if (!wanted.n)
		return err_set(err, -EINVAL, "no function is given; use its name, or a unique part of it");
	for (size_t i = 0; i < ARRAY_SIZE(relations) && !count; i++)
		count = match(p, relations[i], wanted, ret);
	if (!count) {
		int r = report_match(p, text, ret, NULL);

		count = r > 0 ? (size_t)r : 0;
	}
	if (!count)
		return unknown(p, text, err);
	frames = distinct(p, ret, &names);
	return names > 1 ? ambiguous(p, text, frames, names, err) : (int)count;
}
