/* php.h: finds the PHP that a command will run, and its version and build. */
#ifndef RUN_PHP_H
#define RUN_PHP_H

#include "err.h"
#include <stdbool.h>

struct php {
	char *path;			/* the command line PHP that was queried */
	char *version;			/* "8.2.35" */
	char *minor;			/* "8.2" */
	char *build;			/* required build of an extension: "API20220829,NTS" */
	char *extension_dir;
	bool has_strobe;		/* its own settings load the extension already */
};

/* Finds `name` as a shell would: with a slash it is a path, else it is looked for in PATH. The caller frees.
 * Returns -ENOENT, or -EACCES if the file cannot be executed; no sentence. */
int php_find_program(const char *name, char **ret_path);

/* The PHP behind `program` (a path): itself when it is called php or php8.2, what its #! line names when it is a
 * script for PHP, else `php` from PATH. The caller frees. */
int php_find(const char *program, char **ret_path, struct err *err);

/* Queries version and build of the PHP at `path`, by running it. */
int php_probe(const char *path, struct php *ret, struct err *err);
void php_done(struct php *p);

/* Whether these arguments make PHP read no settings (-n), so that no extension can be loaded. */
bool php_ignores_settings(int argc, char **argv);

/* Whether the JIT compiler is on in the PHP at `path`, with the settings that the command gives to it, and samples are not taken
 * at calls instead (strobe.instrument). Runs it. */
bool php_jit_prevents_samples(const char *path, int argc, char **argv);

#endif
