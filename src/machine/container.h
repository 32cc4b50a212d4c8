/* container.h: detects a container without systemd, in which nobody can use sudo, setcap and systemctl.
 *
 * Docker leaves /.dockerenv, Podman /run/.containerenv (unless a tmpfs covers /run) and the variable container, Kubernetes
 * KUBERNETES_SERVICE_HOST; containerd alone (nerdctl, ctr) leaves only the options of the overlay at /. Where systemd is the init process there is /run/systemd/system, as for sd_booted(3).
 */
#ifndef MACHINE_CONTAINER_H
#define MACHINE_CONTAINER_H

#include <stdbool.h>

/* `root` is "" or "/" but in tests; the variables are those of the caller, so they count for these only. */
bool container_without_systemd(const char *root);

#endif
