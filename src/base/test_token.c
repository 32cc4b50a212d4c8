/* test_token.c: tests token files that others may read, and files that are private although their mode is not 0600. */
#include "token.h"

#include "io.h"
#include "test.h"

#include <unistd.h>

static char passwd[] = "/tmp/strobe-test-passwd-XXXXXX", group[] = "/tmp/strobe-test-group-XXXXXX";

static void write_accounts(const char *members)
{
	static const char accounts[] = "root:x:0:0::/root:/bin/sh\nwww-data:x:33:33::/var/www:/bin/false\nstrobe:x:999:999::/:/bin/false\n"
				       "colleague:x:1000:1000::/:/bin/sh\n";
	char groups[256];
	struct err err;

	snprintf(groups, sizeof(groups), "root:x:0:\nwww-data:x:33:strobe\nstrobe:x:999:%s\n", members);
	CHECK_INT(io_write_file(passwd, accounts, strlen(accounts), &err), 0);
	CHECK_INT(io_write_file(group, groups, strlen(groups), &err), 0);
}

static bool is_exposed(mode_t mode, uid_t uid, gid_t gid)
{
	static const gid_t own[] = { 33, 999 };

	return token_is_exposed(&(struct stat){ .st_mode = S_IFREG | mode, .st_uid = uid, .st_gid = gid },
				&(struct token_reader){ 999, own, 2, passwd, group });
}

TEST(a_token_file_of_its_user_must_not_be_readable_by_others)
{
	int fds[] = { mkstemp(passwd), mkstemp(group) };

	CHECK(close(fds[0]) == 0 && close(fds[1]) == 0);
	write_accounts("");
	CHECK(!is_exposed(0600, 999, 999) && !is_exposed(0400, 0, 33));
	CHECK(is_exposed(0640, 999, 33) && is_exposed(0640, 999, 999) && is_exposed(0604, 999, 999) && is_exposed(0644, 0, 0));
}

TEST(a_token_file_of_root_may_be_readable_by_a_group_of_the_daemon_only)
{
	write_accounts("");
	CHECK(!is_exposed(0440, 0, 999) && !is_exposed(0640, 0, 999) && !is_exposed(0440, 0, 0));
	CHECK(is_exposed(0444, 0, 999) && is_exposed(0460, 0, 999) && is_exposed(0440, 1000, 999));
	/* the group of PHP's workers, which the daemon runs with, and one that it does not have */
	CHECK(is_exposed(0440, 0, 33) && is_exposed(0440, 0, 1000) && is_exposed(0440, 0, 2000));
}

TEST(a_group_with_another_member_exposes_the_token)
{
	write_accounts("strobe,root");
	CHECK(!is_exposed(0440, 0, 999));
	write_accounts("strobe,colleague");
	CHECK(is_exposed(0440, 0, 999));
	write_accounts("somebody-of-ldap");
	CHECK(is_exposed(0440, 0, 999));
}

TEST(without_account_files_no_other_group_members_are_assumed)
{
	CHECK(unlink(passwd) == 0 && unlink(group) == 0);
	CHECK(!is_exposed(0440, 0, 999) && is_exposed(0440, 0, 2000));
}

TEST_MAIN()
