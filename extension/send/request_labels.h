/* request_labels.h: what describes the samples of the current request: entry, sapi, host, method, and strobe.labels. */
#ifndef STROBE_REQUEST_LABELS_H
#define STROBE_REQUEST_LABELS_H

#include "php.h"

#define REQUEST_LABELS 32

struct request_label {
	char key[65], value[256];	/* cut to fit, NUL-terminated */
};

struct request_labels {
	struct request_label items[REQUEST_LABELS];
	unsigned count;
};

/* Reads the machine's name; before anything else here. */
void request_labels_startup(void);

/* Fills `l` for the request that begins. strobe.labels win over the others, except that keys are unique. */
void request_labels_collect(struct request_labels *l);

#endif
