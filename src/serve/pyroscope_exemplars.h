/* pyroscope_exemplars.h: runs as exemplars: the single profiles that Pyroscope shows beside sums of many. */
#ifndef SERVE_PYROSCOPE_EXEMPLARS_H
#define SERVE_PYROSCOPE_EXEMPLARS_H

#include "pyroscope_selection.h"

/* Returns the span id of a run, from its newer or older label; NULL if it has none. */
const char *pyroscope_span_of(const struct store_run *run);

/* Appends a field with the run: profile_id is SOURCE/ID, which profile_id_selector accepts. */
void pyroscope_put_exemplar(const struct pyroscope_selection *a, const struct store_run *run, uint32_t number, struct buf *out);

#endif
