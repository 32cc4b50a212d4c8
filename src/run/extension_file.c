/* extension_file.c: finds strobe.so, and the PHP that it is built for. */

#include "extension_file.h"

#include "io.h"
#include "mem.h"
#include "php_binary.h"
#include "paths.h"

#include <string.h>

#define FILE_MAX	((size_t)64 << 20)

/* Returns the build that an extension is for; NULL if the file does not contain it. */
static char *read_build(const char *path)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	if (io_read_file(path, &b, FILE_MAX, NULL) < 0 || b.size < 4 || memcmp(b.data, "\177ELF", 4))
		return NULL;
	return php_build_find(b.data, b.size);
}

/* Returns the (absolute) path if that file fits; otherwise notes in `found` what it is. */
static char *check(const struct php *p, const char *path, struct buf *found)
{
	_cleanup_(freep) char *build = NULL;

	if (access(path, R_OK) < 0)
		return NULL;
	build = read_build(path);
	if (build && !strcmp(build, p->build))
		return realpath(path, NULL);
	buf_printf(found, "%s%s is %s%s", found->size ? ", " : "", path, build ? "for " : "no PHP extension",
		   build ? build : "");
	return NULL;
}

/* Guesses the name of the php-config that builds for this PHP. */
static char *config_of(const struct php *p)
{
	const char *slash = strrchr(p->path, '/');
	int n = slash ? (int)(slash - p->path) : 0;
	char *path = xasprintf("%.*s/php-config%s", n, p->path, p->minor);

	if (slash && access(path, X_OK) == 0)
		return path;
	free(path);
	return xstrdup("/path/to/php-config");
}

static int explain(const struct php *p, const struct buf *found, const struct buf *searched, struct err *err)
{
	_cleanup_(freep) char *config = config_of(p);

	if (found->size)
		return err_set(err, -ENOEXEC, "no extension fits PHP %s (%s), which needs %s: %s. Build it with "
			       "`make PHP_CONFIG=%s`", p->version, p->path, p->build, found->data, config);
	return err_set(err, -ENOENT, "found no extension for PHP %s (%s); looked for %s. Build it with "
				     "`make PHP_CONFIG=%s`",
		       p->version, p->path, searched->data, config);
}

int extension_file_find(const struct php *p, const char *wanted, char **ret_path, struct err *err)
{
	_cleanup_(freep) char *program = paths_program();
	const char *directory = program ? program : "/usr/bin";
	_cleanup_(buf_done) struct buf found = { 0 }, searched = { 0 };
	char *paths[4];
	size_t count = 0;
	char *fits = NULL;

	buf_init(&found);
	buf_init(&searched);
	if (wanted) {
		paths[count++] = xstrdup(wanted);
	} else {
		paths[count++] = xasprintf("%s/php%s/strobe.so", directory, p->minor);
		paths[count++] = xasprintf("%s/strobe.so", directory);
		paths[count++] = xasprintf("%s/../lib/strobe/php%s/strobe.so", directory, p->minor);
		paths[count++] = xasprintf("%s/strobe.so", p->extension_dir);
	}
	for (size_t i = 0; i < count; i++) {
		if (!fits)
			fits = check(p, paths[i], &found);
		buf_printf(&searched, "%s%s", i ? ", " : "", paths[i]);
		free(paths[i]);
	}
	if (!fits)
		return explain(p, &found, &searched, err);
	*ret_path = fits;
	return 0;
}
