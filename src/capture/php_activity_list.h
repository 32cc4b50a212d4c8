/* php_activity_list.h: the current activity of every PHP thread, in all processes or in selected ones. */
#ifndef CAPTURE_PHP_ACTIVITY_LIST_H
#define CAPTURE_PHP_ACTIVITY_LIST_H

#include "php_activity.h"

struct php_activity_list {
	struct php_activity *items;		/* those with a request first, the oldest on top */
	size_t count;
	struct remote_targets targets;	/* `closed` counts processes that may not be read, `closed_why` says why */
	bool fpm;			/* php-fpm alone */
	bool masters;			/* includes php-fpm's masters: they run no scripts */

	/* private */
	struct php_registry *registry;
};

/* -EPERM with a sentence if no memory may be read here. `wanted` NULL: only those that are added. `offsets_file` may be NULL. Done
 * in any case. */
int php_activity_list_init(struct php_activity_list *l, const char *offsets_file, bool (*wanted)(void *data, pid_t pid), void *data,
		      struct err *err);
void php_activity_list_done(struct php_activity_list *l);

/* Adds the process of a number. */
int php_activity_list_add(struct php_activity_list *l, const char *pid, struct err *err);

/* Finds processes and reads their threads, again each time. */
void php_activity_list_read(struct php_activity_list *l);

/* A PHP that is not known; "" if there is none. */
const char *php_activity_list_refused(const struct php_activity_list *l);

#endif
