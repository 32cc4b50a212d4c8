/* pyroscope_settings.c: settings of Grafana's app, in a file that is the JSON answer to Get. */
#include "pyroscope.h"

#include "profile_query.h"
#include "connect.h"
#include "messages.h"
#include "private_file.h"
#include "protobuf.h"

#include <string.h>

#define SETTINGS_MAX	64u
#define FILE_MAX	((size_t)1 << 20)

/* Serializes reading, changing and writing back. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

/* Reads the message of Get; empty if nothing was set. */
static int read_all(const struct server_context *s, struct buf *ret, struct err *err)
{
	_cleanup_(buf_done) struct buf text = { 0 };
	int r;

	buf_init(&text);
	r = s->options.grafana_settings_path ? private_file_read(s->options.grafana_settings_path, &text, FILE_MAX, err) : -ENOENT;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return message_from_json(&message_get_settings_response, text.data, text.size, ret, err);
}

void pyroscope_get_settings(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf ignored = { 0 }, settings = { 0 };
	struct err err = { 0 };
	int e;

	buf_init(&ignored);
	buf_init(&settings);
	if (!connect_read(q, &message_empty, CONNECT_MESSAGE_MAX, &ignored, r))
		return;
	e = read_all(s, &settings, &err);
	if (e < 0)
		profile_query_refuse(r, q, -EIO, &err);
	else
		connect_answer(q, &message_get_settings_response, &settings, r);
}

/* --- Changing one --- */

static struct protobuf bytes_of(const struct buf *b)
{
	return (struct protobuf){ (const uint8_t *)b->data, (const uint8_t *)b->data + b->size };
}

static struct protobuf field_of(struct protobuf message, uint32_t number)
{
	struct protobuf found = { (const uint8_t *)"", (const uint8_t *)"" };
	struct protobuf_field f;

	while (protobuf_next(&message, &f))
		if (f.number == number && f.type == 2)
			found = f.bytes;
	return found;
}

static size_t size_of(struct protobuf p)
{
	return (size_t)(p.end - p.p);
}

static bool is_same(struct protobuf a, struct protobuf b)
{
	return size_of(a) == size_of(b) && !memcmp(a.p, b.p, size_of(a));
}

/* Keeps settings with other names, and appends the new one. */
static int replace(const struct buf *all, struct protobuf name, const struct buf *setting, struct buf *ret, struct err *err)
{
	struct protobuf in = bytes_of(all);
	struct protobuf_field f;
	size_t count = 1;

	for (; protobuf_next(&in, &f); count++)
		if (!is_same(field_of(f.bytes, SETTING_NAME), name))
			protobuf_put_bytes(ret, SETTINGS_SETTINGS, f.bytes.p, size_of(f.bytes));
	protobuf_put_bytes(ret, SETTINGS_SETTINGS, setting->data, setting->size);
	return count > SETTINGS_MAX ? err_set(err, -EINVAL, "there are %u settings, the maximum", SETTINGS_MAX) : 0;
}

static int change(const struct server_context *s, struct protobuf name, const struct buf *setting, struct err *err)
{
	_cleanup_(buf_done) struct buf all = { 0 }, changed = { 0 }, text = { 0 };
	int r;

	if (!s->options.grafana_settings_path)
		return err_set(err, -ENOTSUP, "settings need a store with a directory");
	buf_init(&all);
	buf_init(&changed);
	buf_init(&text);
	if ((r = read_all(s, &all, err)) < 0 || (r = replace(&all, name, setting, &changed, err)) < 0 ||
	    (r = message_to_json(&message_get_settings_response, changed.data, changed.size, &text, err)) < 0)
		return r;
	if (text.size > FILE_MAX)
		return err_set(err, -EINVAL, "the settings have more than %zu bytes", FILE_MAX);
	return private_file_write(s->options.grafana_settings_path, text.data, text.size, true, err);
}

void pyroscope_set_settings(struct server_context *s, const struct request *q, struct response *r)
{
	_cleanup_(buf_done) struct buf request = { 0 }, setting = { 0 }, answer = { 0 };
	struct protobuf given, name, value;
	struct err err = { 0 };
	int e;

	buf_init(&request);
	buf_init(&setting);
	buf_init(&answer);
	if (!connect_read(q, &message_set_settings_request, CONNECT_MESSAGE_MAX, &request, r))
		return;
	given = field_of(bytes_of(&request), 1);
	name = field_of(given, SETTING_NAME);
	value = field_of(given, SETTING_VALUE);
	if (!size_of(name)) {
		response_error(r, q, 400, "the setting has no name");
		return;
	}
	protobuf_put_bytes(&setting, SETTING_NAME, name.p, size_of(name));
	protobuf_put_bytes(&setting, SETTING_VALUE, value.p, size_of(value));
	protobuf_put_number(&setting, SETTING_MODIFIED, (uint64_t)q->now_ns / 1000000);
	pthread_mutex_lock(&changing);
	e = change(s, name, &setting, &err);
	pthread_mutex_unlock(&changing);
	if (e == -ENOTSUP) {
		response_error(r, q, 501, "%s", err.text);
		return;
	}
	if (e < 0) {
		profile_query_refuse(r, q, e, &err);
		return;
	}
	protobuf_put_bytes(&answer, 1, setting.data, setting.size);
	connect_answer(q, &message_set_settings_response, &answer, r);
}
