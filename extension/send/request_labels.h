/* request_labels.h: the labels of the current request's samples: entry, sapi, host, method, and strobe.labels. */
#ifndef STROBE_REQUEST_LABELS_H
#define STROBE_REQUEST_LABELS_H

#include "php.h"

#define REQUEST_LABELS 32

struct request_label {
	char key[65], value[256];	/* cut to fit, NUL-terminated */
	bool inherited;			/* by a scope from the one around it (api/scopes.h) */
};

struct request_labels {
	struct request_label items[REQUEST_LABELS];
	unsigned count;
};

/* Reads the machine's name; call it first. */
void request_labels_startup(void);

/* Notes what some SAPIs forget before the request has ended (FPM the script, once it has run; FrankenPHP's workers also the
 * method); before anything else here in each request. */
void request_labels_request_start(void);

/* Fills `l` for the running request. strobe.labels win over the others, except that keys are unique. */
void request_labels_collect(struct request_labels *l);

/* A mistake in a value of strobe.labels: the first part that is not a label, and the reason. */
struct label_problem {
	const char *part;
	size_t size;
	const char *why;
};

/* Whether something in it is wrong. */
bool request_labels_check(const char *configured, struct label_problem *ret);

/* Sets a label, in place of one that has its key; it is cut and cleaned like the others. Returns 0, -EINVAL for a key
 * that cannot be one, or -ENOSPC when there are REQUEST_LABELS others. */
int request_labels_set(struct request_labels *l, const char *key, size_t key_size, const char *value,
		       size_t value_size);

/* Sets all of `more`, as far as there is room. */
void request_labels_add(struct request_labels *l, const struct request_labels *more);

/* NULL: there is none of that key. */
struct request_label *request_labels_find(struct request_labels *l, const char *key);

bool request_labels_has(const struct request_labels *l, const char *key, size_t key_size);

/* Makes `to` a copy of another thread's labels; that thread may be changing them, or be gone. False if that could not be read. */
bool request_labels_copy(struct request_labels *to, const struct request_labels *from);

/* Returns whether it was there. */
bool request_labels_remove(struct request_labels *l, const char *key, size_t key_size);

#endif
