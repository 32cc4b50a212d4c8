/* profile_file.c: chooses output formats by file suffix. */

#include "profile_file.h"

#include "format.h"
#include "gzip.h"
#include "page_file.h"
#include "pictures.h"
#include "render.h"
#include "text.h"

#include <string.h>
#include <sys/stat.h>

bool profile_file_is_picture(const char *path)
{
	return text_path_ends(path, ".svg") || text_path_ends(path, ".html") || picture_path_is_packed(path);
}

/* JSON means speedscope unless the name is more specific. */
static const struct format *format_of(const char *path)
{
	const struct format *f = format_by_path(path);

	return f || !(text_path_ends(path, ".json") || text_path_ends(path, ".json.gz")) ? f : &format_speedscope;
}

int profile_file_check(const char *path, struct err *err)
{
	const struct format *format = format_of(path);
	const char *slash = strrchr(path, '/');
	_cleanup_(freep) char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct stat st;

	if (!profile_file_is_picture(path) && (!format || !format->write))
		return err_set(err, -EINVAL, "cannot infer the output format from '%s'; use .strobe, .folded, .svg, .svgz or "
			       ".html, or another format that `strobe convert` writes: .pb.gz, .json, .bt, "
			       ".callgrind, .xhprof", path);
	if (stat(directory, &st) < 0)
		return err_set(err, -errno, "cannot write '%s': %s", path, strerror(errno));
	if (access(directory, W_OK | X_OK) < 0)
		return err_set(err, -errno, "cannot write '%s': %s; choose another place with -o", path,
			       strerror(errno));
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return err_set(err, -EISDIR, "cannot write '%s': it is a directory", path);
	return 0;
}

void profile_file_describe(const struct profile *p, struct buf *out)
{
	const char *sampler = labels_get(&p->labels, "sampler");

	if (sampler && !strcmp(sampler, "record"))
		labels_put(&p->labels, out);
}

static int draw(const char *path, const struct profile *p, struct buf *out, struct err *err)
{
	_cleanup_(buf_done) struct buf drawn = { 0 }, notes = { 0 };
	struct flamegraph_options o;
	int r;

	flamegraph_defaults(&o);
	flamegraph_suit(&o, p);
	o.column = profile_pick_column(p, NULL);
	buf_init(&notes);
	profile_file_describe(p, &notes);
	o.notes = notes.size ? notes.data : NULL;
	if (text_path_ends(path, ".html"))
		return page_file_put(p, &o, out, err);
	if (!picture_path_is_packed(path))
		return flamegraph_svg(p, &o, out, err);
	buf_init(&drawn);
	r = flamegraph_svg(p, &o, &drawn, err);
	return r < 0 ? r : gzip_put(out, drawn.data, drawn.size, err);
}

/* Returns the same profile by function only, with its flame chart. */
static struct profile *without_lines(const struct profile *p)
{
	struct profile *plain = profile_new();

	profile_keep_chart(plain, true);
	profile_merge(plain, p);
	return plain;
}

int profile_file_put(const char *path, const struct profile *p, struct buf *out, struct err *err)
{
	if (profile_file_is_picture(path)) {
		_cleanup_(profile_freep) struct profile *plain = p->node_lines ? without_lines(p) : NULL;

		return draw(path, plain ? plain : p, out, err);
	}
	return format_write(format_of(path), p, UINT32_MAX, out, err);
}

void profile_file_put_next_step(const char *path, struct buf *out)
{
	if (profile_file_is_picture(path))
		buf_printf(out, "strobe: wrote %s; open it in a browser\n", path);
	else
		buf_printf(out, "strobe: wrote %s; draw it with: strobe flamegraph %s -o profile.svg\n", path, path);
}
