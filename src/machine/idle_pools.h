/* idle_pools.h: pools of php-fpm without a process now, such as those of pm = ondemand, as the processes they would start. */
#ifndef MACHINE_IDLE_POOLS_H
#define MACHINE_IDLE_POOLS_H

#include "php_tasks.h"

/* Reads the configurations of the masters among `tasks` that see our files. Each one that is returned has pid 0, its name, pool,
 * status, loaded, and root and other_root if it has a chroot; the caller calls php_tasks_free. NULL and 0 if there are none. */
size_t idle_pools_find(const struct php_task *tasks, size_t count, struct php_task **ret);

#endif
