/* container.h: detects a container without systemd, where sudo, setcap and systemctl are of no use.
 *
 * Docker leaves /.dockerenv, Podman /run/.containerenv (unless a tmpfs covers /run) and the variable container, Kubernetes
 * KUBERNETES_SERVICE_HOST; containerd alone (nerdctl, ctr) leaves only the options of the overlay at /. If systemd is
 * the init process, /run/systemd/system exists, as for sd_booted(3).
 */
#ifndef MACHINE_CONTAINER_H
#define MACHINE_CONTAINER_H

#include <stdbool.h>

/* `root` is "" or "/" except in tests. Environment variables, which are the caller's, count only for these two. */
bool container_without_systemd(const char *root);

#endif
