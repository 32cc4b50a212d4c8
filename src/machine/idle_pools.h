/* idle_pools.h: describes pools of php-fpm that have no process now (such as pm = ondemand) by the processes they
 * would start. */
#ifndef MACHINE_IDLE_POOLS_H
#define MACHINE_IDLE_POOLS_H

#include "php_tasks.h"

/* Reads the configurations of those masters among `tasks` that share our root. Each result has pid 0, its name, pool,
 * status, loaded, and root and other_root if it has a chroot; free them with php_tasks_free. NULL and 0 if there are
 * none. */
size_t idle_pools_find(const struct php_task *tasks, size_t count, struct php_task **ret);

#endif
