/* test_label_caps.c: labels whose values never end, within a day and over midnight. */
#include "label_caps.h"

#include "test.h"

#include <stdint.h>

struct fixture {
	struct label_caps *caps;
	_Atomic uint64_t folded, dropped;
};

static void start(struct fixture *f, unsigned max_values)
{
	f->folded = f->dropped = 0;
	f->caps = label_caps_new(max_values, &f->folded, &f->dropped);
	label_caps_set_day(f->caps, 20000);
}

static void stop(struct fixture *f)
{
	CHECK(label_caps_free(f->caps) == NULL);
}

/* Returns the value that key=value ends up with, in a static buffer. */
static const char *apply(struct fixture *f, const char *key, const char *value)
{
	static char kept[128];
	struct labels l = { 0 };

	labels_set(&l, key, strlen(key), value, strlen(value));
	label_caps_apply(f->caps, &l);
	CHECK_INT(l.count, 1);
	snprintf(kept, sizeof(kept), "%s", labels_get(&l, key));
	labels_done(&l);
	return kept;
}

TEST(the_cap_limits_the_values_of_each_label)
{
	struct fixture f;

	start(&f, 2);
	CHECK_STR(apply(&f, "url", "/1"), "/1");
	CHECK_STR(apply(&f, "url", "/2"), "/2");
	CHECK_STR(apply(&f, "url", "/3"), "other");
	CHECK_STR(apply(&f, "url", "/1"), "/1");
	CHECK_STR(apply(&f, "url", "/3"), "other");
	CHECK_STR(apply(&f, "deploy", "/3"), "/3");
	CHECK_INT(f.folded, 2);
	stop(&f);
}

TEST(the_cap_for_hosts_is_higher)
{
	char host[16];
	struct fixture f;

	start(&f, 2);
	for (unsigned i = 0; i < 2 * LABEL_CAPS_HOSTS; i++) {
		snprintf(host, sizeof(host), "web%u", i);
		CHECK_STR(apply(&f, "host", host), host);
	}
	CHECK_STR(apply(&f, "host", "one more"), "other");
	CHECK_INT(f.folded, 1);
	stop(&f);
}

TEST(other_does_not_count_toward_the_cap)
{
	struct fixture f;

	start(&f, 1);
	CHECK_STR(apply(&f, "url", "other"), "other");
	CHECK_STR(apply(&f, "url", "/1"), "/1");
	CHECK_STR(apply(&f, "url", "/2"), "other");
	CHECK_STR(apply(&f, "url", "other"), "other");
	CHECK_INT(f.folded, 1);
	stop(&f);
}

TEST(ids_of_one_request_are_dropped_and_counted)
{
	static const char *const keys[] = { "profile_id", "service_name", "span_id", "span_name", "trace_id" };
	struct labels l = { 0 };
	struct fixture f;
	struct buf b;

	start(&f, 1);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		labels_set(&l, keys[i], strlen(keys[i]), "x", 1);
	label_caps_apply(f.caps, &l);
	buf_init(&b);
	labels_put(&l, &b);
	CHECK_STR(b.data, "service_name=x,span_name=x");
	CHECK_INT(f.dropped, 3);
	CHECK_INT(f.folded, 0);
	buf_done(&b);
	labels_done(&l);
	stop(&f);
}

TEST(a_new_day_resets_the_values)
{
	struct fixture f;

	start(&f, 1);
	CHECK_STR(apply(&f, "url", "/1"), "/1");
	label_caps_set_day(f.caps, 20000);
	CHECK_STR(apply(&f, "url", "/2"), "other");
	label_caps_set_day(f.caps, 20001);
	CHECK_STR(apply(&f, "url", "/2"), "/2");
	CHECK_STR(apply(&f, "url", "/1"), "other");
	stop(&f);
}

TEST(a_clock_that_goes_back_across_midnight_does_not_reset_the_cap)
{
	struct fixture f;

	start(&f, 1);
	label_caps_set_day(f.caps, 20001);
	CHECK_STR(apply(&f, "url", "/1"), "/1");
	label_caps_set_day(f.caps, 20000);
	CHECK_STR(apply(&f, "url", "/2"), "other");
	label_caps_set_day(f.caps, 20001);
	CHECK_STR(apply(&f, "url", "/3"), "other");
	stop(&f);
}

TEST(values_of_keys_above_the_limit_become_other)
{
	char key[16];
	struct fixture f;

	start(&f, 5);
	for (unsigned i = 0; i < 256; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		CHECK_STR(apply(&f, key, "v"), "v");
	}
	CHECK_STR(apply(&f, "k256", "v"), "other");
	CHECK_STR(apply(&f, "k0", "v"), "v");
	CHECK_INT(f.folded, 1);
	stop(&f);
}

TEST(all_labels_of_a_set_are_capped)
{
	struct labels l = { 0 };
	struct fixture f;
	struct buf b;

	start(&f, 1);
	apply(&f, "a", "1");
	apply(&f, "c", "1");
	labels_set(&l, "a", 1, "2", 1);
	labels_set(&l, "b", 1, "2", 1);
	labels_set(&l, "c", 1, "2", 1);
	label_caps_apply(f.caps, &l);
	buf_init(&b);
	labels_put(&l, &b);
	CHECK_STR(b.data, "a=other,b=2,c=other");
	CHECK_INT(f.folded, 2);
	buf_done(&b);
	labels_done(&l);
	stop(&f);
}

TEST_MAIN()
