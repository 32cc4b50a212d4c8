/* no_samples_reason.h: diagnoses on this machine why no samples have arrived yet. */
#ifndef SERVE_NO_SAMPLES_REASON_H
#define SERVE_NO_SAMPLES_REASON_H

#include "buf.h"
#include "php_processes.h"
#include "source.h"

/* Appends a sentence without a full stop. Scans /proc, which takes a few milliseconds. */
void no_samples_reason(struct source *const *sources, size_t count, struct buf *out);

/* Does the same for given groups; `socket_path` NULL: PHP has no socket to send to. */
void no_samples_reason_of(const struct php_group *groups, size_t count, const char *socket_path, struct buf *out);

#endif
