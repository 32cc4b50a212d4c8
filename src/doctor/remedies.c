/* remedies.c: remedies that several checks share. */
#include "doctor.h"

#include "container.h"

/* A process started in a container with `exec` has the container's capabilities; without them, root cannot inspect
 * other processes. */
const char *doctor_as_root(void)
{
	return container_without_systemd("") ?
		       "docker exec --privileged -u 0 CONTAINER strobe doctor (in Kubernetes: user 0 with SYS_PTRACE and DAC_READ_SEARCH)" :
		       "sudo strobe doctor";
}

void doctor_put_restart(const char *service, struct buf *out)
{
	if (!*service)
		buf_puts(out, "restart that PHP");
	else
		buf_printf(out, "%s %s", container_without_systemd("") ? "restart" : "systemctl restart", service);
}

void doctor_put_then_restart(const char *service, struct buf *out)
{
	buf_puts(out, *service && !container_without_systemd("") ? " && " : "; then ");
	doctor_put_restart(service, out);
}
