/* php_image.h: detects and locates PHP in a file: a program, or a library such as libphp.
 *
 * A file is recognized not by its name but by its exports: executor_globals, or executor_globals_offset if PHP is
 * thread-safe. Debian strips its PHP, but the symbols that extensions need stay in .dynsym.
 */
#ifndef CAPTURE_PHP_IMAGE_H
#define CAPTURE_PHP_IMAGE_H

#include "php_offsets.h"

struct php_image {
	struct binary binary;
	unsigned major, minor;
	char version[32];		/* "8.2.36", "8.2" if only that is known */
	u64 exception_class;		/* address of zend_ce_exception, to check the offsets; 0: unknown */
};

/* Inspects an open file. Returns 1 if it contains PHP, 0 if not (`binary.kind` is then BINARY_HOST if it may load a
 * library that does, else BINARY_OTHER; if the linker put that library's globals into the program, their addresses
 * are returned anyway), or -ENOTSUP with a sentence for a PHP that is missing in the table. `name` is used in errors. */
int php_image_read(int fd, const char *name, const struct php_offsets *o, struct php_image *ret, struct err *err);

#endif
