/* task_status.c: the fields of /proc/PID/status. */
#include "task_status.h"

#include "io.h"
#include "mem.h"

#include <ctype.h>
#include <linux/capability.h>
#include <string.h>

#define STATUS_MAX	((size_t)1 << 20)

static const char *field(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? at + strlen(key) : NULL;
}

bool task_status_parse(const char *text, struct task_status *ret)
{
	const char *uid = field(text, "\nUid:"), *gid = field(text, "\nGid:"), *groups = field(text, "\nGroups:");
	const char *capabilities = field(text, "\nCapEff:"), *seccomp = field(text, "\nSeccomp:");
	const char *parent = field(text, "\nPPid:");
	unsigned long real, effective;
	char *end;

	*ret = (struct task_status){ .seccomp = -1 };
	if (!uid || !gid || sscanf(uid, "%lu %lu", &real, &effective) != 2)
		return false;
	ret->uid = (uid_t)effective;
	if (sscanf(gid, "%lu %lu", &real, &effective) != 2)
		return false;
	ret->gids[ret->gid_count++] = (gid_t)effective;
	while (groups && ret->gid_count < TASK_GROUPS) {
		groups += strspn(groups, " \t");
		if (!isdigit((unsigned char)*groups))
			break;
		ret->gids[ret->gid_count++] = (gid_t)strtoul(groups, &end, 10);
		groups = end;
	}
	if (capabilities)
		ret->capabilities = strtoull(capabilities, NULL, 16);
	if (seccomp)
		ret->seccomp = atoi(seccomp);
	if (parent)
		ret->parent = atoi(parent);
	return true;
}

int task_status_read(const char *proc, const char *pid, struct task_status *ret)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s/status", proc, pid);
	_cleanup_(buf_done) struct buf text = { 0 };
	int r;

	buf_init(&text);
	r = io_read_file(path, &text, STATUS_MAX, NULL);
	if (r < 0)
		return r;
	return task_status_parse(text.data, ret) ? 0 : -EBADMSG;
}

bool task_has_capability(const struct task_status *who, int capability)
{
	uint64_t wanted = 1ull << capability;

	if (capability == CAP_BPF || capability == CAP_PERFMON)
		wanted |= 1ull << CAP_SYS_ADMIN;
	return who->capabilities & wanted;
}

bool task_is_member(const struct task_status *who, gid_t gid)
{
	for (size_t i = 0; i < who->gid_count; i++)
		if (who->gids[i] == gid)
			return true;
	return false;
}
