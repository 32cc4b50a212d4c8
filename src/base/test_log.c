/* test_log.c: tests that each event is one line on standard error, safe for a terminal or the journal. */
#include "log.h"
#include "test.h"
#include <fcntl.h>

static char got[4096];

/* Returns the output of `write_lines` on standard error. */
static const char *captured(void (*write_lines)(void))
{
	int pipe_fds[2], saved = dup(STDERR_FILENO);
	ssize_t n = 0;

	if (saved < 0 || pipe2(pipe_fds, O_CLOEXEC) < 0)
		return "";
	dup2(pipe_fds[1], STDERR_FILENO);
	write_lines();
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(pipe_fds[1]);
	n = read(pipe_fds[0], got, sizeof(got) - 1);
	close(pipe_fds[0]);
	got[n > 0 ? n : 0] = 0;
	return got;
}

static void all_levels(void)
{
	log_error("cannot %s", "see");
	log_warning("look at %d", 7);
	log_info("begun");
	log_debug("details");
}

TEST(lines_have_a_prefix_and_the_level_selects_them)
{
	unsetenv("JOURNAL_STREAM");
	log_set_level(2);
	CHECK_STR(captured(all_levels), "strobe: cannot see\nstrobe: look at 7\nstrobe: begun\n");
	log_set_level(0);
	CHECK_STR(captured(all_levels), "strobe: cannot see\n");
	log_set_level(3);
	CHECK(strstr(captured(all_levels), "strobe: details\n"));
}

TEST(messages_to_the_journal_have_priorities)
{
	setenv("JOURNAL_STREAM", "8:1234", 1);
	log_set_level(3);
	CHECK_STR(captured(all_levels), "<3>cannot see\n<4>look at 7\n<6>begun\n<7>details\n");
	unsetenv("JOURNAL_STREAM");
}

static void nasty(void)
{
	errno = ENOENT;
	log_error("two\nlines \033[2J %s", "\xff");
	CHECK_INT(errno, ENOENT);
}

TEST(quoted_text_cannot_add_lines_or_move_the_cursor)
{
	CHECK_STR(captured(nasty), "strobe: two lines \xef\xbf\xbd[2J \xef\xbf\xbd\n");
}

TEST_MAIN()
