/* test_container.c: signs of a container in a temporary directory. */
#include "container.h"

#include "cleanup.h"
#include "mem.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

static bool with(const char *make)
{
	char root[] = "/tmp/strobe-container-XXXXXX";
	_cleanup_(freep) char *command = NULL, *clear = NULL;
	bool found;

	CHECK(mkdtemp(root) != NULL);
	command = xasprintf("cd %s && %s", root, make);
	CHECK_INT(system(command), 0);
	found = container_without_systemd(root);
	clear = xasprintf("rm -r %s", root);
	CHECK_INT(system(clear), 0);
	return found;
}

TEST(a_container_is_recognized_by_the_marker_file_of_its_engine)
{
	CHECK(!with("true"));
	CHECK(with("touch .dockerenv"));
	CHECK(with("mkdir run && touch run/.containerenv"));
}

TEST(a_containerd_container_is_recognized_by_its_root)
{
	static const char mounts[] =
		"mkdir -p proc/self %s && echo '21 1 0:40 / %s rw,relatime - overlay overlay rw,lowerdir=/var/lib/containerd/"
		"io.containerd.snapshotter.v1.overlayfs/snapshots/7/fs,upperdir=%s/fs' > proc/self/mountinfo";
	_cleanup_(freep) char *own = xasprintf(mounts, "", "/", "/a"), *host = xasprintf(mounts, "", "/run/containerd/x/rootfs", "/a");
	_cleanup_(freep) char *booted = xasprintf(mounts, "run/systemd/system", "/", "/a");

	CHECK(with(own));
	CHECK(!with(host));
	CHECK(!with(booted));
}

TEST(a_container_with_systemd_counts_as_a_host)
{
	CHECK(!with("mkdir -p run/systemd/system"));
	CHECK(!with("touch .dockerenv && mkdir -p run/systemd/system"));
	CHECK(with("touch .dockerenv && mkdir -p run/systemd"));
}

TEST(environment_variables_apply_to_this_machine_only)
{
	bool booted = access("/run/systemd/system", F_OK) == 0;

	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("container", "podman", 1);
	CHECK(!with("true"));
	CHECK_INT(container_without_systemd(""), !booted);
	unsetenv("KUBERNETES_SERVICE_HOST");
	CHECK_INT(container_without_systemd(""), !booted);
}

TEST_MAIN()
