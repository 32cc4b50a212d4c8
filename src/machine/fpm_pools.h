/* fpm_pools.h: reads the pools of a php-fpm from its configuration. */
#ifndef MACHINE_FPM_POOLS_H
#define MACHINE_FPM_POOLS_H

#include "php_settings.h"

struct fpm_pool {
	char *name;
	char *file;			/* the file that sets its user, or where the pool begins */
	char *user, *group;		/* NULL if not given */
	char *chroot;			/* NULL: none */
	struct php_settings environment;	/* env[NAME], by name */
	bool keeps_environment;		/* clear_env = no: workers keep the master's environment */
	struct php_settings settings;	/* php_value and php_flag */
	struct php_settings admin;	/* php_admin_value and php_admin_flag, applied after `settings` */
};

struct fpm_pools {
	struct fpm_pool *items;
	size_t count, capacity;
	char *unreadable;		/* the first file that could not be read, or NULL */
	int unreadable_error;
};

/* Reads the configuration `path` and its includes. Returns 0, or -errno if `path` cannot be read. */
int fpm_pools_read(const struct root_dir *root, const char *path, struct fpm_pools *ret);
void fpm_pools_done(struct fpm_pools *p);

const struct fpm_pool *fpm_pools_find(const struct fpm_pools *p, const char *name);

#endif
