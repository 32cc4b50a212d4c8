/* php_binary.h: identifies a PHP program or library by its constants, without running it.
 *
 * A PHP inside a container or on another machine's disk cannot be run from here, and running one of this machine
 * would execute startup code of its extensions.
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
	char *scan_directory;		/* directory of further ini files; NULL if it has none */
	char *extension_directory;	/* NULL if unknown */
};

/* Reads the program open as `fd`, which stays the caller's; `path` is for errors. -ENOEXEC if it is not PHP. */
int php_binary_read_fd(int fd, const char *path, struct php_binary *ret, struct err *err);

/* Parses the bytes of its constants (.rodata); false if they are not PHP's. The name is derived from `path`. */
bool php_binary_parse(const char *path, const char *bytes, size_t n, struct php_binary *ret);
void php_binary_done(struct php_binary *b);

/* Finds the build that an extension was compiled for, in the string that PHP compares; NULL if there is none. The
 * caller frees. */
char *php_build_find(const char *bytes, size_t n);

/* Returns the common name: "command line PHP" for "cli". */
const char *php_sapi_name(const char *sapi);

#endif
