/* threads_of_test.c: a program inspected by test_thread_pointer.c, compiled with glibc and with musl. Its threads
 * print their numbers and thread pointers, "TID POINTER", and sleep until the input ends. */

#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS	3

static pthread_barrier_t begun;

static void tell(void)
{
	unsigned long pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	printf("%ld %lx\n", (long)syscall(SYS_gettid), pointer);
}

static void *run(void *data)
{
	tell();
	pthread_barrier_wait(&begun);
	pause();
	return data;
}

int main(void)
{
	pthread_t threads[THREADS];
	char end;

	pthread_barrier_init(&begun, NULL, THREADS + 1);
	tell();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	pthread_barrier_wait(&begun);
	puts("ready");
	fflush(stdout);
	return (int)read(0, &end, 1);
}
