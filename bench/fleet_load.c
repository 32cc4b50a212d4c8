/* fleet_load.c: sends the load of a fleet's relays to a Redis stream, or of one host's PHP processes to their relay, paced by the clock.
 *
 *	fleet_load [-t SECONDS] [-w WORKERS] [-p PERIOD] -r URL -n HOSTS [-c THREADS] [-a] FILE...
 *	fleet_load [-t SECONDS] [-w WORKERS] -u SOCKET -m MESSAGES_PER_SECOND -s SAMPLES FILE...
 *
 * The stacks are those of FILE..., profiles in any format, each drawn as often as it was recorded.
 *
 * With -r each host has WORKERS that take one sample per PERIOD seconds, and a relay with windows of 10 seconds. The
 * contents of a window become messages by series and 10-second bucket (wire_profile_write), one frame of zstd, and an
 * entry that forward.h adds over a connection of this host: the bytes and the script of a real relay. Windows of
 * different hosts end evenly distributed over the 10 seconds. A window without a sample makes no entry. With -a the
 * relays have been up for an hour: Redis remembers as many of their entries as it does at most.
 *
 * With -u WORKERS connections send messages in turn, of SAMPLES stacks recorded next to each other.
 *
 * Prints of each entry or message: when it was sent (ns since 1970), host, samples, bytes before and after compression; and in a last line
 * "late" with the most that one was behind its time (ns). */
#include "batch.h"
#include "clock.h"
#include "format.h"
#include "forward.h"
#include "io.h"
#include "mem.h"
#include "redis_client.h"
#include "wire_profile.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define WINDOW_NS	(10 * NS_PER_SECOND)
#define WORKERS_MAX	1024u
#define SERIES_MAX	256u			/* in one window */
#define STREAM		"strobe"

/* --- The recorded stacks --- */

struct stacks {
	struct profile *profile;
	uint32_t *nodes;			/* leaves with samples of their own */
	uint64_t *sums;				/* sums up to and including each */
	const char **entries;			/* label `entry` of each */
	size_t count;
};

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 11;
}

/* Returns the script's name without directory and extension, from the frame nearest to the root that is a path. */
static char *entry_of(const struct profile *p, uint32_t node)
{
	struct str found = { "index", 5 };

	for (; node != PROFILE_ROOT; node = p->parents[node]) {
		struct str name = profile_name(p, p->node_frames[node]);

		if (name.n > 1 && name.p[0] == '/')
			found = name;
	}
	for (const char *slash; (slash = memchr(found.p, '/', found.n));)
		found = (struct str){ slash + 1, found.n - (size_t)(slash + 1 - found.p) };
	if (found.n > 4 && !memcmp(found.p + found.n - 4, ".php", 4))
		found.n -= 4;
	return xstrndup(found.p, found.n);
}

static void stacks_load(struct stacks *s, char **files, int count)
{
	struct profile *p = s->profile = profile_new();
	struct err err = { 0 };
	uint64_t sum = 0;

	for (int i = 0; i < count; i++)
		if (format_load(files[i], p, NULL, &err) < 0) {
			fprintf(stderr, "fleet_load: %s\n", err.text);
			exit(1);
		}
	s->nodes = xcalloc(p->node_count, sizeof(*s->nodes));
	s->sums = xcalloc(p->node_count, sizeof(*s->sums));
	s->entries = xcalloc(p->node_count, sizeof(*s->entries));
	for (uint32_t i = 1; i < p->node_count; i++) {
		if (!p->column_count || p->columns[0].self[i] <= 0)
			continue;
		s->nodes[s->count] = i;
		s->entries[s->count] = entry_of(p, i);
		s->sums[s->count++] = sum += (uint64_t)p->columns[0].self[i];
	}
	if (!s->count) {
		fprintf(stderr, "fleet_load: there is no stack in what was given\n");
		exit(1);
	}
}

/* Similar seeds would give similar sequences. */
static uint64_t seed_of(uint32_t number)
{
	uint64_t seed = (number + 1) * 0x9e3779b97f4a7c15ULL;

	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebULL;
	return (seed ^ seed >> 31) | 1;
}

static size_t draw(const struct stacks *s, uint64_t *seed)
{
	uint64_t at = next_random(seed) % s->sums[s->count - 1];
	size_t low = 0, high = s->count - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (s->sums[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t copy_stack(struct profile *to, const struct profile *from, uint32_t node)
{
	uint32_t parent = from->parents[node];
	const struct profile_frame *f;

	if (node == PROFILE_ROOT)
		return PROFILE_ROOT;
	parent = copy_stack(to, from, parent);
	f = &from->frames[from->node_frames[node]];
	return profile_child_at(to, parent, profile_frame(to, intern_get(&from->strings, f->name), intern_get(&from->strings, f->file), f->line),
				profile_line(from, node));
}

/* --- Series, and messages of them --- */

struct series {
	const char *entry;
	int64_t bucket_ns;
	struct profile *profile;
};

static struct profile *new_profile(void)
{
	struct profile *p = profile_new();

	profile_keep_lines(p, true);
	profile_column(p, "samples", "count");
	return p;
}

static void add_sample(struct series *list, size_t *count, const struct stacks *s, size_t which, int64_t bucket_ns)
{
	size_t i = 0;

	while (i < *count && (list[i].bucket_ns != bucket_ns || strcmp(list[i].entry, s->entries[which])))
		i++;
	assert(i < SERIES_MAX);
	if (i == *count)
		list[(*count)++] = (struct series){ s->entries[which], bucket_ns, new_profile() };
	profile_add(list[i].profile, copy_stack(list[i].profile, s->profile, s->nodes[which]), 0, 1);
}

static void set(struct labels *l, const char *key, const char *value)
{
	labels_set(l, key, strlen(key), value, strlen(value));
}

/* Appends the messages, and frees the profile. */
static void put_messages(struct series *s, const char *host, int64_t period_ns, struct buf *out)
{
	struct profile *p = s->profile;
	size_t at = out->size;
	struct err err = { 0 };

	set(&p->labels, "entry", s->entry);
	set(&p->labels, "sapi", "fpm-fcgi");
	set(&p->labels, "method", "GET");
	if (host)
		set(&p->labels, "host", host);
	p->start_ns = s->bucket_ns;
	p->end_ns = s->bucket_ns + BATCH_BUCKET_NS - 1;
	p->period_ns = period_ns;
	if (wire_profile_write(p, out, &err) < 0) {
		fprintf(stderr, "fleet_load: %s\n", err.text);
		exit(1);
	}
	for (; at < out->size; at += strobe_wire_get_le((uint8_t *)out->data + at + 8, 4))
		out->data[at + 6] = STROBE_CLOCK_WALL;
	s->profile = profile_free(p);
}

/* --- The log of what was sent --- */

struct sent {
	struct sent_one { int64_t time_ns; uint32_t host, samples, raw, packed; } *list;
	size_t count, capacity;
	int64_t late_ns;
};

static void note_sent(struct sent *s, int64_t time_ns, uint32_t host, size_t samples, size_t raw, size_t packed)
{
	GROW(&s->list, &s->capacity, s->count + 1);
	s->list[s->count++] = (struct sent_one){ time_ns, host, (uint32_t)samples, (uint32_t)raw, (uint32_t)packed };
}

static void print_sent(const struct sent *s)
{
	for (size_t i = 0; i < s->count; i++)
		printf("%lld %u %u %u %u\n", (long long)s->list[i].time_ns, s->list[i].host, s->list[i].samples, s->list[i].raw, s->list[i].packed);
}

static void wait_until(int64_t due_ns, struct sent *s)
{
	struct timespec t = { due_ns / NS_PER_SECOND, due_ns % NS_PER_SECOND };
	int64_t late = clock_monotonic_ns() - due_ns;

	if (late > s->late_ns)
		s->late_ns = late;
	while (late < 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		;
}

/* --- A fleet --- */

struct load {
	const struct stacks *stacks;
	const char *url;
	uint32_t hosts, workers, threads;
	int64_t period_ns, length_ns;
	bool aged;
	int64_t start_ns, start_wall_ns;	/* start of the first windows to end */
	pthread_barrier_t ready;
};

struct host {
	uint32_t number;
	char name[24];
	uint64_t instance, sequence;
	int64_t end_ns;				/* end of its first window, relative to the start */
	int64_t *ticks;				/* by worker, within its period */
	struct forward *forward;
};

struct sender {
	struct load *load;
	uint32_t number;
	uint64_t seed;
	struct host *hosts;
	size_t count;
	struct sent sent;
	ZSTD_CCtx *zstd;
};

/* Writes the record in Redis of a relay that has already added many entries; forward.h has its format. */
static void make_aged(struct redis_client *client, struct host *h, uint64_t *seed)
{
	_cleanup_(buf_done) struct buf value = { 0 };
	struct redisReply *reply = NULL;
	struct err err = { 0 };
	char key[64];

	buf_init(&value);
	for (unsigned i = 1; i <= FORWARD_REMEMBERED; i++) {
		uint64_t id = next_random(seed) << 32 ^ next_random(seed);

		buf_printf(&value, "%s%u:%016llx", i > 1 ? " " : "", i, (unsigned long long)id);
	}
	snprintf(key, sizeof(key), "{" STREAM "}:seen:%016llx", (unsigned long long)h->instance);
	if (redis_client_commandf(client, &reply, &err, "SET %s %b EX 2592000", key, value.data, value.size) < 0 || reply->type == REDIS_REPLY_ERROR) {
		fprintf(stderr, "fleet_load: %s\n", reply ? reply->str : err.text);
		exit(1);
	}
	freeReplyObject(reply);
	h->sequence = FORWARD_REMEMBERED;
}

static void make_hosts(struct sender *s)
{
	const struct load *l = s->load;
	struct redis_client *client;
	struct redis_url url;
	struct err err = { 0 };

	if (redis_url_parse(l->url, &url, &err) < 0) {
		fprintf(stderr, "fleet_load: %s\n", err.text);
		exit(1);
	}
	client = redis_client_new(&url, "fleet_load", 10 * NS_PER_SECOND, 10 * NS_PER_SECOND);
	s->hosts = xcalloc(l->hosts / l->threads + 1, sizeof(*s->hosts));
	for (uint32_t i = s->number; i < l->hosts; i += l->threads) {
		struct host *h = &s->hosts[s->count++];

		h->number = i;
		h->instance = next_random(&s->seed) << 32 ^ next_random(&s->seed);
		h->end_ns = WINDOW_NS * i / l->hosts;
		snprintf(h->name, sizeof(h->name), "web%05u", i);
		h->ticks = xcalloc(l->workers, sizeof(*h->ticks));
		for (uint32_t k = 0; k < l->workers; k++)
			h->ticks[k] = (int64_t)(next_random(&s->seed) % (uint64_t)l->period_ns);
		forward_new(&url, STREAM, h->name, &h->forward, &err);
		if (l->aged)
			make_aged(client, h, &s->seed);
	}
	redis_client_free(client);
	redis_url_done(&url);
}

static void free_hosts(struct sender *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->hosts[i].ticks);
		forward_free(s->hosts[i].forward);
	}
	free(s->hosts);
}

/* Draws the workers' samples of the 10 seconds up to `end_ns`; returns their number. */
static size_t fill_window(struct sender *s, const struct host *h, int64_t end_ns, struct series *list, size_t *count)
{
	const struct load *l = s->load;
	size_t samples = 0;

	for (uint32_t k = 0; k < l->workers; k++) {
		int64_t first = end_ns - WINDOW_NS, into = (h->ticks[k] - first) % l->period_ns;

		for (int64_t at = first + (into < 0 ? into + l->period_ns : into); at < end_ns; at += l->period_ns, samples++) {
			int64_t wall = l->start_wall_ns + at;

			add_sample(list, count, l->stacks, draw(l->stacks, &s->seed), wall - wall % BATCH_BUCKET_NS);
		}
	}
	return samples;
}

static void send_entry(struct sender *s, struct host *h, const struct buf *raw, size_t samples)
{
	size_t room = ZSTD_compressBound(raw->size), n;
	_cleanup_(freep) char *packed = xmalloc(room);
	struct spool_entry e = { .sequence = ++h->sequence, .instance = h->instance, .samples = samples };
	enum forward_result result;
	int64_t now = clock_wall_ns();
	struct err err = { 0 };

	n = ZSTD_compressCCtx(s->zstd, packed, room, raw->data, raw->size, 1);
	assert(!ZSTD_isError(n));
	e.body = (struct buf){ .data = packed, .size = n };
	/* Like a relay, retries until there is an answer. */
	while (forward_send(h->forward, &e, 1, &result, &err) < 0) {
		fprintf(stderr, "fleet_load: %s: %s\n", h->name, err.text);
		nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
	}
	note_sent(&s->sent, now, h->number, samples, raw->size, n);
}

static void send_window(struct sender *s, struct host *h, int64_t end_ns)
{
	_cleanup_(buf_done) struct buf raw = { 0 };
	struct series list[SERIES_MAX];
	size_t count = 0, samples = fill_window(s, h, end_ns, list, &count);

	buf_init(&raw);
	for (size_t i = 0; i < count; i++)
		put_messages(&list[i], h->name, s->load->period_ns, &raw);
	if (samples)
		send_entry(s, h, &raw, samples);
}

static void *run_sender(void *data)
{
	struct sender *s = data;
	struct load *l = s->load;

	make_hosts(s);
	if (pthread_barrier_wait(&l->ready) == PTHREAD_BARRIER_SERIAL_THREAD) {
		l->start_ns = clock_monotonic_ns() + NS_PER_SECOND / 10;
		l->start_wall_ns = clock_wall_ns() + NS_PER_SECOND / 10;
	}
	pthread_barrier_wait(&l->ready);
	for (int64_t turn = 0; turn < l->length_ns; turn += WINDOW_NS)
		for (size_t i = 0; i < s->count && turn + s->hosts[i].end_ns < l->length_ns; i++) {
			wait_until(l->start_ns + turn + s->hosts[i].end_ns, &s->sent);
			send_window(s, &s->hosts[i], turn + s->hosts[i].end_ns);
		}
	return NULL;
}

static void run_fleet(struct load *l)
{
	struct sender *senders = xcalloc(l->threads, sizeof(*senders));
	pthread_t *threads = xcalloc(l->threads, sizeof(*threads));
	int64_t late = 0;

	pthread_barrier_init(&l->ready, NULL, l->threads);
	for (uint32_t i = 0; i < l->threads; i++) {
		senders[i] = (struct sender){ .load = l, .number = i, .seed = seed_of(i), .zstd = ZSTD_createCCtx() };
		if (pthread_create(&threads[i], NULL, run_sender, &senders[i]))
			abort();
	}
	for (uint32_t i = 0; i < l->threads; i++) {
		pthread_join(threads[i], NULL);
		print_sent(&senders[i].sent);
		if (senders[i].sent.late_ns > late)
			late = senders[i].sent.late_ns;
		free_hosts(&senders[i]);
		free(senders[i].sent.list);
		ZSTD_freeCCtx(senders[i].zstd);
	}
	pthread_barrier_destroy(&l->ready);
	printf("late %lld\n", (long long)late);
	free(senders);
	free(threads);
}

/* --- One host's processes --- */

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void run_processes(const struct stacks *s, const char *path, uint32_t workers, double rate, unsigned samples, int64_t length_ns)
{
	uint64_t seed = seed_of(0);
	_cleanup_(freep) int *fds = xcalloc(workers, sizeof(*fds));
	struct sent sent = { 0 };
	int64_t start = clock_monotonic_ns(), due = start;

	for (uint32_t i = 0; i < workers; i++)
		fds[i] = connect_to(path);
	for (uint32_t i = 0; (due = start + (int64_t)(i * 1e9 / rate)) < start + length_ns; i++) {
		_cleanup_(buf_done) struct buf raw = { 0 };
		struct series list[SERIES_MAX];
		size_t count = 0, first = draw(s, &seed);
		int64_t now;

		wait_until(due, &sent);
		now = clock_wall_ns();
		buf_init(&raw);
		/* One request has one entry point, that of its first stack. */
		list[count++] = (struct series){ s->entries[first], now - BATCH_BUCKET_NS + 1, new_profile() };
		for (unsigned k = 0; k < samples; k++)
			profile_add(list[0].profile, copy_stack(list[0].profile, s->profile, s->nodes[(first + k) % s->count]), 0, 1);
		put_messages(&list[0], NULL, NS_PER_SECOND / 100, &raw);
		if (send(fds[i % workers], raw.data, raw.size, 0) != (ssize_t)raw.size) {
			perror("send");
			exit(1);
		}
		note_sent(&sent, now, 0, samples, raw.size, raw.size);
	}
	print_sent(&sent);
	printf("late %lld\n", (long long)sent.late_ns);
	free(sent.list);
	for (uint32_t i = 0; i < workers; i++)
		close(fds[i]);
}

int main(int argc, char **argv)
{
	struct load l = { .hosts = 1, .workers = 14, .threads = 4, .period_ns = 60 * NS_PER_SECOND, .length_ns = 30 * NS_PER_SECOND };
	const char *path = NULL;
	struct stacks stacks = { 0 };
	double rate = 1;
	unsigned samples = 1;
	int option;

	while ((option = getopt(argc, argv, "r:n:w:p:t:c:au:m:s:")) != -1) {
		if (option == 'r')
			l.url = optarg;
		else if (option == 'n')
			l.hosts = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'w')
			l.workers = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'p')
			l.period_ns = (int64_t)(strtod(optarg, NULL) * 1e9);
		else if (option == 't')
			l.length_ns = (int64_t)(strtod(optarg, NULL) * 1e9);
		else if (option == 'c')
			l.threads = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'a')
			l.aged = true;
		else if (option == 'u')
			path = optarg;
		else if (option == 'm')
			rate = strtod(optarg, NULL);
		else if (option == 's')
			samples = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 1;
	}
	if (optind == argc || (!path) == (!l.url) || !l.hosts || !l.workers || l.workers > WORKERS_MAX || !l.threads || l.period_ns <= 0 || rate <= 0) {
		fprintf(stderr, "usage: fleet_load [-t SECONDS] [-w WORKERS] [-p PERIOD] -r URL -n HOSTS [-c THREADS] [-a] FILE...\n"
				"       fleet_load [-t SECONDS] [-w WORKERS] -u SOCKET -m MESSAGES_PER_SECOND -s SAMPLES FILE...\n");
		return 1;
	}
	if (l.threads > l.hosts)
		l.threads = l.hosts;
	stacks_load(&stacks, argv + optind, argc - optind);
	l.stacks = &stacks;
	if (path)
		run_processes(&stacks, path, l.workers, rate, samples, l.length_ns);
	else
		run_fleet(&l);
	return 0;
}
