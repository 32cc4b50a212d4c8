/* request_labels.h: the labels of the current request's samples: entry, sapi, host, method, and strobe.labels. */
#ifndef STROBE_REQUEST_LABELS_H
#define STROBE_REQUEST_LABELS_H

#include "php.h"

#define REQUEST_LABELS 32

struct request_label {
	char key[65], value[256];	/* truncated to fit, NUL-terminated */
	bool inherited;			/* inherited by a scope from the enclosing one (api/scopes.h) */
};

struct request_labels {
	struct request_label items[REQUEST_LABELS];
	unsigned count;
};

/* Reads the machine's name; call it first. */
void request_labels_startup(void);

/* Stores facts that some SAPIs forget before the end of the request (FPM the script, once it has run; FrankenPHP's
 * workers also the method). Call it first in each request. */
void request_labels_request_start(void);

/* Fills `l` for the running request. strobe.labels override the others; each key occurs once. */
void request_labels_collect(struct request_labels *l);

/* An error in a value of strobe.labels: the first part that is not a label, and the reason. */
struct label_problem {
	const char *part;
	size_t size;
	const char *why;
};

/* Returns whether there is an error. */
bool request_labels_check(const char *configured, struct label_problem *ret);

/* Sets a label, replacing one with the same key; it is truncated and cleaned like the others. Returns 0, -EINVAL for
 * an invalid key, or -ENOSPC if there are REQUEST_LABELS others. */
int request_labels_set(struct request_labels *l, const char *key, size_t key_size, const char *value,
		       size_t value_size);

/* Sets all of `more`, if there is room. */
void request_labels_add(struct request_labels *l, const struct request_labels *more);

/* Returns NULL if there is no label with that key. */
struct request_label *request_labels_find(struct request_labels *l, const char *key);

bool request_labels_has(const struct request_labels *l, const char *key, size_t key_size);

/* Copies another thread's labels, while that thread may be changing them, or be gone. False if they could not be
 * read. */
bool request_labels_copy(struct request_labels *to, const struct request_labels *from);

/* Returns whether the label existed. */
bool request_labels_remove(struct request_labels *l, const char *key, size_t key_size);

#endif
