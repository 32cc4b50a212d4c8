/* log_tags.c: a bounded table of names. */
#include "log_tags.h"

#include "log.h"
#include "mem.h"

#include <dirent.h>
#include <string.h>

void log_tags_init(struct log_tags *t)
{
	memset(t, 0, sizeof(*t));
	intern_init(&t->names);
	intern_add(&t->names, "all", 3);
	intern_add(&t->names, "other", 5);
}

void log_tags_done(struct log_tags *t)
{
	intern_done(&t->names);
}

struct str log_entry_point(const char *first_frame)
{
	const char *slash = strrchr(first_frame, '/'), *p = slash ? slash + 1 : first_frame;
	size_t n = strlen(p);

	if (n > 4 && !strcmp(p + n - 4, ".php"))
		n -= 4;
	return (struct str){ p, n };
}

/* Whether "<time of a>.<tag>.log" is also a name of `b`, as with "%F" and "%F.wall" and the tag "wall.index". */
static bool makes_names_of(const struct log_name *a, const struct log_name *b, struct str tag)
{
	char file[LOG_TIME_MAX + LOG_TAG_MAX + 16];
	struct str found[LOG_NAME_TAGS];
	size_t n = log_name_time(a, 0, file);

	snprintf(file + n, sizeof(file) - n, ".%.*s.log", (int)tag.n, tag.p);
	return log_name_tags(b, file, found) > 0;
}

static bool is_of_another_group(struct str tag, const struct logs_options *o, const struct log_name *names)
{
	if (!memchr(tag.p, '.', tag.n))
		return false;
	for (size_t a = 0; a < o->group_count; a++)
		for (size_t b = 0; b < o->group_count; b++)
			if (strcmp(o->groups[a].period, o->groups[b].period) == 0 &&
			    strcmp(names[a].format, names[b].format) != 0 && makes_names_of(&names[a], &names[b], tag))
				return true;
	return false;
}

static uint32_t add(struct log_tags *t, struct str tag, const struct logs_options *o, const struct log_name *names)
{
	if (is_of_another_group(tag, o, names))
		return LOG_TAG_OTHER;
	if (t->names.count >= LOG_TAG_FIRST + LOG_TAGS) {
		if (!t->logged_full)
			log_warning("%u entry points, the limit, have trace logs in '%s'; further ones get the "
				    "tag \"other\" until some of these logs are removed", LOG_TAGS, o->base);
		t->logged_full = true;
		return LOG_TAG_OTHER;
	}
	return intern_add(&t->names, tag.p, tag.n);
}

uint32_t log_tags_of(struct log_tags *t, const char *entry, const struct logs_options *o, const struct log_name *names)
{
	struct str tag = { entry, entry ? strlen(entry) : 0 };
	uint32_t id;

	if (!log_tag_is_fit(tag.p, tag.n))
		return LOG_TAG_OTHER;
	id = intern_find(&t->names, tag.p, tag.n);
	return id != UINT32_MAX ? id : add(t, tag, o, names);
}

static void scan_group(struct log_tags *t, const struct logs_options *o, const struct log_name *names, size_t group)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", o->base, o->groups[group].period);
	struct str found[LOG_NAME_TAGS];
	DIR *d = opendir(path);

	for (struct dirent *e; d && (e = readdir(d));) {
		size_t n = log_name_tags(&names[group], e->d_name, found);

		for (size_t i = 0; i < n && t->names.count < LOG_TAG_FIRST + LOG_TAGS; i++)
			if (log_tag_is_fit(found[i].p, found[i].n) && !is_of_another_group(found[i], o, names))
				intern_add(&t->names, found[i].p, found[i].n);
	}
	if (d)
		closedir(d);
}

void log_tags_scan(struct log_tags *t, const struct logs_options *o, const struct log_name *names)
{
	log_tags_done(t);
	log_tags_init(t);
	for (size_t i = 0; i < o->group_count; i++)
		scan_group(t, o, names, i);
}
