/* test_entry.c: tests which field of an entry has the samples, and that the others become labels. */
#include "entry.h"

#include "mem.h"
#include "test.h"

#include <zstd.h>

#define FIELDS_MAX 160u

/* Reads an entry of strings that ends with a NULL. */
static int read_texts(const char *const *texts, struct entry *ret, struct err *err)
{
	struct str fields[FIELDS_MAX];
	size_t n = 0;

	memset(ret, 0, sizeof(*ret));
	for (; texts[n]; n++)
		fields[n] = (struct str){ texts[n], strlen(texts[n]) };
	return entry_read(fields, n, ret, err);
}

#define READ(e, ...)	read_texts((const char *const[]){ __VA_ARGS__, NULL }, e, NULL)

static void check_body(const struct entry *e, const char *wanted)
{
	CHECK_INT(e->body.n, strlen(wanted));
	CHECK(e->body.n == strlen(wanted) && !memcmp(e->body.p, wanted, e->body.n));
}

TEST(a_line_is_found_by_its_field_name_and_other_fields_are_labels)
{
	struct entry e;

	CHECK_INT(READ(&e, "host", "web1", "line", "a;b 2", "no label", "x", "deploy", "7"), 0);
	CHECK(!e.is_messages);
	check_body(&e, "a;b 2");
	CHECK_INT(e.labels.count, 2);
	CHECK_STR(labels_get(&e.labels, "host"), "web1");
	CHECK_STR(labels_get(&e.labels, "deploy"), "7");
	entry_done(&e);
}

TEST(alternative_field_names_of_a_line_have_lower_precedence)
{
	struct entry e;

	CHECK_INT(READ(&e, "data", "x 1", "stack", "a 1"), 0);
	check_body(&e, "a 1");
	CHECK_STR(labels_get(&e.labels, "data"), "x 1");
	entry_done(&e);
	CHECK_INT(READ(&e, "message", "m 1", "stack", "a 1"), 0);
	check_body(&e, "m 1");
	entry_done(&e);
}

TEST(a_single_field_may_have_any_name)
{
	struct entry e;

	CHECK_INT(READ(&e, "excimer", "a;b 2"), 0);
	check_body(&e, "a;b 2");
	CHECK_INT(e.labels.count, 0);
	entry_done(&e);
	CHECK_INT(READ(&e, "excimer", "a;b 2", "host", "web1"), -EINVAL);
	entry_done(&e);
	CHECK_INT(entry_read(NULL, 0, &e, NULL), -EINVAL);
	entry_done(&e);
}

TEST(messages_have_their_batch_and_host)
{
	struct entry e;

	CHECK_INT(READ(&e, "id", "00000000DEADbeef", "host", "web1", "strobe", "STRB…", "line", "a 1"), 0);
	CHECK(e.is_messages);
	check_body(&e, "STRB…");
	CHECK(e.batch_id == 0xdeadbeef);
	CHECK_INT(e.labels.count, 1);
	CHECK_STR(labels_get(&e.labels, "host"), "web1");
	entry_done(&e);
	CHECK_INT(READ(&e, "id", "12", "strobe", "STRB"), -EINVAL);
	entry_done(&e);
	CHECK_INT(READ(&e, "id", "00000000DEADbeeg", "strobe", "STRB"), -EINVAL);
	entry_done(&e);
}

TEST(compressed_messages_are_decompressed_within_limits)
{
	char packed[256], text[4096];
	struct str fields[2] = { { "strobe", 6 }, { packed, 0 } };
	struct entry e = { 0 };

	memset(text, 'x', sizeof(text));
	fields[1].n = ZSTD_compress(packed, sizeof(packed), text, sizeof(text), 1);
	CHECK_INT(entry_read(fields, 2, &e, NULL), 0);
	CHECK_INT(e.body.n, sizeof(text));
	CHECK(e.body.n == sizeof(text) && !memcmp(e.body.p, text, sizeof(text)));
	entry_done(&e);

	fields[1].n--;
	CHECK_INT(entry_read(fields, 2, &e, NULL), -EINVAL);
	entry_done(&e);
}

TEST(an_entry_that_declares_an_excessive_size_is_not_decompressed)
{
	size_t large = (size_t)ENTRY_BYTES_MAX + 1, room = ZSTD_compressBound(large), n;
	char *zeros = xcalloc(1, large), *packed = xmalloc(room);
	struct entry e = { 0 };
	struct err err;

	n = ZSTD_compress(packed, room, zeros, large, 1);
	CHECK_INT(entry_read((struct str[]){ { "strobe", 6 }, { packed, n } }, 2, &e, &err), -EINVAL);
	CHECK(!e.unpacked);
	CHECK_STR(err.text, "the field 'strobe' is compressed and does not declare a size of at most 67108864 bytes");
	entry_done(&e);
	free(zeros);
	free(packed);
}

TEST(labels_are_capped)
{
	char names[100][8], value[2000];
	const char *texts[FIELDS_MAX + 1];
	struct entry e;
	size_t n = 0;

	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	texts[n++] = "line";
	texts[n++] = "a 1";
	for (int i = 0; i < 70; i++) {
		snprintf(names[i], sizeof(names[i]), "l%d", i);
		texts[n++] = names[i];
		texts[n++] = value;
	}
	texts[n] = NULL;
	CHECK_INT(read_texts(texts, &e, NULL), 0);
	CHECK_INT(e.labels.count, 64);
	CHECK_INT(strlen(labels_get(&e.labels, "l0")), 1024);
	entry_done(&e);
}

TEST_MAIN()
