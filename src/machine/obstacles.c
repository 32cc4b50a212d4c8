/* obstacles.c: examines capabilities, kernel settings and system call filters. */
#include "obstacles.h"

#include "buf.h"
#include "container.h"
#include "io.h"
#include "kernel_limits.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define CONTAINER_REMEDY	"run it on the host, or give the container --user 0 --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE " \
			 "and a seccomp profile that allows bpf and perf_event_open"
#define CONTAINER_PTRACE	"run it on the host, or give the container --user 0 --cap-add SYS_PTRACE"
#define FILE_REMEDY		"sudo, or once: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep on the file of strobe"

static void set(struct obstacle *o, const char *remedy, const char *format, ...) _printf_(3, 4);
static void set(struct obstacle *o, const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(o->cause, sizeof(o->cause), format, args);
	va_end(args);
	snprintf(o->remedy, sizeof(o->remedy), "%s", remedy ? remedy : "");
}

/* Strips "/proc" from the path of a proc directory. The caller frees. */
static char *root_of(const char *proc)
{
	size_t n = strlen(proc);

	return xstrndup(proc, n >= 5 && !strcmp(proc + n - 5, "/proc") ? n - 5 : n);
}

static const char *remedy_for(const char *proc, const char *on_host, const char *in_container)
{
	_cleanup_(freep) char *root = root_of(proc);

	return container_without_systemd(root) ? in_container : on_host;
}

const char *obstacle_remedy_capabilities(const char *proc)
{
	return remedy_for(proc, FILE_REMEDY, CONTAINER_REMEDY);
}

const char *obstacle_remedy_ptrace_scope(const char *proc)
{
	return remedy_for(proc, "sudo, or sysctl kernel.yama.ptrace_scope=0", CONTAINER_PTRACE);
}

/* Reads the caller's status and the kernel settings, which are below the same root as /proc. */
static void read_rights(const char *proc, struct task_status *ret_self, struct kernel_limits *ret_limits)
{
	_cleanup_(freep) char *root = root_of(proc);

	kernel_limits_read(root, ret_limits);
	if (task_status_read(proc, "self", ret_self) < 0)
		*ret_self = (struct task_status){ .seccomp = -1 };
}

/* --- features */

static void set_missing(struct obstacle *o, const char *proc, const struct task_status *self, const struct kernel_limits *limits, bool is_perf)
{
	bool bpf = is_perf || task_has_capability(self, CAP_BPF), perfmon = task_has_capability(self, CAP_PERFMON);
	char paranoid[80] = "";

	if (is_perf && limits->perf_event_paranoid != LIMIT_UNKNOWN)
		snprintf(paranoid, sizeof(paranoid), ", and kernel.perf_event_paranoid=%d forbids it without",
			 limits->perf_event_paranoid);
	set(o, obstacle_remedy_capabilities(proc), "you lack %s%s%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON",
	    paranoid, self->seccomp > 0 ? "; a system call filter (seccomp) may forbid it as well" : "");
}

static void set_refused(struct obstacle *o, const char *proc, const struct task_status *self, const struct kernel_limits *limits, bool is_perf, int result)
{
	bool both = task_has_capability(self, CAP_BPF) && task_has_capability(self, CAP_PERFMON);

	if (!both && !(is_perf && task_has_capability(self, CAP_PERFMON)))
		set_missing(o, proc, self, limits, is_perf);
	else if (!strcmp(limits->lockdown, "confidentiality"))
		set(o, "start the kernel with lockdown=integrity, or without",
		    "the kernel is locked down (lockdown=confidentiality), which forbids reading memory");
	else if (self->seccomp > 0)
		set(o, CONTAINER_REMEDY, "a system call filter (seccomp) forbids it");
	else
		set(o, NULL, "forbidden, though you have the capabilities: %s", strerror(-result));
}

void obstacle_for_feature(const char *proc, enum kernel_feature f, int result, struct obstacle *ret)
{
	struct kernel_limits limits;
	struct task_status self;

	read_rights(proc, &self, &limits);
	ret->chosen = result == -ECANCELED;
	if (ret->chosen)
		set(ret, "unset STROBE_WITHOUT", "switched off by STROBE_WITHOUT");
	else if (f == KERNEL_BTF)
		set(ret, "a kernel with CONFIG_DEBUG_INFO_BTF, such as those of Debian, Ubuntu and Fedora", "%s",
		    result == -ENOENT ? "/sys/kernel/btf/vmlinux is not there, or lacks sched_switch" : strerror(-result));
	else if (result == -ENOSYS)
		set(ret, self.seccomp > 0 ? CONTAINER_REMEDY : NULL, "%s", self.seccomp > 0 ?
		    "a system call filter (seccomp) hides the call" : "this kernel was built without it");
	else if (result == -EPERM || result == -EACCES)
		set_refused(ret, proc, &self, &limits, f == KERNEL_PERF || f == KERNEL_PERF_OWN, result);
	else
		set(ret, NULL, "does not work: %s", strerror(-result));
}

/* --- memory of a process */

/* The files in /proc of a process that is not dumpable belong to root. */
bool process_is_not_dumpable(const char *proc, const struct php_task *t)
{
	_cleanup_(freep) char *maps = xasprintf("%s/%d/maps", proc, (int)t->pid);
	struct stat st;

	return t->status.uid != 0 && stat(maps, &st) == 0 && st.st_uid == 0;
}

static void set_closed(struct obstacle *o, const char *proc, const struct php_task *t, int error)
{
	const char *root = remedy_for(proc, "run it as root (sudo), or: setcap cap_sys_ptrace+ep on the file of strobe", CONTAINER_PTRACE);
	struct kernel_limits limits;
	struct task_status self;

	read_rights(proc, &self, &limits);
	if (task_has_capability(&self, CAP_SYS_PTRACE))
		set(o, "run strobe on the host, outside of its container", "%s", self.seccomp > 0 ?
		    "a system call filter (seccomp) or a security module forbids it" :
		    "a security module forbids it, though you have CAP_SYS_PTRACE");
	else if (self.uid != t->status.uid)
		set(o, root, "it is another user's, and you lack CAP_SYS_PTRACE");
	else if (process_is_not_dumpable(proc, t))
		set(o, *t->pool ? "process.dumpable = yes in its pool and restart php-fpm, or run strobe as root" : root,
		    "it is not dumpable, and you lack CAP_SYS_PTRACE");
	else if (limits.ptrace_scope > 0)
		set(o, limits.ptrace_scope < 3 ? obstacle_remedy_ptrace_scope(proc) : "start the kernel with another ptrace_scope",
		    "kernel.yama.ptrace_scope forbids it, and you lack CAP_SYS_PTRACE");
	else
		set(o, root, "%s", strerror(error));
}

void obstacle_for_refusal(const char *proc, const struct php_task *t, int error, struct obstacle *ret)
{
	ret->chosen = false;
	if (error == ESRCH)
		set(ret, NULL, "it has ended");
	else
		set_closed(ret, proc, t, error);
}

/* Reads an unmapped address: a caller without permission gets EPERM before EFAULT. Opening /proc/PID/mem would also
 * require file permissions, which CAP_SYS_PTRACE does not grant. */
int obstacle_for_memory(const char *proc, const struct php_task *t, struct obstacle *ret)
{
	char byte;
	struct iovec local = { &byte, 1 }, remote = { NULL, 1 };
	int error;

	*ret = (struct obstacle){ 0 };
	if (process_vm_readv(t->pid, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT)
		return 0;
	error = errno;
	obstacle_for_refusal(proc, t, error, ret);
	return -error;
}

/* --- numbers */

bool obstacle_for_pid_namespace(const char *proc, struct obstacle *ret)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	char path[PATH_MAX];
	const char *p;

	*ret = (struct obstacle){ 0 };
	buf_init(&text);
	snprintf(path, sizeof(path), "%s/self/status", proc);
	if (io_read_file(path, &text, (size_t)1 << 16, NULL) < 0 || !text.size || !(p = strstr(text.data, "\nNSpid:")))
		return false;
	/* The numbers go from the namespace of the mount to that of the process; there is only one if both are the
	 * same. */
	p += strlen("\nNSpid:");
	p += strspn(p, "\t ");
	p += strspn(p, "0123456789");
	if (*p != '\t')
		return false;
	set(ret, "mount -t proc proc /proc, or start strobe by unshare --mount-proc, or nsenter --pid --mount",
	    "/proc has the process numbers of another pid namespace than strobe's");
	return true;
}

/* --- hidden processes */

/* The options of the last mount at /proc: "rw,hidepid=invisible,gid=27"; NULL if there is none. */
static char *proc_options(char *mountinfo)
{
	char *options = NULL, *save = NULL;

	for (char *line = strtok_r(mountinfo, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *end = strstr(line, " - proc "), *source = end ? strchr(end + strlen(" - proc "), ' ') : NULL;
		char place[16];

		if (source && sscanf(line, "%*s %*s %*s %*s %15s", place) == 1 && !strcmp(place, "/proc"))
			options = source + 1;
	}
	return options;
}

/* "invisible" of hidepid=invisible; false if there is no such option. */
static bool option_value(const char *options, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	for (const char *p = options; p && *p; p = *(p += strcspn(p, ",")) ? p + 1 : p)
		if (!strncmp(p, name, n) && p[n] == '=') {
			snprintf(out, size, "%.*s", (int)strcspn(p + n + 1, ","), p + n + 1);
			return true;
		}
	return false;
}

bool obstacle_for_hidepid(const char *proc, struct obstacle *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/self/mountinfo", proc);
	_cleanup_(buf_done) struct buf text = { 0 };
	char mode[16], group[16] = "0", *options;
	struct kernel_limits limits;
	struct task_status self;
	bool by_group;

	*ret = (struct obstacle){ 0 };
	buf_init(&text);
	if (io_read_file(path, &text, (size_t)16 << 20, NULL) < 0 || !text.size || !(options = proc_options(text.data)) ||
	    !option_value(options, "hidepid", mode, sizeof(mode)) || !strcmp(mode, "off") || !strcmp(mode, "0"))
		return false;
	read_rights(proc, &self, &limits);
	/* Members of the group given by gid= see all processes, except with hidepid=ptraceable. */
	by_group = strcmp(mode, "ptraceable") && strcmp(mode, "4");
	option_value(options, "gid", group, sizeof(group));
	if (task_has_capability(&self, CAP_SYS_PTRACE) || (by_group && task_is_member(&self, (gid_t)strtoul(group, NULL, 10))))
		return false;
	set(ret, remedy_for(proc, "sudo, or: mount -o remount,hidepid=0 /proc", CONTAINER_PTRACE), "/proc hides the processes of other users from you (it is mounted with hidepid=%s)",
	    mode);
	return true;
}
