/* php_ini.h: ini files as PHP reads them: php.ini, conf.d, the configuration of php-fpm.
 *
 * "name = value" and "name[key] = value" below "[section]". Unless quoted, on, yes and true become 1; off, no, false
 * and none become "". ${VARIABLES} and E_ALL & ~E_NOTICE are not expanded.
 */
#ifndef MACHINE_PHP_INI_H
#define MACHINE_PHP_INI_H

#include <stddef.h>

struct php_ini_line {
	const char *section;		/* "" before the first section */
	const char *name;
	const char *key;		/* "" without brackets */
	const char *value;
	unsigned line;			/* from 1 */
};

/* Passes each setting to `each`, whose texts are valid during the call. Lines that are not settings are skipped, as
 * PHP does. */
void php_ini_parse(const char *bytes, size_t n, void (*each)(const struct php_ini_line *l, void *data), void *data);

#endif
