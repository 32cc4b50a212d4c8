/* extension_file.h: finds the strobe.so that fits a PHP. */
#ifndef RUN_EXTENSION_FILE_H
#define RUN_EXTENSION_FILE_H

#include "php.h"

/* Looks beside this program (php8.2/strobe.so, strobe.so), in lib/strobe beside its directory and where this PHP
 * keeps its extensions, or only at `wanted` if it is not NULL. Takes the first that is built for exactly this PHP:
 * another one would make PHP print a warning into the program's output. The sentence lists what was found instead.
 * The caller frees. */
int extension_file_find(const struct php *p, const char *wanted, char **ret_path, struct err *err);

#endif
