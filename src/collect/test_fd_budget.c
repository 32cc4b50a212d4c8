/* test_fd_budget.c: room for descriptors under a small limit, and its shares. */
#include "fd_budget.h"

#include "test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void limit(rlim_t n)
{
	struct rlimit l;

	CHECK_INT(getrlimit(RLIMIT_NOFILE, &l), 0);
	l.rlim_cur = n;
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &l), 0);
}

/* Closes inherited descriptors, so that new ones are numbered without gaps. Returns the first number. */
static int lowest_free(void)
{
	for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
		close(fd);
	return STDERR_FILENO + 1;
}

static int open_one(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(under_a_small_limit_sinks_get_half_of_the_free_descriptors_and_http_a_quarter)
{
	int used = lowest_free(), http, inputs = 0;

	limit((rlim_t)used + 60);
	http = (int)fd_budget_for_http();
	CHECK_INT(http, (60 - 12) / 4);		/* 12 are its own */
	fd_budget_share();
	CHECK_INT(fd_budget_for_files(), 60 / 4);
	for (int i = 0; i < http; i++)
		CHECK(fd_budget_left(open_one()));
	while (fd_budget_left(open_one()))
		inputs++;
	CHECK(inputs >= 60 / 4);
	CHECK_INT(http + inputs, 60 / 2);
	for (int i = 1; i < 60 / 2; i++)	/* one was refused, and is open */
		CHECK(open_one() >= 0);
	CHECK_INT(open_one(), -1);
	for (int fd = used; fd < used + 60; fd++)
		close(fd);
}

TEST(http_gets_a_minimum_of_descriptors_even_if_none_are_free)
{
	int used = lowest_free();

	limit((rlim_t)used + 2);
	CHECK(fd_budget_for_http() >= 4);
	limit((rlim_t)used + 1000);
	CHECK(fd_budget_for_http() > 200);
}

TEST_MAIN()
