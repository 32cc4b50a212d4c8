/* kernel_limits.c: reads /proc/sys and securityfs. */
#include "kernel_limits.h"

#include "io.h"
#include "mem.h"

#include <string.h>
#include <sys/utsname.h>

static bool read_text(const char *root, const char *file, struct buf *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s%s", root, file);

	buf_reset(ret);
	return io_read_file(path, ret, 4096, NULL) >= 0;
}

static int read_number(const char *root, const char *file)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	int v;

	buf_init(&text);
	return read_text(root, file, &text) && sscanf(text.data, "%d", &v) == 1 ? v : LIMIT_UNKNOWN;
}

/* "none [integrity] confidentiality" */
static void read_lockdown(const char *root, char *out, size_t size)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	const char *start;

	buf_init(&text);
	if (read_text(root, "/sys/kernel/security/lockdown", &text) && (start = strchr(text.data, '[')))
		snprintf(out, size, "%.*s", (int)strcspn(start + 1, "]"), start + 1);
}

void kernel_limits_read(const char *root, struct kernel_limits *ret)
{
	struct utsname name;

	*ret = (struct kernel_limits){
		.perf_event_paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid"),
		.ptrace_scope = read_number(root, "/proc/sys/kernel/yama/ptrace_scope"),
	};
	read_lockdown(root, ret->lockdown, sizeof(ret->lockdown));
	if (uname(&name) == 0)
		snprintf(ret->release, sizeof(ret->release), "%s", name.release);
}
