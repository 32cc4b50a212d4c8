/* demangle.c: demangles Rust's names itself, and those of C++ with libstdc++. */

#include "demangle.h"

#include "mem.h"
#include "rust_name.h"
#include "text.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define NAME_MAX_BYTES	4096u
#define HASH_BYTES	17u	/* "h" and 16 digits */

/* --- Rust --- */

static bool is_hash(const char *p, size_t n)
{
	if (n != HASH_BYTES || *p != 'h')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
			return false;
	return true;
}

/* Decodes "$LT$" as "<"; returns its length, 0 if it is not a known escape. */
static size_t escape_at(const char *p, const char *end, struct buf *out)
{
	static const struct { const char *text, *is; } escapes[] = {
		{ "$SP$", "@" }, { "$BP$", "*" }, { "$RF$", "&" }, { "$LT$", "<" }, { "$GT$", ">" }, { "$LP$", "(" },
		{ "$RP$", ")" }, { "$C$", "," },
	};
	const char *stop;
	unsigned code = 0;

	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		size_t n = strlen(escapes[i].text);

		if ((size_t)(end - p) >= n && !memcmp(p, escapes[i].text, n)) {
			buf_puts(out, escapes[i].is);
			return n;
		}
	}
	stop = end - p > 3 && p[1] == 'u' ? memchr(p + 2, '$', (size_t)(end - p) - 2) : NULL;
	if (!stop || stop == p + 2 || stop > p + 8)
		return 0;
	for (const char *digit = p + 2; digit < stop; digit++) {
		if (text_hex_digit(*digit) < 0)
			return 0;
		code = code * 16 + (unsigned)text_hex_digit(*digit);
	}
	if (code < ' ' || (code > '~' && code < 0xa0) || !text_is_code_point(code))
		return 0;
	text_put_code_point(out, code);
	return (size_t)(stop - p) + 1;
}

static void put_rust(struct buf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	/* A name must begin with a letter, so other characters are preceded by an underscore. */
	if (s.n > 1 && p[0] == '_' && p[1] == '$')
		p++;
	while (p < end) {
		size_t n = *p == '$' ? escape_at(p, end, out) : 0;

		if (n) {
			p += n;
		} else if (end - p > 1 && p[0] == '.' && p[1] == '.') {
			buf_puts(out, "::");
			p += 2;
		} else {
			buf_putc(out, *p++);
		}
	}
}

/* LLVM makes names unique with a suffix (".0", ".cold.1"), which is kept, except the number of a module. Returns
 * false for other text. */
static bool put_suffix(struct buf *out, struct str rest)
{
	const char *module = memmem(rest.p, rest.n, ".llvm.", 6);

	if (rest.n && *rest.p != '.')
		return false;
	buf_put(out, rest.p, module ? (size_t)(module - rest.p) : rest.n);
	return true;
}

/* Demangles "_ZN", parts with their lengths, the last of them a hash, "E". */
static bool put_legacy(struct buf *out, struct str name)
{
	size_t at = out->size;
	const char *p = name.p + 3, *end = name.p + name.n;
	unsigned parts = 0;

	while (p < end && *p >= '1' && *p <= '9') {
		size_t n = 0;

		for (; p < end && *p >= '0' && *p <= '9' && n < NAME_MAX_BYTES; p++)
			n = n * 10 + (size_t)(*p - '0');
		if (n > (size_t)(end - p))
			break;
		if (is_hash(p, n) && end - p > (ptrdiff_t)n && p[n] == 'E' && parts &&
		    put_suffix(out, (struct str){ p + n + 1, (size_t)(end - p) - n - 1 }))
			return true;
		buf_puts(out, parts++ ? "::" : "");
		put_rust(out, (struct str){ p, n });
		p += n;
	}
	out->size = at;
	return false;
}

/* Demangles names left half-demangled by perf and others: the parts are separated, and the hash is still there. */
static bool put_half_demangled(struct buf *out, struct str name)
{
	bool hashed = name.n > HASH_BYTES + 2 && is_hash(name.p + name.n - HASH_BYTES, HASH_BYTES) &&
		      !memcmp(name.p + name.n - HASH_BYTES - 2, "::", 2);

	if (!hashed)
		return false;
	name.n -= HASH_BYTES + 2;
	while (name.n) {
		const char *colons = memmem(name.p, name.n, "::", 2);
		size_t n = colons ? (size_t)(colons - name.p) : name.n;

		put_rust(out, (struct str){ name.p, n });
		if (!colons)
			break;
		buf_puts(out, "::");
		name.p += n + 2;
		name.n -= n + 2;
	}
	return true;
}

/* --- C++ --- */

static char *(*cxa_demangle)(const char *name, char *out, size_t *n, int *status);

static void find_library(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

	library = library ? library : dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

static bool put_cpp(struct buf *out, struct str name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	_cleanup_(freep) char *copy = NULL, *text = NULL;
	int status = 0;

	pthread_once(&once, find_library);
	if (!cxa_demangle || name.n > NAME_MAX_BYTES || memchr(name.p, 0, name.n))
		return false;
	copy = xstrndup(name.p, name.n);
	text = cxa_demangle(copy, NULL, NULL, &status);
	if (!text || status)
		return false;
	buf_puts(out, text);
	return true;
}

bool demangle_put(struct buf *out, struct str name)
{
	if (text_starts(name, "_ZN") && put_legacy(out, name))
		return true;
	if (rust_name_put(out, name))
		return true;
	return text_starts(name, "_Z") ? put_cpp(out, name) : put_half_demangled(out, name);
}
