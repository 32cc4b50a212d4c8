/* pyroscope_put.c: converts texts of any bytes to UTF-8, as messages require. */
#include "pyroscope_calls.h"

#include "messages.h"
#include "protobuf.h"
#include "text.h"

#include <string.h>

void pyroscope_put_text(struct buf *out, uint32_t number, const char *text)
{
	_cleanup_(buf_done) struct buf safe = { 0 };

	if (!*text)
		return;
	buf_init(&safe);
	text_put_utf8(&safe, (struct str){ text, strlen(text) });
	protobuf_put_bytes(out, number, safe.data, safe.size);
}

void pyroscope_put_pair(struct buf *out, uint32_t number, const char *label, const char *value)
{
	_cleanup_(buf_done) struct buf pair = { 0 };

	buf_init(&pair);
	pyroscope_put_text(&pair, LABEL_PAIR_NAME, label);
	pyroscope_put_text(&pair, LABEL_PAIR_VALUE, value);
	protobuf_put_bytes(out, number, pair.data, pair.size);
}
