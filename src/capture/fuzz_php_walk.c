/* fuzz_php_walk.c: walks any memory as that of a PHP process: the walk must end, and names must end with a NUL, as
 * must the parts of requests; also compares it with the table of offsets. The first byte chooses the version, and
 * whether PHP is thread-safe. */
#include "bpf/php_names.h"
#include "bpf/php_request.h"
#include "bpf/php_walk.h"
#include "fastcgi.h"
#include "fuzz_memory.h"
#include "php_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct php_layout *l)
{
	static struct php_walk w;
	static struct function_event e;
	u64 frame = 0;

	read_user(&frame, 8, l->current_execute_data);
	php_walk_start(&w, frame);
	for (unsigned i = 0; i < PHP_STEPS && php_walk_step(&w, l); i++)
		;
	if (w.count > PHP_DEPTH)
		abort();
	for (u32 at = 0; at < w.count; at++) {
		if (w.frames[at].function < FUNCTION_SPECIAL)
			continue;
		php_describe(l, w.functions[at], (u8 *)w.function, &e);
		if (!memchr(e.name, 0, NAME_SIZE) || !memchr(e.scope, 0, NAME_SIZE) || !memchr(e.file, 0, FILE_SIZE))
			abort();
	}
}

static void read_request(const struct php_layout *l)
{
	static struct request_event e;
	char text[64];

	memset(&e, 0, sizeof(e));
	if (php_request(l, 4096, &e) && (!memchr(e.script, 0, FILE_SIZE) || !memchr(e.method, 0, METHOD_SIZE)))
		abort();
	memset(text, 'x', sizeof(text));
	if (fastcgi_variable(4096, "REQUEST_URI", text, sizeof(text)) && !memchr(text, 0, sizeof(text)))
		abort();
}

static void compare(const struct php_layout *l, bool zts)
{
	struct php_image image = {
		.binary = { .zts = zts, .layout = *l, .executor_globals = 8192, .sapi_globals = 4096, .tls_offset = -8 },
		.exception_class = 16,
	};
	char why[128] = "";

	if (php_check(&image, 0, 1024, why, sizeof(why)) == PHP_CHECK_WRONG && !*why)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_offsets offsets;
	const struct php_layout *l;

	if (size < 2)
		return 0;
	if (!offsets.count)
		php_offsets_init(&offsets);
	l = &offsets.versions[(data[0] >> 1) % offsets.count].layout;
	memory = data + 1;
	memory_size = size - 1;
	walk(l);
	read_request(l);
	compare(l, data[0] & 1);
	return 0;
}
