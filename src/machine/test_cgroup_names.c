/* test_cgroup_names.c: parses /proc/PID/cgroup as written by container engines. */
#include "cgroup_names.h"

#include "cleanup.h"
#include "test.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define UID	"1b2c3d4e-0001-4002-8003-a1b2c3d4e5f6"
#define UID_	"1b2c3d4e_0001_4002_8003_a1b2c3d4e5f6"

/* Returns "container pod unit slice", with - for missing names. */
static const char *names_of(const char *text)
{
	static char said[400];
	struct cgroup_names names;
	const struct str *parts[] = { &names.container, &names.pod, &names.unit, &names.slice };
	char *p = said;

	cgroup_names_read((struct str){ text, strlen(text) }, &names);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		p += sprintf(p, "%s%.*s", i ? " " : "", parts[i]->n ? (int)parts[i]->n : 1, parts[i]->n ? parts[i]->p : "-");
	return said;
}

TEST(containers_of_each_engine_are_recognized)
{
	CHECK_STR(names_of("0::/system.slice/docker-" ID ".scope\n"), ID " - - system.slice");
	CHECK_STR(names_of("0::/docker/" ID "\n"), ID " - - -");
	CHECK_STR(names_of("0::/machine.slice/libpod-" ID ".scope/container\n"), ID " - - machine.slice");
	CHECK_STR(names_of("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n"),
		  ID " - user@1000.service user.slice");
	CHECK_STR(names_of("0::/system.slice/containerd.service/" ID "\n"), ID " - containerd.service system.slice");
}

TEST(pods_of_kubernetes_are_recognized)
{
	CHECK_STR(names_of("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope\n"),
		  ID " " UID_ " - kubepods-burstable-pod" UID_ ".slice");
	CHECK_STR(names_of("0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container\n"), ID " " UID_ " - kubepods-pod" UID_ ".slice");
	CHECK_STR(names_of("4:memory:/kubepods/besteffort/pod" UID "/" ID "\n3:cpu:/kubepods/besteffort/pod" UID "/" ID "\n"), ID " " UID " - -");
	CHECK_STR(names_of("0::/kubepods/podb69b3bdb5a3dbeb0b69b3bdb5a3dbeb0/" ID "\n"), ID " b69b3bdb5a3dbeb0b69b3bdb5a3dbeb0 - -");
	CHECK_STR(names_of("0::/system.slice/containerd.service/kubepods-pod" UID_ ".slice:cri-containerd:" ID "\n"),
		  ID " " UID_ " containerd.service kubepods-pod" UID_ ".slice");
	/* Seen from a cgroup namespace of its own, and inside a container that contains a whole node. */
	CHECK_STR(names_of("0::/../../pod" UID "/" ID "\n"), ID " " UID " - -");
	CHECK_STR(names_of("0::/docker/" OTHER "/kubelet/kubepods/pod" UID "/" ID "\n"), ID " " UID " - -");
}

TEST(services_of_systemd_are_recognized)
{
	CHECK_STR(names_of("0::/system.slice/php8.2-fpm.service\n"), "- - php8.2-fpm.service system.slice");
	CHECK_STR(names_of("12:pids:/\n1:name=systemd:/system.slice/nginx.service\n0::/system.slice/nginx.service\n"),
		  "- - nginx.service system.slice");
	CHECK_STR(names_of("4:memory:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/system.slice/docker.service\n"),
		  ID " - docker.service system.slice");
}

TEST(the_monitor_process_of_a_container_is_outside_the_container)
{
	CHECK_STR(names_of("0::/machine.slice/libpod-conmon-" ID ".scope\n"), "- - - machine.slice");
	CHECK_STR(names_of("0::/kubepods.slice/crio-conmon-" ID ".scope\n"), "- - - kubepods.slice");
}

TEST(cgroup_files_without_a_container_pod_or_unit_yield_no_names)
{
	static const char *const texts[] = { "", "\n", "0::/\n", "0::", "0", ":::::", "0::/docker/0123\n", "0::/docker/" ID "0\n",
					     "0::/pod1234/x\n", "0::/kubepods/pod1b2c3d4e-0001-4002-8003-a1b2c3d4e5f\n" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_STR(names_of(texts[i]), "- - - -");
}

TEST_MAIN()
