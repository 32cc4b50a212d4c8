/* test_server_main.c: a server on a store with known content, for the tests of the page and for working on it.
 *
 *	test-server DIRECTORY [--empty] [--listen ADDRESS] [--token TOKEN] [--read-token TOKEN] [--boxes N]
 *
 * Creates a store in DIRECTORY with the hour before the start: four entry points on two hosts with stacks like those
 * of a PHP site, always the same ones, and entry "bytes", whose frames have names of every byte value. Prints the
 * server's address, and exits at the end of standard input. */

#include "clock.h"
#include "mem.h"
#include "server.h"

#include <stdio.h>
#include <string.h>

#define MINUTES 60
#define BUCKETS_PER_MINUTE 6

/* Generates the same numbers everywhere, unlike the C library's rand. */
static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

static struct str str_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

/* Each function with its callees, likelier ones first; a negative one ends the stack. */
struct function {
	const char *name, *file;
	uint32_t line;
	int calls[5];
};

static const struct function functions[] = {
	[0] = { "{main}", "/srv/wiki/index.php", 1, { 2 } },
	[1] = { "{main}", "/srv/wiki/cron.php", 1, { 13, 12 } },
	[2] = { "Wiki\\Kernel::handle", "/srv/wiki/inc/Kernel.php", 48, { 3, 3, 4 } },
	[3] = { "Wiki\\Router::dispatch", "/srv/wiki/inc/Router.php", 112, { 5, 5, 6, 7 } },
	[4] = { "Wiki\\Session::start", "/srv/wiki/inc/Session.php", 31, { 24, 25 } },
	[5] = { "Wiki\\Page::view", "/srv/wiki/inc/Page.php", 210, { 8, 8, 9, 10 } },
	[6] = { "Wiki\\Page::edit", "/srv/wiki/inc/Page.php", 355, { 8, 10, 24 } },
	[7] = { "Wiki\\Search::find", "/srv/wiki/inc/Search.php", 77, { 23, 24, 21, 26 } },
	[8] = { "Wiki\\Parser::parse", "/srv/wiki/inc/Parser.php", 140, { 14, 14, 15 } },
	[9] = { "Wiki\\Cache::fetch", "/srv/wiki/inc/Cache.php", 66, { 24, 25, -1 } },
	[10] = { "Template\\Engine::render", "/srv/wiki/lib/Template/Engine.php", 402, { 11, 11, 17 } },
	[11] = { "Template\\Node::display", "/srv/wiki/lib/Template/Node.php", 58, { 11, 17, 22, 26, -1 } },
	[12] = { "Wiki\\Feed::build", "/srv/wiki/inc/Feed.php", 19, { 8, 10 } },
	[13] = { "Wiki\\Queue::work", "/srv/wiki/inc/Queue.php", 25, { 12, 18, 24 } },
	[14] = { "Wiki\\Lexer::parse", "/srv/wiki/inc/Lexer.php", 51, { 16, 16, 20 } },
	[15] = { "Wiki\\Handler::finalize", "/srv/wiki/inc/Handler.php", 611, { 22, 26, -1 } },
	[16] = { "Wiki\\Lexer::reduce", "/srv/wiki/inc/Lexer.php", 133, { 20, 19, 14 } },
	[17] = { "htmlspecialchars", "", 0, { -1 } },
	[18] = { "Wiki\\Mailer::send", "/srv/wiki/inc/Mailer.php", 88, { 23, 26 } },
	[19] = { "{closure:/srv/wiki/inc/Lexer.php:171}", "/srv/wiki/inc/Lexer.php", 171, { 21, 22, -1 } },
	[20] = { "preg_match", "", 0, { -1 } },
	[21] = { "mb_strtolower", "", 0, { -1 } },
	[22] = { "str_replace", "", 0, { -1 } },
	[23] = { "fread", "", 0, { -1 } },
	[24] = { "file_get_contents", "", 0, { -1 } },
	[25] = { "unserialize", "", 0, { -1 } },
	[26] = { "array_map", "", 0, { 19, -1, -1 } },
};

static uint32_t frame_of(struct profile *p, const struct function *f)
{
	return profile_frame(p, str_of(f->name), str_of(f->file), f->line);
}

static unsigned count_calls(const struct function *f)
{
	unsigned n = 0;

	while (n < ARRAY_SIZE(f->calls) && f->calls[n] != 0)
		n++;
	return n;
}

static void add_site_stacks(struct profile *p, uint64_t *random, unsigned entry, uint32_t column, unsigned n)
{
	uint32_t frames[48];

	for (unsigned i = 0; i < n; i++) {
		int at = entry == 3;
		unsigned depth = 0;

		while (at >= 0 && depth < ARRAY_SIZE(frames)) {
			const struct function *f = &functions[at];

			frames[depth++] = frame_of(p, f);
			at = f->calls[next_random(random) * (entry + 1) % 7 % count_calls(f)];
		}
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

/* Used by --boxes: a tree so large that only a canvas can show it. */
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
	_cleanup_(labels_done) struct labels labels = { 0 };
	uint32_t column = profile_column(p, "samples", "count");
	struct batch_entry e = {
		.bucket_ns = bucket_ns, .labels = &labels, .clock = STROBE_CLOCK_WALL, .period_ns = 10000000,
		.profile = p,
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
	static struct source source = { .url = (char *)"unix:/run/test.sock", .is_up = true };
	static struct source *sources[] = { &source };
	struct server_options o = { .listen = "127.0.0.1:0", .collector = &counters, .sources = sources,
				    .source_count = 1 };
	_cleanup_(freep) char *url = NULL, *filters = NULL;
	struct err err = { 0 };
	unsigned boxes = 0;
	bool empty = false;
	int r;

	if (argc < 2)
		return fprintf(stderr, "usage: test-server DIRECTORY [--empty] [--listen ADDRESS] [--token TOKEN] "
			       "[--read-token TOKEN] [--boxes N]\n"), 1;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--empty") == 0)
			empty = true;
		else if (strcmp(argv[i], "--listen") == 0 && i + 1 < argc)
			o.listen = argv[++i];
		else if (strcmp(argv[i], "--token") == 0 && i + 1 < argc)
			o.roles.token = argv[++i];
		else if (strcmp(argv[i], "--read-token") == 0 && i + 1 < argc)
			o.roles.read_token = argv[++i];
		else if (strcmp(argv[i], "--boxes") == 0 && i + 1 < argc)
			boxes = (unsigned)strtoul(argv[++i], NULL, 10);
	}

	counters.samples_received = counters.samples_stored = 12345;
	counters.sender_drops[STROBE_DROP_FULL] = 3;
	counters.last_sample_ns = counters.last_commit_ns = clock_wall_ns();
	o.store_url = url = xasprintf("sqlite:%s", argv[1]);
	o.filters_path = filters = xasprintf("%s/" NAMED_FILTERS_FILE, argv[1]);
	r = store_open(url, false, &o.store, &err);
	if (r >= 0)
		r = serve(&o, empty, boxes, &err);
	store_close(o.store);
	if (r < 0)
		fprintf(stderr, "test-server: %s\n", err.text);
	return r < 0 ? 2 : 0;
}
