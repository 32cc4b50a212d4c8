/* php_image.h: detects and locates PHP in a file: a program, or a library such as libphp.
 *
 * No name of a file decides, but what it exports: executor_globals, or executor_globals_offset where PHP is thread-safe.
 * Debian strips its PHP, but what extensions need stays in .dynsym.
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

/* Reads what the open file is. Returns 1 if it has PHP, 0 if it has none (`binary.kind` is then BINARY_HOST if it may load
 * a library that has, else BINARY_OTHER; the linker may have put that library's globals into the program, and then their
 * addresses are returned nevertheless), or -ENOTSUP with a sentence for a PHP that the table does not know. `name` is for
 * sentences. */
int php_image_read(int fd, const char *name, const struct php_offsets *o, struct php_image *ret, struct err *err);

#endif
