/* test_obstacles.c: checks that each obstacle is named with its remedy, in a temporary /proc. */
#include "obstacles.h"

#include "buf.h"
#include "io.h"
#include "test.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/stat.h>

static char root[64], proc[80];

static void put(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = 0;
		mkdir(path, 0755);
	}
	CHECK(io_write_file(path, text, strlen(text), NULL) >= 0);
}

/* Creates a machine, and the status of the caller. */
static void make(uint64_t capabilities, int seccomp, const char *lockdown, const char *paranoid, const char *ptrace)
{
	char text[256];

	strcpy(root, "/tmp/strobe-obstacles-XXXXXX");
	CHECK(mkdtemp(root) != NULL);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(text, sizeof(text), "Name:\tstrobe\nPPid:\t1\nUid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nCapEff:\t%016llx\nSeccomp:\t%d\n",
		 (unsigned long long)capabilities, seccomp);
	put("/proc/self/status", text);
	put("/sys/kernel/security/lockdown", lockdown);
	put("/proc/sys/kernel/perf_event_paranoid", paranoid);
	put("/proc/sys/kernel/yama/ptrace_scope", ptrace);
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	CHECK_INT(system(command), 0);
}

#define BIT(n)	(1ull << (n))

static struct obstacle of_feature(enum kernel_feature f, int result)
{
	struct obstacle o;

	obstacle_for_feature(proc, f, result, &o);
	remove_all();
	return o;
}

TEST(missing_capabilities_are_named)
{
	struct obstacle o;

	make(0, 0, "[none] integrity confidentiality\n", "3\n", "0\n");
	o = of_feature(KERNEL_BPF, -EPERM);
	CHECK_STR(o.cause, "you lack CAP_BPF and CAP_PERFMON");
	CHECK(strstr(o.remedy, "setcap cap_bpf,cap_perfmon"));
	make(BIT(CAP_BPF), 0, "[none] integrity confidentiality\n", "3\n", "0\n");
	CHECK_STR(of_feature(KERNEL_BPF, -EPERM).cause, "you lack CAP_PERFMON");
}

TEST(a_restrictive_perf_event_paranoid_is_named)
{
	make(BIT(CAP_BPF), 0, "[none] integrity confidentiality\n", "3\n", "0\n");
	CHECK_STR(of_feature(KERNEL_PERF, -EACCES).cause, "you lack CAP_PERFMON, and kernel.perf_event_paranoid=3 forbids it without");
}

TEST(kernel_lockdown_is_named)
{
	struct obstacle o;

	make(BIT(CAP_BPF) | BIT(CAP_PERFMON), 0, "none integrity [confidentiality]\n", "2\n", "0\n");
	o = of_feature(KERNEL_BPF, -EPERM);
	CHECK_STR(o.cause, "the kernel is locked down (lockdown=confidentiality), which forbids reading memory");
	CHECK_STR(o.remedy, "start the kernel with lockdown=integrity, or without");
}

TEST(a_container_is_named_by_its_seccomp_filter)
{
	struct obstacle o;

	make(BIT(CAP_BPF) | BIT(CAP_PERFMON), 2, "[none] integrity confidentiality\n", "2\n", "0\n");
	o = of_feature(KERNEL_BPF, -EPERM);
	CHECK_STR(o.cause, "a system call filter (seccomp) forbids it");
	CHECK(strstr(o.remedy, "run it on the host, or give the container --user 0 --cap-add BPF --cap-add PERFMON"));
	make(0, 2, "[none] integrity confidentiality\n", "2\n", "0\n");
	CHECK_STR(of_feature(KERNEL_BPF, -EPERM).cause,
		  "you lack CAP_BPF and CAP_PERFMON; a system call filter (seccomp) may forbid it as well");
	make(0, 2, "[none] integrity confidentiality\n", "2\n", "0\n");
	CHECK_STR(of_feature(KERNEL_PERF, -ENOSYS).cause, "a system call filter (seccomp) hides the call");
}

static struct obstacle of_memory(uid_t uid)
{
	struct php_task t = { .pid = 4711, .status.uid = uid, .name = "php" };
	struct obstacle o = { 0 };

	obstacle_for_refusal(proc, &t, EPERM, &o);
	remove_all();
	return o;
}

TEST(obstacles_to_reading_memory_are_named)
{
	struct obstacle o;

	make(0, 0, "[none] integrity confidentiality\n", "2\n", "1\n");
	CHECK_STR(of_memory(33).cause, "it is another user's, and you lack CAP_SYS_PTRACE");
	make(0, 0, "[none] integrity confidentiality\n", "2\n", "1\n");
	o = of_memory(7);
	CHECK_STR(o.cause, "kernel.yama.ptrace_scope forbids it, and you lack CAP_SYS_PTRACE");
	CHECK_STR(o.remedy, "sudo, or sysctl kernel.yama.ptrace_scope=0");
	make(0, 0, "[none] integrity confidentiality\n", "2\n", "3\n");
	CHECK_STR(of_memory(7).remedy, "start the kernel with another ptrace_scope");
	make(BIT(CAP_SYS_PTRACE), 2, "[none] integrity confidentiality\n", "2\n", "1\n");
	CHECK_STR(of_memory(7).cause, "a system call filter (seccomp) or a security module forbids it");
}

/* In such a container, sudo, setcap and sysctl are of no use. */
TEST(a_container_without_systemd_gets_remedies_for_containers)
{
	static const char ptrace[] = "run it on the host, or give the container --user 0 --cap-add SYS_PTRACE";

	make(0, 2, "[none] integrity confidentiality\n", "3\n", "0\n");
	put("/.dockerenv", "");
	CHECK_STR(of_feature(KERNEL_BPF, -EPERM).remedy, "run it on the host, or give the container --user 0 --cap-add BPF --cap-add PERFMON "
							 "--cap-add SYS_PTRACE and a seccomp profile that allows bpf and perf_event_open");
	make(0, 0, "[none] integrity confidentiality\n", "2\n", "1\n");
	put("/.dockerenv", "");
	CHECK_STR(of_memory(33).remedy, ptrace);
	make(0, 0, "[none] integrity confidentiality\n", "2\n", "1\n");
	put("/.dockerenv", "");
	CHECK_STR(of_memory(7).remedy, ptrace);
}

/* Runs as user 7, group 7, with /proc mounted with these options. */
static struct obstacle of_hiding(uint64_t capabilities, const char *options)
{
	struct obstacle o;
	char line[256];
	bool hides;

	make(capabilities, 0, "", "2\n", "1\n");
	snprintf(line, sizeof(line), "21 1 8:1 / / rw - ext4 /dev/sda1 rw,hidepid=9\n22 21 0:20 / /proc rw,nosuid shared:5 - proc proc %s\n"
		 "23 21 0:21 / /jail/proc rw - proc proc rw,hidepid=invisible\n", options);
	put("/proc/self/mountinfo", line);
	hides = obstacle_for_hidepid(proc, &o);
	CHECK(hides == (*o.cause != 0) && hides == (*o.remedy != 0));
	remove_all();
	return o;
}

TEST(a_proc_that_hides_processes_is_named)
{
	CHECK_STR(of_hiding(0, "rw,hidepid=invisible").cause,
		  "/proc hides the processes of other users from you (it is mounted with hidepid=invisible)");
	CHECK_STR(of_hiding(0, "rw,gid=27,hidepid=2").remedy, "sudo, or: mount -o remount,hidepid=0 /proc");
	CHECK_STR(of_hiding(0, "rw").cause, "");
	CHECK_STR(of_hiding(0, "rw,hidepid=off").cause, "");
	CHECK_STR(of_hiding(BIT(CAP_SYS_PTRACE), "rw,hidepid=invisible").cause, "");
	CHECK_STR(of_hiding(0, "rw,hidepid=noaccess,gid=7").cause, "");
	CHECK(*of_hiding(0, "rw,hidepid=ptraceable,gid=7").cause);
}

static bool other_numbers(const char *status)
{
	struct obstacle o;
	bool other;

	make(0, 0, "", "2\n", "1\n");
	put("/proc/self/status", status);
	other = obstacle_for_pid_namespace(proc, &o);
	CHECK(other == (*o.cause != 0) && other == (*o.remedy != 0));
	remove_all();
	return other;
}

TEST(another_pid_namespace_is_an_obstacle)
{
	CHECK(other_numbers("Name:\tstrobe\nNSpid:\t4711\t17\nNSpgid:\t4711\t17\n"));
	CHECK(!other_numbers("Name:\tstrobe\nNSpid:\t4711\nNSpgid:\t4711\n"));
	CHECK(!other_numbers("Name:\tstrobe\nPid:\t4711\n"));
}

TEST_MAIN()
