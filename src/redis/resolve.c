/* resolve.c: runs getaddrinfo in a thread, and gets its result through an eventfd. */
#include "resolve.h"

#include "redis_address.h"
#include "mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct resolve {
	struct watch watch;
	struct loop *loop;
	void (*done)(void *data, struct addrinfo *addresses, const struct err *err);
	void *data;
	struct resolve **owner;

	/* Shared with the thread; the last user frees it. */
	atomic_int users;
	int event_fd;
	char *host;
	unsigned port;
	int result;
	struct addrinfo *addresses;
};

static void leave(struct resolve *r)
{
	if (atomic_fetch_sub(&r->users, 1) > 1)
		return;
	address_free(r->addresses);
	close(r->event_fd);
	free(r->host);
	free(r);
}

static void *resolve_thread(void *data)
{
	struct resolve *r = data;
	const uint64_t one = 1;

	r->result = address_look_up(r->host, r->port, AI_ADDRCONFIG, &r->addresses);
	if (write(r->event_fd, &one, sizeof(one)) < 0)
		r->result = EAI_SYSTEM;		/* impossible: the counter is 0 */
	leave(r);
	return NULL;
}

static void resolved(struct watch *w, uint32_t events)
{
	struct resolve *r = (struct resolve *)((char *)w - offsetof(struct resolve, watch));
	struct addrinfo *addresses = r->addresses;
	struct err err = { 0 };

	(void)events;
	if (r->result)
		err_set(&err, -EHOSTUNREACH, "cannot find the host '%s': %s; check the URL and the name server",
			r->host, gai_strerror(r->result));
	r->addresses = NULL;
	*r->owner = NULL;
	loop_remove(r->loop, &r->watch);
	r->done(r->data, addresses, &err);
	leave(r);
}

static int start_thread(struct resolve *r)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	e = pthread_create(&thread, &attributes, resolve_thread, r);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return e;
}

int resolve_start(const char *host, unsigned port, struct loop *loop,
		  void (*done)(void *data, struct addrinfo *addresses, const struct err *err), void *data,
		  struct resolve **ret, struct err *err)
{
	struct addrinfo *addresses = NULL;
	struct resolve *r;
	int e;

	*ret = NULL;
	if (!address_look_up(host, port, AI_NUMERICHOST, &addresses)) {
		done(data, addresses, &(struct err){ 0 });
		return 0;
	}
	r = xcalloc(1, sizeof(*r));
	r->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->watch = (struct watch){ .ready = resolved, .fd = r->event_fd };
	if (r->event_fd < 0 || loop_add(loop, &r->watch, EPOLLIN, err) < 0) {
		e = errno;
		fd_closep(&r->event_fd);
		free(r);
		return err_set(err, -e, "cannot resolve '%s': %s", host, strerror(e));
	}
	r->loop = loop;
	r->done = done;
	r->data = data;
	r->owner = ret;
	r->host = xstrdup(host);
	r->port = port;
	r->users = 2;
	*ret = r;
	e = start_thread(r);
	if (e) {
		leave(r);			/* releases the thread's share */
		*ret = resolve_cancel(r);
		return err_set(err, -e, "cannot resolve '%s': cannot start a thread: %s", host, strerror(e));
	}
	return 0;
}

struct resolve *resolve_cancel(struct resolve *r)
{
	if (r) {
		loop_remove(r->loop, &r->watch);
		leave(r);
	}
	return NULL;
}
