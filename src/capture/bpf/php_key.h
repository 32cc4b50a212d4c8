/* php_key.h: the identity of a PHP function: a hash of its name, not of its address.
 *
 * Addresses are reused: with opcache off the next request puts other functions in their place, and with addresses as
 * keys, 297 of 322 samples of a function were attributed to another one. So a key is computed from content, using the
 * hashes in PHP's strings. Code in opcache's shared memory (immutable) lasts until opcache restarts, so there the
 * addresses of name, class and file represent their content, and the hash of the name detects a restart.
 *
 * Compiled for BPF and as plain C (user_memory.h).
 */
#ifndef CAPTURE_BPF_PHP_KEY_H
#define CAPTURE_BPF_PHP_KEY_H

#include "user_memory.h"

#define PHP_FUNCTION_MAX	256u	/* bytes of zend_function that are read */
#define PHP_INTERNAL		1u	/* zend_function.type of functions written in C */
#define PHP_COMMON_BYTES	40u	/* the part of zend_function common to all kinds */
#define PHP_OP_BYTES		32u	/* size of zend_op, in every version */

static __always_inline u64 mix(u64 h, u64 x)
{
	h = (h ^ x) * 0x9E3779B97F4A7C15ull;
	return h ^ h >> 32;
}

/* Returns a field of zend_function. Offsets are multiples of 4; the mask tells the verifier that they are small. */
static __always_inline u64 field64(const u8 *bytes, u16 offset)
{
	return *(const u64 *)(bytes + (offset & (PHP_FUNCTION_MAX - 8)));
}

static __always_inline u32 field32(const u8 *bytes, u16 offset)
{
	return *(const u32 *)(bytes + (offset & (PHP_FUNCTION_MAX - 4)));
}

#define TEXT_HASHED	256u		/* bytes at the end of a string that are hashed if it has no hash */

/* Caches the last string and the last class, which adjacent frames often share. Valid only within one walk, during
 * which nothing moves. */
struct key_cache {
	u64 file, file_key, scope, scope_key;
	u64 text[TEXT_HASHED / 8];
};

/* Returns 0 if the text cannot be read. */
static __always_inline u64 text_hash(struct key_cache *cache, u64 text, u64 size)
{
	u32 n = size < TEXT_HASHED ? (u32)size : TEXT_HASHED;
	u64 h = 1;

	__builtin_memset(cache->text, 0, sizeof(cache->text));
	if (!read_user(cache->text, n, text + size - n))
		return 0;
	for (u32 i = 0; i < TEXT_HASHED / 8; i++)
		h = mix(h, cache->text[i]);
	return h;
}

/* Returns 0 if the string cannot be read. Most names are interned, so they have a hash. PHP computes the hash of the
 * name of eval'd code, "FILE(LINE) : eval()'d code", only on demand. */
static __always_inline u64 string_key(const struct php_layout *l, struct key_cache *cache, u64 string)
{
	u64 head[2], size;

	if (!read_user(head, sizeof(head), string + l->string_hash))
		return 0;
	size = head[1];
	if (!head[0])
		head[0] = text_hash(cache, string + l->string_text, size);
	return mix(head[0], size) | 1;
}

static __always_inline u64 file_key(const struct php_layout *l, struct key_cache *cache, u64 file)
{
	if (file != cache->file) {
		cache->file_key = string_key(l, cache, file);
		cache->file = file;
	}
	return cache->file_key;
}

static __always_inline u64 scope_key(const struct php_layout *l, struct key_cache *cache, u64 scope)
{
	u64 name = 0;

	if (!scope)
		return 0;
	if (scope != cache->scope) {
		cache->scope_key = read_user(&name, 8, scope + l->class_name) ? string_key(l, cache, name) : 0;
		cache->scope = scope;
	}
	return cache->scope_key;
}

/* Returns the key of the zend_function whose first bytes are at `f`. */
static __always_inline u64 function_key(const struct php_layout *l, struct key_cache *cache, const u8 *f)
{
	u64 name = field64(f, l->fn_name), scope = field64(f, l->fn_scope), file, h;

	if (f[0] == PHP_INTERNAL) {
		h = mix(name ? string_key(l, cache, name) : 0, scope_key(l, cache, scope));
		return h < FUNCTION_SPECIAL ? h + FUNCTION_SPECIAL : h;
	}
	file = field64(f, l->fn_filename);
	h = mix(f[0], field32(f, l->fn_line_start));
	if (field32(f, l->fn_flags) & l->immutable) {
		h = mix(mix(mix(h, name), scope), file);
		h = mix(h, name ? string_key(l, cache, name) : file_key(l, cache, file));
	} else {
		h = mix(h, name ? string_key(l, cache, name) : 0);
		h = mix(mix(h, scope_key(l, cache, scope)), file_key(l, cache, file));
	}
	return h < FUNCTION_SPECIAL ? h + FUNCTION_SPECIAL : h;
}

#endif
