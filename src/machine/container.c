/* container.c: signs of a container in files and variables. */
#include "container.h"

#include "cleanup.h"
#include "io.h"
#include "mem.h"

#include <stdio.h>
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

/* Whether containerd has made the root file system: its options name layers below .../io.containerd.snapshotter.v1.overlayfs/. */
static bool is_of_containerd(const char *root)
{
	_cleanup_(freep) char *path = xasprintf("%s/proc/self/mountinfo", root);
	_cleanup_(buf_done) struct buf text = { 0 };
	char *save = NULL;

	buf_init(&text);
	if (io_read_file(path, &text, (size_t)16 << 20, NULL) < 0 || !text.size)
		return false;
	for (char *line = strtok_r(text.data, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char place[4];

		if (sscanf(line, "%*s %*s %*s %*s %3s", place) == 1 && !strcmp(place, "/") && strstr(line, "/io.containerd.snapshotter."))
			return true;
	}
	return false;
}

bool container_without_systemd(const char *root)
{
	if (exists(root, "/run/systemd/system"))
		return false;
	if (exists(root, "/.dockerenv") || exists(root, "/run/.containerenv"))
		return true;
	if (is_of_containerd(root))
		return true;
	return (!*root || !strcmp(root, "/")) && (is_set("container") || is_set("KUBERNETES_SERVICE_HOST"));
}
