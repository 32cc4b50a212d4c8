/* php_activity_list.h: the current activity of every PHP thread, in all processes or in selected ones. */
#ifndef CAPTURE_PHP_ACTIVITY_LIST_H
#define CAPTURE_PHP_ACTIVITY_LIST_H

#include "php_activity.h"

struct php_activity_list {
	struct php_activity *items;		/* sorted: those with a request first, the oldest on top */
	size_t count;
	struct remote_targets targets;	/* `closed` counts processes that may not be read, `closed_why` has the reason */
	bool fpm;			/* only php-fpm */
	bool masters;			/* includes php-fpm's masters: they run no scripts */

	/* private */
	struct php_registry *registry;
};

/* Returns -EPERM with a sentence if no memory may be read. `wanted` NULL: only processes that are added.
 * `offsets_file` may be NULL. Call php_activity_list_done in any case. */
int php_activity_list_init(struct php_activity_list *l, const char *offsets_file, bool (*wanted)(void *data, pid_t pid), void *data,
		      struct err *err);
void php_activity_list_done(struct php_activity_list *l);

/* Adds the process with this number. */
int php_activity_list_add(struct php_activity_list *l, const char *pid, struct err *err);

/* Finds processes and reads their threads, again each time. */
void php_activity_list_read(struct php_activity_list *l);

/* Returns why a PHP is not supported; "" if all are. */
const char *php_activity_list_refused(const struct php_activity_list *l);

#endif
