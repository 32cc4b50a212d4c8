/* php_binary.h: identifies a PHP program or library by its constants, without running it.
 *
 * A PHP of a container or of another machine's disk cannot be run from here, and one of this machine would run whatever its
 * extensions do when PHP starts.
 */
#ifndef MACHINE_PHP_BINARY_H
#define MACHINE_PHP_BINARY_H

#include "err.h"

#include <stdbool.h>

#define PHP_BUILD	40

struct php_binary {
	char *path;			/* within its root */
	const char *sapi;		/* "cli", "fpm-fcgi", "cgi-fcgi", "apache2handler", "embed"; "" if unknown */
	char version[32];		/* "8.2.36", "" if unknown */
	char build[PHP_BUILD];		/* required build of extensions: "API20220829,NTS"; "" if unknown */
	char *ini_directory;		/* where its php.ini is; NULL if unknown */
	char *scan_directory;		/* where further ini files are, NULL if it has none */
	char *extension_directory;	/* NULL if unknown */
};

/* Reads the program that is open as `fd`, which stays the caller's; `path` is for errors. -ENOEXEC if it is no PHP. */
int php_binary_read_fd(int fd, const char *path, struct php_binary *ret, struct err *err);

/* The same from bytes of its constants (.rodata); false if that is no PHP. `path` is taken for the name. */
bool php_binary_parse(const char *path, const char *bytes, size_t n, struct php_binary *ret);
void php_binary_done(struct php_binary *b);

/* The build that an extension's file is for, by the string that PHP compares: NULL if there is none. The caller frees. */
char *php_build_find(const char *bytes, size_t n);

/* "cli" → "command line PHP"; as people call it. */
const char *php_sapi_name(const char *sapi);

#endif
