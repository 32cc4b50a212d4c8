/* test_multipart.c: forms with files as sent by browsers, and malformed bodies. */
#include "multipart.h"
#include "test.h"

#include <string.h>

#define PART(name, bytes) "Content-Disposition: form-data; name=\"" name "\"\r\n\r\n" bytes "\r\n"
#define FILE_PART(file, bytes) "content-disposition: form-data; name=\"file\"; filename=\"" file "\"\r\n" \
			       "Content-Type: application/octet-stream\r\n\r\n" bytes "\r\n"

/* Returns "name[file]=bytes;" for each part, and "!" if it ends with an error. The caller frees. */
static char *parts_of(const char *body, size_t n)
{
	struct multipart_part part;
	struct multipart m;
	struct err err;
	struct buf b;
	int r;

	buf_init(&b);
	r = multipart_begin(&m, body, n, &err);
	while (r >= 0 && (r = multipart_next(&m, &part, &err)) > 0)
		buf_printf(&b, "%s%s%s%s=%.*s;", part.name, part.is_file ? "[" : "", part.file, part.is_file ? "]" : "",
			   (int)part.size, part.bytes);
	buf_puts(&b, r < 0 ? "!" : "");
	return buf_take(&b, NULL);
}

#define CHECK_PARTS(body, expected)					\
	do {								\
		char *parts_ = parts_of(body, sizeof(body) - 1);	\
									\
		CHECK_STR(parts_, expected);				\
		free(parts_);						\
	} while (0)

TEST(fields_and_files_are_returned_in_order)
{
	CHECK_PARTS("--b\r\n" PART("source", "shop") "--b\r\n" FILE_PART("1.shop.xhprof", "a:0:{}") "--b--\r\n",
		    "source=shop;file[1.shop.xhprof]=a:0:{};");
	CHECK_PARTS("--b\r\n" FILE_PART("", "") "--b--\r\n", "file[]=;");
	CHECK_PARTS("------WebKitFormBoundaryx\r\n" PART("a", "") "------WebKitFormBoundaryx--", "a=;");
}

TEST(boundary_like_bytes_inside_a_file_belong_to_the_file)
{
	CHECK_PARTS("--b\r\n" FILE_PART("x", "1\r\n--bc\r\n--a\r\n--b-\r\n\r\n") "--b--\r\n", "file[x]=1\r\n--bc\r\n--a\r\n--b-\r\n\r\n;");
}

TEST(bodies_that_are_not_forms_are_rejected)
{
	CHECK_PARTS("", "!");
	CHECK_PARTS("{\"a\": 1}", "!");
	CHECK_PARTS("--\r\n", "!");
	CHECK_PARTS("--b\001\r\n" PART("a", "1") "--b\001--", "!");
	CHECK_PARTS("--b\r\n" PART("a", "1"), "!");
	CHECK_PARTS("--b\r\n" PART("a", "1") "--b\r\n", "a=1;!");
	CHECK_PARTS("--b\r\n" PART("", "1") "--b--", "!");
	CHECK_PARTS("--b\r\nX: y\r\n\r\n1\r\n--b--", "!");
}

TEST(the_number_of_parts_and_the_size_of_headers_are_limited)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	char *parts;

	buf_init(&b);
	for (unsigned i = 0; i <= MULTIPART_PARTS; i++)
		buf_puts(&b, "--b\r\n" PART("a", ""));
	buf_puts(&b, "--b--");
	parts = parts_of(b.data, b.size);
	CHECK_INT(strlen(parts), 3 * MULTIPART_PARTS + 1);
	free(parts);
	buf_reset(&b);
	buf_puts(&b, "--b\r\nX: ");
	for (unsigned i = 0; i < MULTIPART_HEADERS; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\r\n" PART("a", "1") "--b--");
	parts = parts_of(b.data, b.size);
	CHECK_STR(parts, "!");
	free(parts);
}

TEST(a_long_name_is_truncated_and_a_quote_ends_it)
{
	_cleanup_(buf_done) struct buf b = { 0 };
	struct multipart_part part;
	struct multipart m;

	buf_init(&b);
	buf_puts(&b, "--b\r\nContent-Disposition: form-data; filename=\"");
	for (unsigned i = 0; i < 400; i++)
		buf_putc(&b, 'f');
	buf_puts(&b, "\"; name=\"a\"\r\n\r\n1\r\n--b--");
	CHECK_INT(multipart_begin(&m, b.data, b.size, NULL), 0);
	CHECK_INT(multipart_next(&m, &part, NULL), 1);
	CHECK_INT(strlen(part.file), MULTIPART_NAME - 1);
	CHECK_STR(part.name, "a");
	CHECK_PARTS("--b\r\nContent-Disposition: form-data; name=\"a\"b\"\r\n\r\n1\r\n--b--", "a=1;");
}

TEST_MAIN()
