/* php_senders.c: sends the load of a busy host's PHP processes, from one process.
 *
 * usage: php_senders SOCKET CONNECTIONS SAMPLES_PER_SECOND MESSAGES_PER_SECOND SECONDS
 * Each connection stands for a PHP process: it sends one message per request, with the samples of that request as a tree.
 * A request walks through a program of 4,000 functions: between two samples it returns from some calls and makes others,
 * 23 deep on average. 20,000 samples have 7,500 different stacks, 22,900 nodes and 2,860 functions, and 20 of one request
 * 84 nodes; 19,000 samples of MediaWiki had 5,750 stacks, 17,900 nodes and 3,380 functions. Prints messages, samples, and
 * how many messages were not taken. */

#include "strobe_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS	4000
#define DEPTH_MAX	40
#define NODES_MAX	8192
#define ENTRIES		5

/* The functions of a request. */
struct stack {
	unsigned depth, functions[DEPTH_MAX];
};

/* A request's tree while it is built. */
struct tree {
	struct node { unsigned parent, function; int64_t samples; } nodes[NODES_MAX];
	unsigned count;			/* includes the root, 0 */
};

static uint64_t seed = 88172645463325252ULL;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)((seed >> 20) % n);
}

/* Returns one of eight callees of a function, nearly always the first. */
static unsigned callee(unsigned function)
{
	unsigned which = 0;

	while (which < 7 && !below(20))
		which++;
	return (function * 2654435761u + which * 40503u + 12345u) % FUNCTIONS;
}

static void push_until(struct stack *s, unsigned depth)
{
	for (; s->depth < depth; s->depth++)
		s->functions[s->depth] = callee(s->functions[s->depth - 1]);
}

/* Returns from some calls and makes others. */
static void walk(struct stack *s)
{
	unsigned returns = 1;

	while (below(9))
		returns++;
	s->depth = returns + 4 < s->depth ? s->depth - returns : 4;
	push_until(s, 14 + below(17));
}

static unsigned child(struct tree *t, unsigned parent, unsigned function)
{
	for (unsigned i = parent + 1; i < t->count; i++)
		if (t->nodes[i].parent == parent && t->nodes[i].function == function)
			return i;
	if (t->count == NODES_MAX)
		return parent;
	t->nodes[t->count] = (struct node){ parent, function, 0 };
	return t->count++;
}

static void add_sample(struct tree *t, const struct stack *s)
{
	unsigned at = 0;

	for (unsigned k = 0; k < s->depth; k++)
		at = child(t, at, s->functions[k]);
	t->nodes[at].samples++;
}

/* Makes a request: its samples as a tree. */
static void run_request(struct tree *t, unsigned entry, long samples)
{
	struct stack s = { .depth = 1, .functions = { entry } };

	t->count = 1;
	push_until(&s, 8);
	for (long k = 0; k < samples; k++) {
		walk(&s);
		add_sample(t, &s);
	}
}

/* Numbers frames in the order in which nodes need them. */
static unsigned number_frames(const struct tree *t, unsigned *frame_of, unsigned *order)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FUNCTIONS; i++)
		frame_of[i] = UINT32_MAX;
	for (unsigned i = 1; i < t->count; i++) {
		unsigned f = t->nodes[i].function;

		if (frame_of[f] != UINT32_MAX)
			continue;
		frame_of[f] = n;
		order[n++] = f;
	}
	return n;
}

static size_t write_message(const struct tree *t, unsigned entry, unsigned pid, uint8_t *buffer, size_t capacity)
{
	static unsigned frame_of[FUNCTIONS], order[FUNCTIONS];
	static const char *const names[] = { "index", "api", "load", "rest", "jobs" };
	unsigned frames = number_frames(t, frame_of, order);
	struct timespec now;
	struct strobe_wire_info info = {
		.kind = STROBE_WIRE_SAMPLES, .clock = STROBE_CLOCK_WALL, .pid = pid, .period_ns = 10000000,
	};
	struct strobe_wire_writer w;
	char name[64];

	clock_gettime(CLOCK_REALTIME, &now);
	info.end_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	info.start_ns = info.end_ns - 200000000;
	strobe_wire_begin(&w, buffer, capacity, &info);
	strobe_wire_string(&w, "entry", 5);
	strobe_wire_string(&w, names[entry], strlen(names[entry]));
	strobe_wire_string(&w, "host", 4);
	strobe_wire_string(&w, "web1", 4);
	strobe_wire_string(&w, "samples", 7);
	strobe_wire_string(&w, "count", 5);
	for (unsigned i = 0; i < frames; i++)
		strobe_wire_string(&w, name, (size_t)snprintf(name, sizeof(name), "App\\Module%u\\Handler%u::process", order[i] % 97,
						  order[i]));
	strobe_wire_label(&w, 1, 2);
	strobe_wire_label(&w, 3, 4);
	strobe_wire_column(&w, 5, 6);
	for (unsigned i = 0; i < frames; i++)
		strobe_wire_frame(&w, 7 + i, 0, order[i] % 500);
	for (unsigned i = 1; i < t->count; i++)
		strobe_wire_node(&w, t->nodes[i].parent, frame_of[t->nodes[i].function], &t->nodes[i].samples);
	return strobe_wire_end(&w);
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		perror("php_senders: connect");
		exit(1);
	}
	return fd;
}

static void sleep_until(const struct timespec *start, double seconds)
{
	struct timespec at = *start;
	int64_t ns = at.tv_nsec + (int64_t)(seconds * 1e9);

	at.tv_sec += ns / 1000000000;
	at.tv_nsec = ns % 1000000000;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	static uint8_t buffer[1 << 20];
	static struct tree tree;
	struct timespec start;
	long connections, per_second, seconds, messages, samples, sent = 0, refused = 0;
	int *fds;

	if (argc != 6) {
		fprintf(stderr, "usage: php_senders SOCKET CONNECTIONS SAMPLES_PER_SECOND MESSAGES_PER_SECOND SECONDS\n");
		return 1;
	}
	connections = atol(argv[2]);
	samples = atol(argv[3]);
	per_second = atol(argv[4]);
	seconds = atol(argv[5]);
	if (connections < 1 || per_second < 1 || samples < per_second || seconds < 1)
		return 1;
	fds = calloc((size_t)connections, sizeof(*fds));
	for (long i = 0; i < connections; i++)
		fds[i] = connect_to(argv[1]);
	messages = per_second * seconds;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < messages; i++) {
		unsigned entry = below(ENTRIES);
		size_t n;

		run_request(&tree, entry, samples / per_second);
		n = write_message(&tree, entry, (unsigned)(i % connections), buffer, sizeof(buffer));
		if (i % 10 == 0)
			sleep_until(&start, (double)i / (double)per_second);
		if (send(fds[i % connections], buffer, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n)
			sent++;
		else
			refused++;
	}
	printf("%ld %ld %ld\n", sent, sent * (samples / per_second), refused);
	return 0;
}
