/* extension_file.h: finds the strobe.so that fits a PHP. */
#ifndef RUN_EXTENSION_FILE_H
#define RUN_EXTENSION_FILE_H

#include "php.h"

/* Looks next to this program (php8.2/strobe.so, strobe.so), in lib/strobe next to its directory and in this PHP's
 * extension directory, or only at `wanted` if it is not NULL. Uses the first that is built for exactly this PHP: with
 * another one, PHP would print a warning into the program's output. The error lists what was found instead. The
 * caller frees. */
int extension_file_find(const struct php *p, const char *wanted, char **ret_path, struct err *err);

#endif
