/* process_labels.h: the labels of processes: pool, container and pid, read at the first sample of a process, since it
 * may have ended later. */
#ifndef CAPTURE_PROCESS_LABELS_H
#define CAPTURE_PROCESS_LABELS_H

#include "bpf/event.h"
#include "labels.h"

#include <stdbool.h>

struct process_labels;

struct process_labels *process_labels_new(bool with_pid);
struct process_labels *process_labels_free(struct process_labels *l);	/* NULL is fine; returns NULL */

/* Reads the labels of a process. `process` is its PROCESS_KEY, `pid` its number in the caller's namespace, or 0. */
void process_labels_note(struct process_labels *l, u64 process, pid_t pid);

/* Copies the labels of a process from another table. */
void process_labels_adopt(struct process_labels *l, const struct process_labels *from, u64 process);

/* Adds the known labels of a process. */
void process_labels_set(const struct process_labels *l, u64 process, struct labels *ret);

#endif
