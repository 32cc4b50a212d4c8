/* unit_class.h: Strobe\Unit: a piece of work with beginning and end set by the program: a job, a message, a worker's
 * request. */
#ifndef STROBE_UNIT_CLASS_H
#define STROBE_UNIT_CLASS_H

#include "api_thread.h"

struct unit_object;

void unit_class_register(void);

/* Ends all open units; their runs are marked as left open. */
void unit_class_request_end(struct api_thread *a);

/* Iterates over open units, the most recent first; pass NULL to begin. Returns NULL at the end. */
struct unit_object *unit_next(struct api_thread *a, struct unit_object *u);
struct work *unit_work(struct unit_object *u);

#endif
