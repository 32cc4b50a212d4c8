/* test_exchange.c: names, texts, trees, times, tenants and labels of pushes, and detection of the OTLP layout. */
#include "mem.h"
#include "otlp_layout.h"
#include "otlp_read.h"
#include "otlp_messages.h"
#include "protobuf.h"
#include "push_messages.h"
#include "push_name.h"
#include "push_text.h"
#include "push_time.h"
#include "test.h"
#include "wire_profile.h"

#include <string.h>

#define STR(s) ((struct str){ s, sizeof(s) - 1 })

static const struct push_type *name_of(const char *name, bool typed, struct labels *labels, struct err *err)
{
	const struct push_type *type = NULL;
	struct pushed p;

	pushed_init(&p);
	labels_init(labels);
	if (push_name(&p, (struct str){ name, strlen(name) }, typed, labels, &type, err) < 0)
		type = NULL;
	pushed_done(&p);
	return type;
}

static void check_name(const char *name, const char *type, const char *labels)
{
	struct labels l;
	struct err err = { 0 };
	const struct push_type *t = name_of(name, true, &l, &err);
	struct buf b;

	buf_init(&b);
	CHECK(t != NULL);
	if (t)
		CHECK_STR(t->suffix, type);
	labels_put(&l, &b);
	CHECK_STR(b.data, labels);
	buf_done(&b);
	labels_done(&l);
}

TEST(a_name_consists_of_application_type_and_labels)
{
	check_name("shop.cpu{region=eu}", "cpu", "region=eu,service_name=shop");
	check_name("my.shop", "cpu", "service_name=my.shop");
	check_name("my.shop.alloc_space", "alloc_space", "service_name=my.shop");
	check_name("cpu", "cpu", "service_name=cpu");
	check_name("shop.wall{service_name=other, k8s.pod.name=a b}", "wall", "app_name=shop,k8s_pod_name=a b,service_name=other");
	check_name("shop{__session_id__=1,span_id=00,pid=7,tenant=x,clock=y}", "cpu", "service_name=shop");
	check_name("shop{}", "cpu", "service_name=shop");
	check_name(" shop.wall { region = eu west ,\tzone=a } ", "wall", "region=eu west,service_name=shop,zone=a");
}

TEST(a_name_may_be_as_long_as_a_url)
{
	struct labels l;
	struct err err = { 0 };
	struct buf b;

	buf_init(&b);
	buf_puts(&b, "shop.cpu{");
	for (unsigned i = 0; i < 40; i++)
		buf_printf(&b, "k8s.label.%u=%0180u,", i, i);
	buf_puts(&b, "last=1}");
	CHECK(b.size > 7500 && b.size < 8192);
	CHECK(name_of(b.data, true, &l, &err) != NULL);
	CHECK_INT(l.count, 42);
	CHECK_STR(labels_get(&l, "last"), "1");
	CHECK_INT(strlen(labels_get(&l, "k8s_label_39")), 180);
	labels_done(&l);
	buf_puts(&b, "                                                                                                        ");
	for (unsigned i = 0; i < 10; i++)
		buf_printf(&b, "%0180u", i);
	CHECK(!name_of(b.data, true, &l, &err));
	CHECK_STR(err.text, "name exceeds the limit of 8192 bytes");
	labels_done(&l);
	buf_done(&b);
}

TEST(an_invalid_name_is_rejected_with_an_error)
{
	static const char *const bad[] = { "", "{a=b}", "shop{a=b", "shop{a}", "sh op", "shop{a b=c}" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct labels l;
		struct err err = { 0 };

		CHECK(!name_of(bad[i], true, &l, &err));
		CHECK(err.text[0]);
		labels_done(&l);
	}
}

/* --- Texts and trees --- */

typedef int reader(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err);

static int folded(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err)
{
	return push_folded(p, to, t, bytes, true, err);
}

static int lines(struct pushed *p, struct profile *to, const struct push_type *t, struct str bytes, struct err *err)
{
	return push_folded(p, to, t, bytes, false, err);
}

/* The expected text is "a;b 3,…", nodes in order. */
static void check_text(reader *read, struct str bytes, const char *stacks)
{
	static const struct push_type type = { "cpu", "process_cpu", "samples", "count", STROBE_CLOCK_CPU };
	struct profile *to = profile_new();
	struct err err = { 0 };
	struct pushed p;
	struct buf b;

	pushed_init(&p);
	buf_init(&b);
	if (read(&p, to, &type, bytes, &err) < 0) {
		buf_puts(&b, err.text);
	} else {
		for (uint32_t i = 1; i < to->node_count; i++) {
			if (!to->columns[0].self[i])
				continue;
			for (uint32_t n = i; n; n = to->parents[n])
				buf_printf(&b, "%s%s", profile_name(to, to->node_frames[n]).p, to->parents[n] ? "<" : " ");
			buf_printf(&b, "%lld,", (long long)to->columns[0].self[i]);
		}
	}
	CHECK_STR(b.data ? b.data : "", stacks);
	buf_done(&b);
	pushed_done(&p);
	profile_free(to);
}

TEST(folded_text_and_lines_are_read)
{
	check_text(folded, STR("main;work 12\r\n\nmain;work 3\nmain 1\n"), "main 1,work<main 15,");
	check_text(lines, STR("main;work\nmain;work\nmain;query 1\n"), "work<main 2,query 1<main 1,");
	check_text(folded, STR("main;work\n"), "line 1 is not a folded stack with a count, as in main;work 12");
	check_text(folded, STR("a 1\nb -2\n"), "line 2 is not a folded stack with a count, as in main;work 12");
}

TEST(a_trie_contains_parts_of_stacks_and_a_tree_contains_frames)
{
	/* "" -> "ma" -> "in 2", "p;x 5" */
	check_text(push_trie, STR("\x00\x00\x01" "\x02" "ma\x00\x02" "\x02" "in\x02\x00" "\x03" "p;x\x05\x00"), "main 2,x<map 5,");
	/* "" -> main 1 -> work 4; query 2 */
	check_text(push_tree, STR("\x00\x00\x02" "\x04" "main\x01\x01" "\x04" "work\x04\x00" "\x05" "query\x02\x00"),
		   "main 1,work<main 4,query 2,");
}

TEST(damaged_trees_are_rejected)
{
	check_text(push_tree, STR("\x00\x00\x01"), "its tree is damaged or truncated: a name has no end");
	check_text(push_tree, STR("\x09" "ab"), "its tree is damaged or truncated: a name has no end");
	check_text(push_trie, STR("\x01" "a\x01"), "its tree is damaged or truncated: a node lacks its value or "
						   "the number of its children");
	check_text(push_trie, STR("\x01" "a\x01\x00x"), "it has 1 byte after the end of its tree");
}

TEST(a_stack_may_not_be_deeper_than_the_limit)
{
	struct buf b;

	buf_init(&b);
	for (unsigned i = 0; i < PUSHED_DEPTH_MAX; i++)
		buf_puts(&b, "a;");
	buf_puts(&b, "a 1");
	check_text(folded, (struct str){ b.data, b.size }, "a stack exceeds the limit of 2048 frames");
	buf_reset(&b);
	for (unsigned i = 0; i <= PUSHED_DEPTH_MAX + 1; i++)
		buf_put(&b, "\x01" "a\x01\x01", 4);
	check_text(push_tree, (struct str){ b.data, b.size }, "its tree exceeds the limit of 2049 levels");
	buf_done(&b);
}

/* --- Times and tenants --- */

TEST(units_of_times_are_detected_by_the_number_of_digits)
{
	static const struct { const char *text; int64_t ns; } times[] = {
		{ "1764190000", 1764190000000000000 }, { "1764190000123", 1764190000123000000 },
		{ "1764190000123456", 1764190000123456000 }, { "1764190000123456789", 1764190000123456789 },
		{ "20251126", 1764115200000000000 }, { "99999999", 99999999000000000 }, { "now", 2000000000000000000 },
		{ "now-10s", 1999999990000000000 }, { "now-1h", 1999996400000000000 }, { "now-1", -1 }, { "x", -1 }, { "", -1 },
		{ "-5", -1 }, { "99999999999999999999", -1 }, { "now-999999999y", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		int64_t ns = 0;
		bool is_time = push_time(times[i].text, 2000000000000000000, &ns);

		CHECK_INT(is_time ? ns : -1, times[i].ns);
	}
}

TEST(invalid_characters_in_a_tenant_are_rejected)
{
	char long_name[152];

	memset(long_name, 'a', 151);
	long_name[151] = 0;
	CHECK_INT(pushed_check_tenant("team-a_1.x!*'()", NULL), 0);
	CHECK_INT(pushed_check_tenant(long_name + 1, NULL), 0);
	CHECK_INT(pushed_check_tenant(long_name, NULL), -EINVAL);
	CHECK_INT(pushed_check_tenant(".", NULL), -EINVAL);
	CHECK_INT(pushed_check_tenant("..", NULL), -EINVAL);
	CHECK_INT(pushed_check_tenant("a|b", NULL), -EINVAL);
	CHECK_INT(pushed_check_tenant("a/b", NULL), -EINVAL);
	CHECK_INT(pushed_check_tenant("a b", NULL), -EINVAL);
}

TEST(the_tenant_label_is_set_by_the_header_only)
{
	struct labels l, of_message;
	struct strobe_wire_message m;
	struct profile *to;
	struct pushed p;
	struct buf out;

	pushed_init(&p);
	labels_init(&l);
	labels_init(&of_message);
	buf_init(&out);
	pushed_label(&p, &l, STR("tenant"), STR("somebody else"));
	pushed_label(&p, &l, STR("service.name"), STR("shop"));
	CHECK_INT(pushed_series(&p, &l, &(struct pushed_metadata){ .clock = STROBE_CLOCK_CPU, .period_ns = 5 }, &to, NULL), 0);
	profile_add(to, pushed_leaf(to, PROFILE_ROOT), profile_column(to, "samples", "count"), 3);
	CHECK_INT(pushed_write(&p, "team", 1000, &out, NULL), 0);
	CHECK_INT(strobe_wire_parse(out.data, out.size, &m), 0);
	wire_profile_labels(&m, &of_message);
	CHECK_STR(labels_get(&of_message, "tenant"), "team");
	CHECK_STR(labels_get(&of_message, "service_name"), "shop");
	CHECK_INT(of_message.count, 2);
	CHECK_INT(m.info.clock, STROBE_CLOCK_CPU);
	CHECK_INT(m.info.end_ns, 1000);
	CHECK_INT(m.samples, 3);
	labels_done(&l);
	labels_done(&of_message);
	buf_done(&out);
	pushed_done(&p);
}

/* --- Layouts --- */

/* Wraps the bytes of one profile into a request. */
static void wrap(struct buf *out, const char *profile, size_t n)
{
	struct buf scope, resource;

	buf_init(&scope);
	buf_init(&resource);
	protobuf_put_bytes(&scope, 2, profile, n);
	protobuf_put_bytes(&resource, 2, scope.data, scope.size);
	protobuf_put_bytes(out, 1, resource.data, resource.size);
	buf_done(&scope);
	buf_done(&resource);
}

/* Returns 'o' (old), 'n' (new), or 'x' (refused). */
static char layout_of(const char *profile, size_t n)
{
	enum otlp_layout layout;
	struct err err = { 0 };
	struct buf b;
	int r;

	buf_init(&b);
	wrap(&b, profile, n);
	r = otlp_layout(b.data, b.size, false, &layout, &err);
	CHECK(!r == !err.text[0]);
	buf_done(&b);
	return r < 0 ? 'x' : layout == OTLP_LAYOUT_1_9 ? 'o' : 'n';
}

#define LAYOUT(bytes) layout_of(bytes, sizeof(bytes) - 1)
#define OLD	"\x12\x08\x08\x01\x12\x01\x05\x1a\x01\x02"
#define NEW	"\x12\x08\x08\x01\x12\x01\x02\x22\x01\x05"
#define PLAIN	"\x12\x05\x08\x01\x12\x01\x05"
#define EVEN	"\x12\x0f\x08\x01\x12\x01\x02\x2a\x08\x01\x00\x00\x00\x00\x00\x00\x00"
#define TIMES "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1"
#define UNEVEN	"\x12\x10\x08\x01\x12\x02\x02\x03\x2a\x08\x01\x00\x00\x00\x00\x00\x00\x00"

TEST(layouts_are_detected_once_per_request)
{
	CHECK_INT(LAYOUT(OLD), 'o');
	CHECK_INT(LAYOUT(NEW), 'n');
	CHECK_INT(LAYOUT(PLAIN), 'o');
	CHECK_INT(LAYOUT(EVEN), 'o');
	CHECK_INT(LAYOUT(UNEVEN), 'n');
	CHECK_INT(LAYOUT(EVEN UNEVEN), 'n');
	CHECK_INT(LAYOUT(PLAIN OLD), 'o');
	CHECK_INT(LAYOUT(""), 'n');
	CHECK_INT(LAYOUT(OLD NEW), 'x');
	CHECK_INT(LAYOUT(PLAIN NEW), 'x');
	CHECK_INT(LAYOUT("\x1a\x01\x00"), 'x');				/* Profile 3 is bytes */
	CHECK_INT(LAYOUT(OLD "\x42\x01\x00"), 'o');			/* its 8 is bytes */
	CHECK_INT(LAYOUT(NEW "\x42\x01\x00"), 'x');
	CHECK_INT(LAYOUT(OLD "\x62\x01\x00"), 'o');			/* its 12 */
	CHECK_INT(LAYOUT("\x12\x09\x08\x01\x12\x01\x05\x18\x01\x20\x01"), 'n');	/* there is no such link */
	CHECK_INT(LAYOUT("\x12\x06\x08\x01\x20\x01\x20\x01"), 'n');		/* one sample has one link */
	CHECK_INT(LAYOUT("\x12\x08\x08\x01\x10\x05\x18\x01\x18\x02"), 'o');
	CHECK_INT(LAYOUT("\x12\x07\x08\x01\x12\x01\x05\x18\x01"), 'n');
}

/* With a resource attribute, and `attributes` entries in the dictionary. */
static char layout_beside(const char *profile, size_t n, const char *attribute, size_t attribute_size, int attributes)
{
	struct buf request, resource, dictionary, key;
	enum otlp_layout layout = OTLP_LAYOUT_1_10;
	struct err err = { 0 };

	buf_init(&request);
	buf_init(&resource);
	buf_init(&dictionary);
	buf_init(&key);
	wrap(&request, profile, n);
	protobuf_put_bytes(&key, 1, attribute, attribute_size);
	protobuf_put_bytes(&resource, 1, key.data, key.size);
	protobuf_put_bytes(&request, 1, resource.data, resource.size);
	for (int i = 0; i < attributes; i++)
		protobuf_put_bytes(&dictionary, 6, "", 0);
	protobuf_put_bytes(&request, 2, dictionary.data, dictionary.size);
	CHECK(otlp_layout(request.data, request.size, false, &layout, &err) == 0);
	buf_done(&request);
	buf_done(&resource);
	buf_done(&dictionary);
	buf_done(&key);
	return layout == OTLP_LAYOUT_1_9 ? 'o' : 'n';
}

#define LAYOUT_BESIDE(bytes, attribute, attributes) \
	layout_beside(bytes, sizeof(bytes) - 1, attribute, sizeof(attribute) - 1, attributes)

TEST(attributes_determine_the_layout_where_samples_do_not)
{
	CHECK_INT(LAYOUT_BESIDE(EVEN, "", 2), 'o');			/* there is no attribute 2 */
	CHECK_INT(LAYOUT_BESIDE(EVEN, "", 3), 'n');
	CHECK_INT(LAYOUT_BESIDE("\x12\x18\x08\x01\x12\x02\x01\x02\x2a\x10" TIMES, "", 3), 'n');
	CHECK_INT(LAYOUT_BESIDE("\x12\x18\x08\x01\x12\x02\x01\x01\x2a\x10" TIMES, "", 3), 'o');	/* no attribute occurs twice */
	CHECK_INT(LAYOUT_BESIDE("\x12\x18\x08\x01\x10\x02\x10\x02\x2a\x10" TIMES, "", 3), 'o');
	CHECK_INT(LAYOUT_BESIDE(EVEN, "\x0a\x01k", 0), 'o');
	CHECK_INT(LAYOUT_BESIDE(EVEN, "\x18\x01", 0), 'n');		/* its key is the index of a string */
	CHECK_INT(LAYOUT_BESIDE(EVEN, "\x0a\x01k\x12\x02\x40\x01", 0), 'n');	/* its value is */
}

/* --- OTLP in JSON --- */

static int read_json(const char *text, struct pushed *p, struct otlp_outcome *o, struct err *err)
{
	struct buf bytes;
	int r;

	buf_init(&bytes);
	pushed_init(p);
	r = message_from_json(&message_otlp_request, text, strlen(text), &bytes, err);
	if (r >= 0)
		r = otlp_read(p, bytes.data, bytes.size, true, o, err);
	buf_done(&bytes);
	return r;
}

#define DICTIONARY "\"dictionary\":{\"stringTable\":[\"\",\"samples\",\"count\",\"cpu\",\"nanoseconds\",\"main\",\"a.php\",\"k\",\"v\"," \
	"\"/lib/x.so\"],\"mappingTable\":[{},{\"filenameStrindex\":9}],\"functionTable\":[{},{\"nameStrindex\":5,\"filenameStrindex\":6," \
	"\"startLine\":\"3\"}],\"locationTable\":[{},{\"lines\":[{\"functionIndex\":1,\"line\":4}]},{\"mappingIndex\":1,\"address\":255}]," \
	"\"attributeTable\":[{},{\"keyStrindex\":7,\"value\":{\"stringValueStrindex\":8}}],\"stackTable\":[{},{\"locationIndices\":[2,1]}]}"
#define REQUEST(samples) "{" DICTIONARY ",\"resourceProfiles\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":" \
	"{\"stringValue\":\"shop\"}}]},\"scopeProfiles\":[{\"profiles\":[{\"sampleType\":{\"typeStrindex\":1,\"unitStrindex\":2}," \
	"\"periodType\":{\"typeStrindex\":3,\"unitStrindex\":4},\"period\":10000000,\"timeUnixNano\":\"1764190000000000000\"," \
	"\"samples\":[" samples "]}]}]}]}"

TEST(json_of_otlp_becomes_series)
{
	struct otlp_outcome o;
	struct err err = { 0 };
	struct pushed p;
	struct profile *first;

	CHECK_INT(read_json(REQUEST("{\"stackIndex\":1,\"values\":[\"7\"],\"attributeIndices\":[1]},{\"stackIndex\":1,\"values\":[2]}"), &p, &o,
			    &err), 0);
	CHECK_INT(o.profiles, 1);
	CHECK_INT(o.rejected, 0);
	CHECK_INT(p.count, 2);
	first = p.items[0].profile;
	CHECK_STR(labels_get(&first->labels, "k"), "v");
	CHECK_STR(labels_get(&first->labels, "service_name"), "shop");
	CHECK_INT(p.items[0].clock, STROBE_CLOCK_CPU);
	CHECK_INT(first->period_ns, 10000000);
	CHECK_INT(first->node_count, 3);
	CHECK_STR(profile_name(first, first->node_frames[1]).p, "main");
	CHECK_STR(profile_file(first, first->node_frames[1]).p, "a.php");
	CHECK_INT(profile_line(first, 1), 4);
	CHECK_STR(profile_name(first, first->node_frames[2]).p, "x.so+0xff");
	CHECK_INT(first->columns[0].self[2], 7);
	CHECK_INT(profile_sum(p.items[1].profile, 0), 2);
	pushed_done(&p);
}

/* --- Lists of numbers that are not packed --- */

#define TIME_1	"\x29\x00\xca\x9a\x3b\x0e\x11\x7b\x18"		/* field 5, two seconds apart */
#define TIME_2	"\x29\x00\x94\x35\x77\x0e\x11\x7b\x18"

/* Reads a request with one profile of these samples; it has the dictionary above, whose stack is in unpacked numbers,
 * and a link. */
static int read_samples(const char *samples, size_t n, struct pushed *p, struct otlp_outcome *o, struct err *err)
{
	static const char json[] = "{" DICTIONARY "}", more[] = "\x22\x02\x0a\x00\x22\x02\x0a\x00" "\x3a\x04\x08\x02\x08\x01";
	struct buf made, dictionary, bytes, profile;
	struct protobuf_field f;
	int r;

	buf_init(&made);
	buf_init(&dictionary);
	buf_init(&bytes);
	buf_init(&profile);
	pushed_init(p);
	CHECK_INT(message_from_json(&message_otlp_request, json, strlen(json), &made, err), 0);
	CHECK(protobuf_next(&(struct protobuf){ (uint8_t *)made.data, (uint8_t *)made.data + made.size }, &f));
	buf_put(&dictionary, f.bytes.p, (size_t)(f.bytes.end - f.bytes.p));
	buf_put(&dictionary, more, sizeof(more) - 1);
	protobuf_put_bytes(&bytes, 2, dictionary.data, dictionary.size);
	buf_put(&profile, "\x0a\x04\x08\x01\x10\x02", 6);
	buf_put(&profile, samples, n);
	wrap(&bytes, profile.data, profile.size);
	r = otlp_read(p, bytes.data, bytes.size, false, o, err);
	buf_done(&made);
	buf_done(&dictionary);
	buf_done(&bytes);
	buf_done(&profile);
	return r;
}

static void check_samples(const char *samples, size_t n, const char *label, int64_t sum)
{
	struct otlp_outcome o;
	struct err err = { 0 };
	struct pushed p;

	CHECK_INT(read_samples(samples, n, &p, &o, &err), 0);
	CHECK_STR(o.rejected ? o.why.text : err.text, "");
	CHECK_INT(p.count, 1);
	if (p.count) {
		const char *k = labels_get(&p.items[0].profile->labels, "k");

		CHECK_STR(k ? k : "", label);
		CHECK_INT(profile_sum(p.items[0].profile, 0), sum);
		CHECK_INT(p.items[0].profile->node_count, 3);
	}
	pushed_done(&p);
}

#define SAMPLES(bytes, label, sum) check_samples(bytes, sizeof(bytes) - 1, label, sum)

TEST(unpacked_numbers_of_otlp_are_accepted)
{
	SAMPLES("\x12\x04\x08\x02\x20\x07", "", 7);					/* 1.10: a value */
	SAMPLES("\x12\x06\x08\x02\x10\x01\x20\x07", "v", 7);			/* and an attribute */
	SAMPLES("\x12\x08\x08\x02\x10\x01\x18\x01\x20\x07", "v", 7);		/* and a link */
	SAMPLES("\x12\x09\x08\x02\x12\x01\x01\x18\x01\x20\x07", "v", 7);		/* only the attributes are packed */
	SAMPLES("\x12\x18\x08\x02\x20\x02\x20\x03" TIME_1 TIME_2, "", 5);
	SAMPLES("\x12\x14\x08\x02" TIME_1 TIME_2, "", 2);
	SAMPLES("\x12\x04\x08\x02\x10\x07", "", 7);					/* 1.9: a value */
	SAMPLES("\x12\x06\x08\x02\x10\x07\x18\x01", "v", 7);			/* and an attribute */
	SAMPLES("\x12\x09\x08\x02\x10\x07\x1a\x01\x01\x20\x01", "v", 7);		/* which is packed, and a link */
	SAMPLES("\x12\x18\x08\x02\x10\x02\x10\x03" TIME_1 TIME_2, "", 5);
}

TEST(values_are_assigned_to_buckets_by_timestamp)
{
	struct otlp_outcome o;
	struct err err = { 0 };
	struct pushed p;

	CHECK_INT(read_json(REQUEST("{\"stackIndex\":1,\"timestampsUnixNano\":[\"1764190001000000000\",\"1764190002000000000\","
				    "\"1764190012000000000\"]}"), &p, &o, &err), 0);
	CHECK_INT(p.count, 2);
	CHECK_INT(profile_sum(p.items[0].profile, 0), 2);
	CHECK_INT(profile_sum(p.items[1].profile, 0), 1);
	CHECK_INT(p.items[1].profile->end_ns, 1764190012000000000);
	pushed_done(&p);
}

TEST(a_profile_with_an_invalid_index_is_skipped_entirely)
{
	static const char *const samples[] = {
		REQUEST("{\"stackIndex\":1,\"values\":[1]},{\"stackIndex\":2,\"values\":[1]}"),
		REQUEST("{\"stackIndex\":1,\"values\":[1]},{\"stackIndex\":1,\"values\":[1],\"attributeIndices\":[2]}"),
		REQUEST("{\"stackIndex\":1,\"values\":[1,2],\"timestampsUnixNano\":[1]}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		struct otlp_outcome o;
		struct err err = { 0 };
		struct pushed p;

		CHECK_INT(read_json(samples[i], &p, &o, &err), 0);
		CHECK_INT(o.rejected, 1);
		CHECK(o.why.text[0]);
		CHECK_INT(p.count, 0);
		pushed_done(&p);
	}
}

TEST(json_of_the_oldest_layout_is_rejected)
{
	struct otlp_outcome o;
	struct err err = { 0 };
	struct pushed p;

	CHECK_INT(read_json("{\"resourceProfiles\":[{\"scopeProfiles\":[{\"profiles\":[{\"locationIndices\":[1]}]}]}]}", &p, &o, &err),
		  -EINVAL);
	CHECK(strstr(err.text, "1.7 or older") != NULL);
	pushed_done(&p);
}

TEST_MAIN()
