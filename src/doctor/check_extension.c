/* check_extension.c: checks that a PHP loads strobe.so, and that the file fits this PHP. */
#include "doctor.h"

#include "container.h"
#include "mem.h"
#include "paths.h"

#include <string.h>

#define FILE_MAX	((size_t)64 << 20)

/* Returns the PHP build that the file is for; NULL if it is not an extension, or if it cannot be read (-errno in
 * `*ret_error`). */
static char *build_of(const struct root_dir *root, const char *path, int *ret_error)
{
	_cleanup_(buf_done) struct buf b = { 0 };

	buf_init(&b);
	*ret_error = root_dir_read(root, path, FILE_MAX, &b);
	return *ret_error < 0 ? NULL : php_build_find(b.data, b.size);
}

static bool fits(const struct root_dir *root, const char *path, const struct php_binary *php)
{
	int error;
	_cleanup_(freep) char *build = build_of(root, path, &error);

	return build && !strcmp(build, php->build);
}

/* --- the remedy */

static char *minor_of(const struct php_binary *php)
{
	const char *dot = strchr(php->version, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;

	return second ? xstrndup(php->version, (size_t)(second - php->version)) : xstrdup(php->version);
}

/* Returns "strobe" if it is in PHP's extension directory, or the path of one built beside this program; NULL if
 * neither exists. */
static char *loadable(const struct root_dir *root, const struct php_binary *php)
{
	_cleanup_(freep) char *program = paths_program(), *minor = minor_of(php);
	_cleanup_(freep) char *usual = xasprintf("%s/strobe.so", php->extension_directory ? php->extension_directory : "");

	if (php->extension_directory && fits(root, usual, php))
		return xstrdup("strobe");
	for (size_t i = 0; program && i < 2; i++) {
		_cleanup_(freep) char *path = i ? xasprintf("%s/../lib/strobe/php%s/strobe.so", program, minor) :
						  xasprintf("%s/php%s/strobe.so", program, minor);

		if (fits(root, path, php))
			return realpath(path, NULL);
	}
	return NULL;
}

/* Debian's units are called php8.2-fpm. If no PHP runs, there is no cgroup to take the name from. */
static char *service_of(const struct root_dir *root, const struct php_binary *php, const char *service)
{
	_cleanup_(freep) char *minor = minor_of(php), *name = xasprintf("php%s-fpm", minor);
	_cleanup_(freep) char *unit = xasprintf("/lib/systemd/system/%s.service", name);
	struct stat st;
	bool has_unit = !strcmp(php->sapi, "fpm-fcgi") && root_dir_stat(root, "/run/systemd/system", &st) == 0 && root_dir_stat(root, unit, &st) == 0;

	return xstrdup(*service ? service : has_unit ? name : "");
}

static void put_build(const struct php_binary *php, struct buf *out)
{
	_cleanup_(freep) char *minor = minor_of(php);

	if (container_without_systemd("")) {
		buf_puts(out, "copy the extension into PHP's image, as docs/containers.md shows");
		return;
	}
	buf_printf(out, "make PHP_CONFIG=php-config%s && sudo make install PREFIX=/usr PHP_CONFIG=php-config%s", minor, minor);
}

void doctor_put_enable(const struct root_dir *root, const struct php_binary *php, const char *service, struct buf *out)
{
	_cleanup_(freep) char *extension = loadable(root, php);
	const char *directory = php->scan_directory;

	if (!extension) {
		put_build(php, out);
		return;
	}
	if (directory)
		buf_printf(out, "printf 'extension=%s\\nstrobe.mode=sample\\n' > %s/90-strobe.ini", extension, directory);
	else
		buf_printf(out, "add extension=%s and strobe.mode=sample to %s/php.ini", extension,
			   php->ini_directory ? php->ini_directory : "the directory of its");
	if (!strcmp(php->sapi, "fpm-fcgi") || !strcmp(php->sapi, "apache2handler")) {
		_cleanup_(freep) char *unit = service_of(root, php, service);

		if (directory) {
			doctor_put_then_restart(unit, out);
		} else {
			buf_puts(out, "; then ");
			doctor_put_restart(unit, out);
		}
	}
}

/* --- the line, and its file */

static bool check_file(struct findings *f, enum level level, const char *area, const char *about, const struct root_dir *root,
		       const struct php_binary *php, const struct php_setting *line, const char *path)
{
	int error;
	_cleanup_(freep) char *build = build_of(root, path, &error), *other = loadable(root, php);
	_cleanup_(buf_done) struct buf fix = { 0 };

	if (build && !strcmp(build, php->build))
		return true;
	buf_init(&fix);
	if (other && *line->file)
		buf_printf(&fix, "extension=%s in %s:%u; then restart that PHP", other, line->file, line->line);
	else
		put_build(php, &fix);
	if (error < 0)
		findings_add(f, level, area, "extension-file", about, error == -EACCES ? "make the file readable for everybody" : fix.data,
			     "%s:%u loads %s, %s", line->file, line->line, path,
			     error == -ENOENT ? "which does not exist" : strerror(-error));
	else if (!build)
		findings_add(f, level, area, "extension-file", about, fix.data, "%s, which %s:%u loads, is not a PHP extension", path,
			     line->file, line->line);
	else
		findings_add(f, level, area, "extension-build", about, fix.data, "%s was built for %s, but this PHP requires %s", path,
			     build, php->build);
	return false;
}

bool doctor_extension(struct findings *f, enum level level, const char *area, const char *about, const struct root_dir *root,
		      const struct php_binary *php, const struct php_settings *s)
{
	const struct php_setting *line;
	size_t lines = php_settings_extensions(s, "strobe", &line);
	_cleanup_(freep) char *path = NULL;

	if (!lines)
		return false;
	if (lines > 1)
		findings_add(f, LEVEL_WARNING, area, "extension-twice", about, "remove one of the lines",
			     "%zu lines load it, and PHP prints a warning for the second into each page; the first is %s:%u", lines,
			     line->file, line->line);
	if (!strcmp(line->name, "zend_extension")) {
		_cleanup_(freep) char *fix = xasprintf("extension=%s in %s:%u", line->value, line->file, line->line);

		findings_add(f, level, area, "extension-zend", about, *line->file ? fix : "extension = strobe", "%s:%u loads it as zend_extension, but it is a regular extension",
			     line->file, line->line);
		return false;
	}
	path = php_settings_extension_path(s, php, line);
	if (!path || strstr(path, "${"))
		return true;	/* only PHP knows the value of the variable */
	return check_file(f, level, area, about, root, php, line, path);
}
