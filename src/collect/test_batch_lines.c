/* test_batch_lines.c: folded lines in a batch: to which series they go, what they add up to, what is kept of them. */
#include "open_batch.h"

#include "buf.h"
#include "clock.h"
#include "folded_line.h"
#include "line_dict.h"
#include "mem.h"
#include "test.h"

#define TIME_NS	(1700000000LL * NS_PER_SECOND)

struct fixture {
	struct open_batch *b;
	struct open_batch_rules rules;
	bool folded;			/* the last line went to "other" */
};

/* With a dictionary, as in the daemon. */
static void start(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->b = open_batch_new(1);
	f->rules.max_series = 100;
	f->rules.dict = line_dict_new();
}

static void start_without_dict(struct fixture *f)
{
	start(f);
	f->rules.dict = line_dict_free(f->rules.dict);
}

static void stop(struct fixture *f)
{
	open_batch_free(f->b);
	line_dict_free(f->rules.dict);
}

static void next_batch(struct fixture *f)
{
	open_batch_free(f->b);
	f->b = open_batch_new(2);
}

static int add_bytes(struct fixture *f, const struct message_metadata *about, const char *bytes, size_t n, int64_t time_ns)
{
	struct folded_line l;

	CHECK_INT(folded_line_parse(bytes, n, false, &l), FOLDED_STACK);
	return open_batch_add_line(f->b, about, l.stack, l.count.whole, (struct str){ bytes, n }, time_ns, &f->rules,
				   &f->folded);
}

static int add_about(struct fixture *f, const struct message_metadata *about, const char *line, int64_t time_ns)
{
	return add_bytes(f, about, line, strlen(line), time_ns);
}

static int add(struct fixture *f, const char *line)
{
	return add_about(f, &(struct message_metadata){ .channel = "excimer" }, line, TIME_NS);
}

/* Puts "a;b 3" for each node with samples, in the order of nodes. */
static void put_stacks(const struct profile *p, struct buf *out)
{
	for (uint32_t i = 1; i < p->node_count; i++) {
		uint32_t path[64], depth = 0;

		if (!p->columns[0].self[i])
			continue;
		for (uint32_t n = i; n != PROFILE_ROOT && depth < 64; n = p->parents[n])
			path[depth++] = n;
		while (depth--) {
			struct str name = profile_name(p, p->node_frames[path[depth]]);

			buf_put(out, name.p, name.n);
			buf_putc(out, depth ? ';' : ' ');
		}
		buf_printf(out, "%lld, ", (long long)p->columns[0].self[i]);
	}
}

/* One line per entry: "labels @bucket clock period: stacks". Entries are in the order in which they came. */
static void check_batch(struct fixture *f, const char *wanted)
{
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i < f->b->batch.count; i++) {
		const struct batch_entry *e = &f->b->batch.entries[i];

		labels_put(e->labels, &out);
		if (e->bucket_ns != TIME_NS)
			buf_printf(&out, " @%+lld", (long long)((e->bucket_ns - TIME_NS) / NS_PER_SECOND));
		if (e->clock || e->period_ns)
			buf_printf(&out, " clock %d period %lld", e->clock, (long long)e->period_ns);
		buf_puts(&out, ": ");
		put_stacks(e->profile, &out);
		buf_putc(&out, '\n');
		CHECK(e->from_lines);
		CHECK_STR(e->profile->columns[0].name, "samples");
		CHECK_STR(e->profile->columns[0].unit, "count");
		CHECK_INT(e->profile->column_count, 1);
	}
	CHECK_STR(out.data, wanted);
	buf_done(&out);
}

static void check_entry_point(const char *line, size_t n, const char *wanted)
{
	struct fixture f;
	const char *entry;

	start(&f);
	CHECK_INT(add_bytes(&f, &(struct message_metadata){ 0 }, line, n, TIME_NS), 0);
	CHECK_INT(f.b->batch.count, 1);
	entry = labels_get(f.b->batch.entries[0].labels, "entry");
	CHECK_STR(entry ? entry : "(none)", wanted);
	stop(&f);
}

#define CHECK_ENTRY(line, wanted)	check_entry_point(line, sizeof(line) - 1, wanted)

TEST(the_entry_point_is_the_base_name_of_the_first_frame)
{
	CHECK_ENTRY("index.php;main 1", "index");
	CHECK_ENTRY("/srv/w/index.php;main 1", "index");
	CHECK_ENTRY("/srv/w/index.php 1", "index");
	CHECK_ENTRY("wp-cron.php;main 1", "wp-cron");
	CHECK_ENTRY("/srv/app/loadphp;main 1", "loadphp");
	CHECK_ENTRY("/srv/php/run;main 1", "run");
	CHECK_ENTRY("/srv/a b.php;main 1", "a b");
	CHECK_ENTRY("{main};work 1", "{main}");
	CHECK_ENTRY("a.php.php;main 1", "a.php");
	CHECK_ENTRY(".php;main 1", ".php");
	CHECK_ENTRY("/srv/;main 1", "(none)");
	CHECK_ENTRY("/;main 1", "(none)");
	CHECK_ENTRY(";main 1", "(none)");
	CHECK_ENTRY("../../../etc/passwd;main 1", "passwd");
	CHECK_ENTRY("x\xff\x1b[31m.php;main 1", "x\xff\x1b[31m");
	CHECK_ENTRY("class@anonymous\0/srv/a.php:3$0;main 1", "a.php:3$0");
	CHECK_ENTRY("/srv/index\0evil.php;main 1", "index?evil");
	CHECK_ENTRY("\0;main 1", "?");
}

TEST(a_long_entry_point_is_truncated_to_the_length_of_a_label)
{
	char line[3000];
	struct fixture f;

	memset(line, 'e', sizeof(line));
	memcpy(line + sizeof(line) - 4, ";m 1", 4);
	start(&f);
	CHECK_INT(add_bytes(&f, &(struct message_metadata){ 0 }, line, sizeof(line), TIME_NS), 0);
	CHECK_INT(strlen(labels_get(f.b->batch.entries[0].labels, "entry")), STROBE_WIRE_LABEL_VALUE);
	stop(&f);
}

TEST(equal_stacks_add_up_and_others_share_their_common_prefix)
{
	struct fixture f;

	start(&f);
	CHECK_INT(add(&f, "/srv/index.php;main;work 3"), 0);
	CHECK_INT(add(&f, "/srv/index.php;main;work 4"), 0);
	CHECK_INT(add(&f, "/srv/index.php;main 1"), 0);
	CHECK_INT(add(&f, "/srv/index.php;main;rest 2"), 0);
	check_batch(&f, "entry=index,profiler=excimer: /srv/index.php;main 1, /srv/index.php;main;work 7, "
		    "/srv/index.php;main;rest 2, \n");
	CHECK_INT(f.b->batch.entries[0].profile->node_count, 5);
	CHECK_INT(f.b->samples, 10);
	stop(&f);
}

TEST(batches_are_the_same_without_a_dictionary)
{
	struct labels web1 = { 0 };
	struct fixture f;

	labels_set(&web1, "host", 4, "web1", 4);
	start_without_dict(&f);
	f.rules.max_series = 3;
	for (int i = 0; i < 2; i++) {
		CHECK_INT(add(&f, "/srv/index.php;main;work 3"), 0);
		CHECK_INT(add(&f, "/srv/index.php;main 1"), 0);
		CHECK_INT(add(&f, "/srv/index.php;main;;rest; 2"), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ .labels = &web1 }, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "a.php;x 1", TIME_NS + 10 * NS_PER_SECOND), 0);
		CHECK(!f.folded);
		CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "b.php;x 1", TIME_NS + 10 * NS_PER_SECOND), 0);
		CHECK(f.folded);
	}
	check_batch(&f, "entry=index,profiler=excimer: /srv/index.php;main 2, /srv/index.php;main;work 6, "
		    "/srv/index.php;main;rest 4, \n"
		    "entry=a,host=web1: a.php;x 2, \n"
		    "entry=a @+10: a.php;x 2, \n"
		    "entry=other @+10: b.php;x 2, \n");
	labels_done(&web1);
	stop(&f);
}

TEST(later_batches_reuse_the_stacks_of_earlier_ones)
{
	struct fixture f;

	start(&f);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(add(&f, "/srv/index.php;main;work 3"), 0);
		CHECK_INT(add(&f, "/srv/index.php;main;work;deep;deeper 1"), 0);
		CHECK_INT(add(&f, "/srv/index.php;main 1"), 0);
		CHECK_INT(add(&f, "/srv/index.php;main;rest 2"), 0);
		CHECK_INT(add(&f, "b.php;main 5"), 0);
		check_batch(&f, "entry=index,profiler=excimer: /srv/index.php;main 1, /srv/index.php;main;work 3, "
			    "/srv/index.php;main;work;deep;deeper 1, /srv/index.php;main;rest 2, \n"
			    "entry=b,profiler=excimer: b.php;main 5, \n");
		CHECK_INT(f.b->batch.entries[0].profile->node_count, 7);
		next_batch(&f);
	}
	/* The order of a batch is that of its own lines. */
	CHECK_INT(add(&f, "b.php;main 5"), 0);
	CHECK_INT(add(&f, "/srv/index.php;main;work;deep;deeper 1"), 0);
	CHECK_INT(add(&f, "/srv/index.php;main;work 3"), 0);
	check_batch(&f, "entry=b,profiler=excimer: b.php;main 5, \n"
		    "entry=index,profiler=excimer: /srv/index.php;main;work 3, /srv/index.php;main;work;deep;deeper 1, "
		    "\n");
	stop(&f);
}

TEST(a_full_dictionary_is_reset_without_losing_samples)
{
	uint64_t sum = 0, wanted = 0;
	struct fixture f;
	char line[256];

	start(&f);
	/* Ten frames that are new each time, until it has forgotten twice in one batch. */
	for (unsigned i = 0; f.rules.dict->generation < 3 && i < 1000000; i++) {
		int n = snprintf(line, sizeof(line), "a.php");

		for (unsigned k = 0; k < 10; k++)
			n += snprintf(line + n, sizeof(line) - (size_t)n, ";f%u_%u", i % 1000, i * 10 + k);
		snprintf(line + n, sizeof(line) - (size_t)n, " 1");
		CHECK_INT(add(&f, line), 0);
		CHECK_INT(add(&f, "a.php;main 1"), 0);
		wanted += 2;
	}
	CHECK_INT(f.rules.dict->generation, 3);
	CHECK(f.rules.dict->node_count < LINE_DICT_NODES + 100);
	CHECK_INT(f.b->batch.count, 3);
	for (size_t i = 0; i < f.b->batch.count; i++) {
		sum += (uint64_t)profile_sum(f.b->batch.entries[i].profile, 0);
		CHECK_STR(labels_get(f.b->batch.entries[i].labels, "entry"), "a");
	}
	CHECK_INT(sum, wanted);
	CHECK_INT(f.b->samples, wanted);
	stop(&f);
}

TEST(a_closed_batch_keeps_its_samples)
{
	struct fixture f;

	start(&f);
	CHECK_INT(add(&f, "a;x 1"), 0);
	open_batch_seal(f.b);
	check_batch(&f, "entry=a,profiler=excimer: a;x 1, \n");
	stop(&f);
}

TEST(empty_frames_are_skipped)
{
	struct fixture f;

	start(&f);
	CHECK_INT(add(&f, "a;;b 1"), 0);
	CHECK_INT(add(&f, "a;b 1"), 0);
	CHECK_INT(add(&f, "a;b; 1"), 0);
	check_batch(&f, "entry=a,profiler=excimer: a;b 3, \n");
	stop(&f);
}

TEST(series_differ_by_entry_point_channel_clock_period_and_labels)
{
	struct message_metadata cpu = { .channel = "excimer", .clock = STROBE_CLOCK_CPU };
	struct message_metadata slow = { .channel = "excimer", .period_ns = 60 };
	struct labels web1 = { 0 }, web2 = { 0 };
	struct fixture f;

	labels_set(&web1, "host", 4, "web1", 4);
	labels_set(&web2, "host", 4, "web2", 4);
	start(&f);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(add(&f, "a.php;x 1"), 0);
		CHECK_INT(add(&f, "b.php;x 1"), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ .channel = "wall" }, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &cpu, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &slow, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ .labels = &web1 }, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ .labels = &web2 }, "a.php;x 1", TIME_NS), 0);
		CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "a.php;x 1", TIME_NS), 0);
	}
	check_batch(&f, "entry=a,profiler=excimer: a.php;x 2, \n"
		    "entry=b,profiler=excimer: b.php;x 2, \n"
		    "entry=a,profiler=wall: a.php;x 2, \n"
		    "entry=a,profiler=excimer clock 2 period 0: a.php;x 2, \n"
		    "entry=a,profiler=excimer clock 0 period 60: a.php;x 2, \n"
		    "entry=a,host=web1: a.php;x 2, \n"
		    "entry=a,host=web2: a.php;x 2, \n"
		    "entry=a: a.php;x 2, \n");
	labels_done(&web1);
	labels_done(&web2);
	stop(&f);
}

TEST(labels_of_a_line_override_defaults)
{
	struct labels labels = { 0 };
	struct fixture f;

	labels_set(&labels, "entry", 5, "given", 5);
	labels_set(&labels, "profiler", 8, "mine", 4);
	start(&f);
	CHECK_INT(add_about(&f, &(struct message_metadata){ .channel = "excimer", .labels = &labels }, "a.php;x 1",
			    TIME_NS),
		  0);
	check_batch(&f, "entry=given,profiler=mine: a.php;x 1, \n");
	labels_done(&labels);
	stop(&f);
}

TEST(each_bucket_of_ten_seconds_has_its_own_entry)
{
	struct message_metadata about = { .channel = "c" };
	struct fixture f;

	start(&f);
	for (int i = 0; i < 10; i++)
		CHECK_INT(add_about(&f, &about, "a;x 1", TIME_NS + i * 7 * NS_PER_SECOND), 0);
	CHECK_INT(add_about(&f, &about, "a;x 5", TIME_NS - 1), 0);
	CHECK_INT(add_about(&f, &about, "a;x 6", 3), 0);
	check_batch(&f, "entry=a,profiler=c: a;x 2, \n"
		    "entry=a,profiler=c @+10: a;x 1, \n"
		    "entry=a,profiler=c @+20: a;x 2, \n"
		    "entry=a,profiler=c @+30: a;x 1, \n"
		    "entry=a,profiler=c @+40: a;x 2, \n"
		    "entry=a,profiler=c @+50: a;x 1, \n"
		    "entry=a,profiler=c @+60: a;x 1, \n"
		    "entry=a,profiler=c @-10: a;x 5, \n"
		    "entry=a,profiler=c @-1700000000: a;x 6, \n");
	stop(&f);
}

TEST(lines_above_the_series_limit_go_to_other)
{
	struct fixture f;

	start(&f);
	f.rules.max_series = 2;
	CHECK_INT(add(&f, "a;x 1"), 0);
	CHECK_INT(add(&f, "b;x 1"), 0);
	CHECK(!f.folded);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(add(&f, "c;x 1"), 0);
		CHECK(f.folded);
		CHECK_INT(add(&f, "d;x 1"), 0);
		CHECK(f.folded);
	}
	CHECK_INT(add(&f, "a;x 1"), 0);
	CHECK(!f.folded);
	check_batch(&f, "entry=a,profiler=excimer: a;x 2, \nentry=b,profiler=excimer: b;x 1, \n"
		    "entry=other: c;x 2, d;x 2, \n");
	CHECK_INT(f.b->samples, 7);

	/* Other buckets have an "other" of their own, until there are twice as many. */
	CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "e;x 1", TIME_NS + 10 * NS_PER_SECOND), 0);
	CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "e;x 1", TIME_NS + 20 * NS_PER_SECOND), -ENOSPC);
	CHECK_INT(add_about(&f, &(struct message_metadata){ 0 }, "e;x 1", TIME_NS + 20 * NS_PER_SECOND), -ENOSPC);
	CHECK_INT(f.b->batch.count, 4);
	CHECK_INT(f.b->samples, 8);
	stop(&f);
}

TEST(label_values_are_capped)
{
	_Atomic uint64_t folded = 0, dropped = 0;
	struct fixture f;

	start(&f);
	f.rules.caps = label_caps_new(2, &folded, &dropped);
	CHECK_INT(add(&f, "a;x 1"), 0);
	CHECK_INT(add(&f, "b;x 1"), 0);
	CHECK_INT(add(&f, "c;x 1"), 0);
	check_batch(&f, "entry=a,profiler=excimer: a;x 1, \nentry=b,profiler=excimer: b;x 1, \n"
		    "entry=other,profiler=excimer: c;x 1, \n");
	CHECK_INT(folded, 1);
	label_caps_free(f.rules.caps);
	stop(&f);
}

TEST(lines_are_kept_verbatim_when_a_sink_wants_them)
{
	static const char odd[] = "a.php;class@anonymous\0/x:1;\xff\x1b 2\r";
	struct fixture f;

	start(&f);
	CHECK_INT(add(&f, "a.php;x 1"), 0);
	CHECK_INT(f.b->batch.line_count, 0);
	f.rules.keep_lines = true;
	CHECK_INT(add(&f, "b.php;x 1"), 0);
	CHECK_INT(add_bytes(&f, &(struct message_metadata){ .channel = "excimer" }, odd, sizeof(odd) - 1, TIME_NS + 3), 0);
	CHECK_INT(add(&f, "b.php;x   12  "), 0);
	CHECK_INT(f.b->batch.line_count, 3);
	CHECK_STR(f.b->batch.lines[0].bytes, "b.php;x 1");
	CHECK_INT(f.b->batch.lines[0].entry, 1);
	CHECK_INT(f.b->batch.lines[0].size, 9);
	CHECK_INT(f.b->batch.lines[0].time_ns, TIME_NS);
	CHECK_INT(f.b->batch.lines[1].size, sizeof(odd) - 1);
	CHECK(!memcmp(f.b->batch.lines[1].bytes, odd, sizeof(odd) - 1));
	CHECK_INT(f.b->batch.lines[1].entry, 0);
	CHECK_INT(f.b->batch.lines[1].time_ns, TIME_NS + 3);
	CHECK_STR(f.b->batch.lines[2].bytes, "b.php;x   12  ");
	CHECK(f.b->bytes > 30);
	stop(&f);
}

TEST(counts_saturate)
{
	struct fixture f;

	start(&f);
	CHECK_INT(add(&f, "a;x 9223372036854775807"), 0);
	CHECK_INT(add(&f, "a;x 5"), 0);
	check_batch(&f, "entry=a,profiler=excimer: a;x 9223372036854775807, \n");
	stop(&f);
}

TEST(a_frame_is_truncated_to_the_length_of_a_name)
{
	size_t n = STROBE_WIRE_STRING + 100;
	char *line = xmalloc(n + 6);
	struct fixture f;

	memcpy(line, "a;", 2);
	memset(line + 2, 'f', n);
	memcpy(line + 2 + n, " 1", 3);
	start(&f);
	CHECK_INT(add(&f, line), 0);
	CHECK_INT(profile_name(f.b->batch.entries[0].profile, f.b->batch.entries[0].profile->node_frames[2]).n,
		  STROBE_WIRE_STRING);
	free(line);
	stop(&f);
}

TEST(memory_of_a_batch_is_accounted_for)
{
	char line[64];
	struct fixture f;

	start(&f);
	for (int i = 0; i < 10000; i++) {
		snprintf(line, sizeof(line), "a;function_%d;inner 1", i);
		CHECK_INT(add(&f, line), 0);
	}
	CHECK(f.b->bytes > 10000 * 150 && f.b->bytes < 10000 * 1000);
	stop(&f);
}

TEST_MAIN()
