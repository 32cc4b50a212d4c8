/* test_confine.c: tests limits of child processes. */
#include "confine.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE	(size_t)(64 << 10)	/* from malloc's heap, not a separate mapping */
#define LIMIT	(size_t)(16 << 20)

/* Returns how many bytes malloc can provide to this process, up to four times the limit. */
static size_t bytes_left(void)
{
	size_t got = 0;
	char *volatile piece;	/* a compiler may omit memory that is never read */

	while (got < 4 * LIMIT && (piece = malloc(PIECE)) != NULL) {
		memset(piece, 1, PIECE);
		got += PIECE;
	}
	return got;
}

static void *fork_confined(void *ret_megabytes)
{
	void *volatile own = malloc(1);		/* creates an arena for this thread */
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		confine_memory(LIMIT);
		_exit((int)(bytes_left() / (1 << 20)));
	}
	waitpid(child, &status, 0);
	*(int *)ret_megabytes = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	free(own);
	return NULL;
}

TEST(a_process_forked_by_a_thread_is_confined_to_its_memory_limit)
{
	pthread_t thread;
	int megabytes = 0;

#ifdef __SANITIZE_ADDRESS__
	SKIP("AddressSanitizer takes terabytes of address space");
#endif
	CHECK_INT(pthread_create(&thread, NULL, fork_confined, &megabytes), 0);
	pthread_join(thread, NULL);
	CHECK(megabytes >= 8 && megabytes <= 24);
}

TEST_MAIN()
