/* record_sender.c: queues messages back to back. */

#include "record_sender.h"

#include "daemon_socket.h"
#include "mem.h"
#include "wire_profile.h"

#include <string.h>

/* The samples of a queued message, in the order of `waiting`, with the offset where the message ends. */
struct added {
	size_t end;
	uint64_t samples;
};

struct record_sender {
	struct daemon_socket *socket;
	struct buf waiting;
	struct added *added;
	size_t added_count, added_capacity;
	uint64_t sent, lost_bytes;
};

int record_sender_new(struct record_sender **ret, const char *address, struct err *err)
{
	struct daemon_socket *socket;
	int e = daemon_socket_new(&socket, address, err);

	if (e < 0)
		return e;
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->socket = socket;
	buf_init(&(*ret)->waiting);
	return 0;
}

struct record_sender *record_sender_free(struct record_sender *s)
{
	if (!s)
		return NULL;
	daemon_socket_free(s->socket);
	buf_done(&s->waiting);
	free(s->added);
	free(s);
	return NULL;
}

/* Recordings of only waits have no column of samples: each of their profiles counts as one. */
static uint64_t samples_of(const struct profile *p)
{
	uint32_t column = profile_find_column(p, "samples");
	int64_t n = column == UINT32_MAX ? 1 : profile_sum(p, column);

	return n > 0 ? (uint64_t)n : 1;
}

static void note_added(struct record_sender *s, uint64_t samples)
{
	GROW(&s->added, &s->added_capacity, s->added_count + 1);
	s->added[s->added_count++] = (struct added){ s->waiting.size, samples };
}

static void discard_part(struct record_sender *s, const struct labels *labels)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < s->added_count; i++)
		samples += s->added[i].samples;
	s->lost_bytes += s->waiting.size;
	buf_reset(&s->waiting);
	s->added_count = 0;
	record_sender_lose(s, labels, STROBE_DROP_NO_DAEMON, samples);
}

int record_sender_add(struct record_sender *s, struct profile *p, struct err *err)
{
	int e = 0;

	if (p->node_count > 1)
		e = wire_profile_write(p, &s->waiting, err);
	if (p->node_count > 1 && e >= 0)
		note_added(s, samples_of(p));
	if (s->waiting.size > RECORD_SENDER_MAX)
		discard_part(s, &p->labels);
	profile_free(p);
	return e;
}

static size_t write_drop(void *room, size_t capacity, const struct labels *labels, enum strobe_drop reason, uint64_t samples)
{
	const struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES };
	struct strobe_wire_writer w;

	strobe_wire_begin(&w, room, capacity, &info);
	for (size_t i = 0; i < labels->count; i++) {
		strobe_wire_string(&w, labels->items[i].key, strlen(labels->items[i].key));
		strobe_wire_string(&w, labels->items[i].value, strlen(labels->items[i].value));
	}
	for (uint32_t i = 0; i < labels->count; i++)
		strobe_wire_label(&w, 1 + 2 * i, 2 + 2 * i);
	strobe_wire_drop(&w, reason, samples);
	return strobe_wire_end(&w);
}

void record_sender_lose(struct record_sender *s, const struct labels *labels, enum strobe_drop reason, uint64_t samples)
{
	size_t size = write_drop(NULL, 0, labels, reason, samples);
	char *room = samples ? buf_reserve(&s->waiting, size) : NULL;

	if (room) {
		buf_wrote(&s->waiting, write_drop(room, size, labels, reason, samples));
		/* If the message is dropped, its losses are reported again. */
		note_added(s, samples);
	}
}

/* Counts the messages that were sent completely with `bytes`. */
static void note_sent(struct record_sender *s, size_t bytes)
{
	size_t n = 0;

	while (n < s->added_count && s->added[n].end <= bytes)
		n++;
	s->sent += n;
	s->added_count -= n;
	memmove(s->added, s->added + n, s->added_count * sizeof(*s->added));
	for (size_t i = 0; i < s->added_count; i++)
		s->added[i].end -= bytes;
}

int record_sender_flush(struct record_sender *s, struct err *err)
{
	size_t sent;
	int e;

	if (!s->waiting.size)
		return 0;
	e = daemon_socket_send(s->socket, &s->waiting, &sent, err);
	memmove(s->waiting.data, s->waiting.data + sent, s->waiting.size - sent);
	s->waiting.size -= sent;
	if (sent)
		note_sent(s, sent);
	return e;
}

uint64_t record_sender_sent(const struct record_sender *s)
{
	return s->sent;
}

uint64_t record_sender_lost_bytes(const struct record_sender *s)
{
	return s->lost_bytes;
}
