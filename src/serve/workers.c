/* uploads.c: a ring of jobs, a lock, and threads that wait for it to be filled. */
#include "uploads.h"

#include "mem.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct uploads {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	struct job {
		void (*run)(void *);
		void *data;
	} ring[UPLOADS_WAITING];
	unsigned first, count, threads;
	pthread_t ids[UPLOAD_THREADS];
	bool stopping;
	int stop_fd;
};

static void *work(void *data)
{
	struct uploads *u = data;

	pthread_mutex_lock(&u->lock);
	for (;;) {
		struct job job;

		while (!u->count && !u->stopping)
			pthread_cond_wait(&u->filled, &u->lock);
		if (!u->count)
			break;
		job = u->ring[u->first];
		u->first = (u->first + 1) % UPLOADS_WAITING;
		u->count--;
		pthread_mutex_unlock(&u->lock);
		job.run(job.data);
		pthread_mutex_lock(&u->lock);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

/* Threads inherit the mask: signals are the business of the daemon's own loop. */
static int start_threads(struct uploads *u)
{
	sigset_t all, before;
	int r = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!r && u->threads < UPLOAD_THREADS) {
		r = pthread_create(&u->ids[u->threads], NULL, work, u);
		u->threads += r == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int uploads_new(struct uploads **ret, struct err *err)
{
	struct uploads *u = xcalloc(1, sizeof(*u));
	int r;

	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->filled, NULL);
	u->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = u->stop_fd < 0 ? errno : start_threads(u);
	if (r) {
		uploads_stop(u);
		uploads_free(u);
		return err_set(err, -r, "cannot start the threads that read uploads: %s", strerror(r));
	}
	*ret = u;
	return 0;
}

bool uploads_add(struct uploads *u, void (*run)(void *job), void *job)
{
	bool taken;

	pthread_mutex_lock(&u->lock);
	taken = u->count < UPLOADS_WAITING && !u->stopping;
	if (taken) {
		u->ring[(u->first + u->count++) % UPLOADS_WAITING] = (struct job){ run, job };
		pthread_cond_signal(&u->filled);
	}
	pthread_mutex_unlock(&u->lock);
	return taken;
}

int uploads_stop_fd(const struct uploads *u)
{
	return u->stop_fd;
}

void uploads_stop(struct uploads *u)
{
	pthread_mutex_lock(&u->lock);
	u->stopping = true;
	if (u->stop_fd >= 0)
		eventfd_write(u->stop_fd, 1);
	pthread_cond_broadcast(&u->filled);
	pthread_mutex_unlock(&u->lock);
	while (u->threads)
		pthread_join(u->ids[--u->threads], NULL);
}

struct uploads *uploads_free(struct uploads *u)
{
	if (!u)
		return NULL;
	if (u->stop_fd >= 0)
		close(u->stop_fd);
	pthread_cond_destroy(&u->filled);
	pthread_mutex_destroy(&u->lock);
	free(u);
	return NULL;
}
