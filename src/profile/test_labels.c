/* test_labels.c: tests that equal sets have equal text, and that the text can be read back. */
#include "labels.h"
#include "test.h"

static char text[4096];

static const char *text_of(const struct labels *l)
{
	struct buf b;

	buf_init(&b);
	labels_put(l, &b);
	snprintf(text, sizeof(text), "%s", b.data);
	buf_done(&b);
	return text;
}

TEST(labels_are_sorted_and_keys_are_unique)
{
	struct labels l;

	labels_init(&l);
	labels_set(&l, "host", 4, "a", 1);
	labels_set(&l, "entry", 5, "index", 5);
	labels_set(&l, "hos", 3, "x", 1);
	labels_set(&l, "hostname", 8, "y", 1);
	labels_set(&l, "host", 4, "bcd", 2);
	CHECK_STR(text_of(&l), "entry=index,hos=x,host=bc,hostname=y");
	CHECK_STR(labels_get(&l, "host"), "bc");
	CHECK(!labels_get(&l, "ho"));
	CHECK(!labels_get(&l, "hostn"));
	CHECK_INT(l.count, 4);
	labels_done(&l);
	CHECK_INT(l.count, 0);
	labels_done(&l);
}

TEST(bytes_after_a_nul_are_dropped)
{
	struct labels l;

	labels_init(&l);
	labels_set(&l, "a", 1, "x\0y", 3);
	CHECK_STR(text_of(&l), "a=x");
	labels_done(&l);
}

TEST(values_of_any_bytes_survive_a_round_trip)
{
	struct labels l, back;

	labels_init(&l);
	labels_init(&back);
	for (unsigned c = 1; c < 256; c++) {
		char key[8], value[4] = { (char)c, ' ', (char)c, 0 };
		int n = snprintf(key, sizeof(key), "k%u", c);

		labels_set(&l, key, (size_t)n, value, 3);
	}
	CHECK_INT(labels_parse(text_of(&l), &back, NULL), 0);
	CHECK_INT(back.count, 255);
	for (size_t i = 0; i < back.count; i++) {
		CHECK_STR(back.items[i].key, l.items[i].key);
		CHECK_STR(back.items[i].value, l.items[i].value);
	}
	labels_done(&l);
	labels_done(&back);
}

TEST(spaces_and_empty_parts_are_accepted_in_handwritten_text)
{
	struct labels l;

	labels_init(&l);
	CHECK_INT(labels_parse("pool=api, deploy=7,,discount=50%,e=", &l, NULL), 0);
	CHECK_STR(text_of(&l), "deploy=7,discount=50%25,e=,pool=api");
	CHECK_INT(labels_parse("", &l, NULL), 0);
	CHECK_INT(l.count, 0);
	labels_done(&l);
}

TEST(invalid_text_is_named_and_changes_nothing)
{
	static const char *const bad[] = { "pool", "=x", "9a=1", "a b=1", "a=1,b", "\xc3\xa4=1", "a-b=1" };
	struct labels l;
	struct err err;

	labels_init(&l);
	labels_set(&l, "kept", 4, "1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		err = (struct err){ 0 };
		CHECK_INT(labels_parse(bad[i], &l, &err), -EINVAL);
		CHECK(err.text[0]);
	}
	CHECK_STR(text_of(&l), "kept=1");
	labels_parse("pool", &l, &err);
	CHECK_STR(err.text, "label 'pool' has no '=': write key=value");
	labels_done(&l);
}

TEST(copies_are_independent_and_common_labels_are_kept)
{
	struct labels a, b;

	labels_init(&a);
	labels_init(&b);
	labels_parse("a=1,b=2,c=3", &a, NULL);
	labels_copy(&b, &a);
	labels_set(&b, "b", 1, "other", 5);
	labels_set(&b, "d", 1, "4", 1);
	CHECK_STR(text_of(&a), "a=1,b=2,c=3");
	labels_keep_common(&a, &b);
	CHECK_STR(text_of(&a), "a=1,c=3");
	labels_copy(&b, &a);
	CHECK_STR(text_of(&b), "a=1,c=3");
	labels_done(&a);
	labels_keep_common(&b, &a);
	CHECK_INT(b.count, 0);
	labels_done(&b);
}

TEST_MAIN()
