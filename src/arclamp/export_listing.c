/* export_listing.c: reads listings of object stores. */

#include "export_listing.h"

#include "clock.h"
#include "input.h"
#include "json_read.h"
#include "mem.h"

#include <string.h>
#include <time.h>

/* Parses "2026-11-20T07:00:00.123450", in UTC; 0 if malformed. */
static int64_t time_of(const char *text)
{
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return rest ? (int64_t)timegm(&tm) * NS_PER_SECOND : 0;
}

static const char *member(json_t *object, const char *swift, const char *s3)
{
	const char *text = json_string_value(json_object_get(object, swift));

	return text ? text : json_string_value(json_object_get(object, s3));
}

static void add(struct export_listing *l, json_t *object, struct str period)
{
	const char *path = member(object, "name", "Key"), *own = json_string_value(json_object_get(object, "period"));
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path, *before;
	json_t *bytes = json_object_get(object, "bytes");
	struct tree_object o = { 0 };

	if (own) {
		period = (struct str){ own, strlen(own) };
	} else if (slash) {
		before = memrchr(path, '/', (size_t)(slash - path));
		period = (struct str){ before ? before + 1 : path, (size_t)(slash - (before ? before + 1 : path)) };
	}
	if (!name || !period.n) {
		l->others++;
		return;
	}
	o.name = arena_copy(&l->text, name, strlen(name));
	o.period = arena_copy(&l->text, period.p, period.n);
	bytes = bytes ? bytes : json_object_get(object, "Size");
	o.bytes = json_integer_value(bytes) > 0 ? (uint64_t)json_integer_value(bytes) : 0;
	o.mtime_ns = time_of(member(object, "last_modified", "LastModified"));
	if (!tree_name_parse(o.name, &o.parts) || o.parts.kind == TREE_TEMPORARY) {
		l->others++;
		return;
	}
	GROW(&l->objects, &l->capacity, l->count + 1);
	l->objects[l->count++] = o;
}

static int read_one(struct export_listing *l, const char *text, struct err *err)
{
	const char *equals = strchr(text, '='), *slash = strchr(text, '/');
	bool named = equals && (!slash || slash > equals);
	struct str period = { text, named ? (size_t)(equals - text) : 0 };
	const char *file = named ? equals + 1 : text;
	_cleanup_(json_decrefp_) json_t *all = NULL;
	json_t *list, *object;
	struct input in;
	size_t i;
	int r = input_open(&in, file, JSON_TEXT_MAX, err);

	if (r >= 0)
		all = json_read(&in, false, err);
	input_close(&in);
	if (!all)
		return r < 0 ? r : err_prefix(err, "cannot read '%s'", file);
	list = json_is_array(all) ? all : json_object_get(all, "Contents");
	if (!json_is_array(list))
		return err_set(err, -EINVAL, "'%s' is not a listing; expected a JSON array of objects", file);
	json_array_foreach(list, i, object)
		add(l, object, period);
	return 0;
}

int export_listing_read(struct export_listing *l, const struct option_list *files, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < files->count && r >= 0; i++)
		r = read_one(l, files->items[i], err);
	return r;
}

void export_listing_done(struct export_listing *l)
{
	free(l->objects);
	arena_done(&l->text);
}
