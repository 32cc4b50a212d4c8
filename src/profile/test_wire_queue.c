/* test_wire_queue.c: tests queued messages, and the order in which they are taken. */
#include "wire_queue.h"

#include "test.h"

#include <string.h>

static struct wire_queue w;

/* Adds a message of one function with this name; its bytes are invalid when the function returns. */
static void add(uint32_t series, const char *name)
{
	struct strobe_wire_info info = { .kind = STROBE_WIRE_SAMPLES };
	struct strobe_wire_writer out;
	struct strobe_wire_message m;
	uint8_t bytes[256];

	strobe_wire_begin(&out, bytes, sizeof(bytes), &info);
	strobe_wire_string(&out, "samples", 7);
	strobe_wire_string(&out, "count", 5);
	strobe_wire_string(&out, name, strlen(name));
	strobe_wire_column(&out, 1, 2);
	strobe_wire_frame(&out, 3, 0, 0);
	strobe_wire_node(&out, 0, 0, &(int64_t){ 1 });
	CHECK_INT(strobe_wire_parse(bytes, strobe_wire_end(&out), &m), STROBE_WIRE_OK);
	wire_queue_add(&w, series, &m);
	memset(bytes, 0xee, sizeof(bytes));
}

/* Takes at most `n` messages and formats them as "series:name ". */
static const char *take(unsigned n)
{
	static char text[200];
	size_t at = 0;

	text[0] = 0;
	while (n--) {
		const struct wire_queue_entry *next = wire_queue_take(&w);
		const char *name;
		size_t length;

		if (!next) {
			snprintf(text + at, sizeof(text) - at, "none");
			break;
		}
		name = strobe_wire_find_string(&next->message, 3, &length);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u:%.*s ", next->series, (int)length, name);
	}
	return text;
}

TEST(messages_are_returned_by_series_and_then_by_arrival)
{
	wire_queue_init(&w);
	CHECK(wire_queue_is_empty(&w));
	CHECK_STR(take(1), "none");
	add(7, "a");
	add(2, "b");
	add(7, "c");
	add(2, "d");
	CHECK(!wire_queue_is_empty(&w));
	CHECK_STR(take(3), "2:b 2:d 7:a ");
	CHECK(!wire_queue_is_empty(&w));
	CHECK_STR(take(1), "7:c ");
	CHECK(wire_queue_is_empty(&w));
	CHECK_STR(take(1), "none");
	CHECK_INT(w.bytes.bytes, 0);
	wire_queue_done(&w);
}

TEST(an_emptied_queue_can_be_filled_again)
{
	wire_queue_init(&w);
	add(1, "a");
	CHECK_STR(take(2), "1:a none");
	add(9, "b");
	add(3, "c");
	CHECK_STR(take(9), "3:c 9:b none");
	add(1, "d");
	add(0, "e");
	CHECK_STR(take(1), "0:e ");
	wire_queue_clear(&w);
	CHECK(wire_queue_is_empty(&w));
	CHECK_STR(take(1), "none");
	add(4, "f");
	wire_queue_done(&w);
	CHECK(wire_queue_is_empty(&w));
}

TEST_MAIN()
