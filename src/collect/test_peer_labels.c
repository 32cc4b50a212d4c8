/* test_peer_labels.c: rules, and the labels that they set. */
#include "peer_labels.h"

#include "test.h"

#include <sys/wait.h>

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID_	"1b2c3d4e_0001_4002_8003_a1b2c3d4e5f6"

static const char group[] = "0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope\n";
static const char variables[] = "PATH=/bin\0POD_NAME=shop-7d9\0EMPTY=\0OTEL_SERVICE_NAME=shop\0POD_NAME=second\0"
				"OTEL_RESOURCE_ATTRIBUTES=service.name=other,deployment.environment=pro%20d,bad=%zz,k8s.pod.name=shop-7d9\0LAST=x";

static const char *labels_of(const char *const *rules, size_t n)
{
	static char text[2000];
	struct peer_labels *p;
	struct labels l;
	struct buf b;

	labels_init(&l);
	buf_init(&b);
	CHECK_INT(peer_labels_new(rules, n, &p, NULL), 0);
	peer_labels_from(p, (struct str){ group, sizeof(group) - 1 }, (struct str){ variables, sizeof(variables) - 1 }, &l);
	labels_put(&l, &b);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	labels_done(&l);
	peer_labels_free(p);
	return text;
}
#define LABELS(...) labels_of((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

TEST(a_container_and_its_pod_become_labels)
{
	CHECK_STR(LABELS("container=cgroup:container", "pod_uid=cgroup:pod", "unit=cgroup:unit", "slice=cgroup:slice"),
		  "container=0123456789ab,pod_uid=1b2c3d4e-0001-4002-8003-a1b2c3d4e5f6,slice=kubepods-pod" UID_ ".slice");
}

TEST(variables_become_labels_unless_missing_or_empty)
{
	CHECK_STR(LABELS("pod=env:POD_NAME", "a=env:EMPTY", "b=env:POD_NAM", "c=env:OD_NAME", "d=env:LAST"), "d=x,pod=shop-7d9");
}

TEST(opentelemetry_resource_attributes_become_labels)
{
	CHECK_STR(LABELS("service_name=otel:service.name", "environment=otel:deployment.environment", "bad=otel:bad", "none=otel:service",
			 "pod=otel:k8s.pod.name"), "environment=pro d,pod=shop-7d9,service_name=shop");
}

TEST(our_own_variables_become_labels)
{
	setenv("STROBE_TEST_NODE", "node-3", 1);
	CHECK_STR(LABELS("node=daemon-env:STROBE_TEST_NODE", "other=daemon-env:STROBE_TEST_NONE"), "node=node-3");
}

TEST(an_invalid_rule_is_rejected_with_an_error)
{
	static const char *const bad[][2] = {
		{ "pod", "LABEL=KIND:NAME" }, { "=env:A", "LABEL=KIND:NAME" }, { "a-b=env:A", "letters, digits and _" },
		{ "pod=POD_NAME", "env:" }, { "pod=env:", "and a name" }, { "pod=cgroup:name", "cgroup:container, cgroup:pod" },
	};
	struct peer_labels *p;
	const char *twice[] = { "pod=env:A", "pod=env:B" }, *many[PEER_LABELS_MAX + 1];
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_INT(peer_labels_new(bad[i], 1, &p, &err), -EINVAL);
		CHECK(strstr(err.text, bad[i][1]));
		CHECK(!p);
	}
	CHECK_INT(peer_labels_new(twice, 2, &p, &err), -EINVAL);
	CHECK(strstr(err.text, "'pod=env:B': the label already has a rule"));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = "a=env:B";
	CHECK_INT(peer_labels_new(many, ARRAY_SIZE(many), &p, &err), -EINVAL);
	CHECK_INT(peer_labels_new(NULL, 0, &p, &err), 0);
	CHECK(!p);
}

/* The environment that a process shows is the one it was started with. */
TEST(the_environment_of_a_process_is_read_until_it_exits)
{
	const char *rules[] = { "pod=env:STROBE_TEST_POD", "unit=cgroup:unit" };
	int wait_for[2], status;
	struct peer_labels *p;
	struct labels l;
	struct err err;
	char byte;
	pid_t pid;

	CHECK_INT(peer_labels_new(rules, 2, &p, NULL), 0);
	labels_init(&l);
	CHECK_INT(pipe(wait_for), 0);
	pid = fork();
	if (pid == 0) {
		dup2(wait_for[1], 1);
		close(wait_for[0]);
		setenv("STROBE_TEST_POD", "here", 1);
		execlp("sh", "sh", "-c", "echo; kill -STOP $$", NULL);
		_exit(1);
	}
	CHECK_INT(read(wait_for[0], &byte, 1), 1);
	CHECK_INT(peer_labels_read(p, pid, &l, &err), 0);
	CHECK_STR(labels_get(&l, "pod"), "here");
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK_INT(peer_labels_read(p, pid, &l, &err), -ENOENT);
	CHECK(strstr(err.text, "/proc/"));
	CHECK_INT(peer_labels_read(p, 0, &l, &err), -ESRCH);
	labels_done(&l);
	close(wait_for[0]);
	close(wait_for[1]);
	peer_labels_free(p);
}

TEST(a_process_that_has_overwritten_its_environment_is_an_error_with_a_remedy)
{
	const char *rules[] = { "pod=env:STROBE_TEST_POD" };
	int wait_for[2];
	struct peer_labels *p;
	struct labels l;
	struct err err;
	char byte;
	pid_t pid;

	CHECK_INT(peer_labels_new(rules, 1, &p, NULL), 0);
	labels_init(&l);
	CHECK_INT(pipe(wait_for), 0);
	pid = fork();
	if (pid == 0) {
		for (char **e = environ; *e; e++)
			memset(*e, 0, strlen(*e));
		if (write(wait_for[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	CHECK_INT(read(wait_for[0], &byte, 1), 1);
	CHECK_INT(peer_labels_read(p, pid, &l, &err), -ENODATA);
	CHECK(strstr(err.text, "has overwritten its environment, as PHP-FPM does"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	labels_done(&l);
	close(wait_for[0]);
	close(wait_for[1]);
	peer_labels_free(p);
}

TEST_MAIN()
