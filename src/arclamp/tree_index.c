/* tree_index.c: one object per file. */

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

static void put_path(struct json *j, const struct tree *t, const struct tree_file *f)
{
	_cleanup_(buf_done) struct buf path = { 0 };
	const char *slash = strrchr(t->base, '/');

	buf_init(&path);
	buf_printf(&path, "%s/%s/%s", slash && slash[1] ? slash + 1 : t->base, tree_period(t, f), f->name);
	json_key(j, "path");
	json_bytes(j, (struct str){ path.data, path.size });
}

static void put_file(struct json *j, const struct tree *t, const struct tree_file *f)
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
	put_path(j, t, f);
	json_key(j, "mtime");
	json_i64(j, f->mtime_ns / NS_PER_SECOND);
	put_kind(j, &f->parts);
	json_key(j, "period");
	json_str(j, tree_period(t, f));
	put_str_or_null(j, "time", f->parts.time);
	put_str_or_null(j, "tag", f->parts.tag);
	put_str_or_null(j, "profiler", f->parts.profiler);
	put_str_or_null(j, "entry", f->parts.entry);
	json_end(j);
	buf_putc(j->out, '\n');
}

static void put_tree(struct json *j, const struct tree *t, enum tree_kind kind)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->files[i].parts.kind == kind)
			put_file(j, t, &t->files[i]);
}

int tree_index_put(const struct tree *logs, const struct tree *svgs, struct buf *out, struct err *err)
{
	struct json j;

	json_init(&j, out);
	json_open_array(&j);
	put_tree(&j, logs, TREE_LOG);
	if (svgs)
		put_tree(&j, svgs, TREE_PICTURE);
	json_end(&j);
	buf_putc(out, '\n');
	return out->overflow ? err_set(err, -EFBIG, "the index is larger than %zu bytes", out->limit) : 0;
}
