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
	bool has_strobe;		/* its own settings already load the extension */
};

/* Finds `name` like a shell: with a slash it is a path, else it is searched in PATH. The caller frees. Returns
 * -ENOENT, or -EACCES if the file cannot be executed; without a sentence. */
int php_find_program(const char *name, char **ret_path);

/* Finds the PHP of `program` (a path): itself if its name is php, php8.2 or similar, the interpreter in its #! line
 * if it is a PHP script, else `php` from PATH. The caller frees. */
int php_find(const char *program, char **ret_path, struct err *err);

/* Queries version and build of the PHP at `path`, by running it. */
int php_probe(const char *path, struct php *ret, struct err *err);
void php_done(struct php *p);

/* Tells whether these arguments make PHP read no settings (-n), so that no extension can be loaded. */
bool php_ignores_settings(int argc, char **argv);

/* Tells whether the JIT compiler of the PHP at `path` is enabled, with the settings given in the command, and samples
 * are not taken at calls instead (strobe.instrument). Runs it. */
bool php_jit_prevents_samples(const char *path, int argc, char **argv);

#endif
