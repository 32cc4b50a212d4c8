/* tree_index.c: writes one object per file. */

#include "tree_index.h"

#include "clock.h"
#include "json.h"

#include <string.h>

static void put_str_or_null(struct json *j, const char *key, struct str s)
{
	json_key(j, key);
	if (s.n)
		json_bytes(j, s);
	else
		json_str(j, NULL);
}

static void put_kind(struct json *j, const struct tree_name *n)
{
	json_key(j, "kind");
	json_str(j, n->kind == TREE_LOG ? "log" : "svg");
	if (n->kind == TREE_LOG) {
		json_key(j, "compressed");
		json_str(j, n->packing == TREE_GZIP ? "gzip" : n->packing == TREE_ZSTD ? "zstd" : NULL);
		return;
	}
	put_str_or_null(j, "function", n->function);
	json_key(j, "reversed");
	json_bool(j, n->reversed);
}

/* Returns the last component of a tree's base. */
static const char *last_part(const char *base)
{
	const char *slash = strrchr(base, '/');

	return slash && slash[1] ? slash + 1 : base;
}

static void put_path(struct json *j, const char *base, const char *period, const char *name)
{
	_cleanup_(buf_done) struct buf path = { 0 };

	buf_init(&path);
	buf_printf(&path, "%s/%s/%s", base, period, name);
	json_key(j, "path");
	json_bytes(j, (struct str){ path.data, path.size });
}

static void put_file(struct json *j, const char *base, const struct tree_object *f, bool remote)
{
	char modified[32];

	clock_format(f->mtime_ns, modified, sizeof(modified));
	json_open_object(j);
	json_key(j, "name");
	json_str(j, f->name);
	json_key(j, "bytes");
	json_u64(j, f->bytes);
	json_key(j, "last_modified");
	json_str(j, modified);
	put_path(j, base, f->period, f->name);
	json_key(j, "mtime");
	json_i64(j, f->mtime_ns / NS_PER_SECOND);
	put_kind(j, &f->parts);
	json_key(j, "period");
	json_str(j, f->period);
	put_str_or_null(j, "time", f->parts.time);
	put_str_or_null(j, "tag", f->parts.tag);
	put_str_or_null(j, "profiler", f->parts.profiler);
	put_str_or_null(j, "entry", f->parts.entry);
	if (remote) {
		json_key(j, "remote");
		json_bool(j, true);
	}
	json_end(j);
	buf_putc(j->out, '\n');
}

static void put_tree(struct json *j, const struct tree *t, enum tree_kind kind)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct tree_file *f = &t->files[i];
		const struct tree_object o = { tree_period(t, f), f->name, f->parts, f->bytes, f->mtime_ns };

		if (f->parts.kind == kind)
			put_file(j, last_part(t->base), &o, false);
	}
}

static bool has(const struct tree *t, const struct tree_object *o)
{
	size_t first, n = t ? tree_find(t, o->period, o->parts.stem, &first) : 0;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(t->files[first + i].name, o->name))
			return true;
	return false;
}

static void put_objects(struct json *j, const struct tree *logs, const struct tree *svgs, const struct tree_object *objects,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_log = objects[i].parts.kind == TREE_LOG;
		const struct tree *t = is_log ? logs : svgs;

		if (!has(t, &objects[i]))
			put_file(j, t && t->base ? last_part(t->base) : is_log ? "logs" : "svgs", &objects[i], true);
	}
}

int tree_index_put(const struct tree *logs, const struct tree *svgs, const struct tree_object *objects, size_t count,
		   struct buf *out, struct err *err)
{
	struct json j;

	json_init(&j, out);
	json_open_array(&j);
	put_tree(&j, logs, TREE_LOG);
	if (svgs)
		put_tree(&j, svgs, TREE_PICTURE);
	put_objects(&j, logs, svgs, objects, count);
	json_end(&j);
	buf_putc(out, '\n');
	return out->overflow ? err_set(err, -EFBIG, "the index is larger than %zu bytes", out->limit) : 0;
}
