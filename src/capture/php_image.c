/* php_image.c: finds PHP in a file by its symbols, its version by its text, and thread-local storage by its code. */

#include "php_image.h"

#include "elf_file.h"
#include "mem.h"
#include "text.h"

#include <ctype.h>
#include <string.h>

#define CHUNK		((size_t)1 << 20)
#define OVERLAP		64u		/* longer than any text searched for */
#define VM_HYBRID	4		/* ZEND_VM_KIND_HYBRID */

/* --- its version */

static size_t text_length(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] > ' ' && p[i] < 0x7f)
		i++;
	return i;
}

/* Calls `found` with the text after each `word` in the file, until it returns true. */
static bool search(int fd, const char *word, bool (*found)(const char *text, size_t n, void *data), void *data)
{
	_cleanup_(freep) char *bytes = xmalloc(CHUNK + OVERLAP);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, CHUNK + OVERLAP, at)) > 0) {
		const char *p = bytes, *end = bytes + n;

		while ((p = memmem(p, (size_t)(end - p), word, strlen(word)))) {
			p += strlen(word);
			if (found(p, (size_t)(end - p), data))
				return true;
		}
		if ((size_t)n <= OVERLAP)
			return false;
		at += n - OVERLAP;
	}
	return false;
}

static bool take_version(const char *text, size_t n, void *data)
{
	struct php_image *b = data;
	size_t length = text_length(text, n);
	unsigned major, minor;
	int end = 0;

	if (length >= sizeof(b->version))
		return false;
	memcpy(b->version, text, length);
	b->version[length] = 0;
	if (sscanf(b->version, "%u.%u.%n", &major, &minor, &end) != 2 || !end)
		return false;
	b->major = major;
	b->minor = minor;
	return true;
}

/* Parses "API20220829,NTS": the API number that modules must have been built for. */
static bool take_api(const char *text, size_t n, void *data)
{
	u32 *api = data;
	size_t i = 0;

	*api = 0;
	for (; i < n && i < 8 && isdigit((unsigned char)text[i]); i++)
		*api = *api * 10 + (u32)(text[i] - '0');
	return i == 8 && i < n && text[i] == ',';
}

static const struct php_version *find_version(int fd, const struct php_offsets *o, struct php_image *b)
{
	const struct php_version *v;
	u32 api;

	if (search(fd, "X-Powered-By: PHP/", take_version, b))
		return php_offsets_by_version(o, b->major, b->minor);
	if (!search(fd, "API", take_api, &api))
		return NULL;
	v = php_offsets_by_api(o, api);
	if (v)
		snprintf(b->version, sizeof(b->version), "%u.%u", b->major = v->major, b->minor = v->minor);
	else
		snprintf(b->version, sizeof(b->version), "of module API %u", api);
	return v;
}

/* --- its code */

/* Reads the first bytes of a function, after the landing pad that some compilers begin it with. */
static size_t read_code(const struct elf *e, const char *name, uint8_t *ret, size_t size)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	uint64_t offset, available, at = elf_symbol_value(e, name);
	size_t skip;

	if (!at || !elf_offset_of(e, at, &offset, &available) ||
	    elf_read(e, offset, available < size + sizeof(landing) ? available : size + sizeof(landing), &b, NULL) < 0)
		return 0;
	skip = b.size >= sizeof(landing) && !memcmp(b.data, landing, sizeof(landing)) ? sizeof(landing) : 0;
	size = b.size - skip < size ? b.size - skip : size;
	memcpy(ret, b.data + skip, size);
	return size;
}

/* Matches mov $kind,%eax; ret. On other architectures the registers are not read, and only the line of the leaf is
 * lost. */
static bool is_hybrid(const struct elf *e)
{
	uint8_t code[6];

	return e->machine == EM_X86_64 && read_code(e, "zend_vm_kind", code, sizeof(code)) == sizeof(code) &&
	       code[0] == 0xb8 && code[1] == VM_HYBRID && !code[2] && !code[3] && !code[4] && code[5] == 0xc3;
}

static s64 signed32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Returns the address of the code after the first `bytes` bytes of a function (and its landing pad). */
static u64 behind(const struct elf *e, const char *name, size_t bytes)
{
	static const uint8_t landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	_cleanup_(elf_bytes_done) struct elf_bytes b = { 0 };
	uint64_t offset, available, at = elf_symbol_value(e, name);

	if (elf_offset_of(e, at, &offset, &available) && elf_read(e, offset, sizeof(landing), &b, NULL) == 0 &&
	    !memcmp(b.data, landing, sizeof(landing)))
		at += sizeof(landing);
	return at + bytes;
}

/* Finds the offset from the thread pointer to a thread's pointer to its globals. In a program, the number is part of
 * the code; in a library, it is in a slot that the dynamic linker fills in. tsrm_get_ls_cache_tcb_offset() returns
 * the number, and tsrm_get_ls_cache() the pointer. */
static bool find_thread_storage(const struct elf *e, struct binary *b)
{
	uint8_t code[11];
	size_t n;

	if (e->machine != EM_X86_64)
		return false;
	n = read_code(e, "tsrm_get_ls_cache_tcb_offset", code, 8);
	if (n == 8 && code[0] == 0x48 && code[1] == 0xc7 && code[2] == 0xc0 && code[7] == 0xc3) {
		b->tls_offset = signed32(code + 3);		/* mov $offset,%rax; ret */
		return b->tls_offset != 0;
	}
	if (n == 8 && code[0] == 0x48 && code[1] == 0x8b && code[2] == 0x05 && code[7] == 0xc3) {
		b->tls_slot = behind(e, "tsrm_get_ls_cache_tcb_offset", 7) + (u64)signed32(code + 3);
		return true;					/* mov slot(%rip),%rax; ret */
	}
	n = read_code(e, "tsrm_get_ls_cache", code, 11);
	if (n >= 9 && code[0] == 0x64 && code[1] == 0x48 && code[2] == 0x8b && code[3] == 0x04 && code[4] == 0x25) {
		b->tls_offset = signed32(code + 5);		/* mov %fs:offset,%rax */
		return true;
	}
	if (n == 11 && code[0] == 0x48 && code[1] == 0x8b && code[2] == 0x05 && code[7] == 0x64 && code[8] == 0x48 &&
	    code[9] == 0x8b && code[10] == 0x00) {
		b->tls_slot = behind(e, "tsrm_get_ls_cache", 7) + (u64)signed32(code + 3);
		return true;					/* mov slot(%rip),%rax; mov %fs:(%rax),%rax */
	}
	return false;
}

static bool always(const char *text, size_t n, void *data)
{
	return true;
}

/* php-fpm contains the long name of its SAPI. The short one, "fpm-fcgi", is also in opcache, which newer builds link
 * in. */
static bool is_fpm(int fd)
{
	return search(fd, "FPM/FastCGI", always, NULL);
}

/* --- all of it */

/* Any dynamically linked program may load a library. */
static bool may_host(const struct elf *e)
{
	for (unsigned i = 0; i < e->segment_count; i++)
		if (e->segments[i].p_type == PT_DYNAMIC)
			return true;
	return false;
}

static int read_php(const struct elf *e, int fd, const char *name, const struct php_offsets *o, struct php_image *ret,
		    struct err *err)
{
	struct binary *b = &ret->binary;
	const struct php_version *v = find_version(fd, o, ret);
	Elf64_Sym s;

	b->sapi_globals = elf_symbol_value(e, b->zts ? "sapi_globals_offset" : "sapi_globals");
	ret->exception_class = elf_symbol_value(e, "zend_ce_exception");
	if (!v && !*ret->version && may_host(e)) {
		b->kind = BINARY_HOST;
		return 0;
	}
	if (!v)
		return err_set(err, -ENOTSUP, "%s is PHP %s, which the offset table lacks; add it with "
			       "--php-offsets FILE (scripts/php-offsets prints the line of an installed PHP)", name,
			       *ret->version ? ret->version : "of an unknown version");
	b->layout = v->layout;
	if (b->zts && !find_thread_storage(e, b))
		return err_set(err, -ENOTSUP, "%s is a thread-safe PHP %s, but the location of its thread data cannot be found "
			       "in its code", name, ret->version);
	if (elf_find_symbol(e, "execute_ex", &s) && is_hybrid(e)) {
		b->hybrid = true;
		b->execute_ex = s.st_value;
		b->execute_ex_end = s.st_value + s.st_size;
	}
	b->fpm = is_fpm(fd);
	b->kind = BINARY_PHP;
	return 1;
}

int php_image_read(int fd, const char *name, const struct php_offsets *o, struct php_image *ret, struct err *err)
{
	_cleanup_(elf_close) struct elf e = { .fd = -1 };
	struct binary *b = &ret->binary;
	uint64_t text;
	int r;

	*ret = (struct php_image){ .binary.kind = BINARY_OTHER };
	r = elf_open(&e, fd, name, err);
	if (r < 0)
		return r == -ENOEXEC || r == -ENOTSUP ? 0 : r;
	if (!elf_text_address(&e, &text))
		return 0;
	b->text = text;
	b->executor_globals = elf_symbol_value(&e, "executor_globals");
	if (!b->executor_globals) {
		b->executor_globals = elf_symbol_value(&e, "executor_globals_offset");
		b->zts = b->executor_globals != 0;
	}
	if (b->executor_globals)
		return read_php(&e, fd, name, o, ret, err);
	b->kind = may_host(&e) ? BINARY_HOST : BINARY_OTHER;
	return 0;
}
