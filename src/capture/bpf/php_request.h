/* php_request.h: reads the running script and its request method.
 *
 * Compiled for BPF and as plain C (user_memory.h).
 */
#ifndef CAPTURE_BPF_PHP_REQUEST_H
#define CAPTURE_BPF_PHP_REQUEST_H

#include "php_key.h"

/* Fills in all of the event; `sapi` is the address of sapi_globals, or 0. Returns false, and id 0, if no request is
 * running. */
static __always_inline bool php_request(const struct php_layout *l, u64 sapi, struct request_event *e)
{
	u64 method = 0, script = 0, id = 1;
	long n;

	e->type = EVENT_REQUEST;
	e->id = 0;
	if (!sapi || !read_user(&script, 8, sapi + l->path_translated))
		return false;
	read_user(&method, 8, sapi + l->request_method);
	__builtin_memset(e->method, 0, sizeof(e->method));
	/* The bytes after the NUL are left from an earlier request, so only the copied part is hashed. */
	n = script ? read_user_text(e->script, FILE_SIZE, script) : 0;
	if (n <= 0)
		n = 1, e->script[0] = 0;
	if (method)
		read_user_text(e->method, METHOD_SIZE, method);
	if (!e->script[0] && !e->method[0])
		return false;
	for (u32 i = 0; i < FILE_SIZE / 8; i++) {
		u64 word = *(u64 *)(e->script + i * 8);
		u32 left = (u32)n - i * 8;

		if (i * 8 >= n)
			break;
		if (left < 8)
			word &= ~0ull >> (64 - left * 8);
		id = mix(id, word);
	}
	e->id = mix(mix(id, *(u64 *)e->method), *(u64 *)(e->method + 8)) | 1;
	return true;
}

#endif
