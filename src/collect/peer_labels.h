/* peer_labels.h: labels that say where a PHP process runs, read from /proc when it connects.
 *
 * A rule is LABEL=KIND:NAME:
 *
 *	cgroup:container	12 digits of the container's id, as `docker ps` has them
 *	cgroup:pod		the uid of the pod
 *	cgroup:unit, :slice	of systemd
 *	env:VARIABLE		a variable that the process was started with
 *	otel:ATTRIBUTE		of its OTEL_RESOURCE_ATTRIBUTES; service.name also from OTEL_SERVICE_NAME, which wins
 *	daemon-env:VARIABLE	a variable of our own
 *
 * The environment of a process is readable for its own user, and with CAP_SYS_PTRACE. */
#ifndef COLLECT_PEER_LABELS_H
#define COLLECT_PEER_LABELS_H

#include "err.h"
#include "intern.h"
#include "labels.h"

#include <sys/types.h>

#define PEER_LABELS_MAX	16u		/* rules */

struct peer_labels;

/* Returns -EINVAL for a malformed rule, with what to use instead in `err`. Without rules `*ret` is NULL. */
int peer_labels_new(const char *const *rules, size_t n, struct peer_labels **ret, struct err *err);
struct peer_labels *peer_labels_free(struct peer_labels *p);		/* NULL is fine; returns NULL */

/* Sets the labels of a process; missing values set none. Returns a negative errno and a sentence if a file could not
 * be read; labels from the other one are set then. A pid of 0 is a process of another pid namespace: -ESRCH. */
int peer_labels_read(const struct peer_labels *p, pid_t pid, struct labels *ret, struct err *err);

/* The same from the texts of /proc/PID/cgroup and /proc/PID/environ. */
void peer_labels_from(const struct peer_labels *p, struct str cgroup, struct str environment, struct labels *ret);

#endif
