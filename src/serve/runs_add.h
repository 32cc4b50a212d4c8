/* runs_add.h: reads a run that was uploaded by the API or the form, within limits, and stores it. */
#ifndef SERVE_RUNS_ADD_H
#define SERVE_RUNS_ADD_H

#include "http.h"

/* Reads a profile of any format into `p`, which is empty, in a process of its own (upload_read.h). Returns 0, or the status
 * to answer with, with a sentence. `*ret_charged` is memory that the caller gives back in either case. */
int runs_read(struct server_context *s, const char *bytes, size_t n, struct profile *p, uint64_t *ret_charged, struct err *err);

/* Stores it under the names in its labels. Returns 0, `ret->result` being 1 if it is new and 0 if it was there, or the
 * status to answer with; then ret->err says why. */
int runs_store(struct server_context *s, const struct profile *p, int64_t now_ns, struct store_new_run *ret);

#endif
