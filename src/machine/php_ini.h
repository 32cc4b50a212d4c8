/* php_ini.h: ini files as PHP reads them: php.ini, conf.d, the configuration of php-fpm.
 *
 * "name = value" and "name[key] = value" below "[section]". on, yes and true become 1; off, no, false and none nothing,
 * unless they are quoted. ${VARIABLES} and E_ALL & ~E_NOTICE stay as they stand.
 */
#ifndef MACHINE_PHP_INI_H
#define MACHINE_PHP_INI_H

#include <stddef.h>

struct php_ini_line {
	const char *section;		/* "" before the first one */
	const char *name;
	const char *key;		/* "" without brackets */
	const char *value;
	unsigned line;			/* from 1 */
};

/* Hands each setting to `each`, whose texts last for the call. Lines that are no setting are left out, as PHP does. */
void php_ini_parse(const char *bytes, size_t n, void (*each)(const struct php_ini_line *l, void *data), void *data);

#endif
