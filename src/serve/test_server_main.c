/* test_server_main.c: a server on a store with known content, for the tests of the page and for working on it.
 *
 *	test-server DIRECTORY [--empty] [--listen ADDRESS] [--token TOKEN] [--boxes N]
 *
 * DIRECTORY is made a store that holds the hour before the start: four entry points on two hosts with stacks as a PHP
 * site has them, always the same ones, and entry "bytes", whose frames have names of every byte value. Prints the
 * server's address, and ends when standard input does. */

#include "clock.h"
#include "mem.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

#define MINUTES 60
#define BUCKETS_PER_MINUTE 6

/* The same numbers everywhere, whatever the C library's rand does. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

static const char *const layers[][4] = {
	{ "{main}", "{main}", "{main}", "{main}" },
	{ "Kernel::handle", "Kernel::handle", "Kernel::handle", "Worker::run" },
	{ "Router::dispatch", "Router::dispatch", "Session::start", "Queue::take" },
	{ "Wiki\\Page::view", "Wiki\\Page::edit", "Wiki\\Search::find", "Wiki\\Feed::build" },
	{ "Wiki\\Parser::parse", "Wiki\\Parser::tokenize", "Wiki\\Cache::fetch", "Template\\Engine::render" },
	{ "Wiki\\Lexer::parse", "Wiki\\Lexer::reduce", "Template\\Compiler::compile", "Wiki\\Handler::section_open" },
	{ "preg_match", "preg_replace_callback", "{closure:/srv/wiki/inc/parser.php:112}", "str_replace" },
	{ "file_get_contents", "unserialize", "mb_strtolower", "array_map" },
};

static uint32_t frame_at(struct profile *p, unsigned layer, unsigned pick)
{
	char file[64];

	snprintf(file, sizeof(file), layer < 6 ? "/srv/wiki/inc/layer%u.php" : "", layer);
	return profile_frame(p, str_of(layers[layer][pick]), str_of(file), layer < 6 ? 10 + 17 * layer + pick : 0);
}

/* Stacks with some recursion, as template engines and parsers have. */
static void add_site_stacks(struct profile *p, uint64_t *random, unsigned entry, uint32_t column, unsigned n)
{
	uint32_t frames[64];

	for (unsigned i = 0; i < n; i++) {
		unsigned depth = 0, rounds = 1 + next_random(random) % 3;

		for (unsigned layer = 0; layer < 4; layer++)
			frames[depth++] = frame_at(p, layer, layer == 3 ? entry : entry % 3);
		for (unsigned r = 0; r < rounds; r++)
			for (unsigned layer = 4; layer < 8; layer++)
				if (layer < 6 || next_random(random) % 3)
					frames[depth++] = frame_at(p, layer, next_random(random) * (entry + 1) % 7 % 4);
		profile_add(p, profile_stack(p, frames, depth), column, 1);
	}
}

static void add_byte_stacks(struct profile *p, uint32_t column)
{
	char name[4] = { 'f', 0, 'x', 0 };

	for (unsigned byte = 0; byte < 256; byte++) {
		uint32_t frame;

		name[1] = (char)byte;
		frame = profile_frame(p, (struct str){ name, 3 }, (struct str){ name, 3 }, byte);
		profile_add(p, profile_stack(p, &frame, 1), column, 1);
	}
}

/* With --boxes: one tree so big that only a canvas can show it. */
static void add_boxes(struct profile *p, uint64_t *random, uint32_t column, unsigned boxes)
{
	uint32_t frames[60];

	while (p->node_count < boxes) {
		unsigned depth = 20 + next_random(random) % 40;

		for (unsigned d = 0; d < depth; d++) {
			char name[40];

			snprintf(name, sizeof(name), "Module%u\\Class%u::method%u", d / 8, d, next_random(random) % 3);
			frames[d] = profile_frame(p, str_of(name), str_of("/srv/big.php"), d);
		}
		profile_add(p, profile_stack(p, frames, depth), column, 1 + next_random(random) % 9);
	}
}

static void set_label(struct labels *l, const char *key, const char *value)
{
	labels_set(l, key, strlen(key), value, strlen(value));
}

static int append_one(struct store *store, int64_t bucket_ns, const char *entry, const char *host, unsigned number,
		      unsigned samples, uint64_t *random, unsigned boxes, struct err *err)
{
	_cleanup_(profile_freep) struct profile *p = profile_new();
	_cleanup_(labels_done) struct labels labels;
	uint32_t column = profile_column(p, "samples", "count");
	struct batch_entry e = {
		.bucket_ns = bucket_ns, .labels = &labels, .clock = STROBE_CLOCK_WALL, .period_ns = 10000000, .profile = p,
	};
	struct batch b = { .entries = &e, .count = 1 };

	labels_init(&labels);
	set_label(&labels, "entry", entry);
	set_label(&labels, "host", host);
	set_label(&labels, "sapi", number == 3 ? "cli" : "fpm-fcgi");
	if (strcmp(entry, "bytes") == 0)
		add_byte_stacks(p, column);
	else if (boxes)
		add_boxes(p, random, column, boxes);
	else
		add_site_stacks(p, random, number, column, samples);
	return store_append(store, &b, err);
}

static int fill_store(struct store *store, int64_t now_ns, unsigned boxes, struct err *err)
{
	static const char *const entries[] = { "index", "api", "search", "cron" };
	static const char *const hosts[] = { "web1", "web2" };
	int64_t bucket = now_ns - now_ns % BATCH_BUCKET_NS - MINUTES * BUCKETS_PER_MINUTE * BATCH_BUCKET_NS;
	uint64_t random = 7;
	int r = append_one(store, bucket + 60 * BATCH_BUCKET_NS, "bytes", "web1", 0, 0, &random, 0, err);

	if (r >= 0 && boxes)
		r = append_one(store, bucket + 90 * BATCH_BUCKET_NS, "big", "web1", 0, 0, &random, boxes, err);
	for (unsigned i = 0; r >= 0 && i < MINUTES * BUCKETS_PER_MINUTE - 1; i++, bucket += BATCH_BUCKET_NS) {
		unsigned entry = next_random(&random) % 7 % 4;
		unsigned samples = 20 + next_random(&random) % 30 + (i > 200 && i < 240 ? 90 : 0);

		r = append_one(store, bucket, entries[entry], hosts[i % 2], entry, samples, &random, 0, err);
	}
	return r;
}

static int serve(struct server_options *o, bool empty, unsigned boxes, struct err *err)
{
	struct server *server = NULL;
	int r = empty ? 0 : fill_store(o->store, clock_wall_ns(), boxes, err);

	if (r < 0 || (r = server_new(o, &server, err)) < 0)
		return r;
	printf("%s\n", server_url(server));
	fflush(stdout);
	while (getchar() != EOF)
		;
	server_free(server);
	return 0;
}

int main(int argc, char **argv)
{
	static struct collector_counters counters;
	static struct source source = { .url = (char *)"unix:/run/test.sock" };
	static struct source *sources[] = { &source };
	struct server_options o = { .listen = "127.0.0.1:0", .collector = &counters, .sources = sources, .source_count = 1 };
	_cleanup_(freep) char *url = NULL;
	struct err err = { 0 };
	unsigned boxes = 0;
	bool empty = false;
	int r;

	if (argc < 2)
		return fprintf(stderr, "usage: test-server DIRECTORY [--empty] [--listen ADDRESS] [--token TOKEN] [--boxes N]\n"), 1;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--empty") == 0)
			empty = true;
		else if (strcmp(argv[i], "--listen") == 0 && i + 1 < argc)
			o.listen = argv[++i];
		else if (strcmp(argv[i], "--token") == 0 && i + 1 < argc)
			o.token = argv[++i];
		else if (strcmp(argv[i], "--boxes") == 0 && i + 1 < argc)
			boxes = (unsigned)strtoul(argv[++i], NULL, 10);
	}

	counters.samples_received = counters.samples_stored = 12345;
	counters.sender_drops[STROBE_DROP_FULL] = 3;
	counters.last_sample_ns = counters.last_commit_ns = clock_wall_ns();
	o.store_url = url = xasprintf("sqlite:%s", argv[1]);
	r = store_open(url, false, &o.store, &err);
	if (r >= 0)
		r = serve(&o, empty, boxes, &err);
	store_close(o.store);
	if (r < 0)
		fprintf(stderr, "test-server: %s\n", err.text);
	return r < 0 ? 2 : 0;
}
