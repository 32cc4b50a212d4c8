/* ingest_load.c: publishes a day of a PHP fleet as fast as somebody takes it.
 *
 *	ingest_load PORT COUNT [option=value…]
 *		stacks=50000		how many different ones; some are seen much more often than others (Zipf)
 *		connections=1		each is a thread's worth of senders: COUNT is spread over them
 *		pipeline=200		messages that are under way before answers are awaited
 *		rate=0			messages per second; 0 is as many as are taken
 *		each=0			1: a connection for each message, as Arc Lamp's client makes
 *		seconds=0		goes on for so long instead of COUNT
 *		xadd=0			1: entries of the stream "strobe" instead of messages on the channel "excimer"
 *
 * Prints how many were published, how many were answered with at least one receiver, and the seconds it took.
 *
 * The stacks are made up: 28,000 functions that call a few others each, 23 frames deep on average, 971 bytes a line. */
#include "buf.h"
#include "clock.h"
#include "map.h"
#include "mem.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <xxhash.h>

#define FUNCTIONS	28000u
#define ENTRIES		5u
#define DEPTH		23
#define CHUNK		((size_t)64 << 10)

static const char *const entries[ENTRIES] = {
	"/srv/site/docroot/example.org/w/index.php", "/srv/site/docroot/example.org/w/api.php",
	"/srv/site/docroot/example.org/w/load.php", "/srv/site/docroot/example.org/w/rest.php", "/srv/site/jobs/run-one.php",
};

static uint64_t random_state = 42;

static uint64_t random_number(void)
{
	random_state += 0x9e3779b97f4a7c15u;
	return XXH3_64bits(&random_state, sizeof(random_state));
}

static double random_share(void)
{
	return (double)(random_number() >> 11) * 0x1p-53;
}

/* --- Stacks --- */

static char *function_name(unsigned i)
{
	static const char *const words[] = { "Parser", "Storage", "Revision", "Template", "Language", "Session", "Cache", "Output",
					     "Transform", "Message", "Title", "Context", "Database", "Filter", "Resource", "Hook" };
	uint64_t r = XXH3_64bits(&i, sizeof(i));
	const char *a = words[r % 16], *b = words[(r >> 4) % 16], *c = words[(r >> 8) % 16];

	if (r >> 60 < 4)
		return xasprintf("%s%s::get%s%u", a, b, c, i);
	return xasprintf("Acme\\%s\\%s%s::do%s%u", a, b, c, a, i);
}

/* Some functions are called from everywhere, and each calls a few others, the first ones most often. */
static unsigned callee(unsigned f)
{
	unsigned own[2] = { f, 0 }, count = 1 + (unsigned)(XXH3_64bits(&f, sizeof(f)) % 6);
	unsigned which = (unsigned)(-log(1 - random_share()));
	uint64_t r;

	own[1] = which < count ? which : count - 1;
	r = XXH3_64bits(own, sizeof(own));
	if (r % 10 < 4)
		return (unsigned)exp((double)(r >> 8 & 0xffffff) / 0x1p24 * log(FUNCTIONS)) % FUNCTIONS;
	return (unsigned)((r >> 8) % FUNCTIONS);
}

static void put_stack(struct buf *b, char *const *names)
{
	double entry = random_share(), normal = random_share() + random_share() + random_share() - 1.5;
	unsigned e = entry < .55 ? 0 : entry < .8 ? 1 : entry < .9 ? 2 : entry < .97 ? 3 : 4;
	unsigned f = e * 100 + (unsigned)(random_share() * 4);
	int depth = DEPTH + (int)(normal * 16);

	buf_puts(b, entries[e]);
	for (int i = 1; i < (depth < 3 ? 3 : depth); i++) {
		buf_putc(b, ';');
		buf_puts(b, names[f]);
		f = callee(f);
	}
	buf_puts(b, " 1");
}

struct load {
	char **commands;		/* PUBLISH excimer … */
	size_t *sizes;
	double *cumulative;		/* cumulative weights */
	unsigned count;
};

static void put_command(struct buf *b, const struct buf *line, bool xadd)
{
	if (xadd)
		buf_puts(b, "*5\r\n$4\r\nXADD\r\n$6\r\nstrobe\r\n$1\r\n*\r\n$4\r\nline\r\n");
	else
		buf_puts(b, "*3\r\n$7\r\nPUBLISH\r\n$7\r\nexcimer\r\n");
	buf_printf(b, "$%zu\r\n%s\r\n", line->size, line->data);
}

static void make_load(struct load *l, unsigned count, bool xadd)
{
	char **names = xmalloc(FUNCTIONS * sizeof(*names));
	struct buf line, command;
	struct map known;
	double sum = 0;

	*l = (struct load){ xmalloc(count * sizeof(char *)), xmalloc(count * sizeof(size_t)), xmalloc(count * sizeof(double)), 0 };
	for (unsigned i = 0; i < FUNCTIONS; i++)
		names[i] = function_name(i);
	buf_init(&line);
	buf_init(&command);
	map_init(&known);
	while (l->count < count) {
		uint32_t *slot;

		buf_reset(&line);
		put_stack(&line, names);
		slot = map_slot(&known, XXH3_64bits(line.data, line.size));
		if (*slot != MAP_NONE)
			continue;
		*slot = l->count;
		buf_reset(&command);
		put_command(&command, &line, xadd);
		l->sizes[l->count] = command.size;
		l->commands[l->count] = buf_take(&command, NULL);
		l->cumulative[l->count] = sum += 1.0 / (l->count + 20);
		l->count++;
	}
	for (unsigned i = 0; i < FUNCTIONS; i++)
		free(names[i]);
	free(names);
	map_done(&known);
	buf_done(&line);
}

static unsigned pick(const struct load *l)
{
	double wanted = random_share() * l->cumulative[l->count - 1];
	unsigned low = 0, high = l->count - 1;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (l->cumulative[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* --- Connections --- */

struct sender {
	int fd;
	struct buf out;
	size_t sent;
	uint64_t asked, answered, taken;
	unsigned lines;			/* lines of an answer: one for a number, two for an id */
	bool has_half;
	char last;			/* last byte of the answers so far */
};

static int dial(unsigned port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		perror("connect");
		exit(1);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* Answers are ":1\r\n", or ":0\r\n" without a receiver; to XADD "$3\r\n1-2\r\n". */
static void read_answers(struct sender *s, int flags)
{
	char answers[1 << 14];
	ssize_t n = recv(s->fd, answers, sizeof(answers), flags);

	if (n == 0 || (n < 0 && errno != EAGAIN)) {
		fprintf(stderr, "the other side has closed the connection\n");
		exit(1);
	}
	for (ssize_t i = 0; i < n; i++) {
		if (answers[i] == '\n') {
			s->answered += s->lines == 1 || s->has_half;
			s->has_half = !s->has_half;
		}
		s->taken += s->last == ':' && answers[i] != '0';
		s->last = answers[i];
	}
}

static void send_some(struct sender *s)
{
	ssize_t n = send(s->fd, s->out.data + s->sent, s->out.size - s->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n > 0)
		s->sent += (size_t)n;
	if (s->sent == s->out.size) {
		buf_reset(&s->out);
		s->sent = 0;
	}
}

struct options {
	uint64_t count;
	unsigned port, stacks, connections, pipeline, each, xadd;
	double rate, seconds;
};

static bool is_over(const struct options *o, uint64_t asked, int64_t start_ns)
{
	if (o->seconds > 0)
		return (double)(clock_monotonic_ns() - start_ns) >= o->seconds * 1e9;
	return asked >= o->count;
}

/* Returns how many messages may have been published by now. */
static uint64_t allowed(const struct options *o, int64_t start_ns)
{
	if (o->rate <= 0)
		return UINT64_MAX;
	return (uint64_t)((double)(clock_monotonic_ns() - start_ns) / 1e9 * o->rate) + 1;
}

/* Serves all connections in turn; each has up to `pipeline` messages in flight. */
static void publish_all(const struct options *o, const struct load *l, struct sender *senders, int64_t start_ns)
{
	struct pollfd polls[1024];
	uint64_t asked = 0, answered = 0;

	while (!is_over(o, asked, start_ns) || answered < asked) {
		uint64_t may = allowed(o, start_ns);

		answered = 0;
		for (unsigned i = 0; i < o->connections; i++) {
			struct sender *s = &senders[i];

			while (asked < may && s->asked - s->answered < o->pipeline && s->out.size < CHUNK &&
			       !is_over(o, asked, start_ns)) {
				unsigned k = pick(l);

				buf_put(&s->out, l->commands[k], l->sizes[k]);
				s->asked++;
				asked++;
			}
			if (s->out.size)
				send_some(s);
			if (s->answered < s->asked)
				read_answers(s, MSG_DONTWAIT);
			answered += s->answered;
			polls[i] = (struct pollfd){ s->fd, (short)(s->out.size ? POLLIN | POLLOUT : POLLIN), 0 };
		}
		poll(polls, o->connections, o->rate > 0 ? 1 : 10);
	}
}

static void publish_each(const struct options *o, const struct load *l, struct sender *s, int64_t start_ns)
{
	while (!is_over(o, s->asked, start_ns)) {
		unsigned k = pick(l);

		while (s->asked >= allowed(o, start_ns))
			nanosleep(&(struct timespec){ 0, 200000 }, NULL);
		s->fd = dial(o->port);
		if (send(s->fd, l->commands[k], l->sizes[k], MSG_NOSIGNAL) != (ssize_t)l->sizes[k])
			exit(1);
		s->asked++;
		s->last = 0;
		read_answers(s, 0);
		close(s->fd);
	}
}

static void parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){ .stacks = 50000, .connections = 1, .pipeline = 200 };
	if (argc < 3) {
		fprintf(stderr, "usage: ingest_load PORT COUNT [option=value...]\n");
		exit(1);
	}
	o->port = (unsigned)atoi(argv[1]);
	o->count = (uint64_t)atoll(argv[2]);
	for (int i = 3; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		double v = value ? atof(value + 1) : 0;

		if (!strncmp(argv[i], "stacks=", 7))
			o->stacks = (unsigned)v;
		else if (!strncmp(argv[i], "connections=", 12))
			o->connections = v < 1024 ? (unsigned)v : 1024;
		else if (!strncmp(argv[i], "pipeline=", 9))
			o->pipeline = (unsigned)v;
		else if (!strncmp(argv[i], "rate=", 5))
			o->rate = v;
		else if (!strncmp(argv[i], "each=", 5))
			o->each = (unsigned)v;
		else if (!strncmp(argv[i], "seconds=", 8))
			o->seconds = v;
		else if (!strncmp(argv[i], "xadd=", 5))
			o->xadd = (unsigned)v;
	}
}

int main(int argc, char **argv)
{
	uint64_t asked = 0, taken = 0, bytes = 0;
	struct sender *senders;
	struct options o;
	struct load l;
	int64_t start_ns;

	parse(argc, argv, &o);
	make_load(&l, o.stacks, o.xadd);
	for (unsigned i = 0; i < l.count; i++)
		bytes += l.sizes[i];
	fprintf(stderr, "%u stacks, %.0f bytes each with the command around\n", l.count, (double)bytes / l.count);
	senders = xcalloc(o.connections, sizeof(*senders));
	for (unsigned i = 0; i < o.connections; i++) {
		buf_init(&senders[i].out);
		senders[i].lines = o.xadd ? 2 : 1;
		if (!o.each)
			senders[i].fd = dial(o.port);
	}
	start_ns = clock_monotonic_ns();
	if (o.each)
		publish_each(&o, &l, senders, start_ns);
	else
		publish_all(&o, &l, senders, start_ns);
	for (unsigned i = 0; i < o.connections; i++) {
		asked += senders[i].asked;
		taken += senders[i].taken;
	}
	printf("%llu %llu %.6f\n", (unsigned long long)asked, (unsigned long long)taken,
	       (double)(clock_monotonic_ns() - start_ns) / 1e9);
	return 0;
}
