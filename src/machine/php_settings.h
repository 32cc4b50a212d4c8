/* php_settings.h: the settings that a PHP starts with, read from its ini files without running it.
 *
 * Settings for one host or one directory ([HOST=…], [PATH=…], .user.ini) are left out: they hold for some requests only.
 */
#ifndef MACHINE_PHP_SETTINGS_H
#define MACHINE_PHP_SETTINGS_H

#include "root_dir.h"
#include "php_binary.h"

struct php_setting {
	char *name, *value;
	char *file;			/* "" for one of the command line */
	unsigned line;
	bool no_effect;			/* PHP ignored it, and the value before it holds */
};

struct php_settings {
	struct php_setting *items;	/* in the order in which PHP reads them */
	size_t count, capacity;
	char *ini_file;			/* php.ini that was found, NULL if there is none */
	unsigned files;			/* files in the scan directories */
	char *unreadable;		/* the first file or directory that could not be read, and why; NULL */
	int unreadable_error;
};

/* Arguments and environment of a process; all may be NULL. */
struct php_settings_from {
	const char *command;		/* words of its command line, separated by NULs */
	size_t command_size;
	const char *phprc;		/* PHPRC */
	const char *scan;		/* PHP_INI_SCAN_DIR */
};

void php_settings_load(const struct root_dir *root, const struct php_binary *php, const struct php_settings_from *from,
		       struct php_settings *ret);
void php_settings_done(struct php_settings *s);

/* Adds one that wins over those before. */
void php_settings_add(struct php_settings *s, const char *name, const char *value, const char *file, unsigned line);

/* Adds the settings that a pool of php-fpm makes once PHP has read its files. After a value that strobe ignores
 * there, the previous one stays in force; in files, where only the last value counts, the default does. */
void php_settings_add_pool(struct php_settings *s, const struct php_settings *pool);

/* The value that holds; NULL if nothing sets it. */
const struct php_setting *php_settings_find(const struct php_settings *s, const char *name);
const char *php_settings_get(const struct php_settings *s, const char *name, const char *otherwise);

/* The lines that load an extension ("strobe": strobe, strobe.so, /path/strobe.so), by extension= or zend_extension=.
 * Returns how many; `*ret` is the first. */
size_t php_settings_extensions(const struct php_settings *s, const char *name, const struct php_setting **ret);

/* The path at which PHP looks for the file of such a line. The caller frees; NULL if its directory is not known. */
char *php_settings_extension_path(const struct php_settings *s, const struct php_binary *php, const struct php_setting *line);

#endif
