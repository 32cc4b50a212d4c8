/* fuzz_html.c: draws any profile with any options: the result must be a page whose still picture is well-formed,
 * whose scripts are ours, and whose data can be read back, or an error with a sentence. */

#include "fuzz_picture.h"
#include "xml_check.h"

#include <jansson.h>
#include <zlib.h>

static size_t count_of(const struct buf *html, const char *word)
{
	size_t count = 0, n = strlen(word);

	for (const char *at = html->data; (at = memmem(at, html->size - (size_t)(at - html->data), word, n)); at += n)
		count++;
	return count;
}

/* Returns the text between `from`, which must exist, and `to`. */
static struct str between(const struct buf *html, const char *from, const char *to)
{
	const char *a = memmem(html->data, html->size, from, strlen(from)), *b;

	if (!a)
		abort();
	a += strlen(from);
	b = memmem(a, html->size - (size_t)(a - html->data), to, strlen(to));
	if (!b)
		abort();
	return (struct str){ a, (size_t)(b - a) };
}

static void check_still(const struct buf *html)
{
	struct str svg = between(html, "aria-label=\"Flame graph\"><div>\n", "</div></div>");
	size_t at;

	if (xml_check(svg.p, svg.n, &at))
		abort();
}

static void check_about(const struct buf *html)
{
	struct str text = between(html, "id=\"about\">", "</script>");
	json_t *about = json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (!json_is_object(about))
		abort();
	json_decref(about);
}

static unsigned digit(char c)
{
	return c >= 'a' ? (unsigned)(c - 'a') + 26 : c >= 'A' ? (unsigned)(c - 'A') : c >= '0' ? (unsigned)(c - '0') +
	       52 : c == '+' ? 62 : c == '/' ? 63 : 0;
}

static struct buf from_base64(struct str text)
{
	struct buf out;

	buf_init(&out);
	for (size_t i = 0; i + 4 <= text.n; i += 4) {
		unsigned v = digit(text.p[i]) << 18 | digit(text.p[i + 1]) << 12 | digit(text.p[i + 2]) << 6 |
			digit(text.p[i + 3]);
		char three[] = { (char)(v >> 16), (char)(v >> 8), (char)v };

		buf_put(&out, three, text.p[i + 2] == '=' ? 1 : text.p[i + 3] == '=' ? 2 : 3);
	}
	return out;
}

/* The header (flame_data.h) must match the number of bytes, and the text at the end must be JSON. */
static void check_boxes(const struct buf *html)
{
	_cleanup_(buf_done) struct buf packed = from_base64(between(html, "id=\"profile\">", "</script>"));
	size_t capacity = (size_t)16 << 20;
	_cleanup_(freep) unsigned char *bytes = xmalloc(capacity);
	uLongf n = capacity;
	uint32_t text_size;
	json_t *text;

	if (uncompress(bytes, &n, (const Bytef *)packed.data, packed.size) != Z_OK || n < 64 ||
	    memcmp(bytes, "STRE", 4))
		abort();
	memcpy(&text_size, bytes + 20, sizeof(text_size));
	if (text_size > n - 64)
		abort();
	text = json_loadb((const char *)bytes + n - text_size, text_size, JSON_ALLOW_NUL, NULL);
	if (!json_is_array(json_object_get(text, "names")))
		abort();
	json_decref(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_picture g;
	struct err err = { 0 };
	struct buf html;
	int r;

	if (size > 1 << 16 || !fuzz_picture_init(&g, data, size))
		return 0;
	buf_init(&html);
	r = flamegraph_html(g.profile, &g.o, NULL, &html, &err);
	if (r < 0 && !err.text[0])
		abort();
	if (r == 0) {
		size_t scripts = count_of(&html, "<script");

		check_still(&html);
		if ((scripts != 0 && scripts != 4) || scripts != count_of(&html, "</script>"))
			abort();
		if (scripts) {
			check_about(&html);
			check_boxes(&html);
		}
	}
	buf_done(&html);
	fuzz_picture_done(&g);
	return 0;
}
