/* arclamp_directory.h: finds the log directory for commands that take --logs DIR or Arc Lamp's configuration. */
#ifndef ARCLAMP_ARCLAMP_DIRECTORY_H
#define ARCLAMP_ARCLAMP_DIRECTORY_H

#include "err.h"

#define ARCLAMP_LOGS	"/srv/arclamp/logs"	/* Arc Lamp's own default */

/* Returns `logs` if it is not NULL, else base_path of the file `config`, else the default. -EINVAL if both are given.
 * The caller frees. */
int arclamp_directory(const char *logs, const char *config, char **ret, struct err *err);

#endif
