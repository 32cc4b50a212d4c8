/* unit_class.h: Strobe\Unit: a piece of work that the program begins and ends: a job, a message, a request of a worker. */
#ifndef STROBE_UNIT_CLASS_H
#define STROBE_UNIT_CLASS_H

#include "api_thread.h"

struct unit_object;

void unit_class_register(void);

/* Ends all open units; their runs say that they were left open. */
void unit_class_request_end(struct api_thread *a);

/* Walks the units that have not ended, from the last one begun; begins with NULL. Returns NULL at the end. */
struct unit_object *unit_next(struct api_thread *a, struct unit_object *u);
struct work *unit_work(struct unit_object *u);

#endif
