/* test_fastcgi.c: tests variables of a request, with php-fpm's layout. */

#include "fastcgi.h"
#include "remote_memory.h"
#include "test.h"

#include <unistd.h>

struct bucket {
	u32 hash, name_size;
	const char *name;
	u32 value_size, pad;
	const char *value;
	struct bucket *next, *list_next;
};

/* fcgi_request up to its variables, with TCP_NODELAY, as on Linux. */
static struct {
	int numbers[9];
	void *header, *position;
	u8 buffer[8192], reserved[16];
	void *hooks[3];
	int has_variables;
	struct bucket *table[128], *list;
} request;

static struct bucket buckets[3];

static void set(unsigned i, const char *name, const char *value)
{
	buckets[i] = (struct bucket){ 1, (u32)strlen(name), name, (u32)strlen(value), 0, value, NULL, i ? &buckets[i - 1] : NULL };
	request.list = &buckets[i];
}

TEST(a_variable_is_found_by_its_whole_name)
{
	char text[64];

	remote_memory_select(getpid());
	set(0, "REQUEST_URI_X", "/other");
	set(1, "REQUEST_URI", "/shop/cart?a=1");
	set(2, "QUERY_STRING", "");
	CHECK(fastcgi_variable((u64)&request, "REQUEST_URI", text, sizeof(text)));
	CHECK_STR(text, "/shop/cart?a=1");
	CHECK(fastcgi_variable((u64)&request, "QUERY_STRING", text, sizeof(text)));
	CHECK_STR(text, "");
	CHECK(!fastcgi_variable((u64)&request, "REQUEST", text, sizeof(text)));
	CHECK(fastcgi_variable((u64)&request, "REQUEST_URI", text, 6));
	CHECK_STR(text, "/shop");
}

TEST(walking_a_cyclic_or_broken_list_terminates)
{
	char text[64];

	remote_memory_select(getpid());
	set(0, "A", "1");
	set(1, "B", "2");
	buckets[0].list_next = &buckets[1];
	CHECK(!fastcgi_variable((u64)&request, "C", text, sizeof(text)));
	buckets[0].list_next = (struct bucket *)8;
	CHECK(!fastcgi_variable((u64)&request, "C", text, sizeof(text)));
	request.list = NULL;
	CHECK(!fastcgi_variable((u64)&request, "A", text, sizeof(text)));
	CHECK(!fastcgi_variable(0, "A", text, sizeof(text)));
	CHECK(!fastcgi_variable(4096, "A", text, sizeof(text)));
}

TEST_MAIN()
