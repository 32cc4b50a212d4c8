/* php_view.h: a running PHP's view of its machine: its root, its settings, the socket that it sends to. */
#ifndef DOCTOR_PHP_VIEW_H
#define DOCTOR_PHP_VIEW_H

#include "doctor.h"
#include "fpm_pools.h"

struct php_view {
	const struct php_task *task;
	const struct php_installation *php;	/* NULL: its program cannot be read; `err` has the reason */
	struct err err;
	struct root_dir root;
	const char *root_name;		/* path of its chroot, or "its container"; NULL: it shares our root */
	struct php_settings settings;
	bool has_line;			/* these settings load the extension */
	struct fpm_pools pools;		/* from the configuration of its master */
	const struct fpm_pool *pool;	/* NULL: none, or not found */
	char *socket;			/* the path to which it sends */
	char about[256];		/* "php-fpm, pool www (user www-data)" */
};

struct machine_tasks {
	struct php_task *items;
	size_t count, examined;
};

void php_view_open(struct php_view *v, const struct doctor *d, const struct machine_tasks *all, const struct php_task *task,
		   struct php_installation_list *list);
void php_view_close(struct php_view *v);

/* Whether its samples reach the daemon: its extension, its settings, its access to the socket. */
void doctor_task(struct findings *f, const struct doctor *d, const char *area, const char *about, const struct php_view *v);

/* "php-fpm 8.2.36 (/usr/sbin/php-fpm8.2)" */
void php_view_name(const struct php_installation *php, char *out, size_t size);

#endif
