/* http.c: builds responses, before they are sent. */

#include "http.h"

#include "connect.h"
#include "page.h"
#include "pushes.h"

#include <stdarg.h>
#include <string.h>

const int http_codes[HTTP_CODES] = { 200, 201, 204, 302, 303, 304, 400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 421, 422, 429,
	500, 501, 503, 504, 0 };

bool http_is_type(const char *header, const char *type)
{
	size_t n = strlen(type);

	return header && !strncasecmp(header, type, n) && (!header[n] || header[n] == ';' || header[n] == ' ');
}

size_t http_code_index(int code)
{
	size_t i = 0;

	while (i < HTTP_CODES - 1 && http_codes[i] != code)
		i++;
	return i;
}

void response_init(struct response *r)
{
	*r = (struct response){ .status = 200, .type = "text/plain; charset=utf-8" };
	buf_init(&r->body);
	arena_init(&r->bytes);
}

void response_done(struct response *r)
{
	buf_done(&r->body);
	arena_done(&r->bytes);
}

void response_copy(struct response *to, const struct response *from)
{
	const char *const *texts[] = { &from->type, &from->allow, &from->location, &from->disposition, &from->etag, &from->set_cookie,
				       &from->warning, &from->retry_after };
	const char **copies[] = { &to->type, &to->allow, &to->location, &to->disposition, &to->etag, &to->set_cookie,
				  &to->warning, &to->retry_after };

	to->status = from->status;
	to->gzipped = from->gzipped;
	to->pruned = from->pruned;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*copies[i] = *texts[i] ? arena_copy(&to->bytes, *texts[i], strlen(*texts[i])) : NULL;
	buf_put(&to->body, from->body.data, from->body.size);
}

void response_streams(struct response *r)
{
	r->body.drain = r->drain;
}

/* Responses for programs are text, even if a person reads them. */
static bool is_for_programs(const char *path)
{
	return !strncmp(path, "/assets/", 8) || !strcmp(path, "/healthz") || !strcmp(path, "/readyz") || !strcmp(path, "/metrics");
}

void response_error(struct response *r, const struct request *q, int status, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);

	r->status = status;
	buf_reset(&r->body);
	if (!strcmp(q->path, PUSH_OTLP_PATH)) {
		push_otlp_put_error(r, q, status, text);
		return;
	}
	if (connect_path(q->path) || !strcmp(q->path, "/ingest")) {
		connect_put_error(r, status, text);
		return;
	}
	if (strncmp(q->path, "/api/", 5) == 0) {
		struct json j;

		r->type = "application/json";
		json_init(&j, &r->body);
		json_open_object(&j);
		json_key(&j, "error");
		json_str(&j, text);
		json_end(&j);
		buf_putc(&r->body, '\n');
		return;
	}
	if (q->shows_pages && !is_for_programs(q->path)) {
		page_put_error(q, r, status, text);
		return;
	}
	r->type = "text/plain; charset=utf-8";
	buf_puts(&r->body, text);
	buf_putc(&r->body, '\n');
}
