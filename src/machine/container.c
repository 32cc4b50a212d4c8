/* container.c: signs of a container in files and variables. */
#include "container.h"

#include "cleanup.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool exists(const char *root, const char *file)
{
	_cleanup_(freep) char *path = xasprintf("%s%s", root, file);

	return access(path, F_OK) == 0;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

bool container_without_systemd(const char *root)
{
	if (exists(root, "/run/systemd/system"))
		return false;
	if (exists(root, "/.dockerenv") || exists(root, "/run/.containerenv"))
		return true;
	return (!*root || !strcmp(root, "/")) && (is_set("container") || is_set("KUBERNETES_SERVICE_HOST"));
}
