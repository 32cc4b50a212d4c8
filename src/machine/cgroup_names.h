/* cgroup_names.h: derives container, pod or service of a process from its control groups. Pure: the caller passes the text.
 *
 * A line of /proc/PID/cgroup is "hierarchy:controllers:/path", one of them in version 2. Container engines put the id of
 * a container into the path, with a prefix and a suffix that differ, and Kubernetes the uid of the pod:
 *
 *	0::/kubepods.slice/kubepods-pod1b2c…_….slice/cri-containerd-ID.scope	systemd: containerd, CRI-O (crio-ID.scope)
 *	4:memory:/kubepods/burstable/pod1b2c…-…/ID				cgroupfs
 *	0::/system.slice/docker-ID.scope	0::/machine.slice/libpod-ID.scope/container	Docker, Podman
 *	0::/system.slice/php8.2-fpm.service					no container
 */
#ifndef MACHINE_CGROUP_NAMES_H
#define MACHINE_CGROUP_NAMES_H

#include "intern.h"

#define CGROUP_CONTAINER_DIGITS	64u

/* Slices of the text; { NULL, 0 } if a name is missing. If containers are nested, the innermost counts. */
struct cgroup_names {
	struct str container;		/* its 64 hexadecimal digits */
	struct str pod;			/* its uid as written there, with - or _ between the parts */
	struct str unit, slice;		/* systemd's: "php8.2-fpm.service", "system.slice"; the innermost of each
					 * outside the container */
};

void cgroup_names_read(struct str text, struct cgroup_names *ret);

/* Returns the id in the name of a container's group: "docker-ID.scope", "ID"; { NULL, 0 } if there is none. */
struct str cgroup_container_id(struct str name);

#endif
