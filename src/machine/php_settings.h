/* php_settings.h: the settings that a PHP starts with, read from its ini files without running it.
 *
 * Settings for one host or one directory ([HOST=…], [PATH=…], .user.ini) are ignored, since they apply to some
 * requests only.
 */
#ifndef MACHINE_PHP_SETTINGS_H
#define MACHINE_PHP_SETTINGS_H

#include "root_dir.h"
#include "php_binary.h"

struct php_setting {
	char *name, *value;
	char *file;			/* "" if set on the command line */
	unsigned line;
	bool no_effect;			/* PHP ignored it and kept the previous value */
};

struct php_settings {
	struct php_setting *items;	/* in the order in which PHP reads them */
	size_t count, capacity;
	char *ini_file;			/* the php.ini that was found; NULL: none */
	unsigned files;			/* files in the scan directories */
	char *unreadable;		/* the first file or directory that could not be read, and why; or NULL */
	int unreadable_error;
};

/* Arguments and environment of a process; all may be NULL. */
struct php_settings_from {
	const char *command;		/* words of its command line, each terminated by a NUL */
	size_t command_size;
	const char *phprc;		/* PHPRC */
	const char *scan;		/* PHP_INI_SCAN_DIR */
};

void php_settings_load(const struct root_dir *root, const struct php_binary *php, const struct php_settings_from *from,
		       struct php_settings *ret);
void php_settings_done(struct php_settings *s);

/* Adds a setting that overrides earlier ones. */
void php_settings_add(struct php_settings *s, const char *name, const char *value, const char *file, unsigned line);

/* Adds the settings of a pool of php-fpm, which apply once PHP has read its files. If strobe ignores a pool's value,
 * the previous value stays in force; among the files only the last value counts, and if that is ignored the default
 * applies. */
void php_settings_add_pool(struct php_settings *s, const struct php_settings *pool);

/* Returns the setting in force; NULL if nothing sets it. */
const struct php_setting *php_settings_find(const struct php_settings *s, const char *name);
const char *php_settings_get(const struct php_settings *s, const char *name, const char *otherwise);

/* Finds the lines that load an extension ("strobe": strobe, strobe.so, /path/strobe.so) by extension= or
 * zend_extension=. Returns their number; `*ret` is the first. */
size_t php_settings_extensions(const struct php_settings *s, const char *name, const struct php_setting **ret);

/* Returns the path of the file that such a line loads; NULL if the directory is unknown. The caller frees. */
char *php_settings_extension_path(const struct php_settings *s, const struct php_binary *php, const struct php_setting *line);

#endif
