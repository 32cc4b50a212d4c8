/* workers.c: a ring of jobs, a lock, and threads that wait for jobs. */
#include "workers.h"

#include "mem.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct workers {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job {
		void (*run)(void *);
		void *data;
	} *ring;
	unsigned first, count, waiting;		/* capacity of the queue */
	unsigned threads;
	pthread_t ids[WORKERS_MAX];
	bool stopping;
	int stop_fd;
};

static void *work(void *data)
{
	struct workers *w = data;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct job job;

		while (!w->count && !w->stopping)
			pthread_cond_wait(&w->filled, &w->lock);
		if (!w->count)
			break;
		job = w->ring[w->first];
		w->first = (w->first + 1) % w->waiting;
		w->count--;
		pthread_mutex_unlock(&w->lock);
		job.run(job.data);
		pthread_mutex_lock(&w->lock);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Threads inherit the signal mask: only the daemon's loop handles signals. */
static int start_threads(struct workers *w, unsigned threads)
{
	sigset_t all, before;
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!r && w->threads < threads) {
		r = pthread_create(&w->ids[w->threads], NULL, work, w);
		w->threads += r == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int workers_new(unsigned threads, unsigned waiting, struct workers **ret, struct err *err)
{
	struct workers *w = xcalloc(1, sizeof(*w));
	int r;

	assert(threads <= WORKERS_MAX);
	w->waiting = waiting;
	w->ring = xcalloc(waiting, sizeof(*w->ring));
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->filled, NULL);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->stop_fd < 0 ? errno : start_threads(w, threads);
	if (r) {
		workers_stop(w);
		workers_free(w);
		return err_set(err, -r, "cannot start the HTTP threads: %s", strerror(r));
	}
	*ret = w;
	return 0;
}

bool workers_add(struct workers *w, void (*run)(void *job), void *job)
{
	bool taken;

	pthread_mutex_lock(&w->lock);
	taken = w->count < w->waiting && !w->stopping;
	if (taken) {
		w->ring[(w->first + w->count++) % w->waiting] = (struct job){ run, job };
		pthread_cond_signal(&w->filled);
	}
	pthread_mutex_unlock(&w->lock);
	return taken;
}

int workers_stop_fd(const struct workers *w)
{
	return w->stop_fd;
}

void workers_stop(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	if (w->stop_fd >= 0)
		eventfd_write(w->stop_fd, 1);
	pthread_cond_broadcast(&w->filled);
	pthread_mutex_unlock(&w->lock);
	while (w->threads)
		pthread_join(w->ids[--w->threads], NULL);
}

struct workers *workers_free(struct workers *w)
{
	if (!w)
		return NULL;
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	pthread_cond_destroy(&w->filled);
	pthread_mutex_destroy(&w->lock);
	free(w->ring);
	free(w);
	return NULL;
}
