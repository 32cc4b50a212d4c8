/* runs_add.h: reads a run uploaded by the API or the form, within limits, and stores it. */
#ifndef SERVE_RUNS_ADD_H
#define SERVE_RUNS_ADD_H

#include "http.h"

/* Reads a profile of any format into `p`, which is empty, in a separate process (upload_read.h). Returns 0, or an
 * HTTP status with a sentence that calls the upload `name`. In either case the caller returns `*ret_charged` bytes to
 * the cap. */
int runs_read(struct server_context *s, const char *name, const char *bytes, size_t n, struct profile *p, uint64_t *ret_charged,
	      struct err *err);

/* Stores the run under the names in its labels. Returns 0, with `ret->result` 1 if it is new and 0 if it already
 * existed, or an HTTP status with the reason in ret->err. */
int runs_store(struct server_context *s, const struct profile *p, int64_t now_ns, struct store_new_run *ret);

#endif
