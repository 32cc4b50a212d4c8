/* token.c: reads a token from a file, or else from the environment. */
#include "token.h"

#include "io.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_MAX	256

int token_get(const char *path, const char *variable, struct buf *ret, struct err *err)
{
	const char *value = getenv(variable);
	int r;

	buf_reset(ret);
	if (!path) {
		buf_puts(ret, value ? value : "");
		return 0;
	}
	r = io_read_secret(path, "token", ret, err);
	return r != -ENOMSG ? r : err_set(err, r, "'%s' contains no token; create one with: " TOKEN_COMMAND " '%s'", path, path);
}

/* Calls `found` for each account until it returns true, and returns whether it did. */
static bool any_account(const char *path, bool (*found)(const struct passwd *p, const void *data), const void *data)
{
	_cleanup_(file_closep) FILE *f = fopen(path, "re");
	const struct passwd *p;

	while (f && (p = fgetpwent(f)))
		if (found(p, data))
			return true;
	return false;
}

struct wanted {
	const struct token_reader *reader;
	gid_t gid;
	const char *name;
};

static bool is_trusted(uid_t uid, const struct token_reader *r)
{
	return uid == 0 || uid == r->uid;
}

static bool is_untrusted_member(const struct passwd *p, const void *data)
{
	const struct wanted *w = data;

	return p->pw_gid == w->gid && !is_trusted(p->pw_uid, w->reader);
}

static bool is_trusted_name(const struct passwd *p, const void *data)
{
	const struct wanted *w = data;

	return !strcmp(p->pw_name, w->name) && is_trusted(p->pw_uid, w->reader);
}

/* Tells whether the group has members other than root and the reader. */
static bool has_other_members(gid_t gid, const struct token_reader *r)
{
	_cleanup_(file_closep) FILE *f = fopen(r->group, "re");
	const struct group *g;

	while (f && (g = fgetgrent(f)))
		for (char **name = g->gr_mem; g->gr_gid == gid && *name; name++)
			if (!any_account(r->passwd, is_trusted_name, &(struct wanted){ .reader = r, .name = *name }))
				return true;
	return false;
}

static bool is_own_group(gid_t gid, const struct token_reader *r)
{
	for (size_t i = 0; i < r->gid_count; i++)
		if (r->gids[i] == gid)
			return true;
	return gid == 0;
}

bool token_is_exposed(const struct stat *st, const struct token_reader *r)
{
	if (!(st->st_mode & 077))
		return false;
	return (st->st_mode & 037) || st->st_uid != 0 || !is_own_group(st->st_gid, r) ||
	       any_account(r->passwd, is_untrusted_member, &(struct wanted){ .reader = r, .gid = st->st_gid }) ||
	       has_other_members(st->st_gid, r);
}

bool token_file_is_exposed(const char *path)
{
	gid_t gids[GROUPS_MAX + 1];
	int n = getgroups(GROUPS_MAX, gids);
	struct token_reader r = { .uid = geteuid(), .gids = gids, .passwd = "/etc/passwd", .group = "/etc/group" };
	struct stat st;

	gids[n < 0 ? 0 : n] = getegid();
	r.gid_count = (n < 0 ? 0 : (size_t)n) + 1;
	return stat(path, &st) == 0 && token_is_exposed(&st, &r);
}
