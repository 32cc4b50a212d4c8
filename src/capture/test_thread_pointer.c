/* test_thread_pointer.c: tests finding the records of threads in programs with glibc and with musl, static and
 * dynamic. */

#include "mem.h"
#include "test.h"
#include "thread_pointer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	4

/* A running program of threads_of_test.c, which ends when its input does. */
struct program {
	pid_t pid;
	int input;
	FILE *output;
};

static struct program start(const char *path)
{
	struct program p = { 0 };
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0 || (p.pid = fork()) < 0)
		abort();
	if (!p.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		close(out[0]);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.input = in[1];
	p.output = fdopen(out[0], "r");
	return p;
}

static void stop(struct program *p)
{
	close(p->input);
	fclose(p->output);
	waitpid(p->pid, NULL, 0);
}

static void check_program(const char *variable)
{
	const char *path = getenv(variable);
	struct program p;
	struct {
		int tid;
		unsigned long pointer;
	} reported[THREADS];
	char line[64];
	unsigned n = 0;

	if (!path || !*path) {
		printf("skip - thread pointers of %s: there is no such program\n", variable);
		return;
	}
	p = start(path);
	while (fgets(line, sizeof(line), p.output) && strcmp(line, "ready\n")) {
		CHECK(n < THREADS);
		CHECK_INT(sscanf(line, "%d %lx", &reported[n].tid, &reported[n].pointer), 2);
		n++;
	}
	CHECK_INT(n, THREADS);
	for (unsigned i = 0; i < n; i++) {
		u64 found = 0;

		CHECK(thread_pointer_find(p.pid, reported[i].tid, &found));
		CHECK_INT(found, reported[i].pointer);
	}
	stop(&p);
}

TEST(thread_pointers_are_found_in_programs_with_glibc)
{
	check_program("GLIBC");
}

TEST(thread_pointers_are_found_in_static_programs_with_glibc)
{
	check_program("GLIBC_STATIC");
}

TEST(thread_pointers_are_found_in_programs_with_musl)
{
	check_program("MUSL");
}

TEST(thread_pointers_are_found_in_static_programs_with_musl)
{
	check_program("MUSL_STATIC");
}

TEST_MAIN()
