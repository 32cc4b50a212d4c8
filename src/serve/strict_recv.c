/* strict_recv.c: a table by descriptor, and the recv(2) that checks it. */

/* Allows replacing the C library's checked recv. */
#undef _FORTIFY_SOURCE

#include "strict_recv.h"

#include "framing.h"
#include "lock.h"
#include "log.h"
#include "mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define WATCHED_MAX	65536
#define DISCARDED_MAX	((size_t)4 << 20)	/* bytes of a refused request; browsers send no URLs above 2 MB */

struct watched {
	struct framing framing;
	const struct strict_recv_answers *answers;
	bool is_refused;		/* the answer has been sent, and further input is discarded */
	size_t discarded;
};

/* Only one thread at a time reads, forgets or closes a connection. */
static struct watched *_Atomic table[WATCHED_MAX];

bool strict_recv_watch(int fd, const struct strict_recv_answers *answers)
{
	struct watched *w;

	if (fd < 0 || fd >= WATCHED_MAX)
		return false;
	w = xcalloc(1, sizeof(*w));
	framing_init(&w->framing);
	w->answers = answers;
	free(atomic_exchange(&table[fd], w));
	return true;
}

void strict_recv_forget(int fd)
{
	if (fd >= 0 && fd < WATCHED_MAX)
		free(atomic_exchange(&table[fd], NULL));
}

/* Logged because collectors retry forever without logging the reason. */
static void advise(void)
{
	static struct lock lock = LOCK_INITIALIZER;
	static int64_t next_ns;

	lock_take(&lock);
	if (log_is_due(&next_ns))
		log_warning("a client sent HTTP/2, as gRPC does, which is not supported; in an OpenTelemetry "
			    "Collector use "
			    "the exporter otlphttp instead of otlp");
	lock_release(&lock);
}

static void answer_long(int fd, const struct watched *w)
{
	(void)!send(fd, w->answers->if_too_long->data, w->answers->if_too_long->size, MSG_DONTWAIT | MSG_NOSIGNAL);
	++*w->answers->too_long;
}

static void answer_bad(int fd, const struct watched *w)
{
	char answer[512];
	int n = snprintf(answer, sizeof(answer), "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
			 "Content-Length: %zu\r\nConnection: close\r\n\r\nthis request is refused: %s\n",
			 strlen("this request is refused: \n") + strlen(w->framing.problem), w->framing.problem);

	(void)!send(fd, answer, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	++*w->answers->refused;
	if (w->framing.is_http2)
		advise();
}

/* A connection that is closed with unread bytes, or gets bytes after that, is reset, and the client may never see the answer. So it is
 * only closed for writing, and reads as if nothing arrived until the client closes it too, sends too much, or libmicrohttpd's
 * timeout ends it. */
static ssize_t refuse(int fd, struct watched *w)
{
	char bytes[4096];
	ssize_t got;

	if (!w->is_refused) {
		(w->framing.is_long ? answer_long : answer_bad)(fd, w);
		shutdown(fd, SHUT_WR);
		w->is_refused = true;
	}
	while (w->discarded <= DISCARDED_MAX && (got = recvfrom(fd, bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL)) != 0) {
		if (got < 0)
			return -1;
		w->discarded += (size_t)got;
	}
	errno = ECONNRESET;
	return -1;
}

__attribute__((visibility("default"))) ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	struct watched *w = fd >= 0 && fd < WATCHED_MAX ? atomic_load(&table[fd]) : NULL;
	ssize_t got;
	size_t fine;

	if (w && w->framing.problem)
		return refuse(fd, w);
	got = recvfrom(fd, bytes, n, flags, NULL, NULL);
	if (!w || got <= 0)
		return got;
	fine = framing_take(&w->framing, bytes, (size_t)got);
	if (!fine)
		return refuse(fd, w);
	/* Earlier requests get their responses first. Then this wakes the reader, since the client may send nothing
	 * more. */
	if (w->framing.problem)
		shutdown(fd, SHUT_RD);
	return (ssize_t)fine;
}
