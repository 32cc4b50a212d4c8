/* perl_key.h: the identity of a Perl sub: a hash of its name and location in the source, not of its address.
 *
 * Perl frees code and reuses its memory, and the children of a server run other programs at the addresses of their
 * parent's. So a key is computed from the names' hashes, which Perl keeps (seeded for each process), and the text of
 * the file.
 *
 * Compiled for BPF and as plain C (user_memory.h).
 */
#ifndef CAPTURE_BPF_PERL_KEY_H
#define CAPTURE_BPF_PERL_KEY_H

#include "php_key.h"

#define SV_HEAD		24u		/* bytes: sv_any, refcnt, flags, sv_u */
#define SV_UNION	16u
#define SV_TYPE_MASK	0xffu
#define SV_HAS_AUX	0x02000000u	/* SVf_OOK of a hash: it has a struct xpvhv_aux */
#define CODE_BYTES	104u		/* size of XPVCV */
#define GLOB_BYTES	48u		/* size of XPVGV up to xgv_stash */
#define HASH_BYTES		64u	/* size of a stash's body: XPVHV and xpvhv_aux up to xhv_name_count */
#define CODE_NAMED	0x8000u		/* CVf_NAMED: it has a HEK as its name, instead of a glob */
#define CODE_LEXICAL	0x10000u	/* CVf_LEXICAL: `my sub` */
#define HEK_TEXT	8u		/* after hash and length */
#define ANON_SIZE	8u		/* bytes of "__ANON__" */

/* A HEK is a string with its hash; a stash is a package. */
struct perl_name {
	u64 hek, stash;			/* stash 0: not shown */
};

#define STASHES		8u		/* a power of 2 */
#define TEXT_BLOCK	64u		/* bytes */

/* Caches the last results: adjacent frames often share a file, and most belong to a few packages. Valid only within
 * one walk, during which nothing moves. */
struct perl_cache {
	u64 code, code_key, file, file_key;
	u64 stashes[STASHES], stash_keys[STASHES];
	u64 text[(FILE_SIZE + TEXT_BLOCK) / 8];
};

static __always_inline u32 sv_flags(const u64 *head)
{
	return (u32)(head[1] >> 32);
}

/* Finds the name of a glob's original, like caller(). `bytes` has room for PHP_FUNCTION_MAX. */
static __always_inline bool perl_glob_name(const struct perl_layout *l, u64 glob, u8 *bytes, struct perl_name *ret)
{
	u64 head[3] = { 0 }, original = 0;

	if (!glob || !read_user(head, SV_HEAD, glob))
		return false;
	if (head[2] && read_user(&original, 8, head[2] + l->gp_egv) && original && original != glob)
		read_user(head, 8, original);
	if (!read_user(bytes, GLOB_BYTES, head[0]))
		return false;
	ret->hek = field64(bytes, l->gv_namehek);
	ret->stash = field64(bytes, l->gv_stash);
	return true;
}

/* Finds the name of the code with this body; `code` may be equal to `bytes`. */
static __always_inline bool perl_code_name(const struct perl_layout *l, const u8 *code, u8 *bytes, struct perl_name *ret)
{
	u32 flags = field32(code, l->cv_flags);

	if (flags & CODE_NAMED) {
		ret->hek = field64(code, l->cv_gv);
		ret->stash = field64(code, l->cv_stash);
	} else if (!perl_glob_name(l, field64(code, l->cv_gv), bytes, ret)) {
		return false;
	}
	if (flags & CODE_LEXICAL)
		ret->stash = 0;
	return true;
}

/* Returns the name of a package; 0 if it no longer has one, or it cannot be read. */
static __always_inline u64 perl_stash_hek(const struct perl_layout *l, u64 stash, u8 *bytes)
{
	u64 head[2] = { 0 }, name, first = 0;

	if (!stash || !read_user(head, 16, stash) || !(sv_flags(head) & SV_HAS_AUX) || !read_user(bytes, HASH_BYTES, head[0]))
		return 0;
	name = field64(bytes, l->hv_name);
	if (!name || !field32(bytes, l->hv_name_count))
		return name;
	/* Several names: the first may be missing if the package was deleted under it. */
	if (read_user(&first, 8, name) && !first)
		read_user(&first, 8, name + 8);
	return first;
}

static __always_inline u64 perl_stash_key(const struct perl_layout *l, struct perl_cache *c, u64 stash, u8 *bytes)
{
	u32 at = (u32)(stash >> 4 ^ stash >> 8) & (STASHES - 1);
	u64 hek, head = 0;

	if (stash == c->stashes[at])
		return c->stash_keys[at];
	hek = perl_stash_hek(l, stash, bytes);
	c->stashes[at] = stash;
	c->stash_keys[at] = hek && read_user(&head, 8, hek) ? head : 0;
	return c->stash_keys[at];
}

/* "(eval 42)" is the 42nd evaluated string. All of them count as one file here, or programs that evaluate strings
 * would get new functions endlessly. */
static __always_inline bool is_eval_file(const u64 *text)
{
	return *text << 16 == 0x206c617665280000ull;	/* the first 6 bytes are "(eval " */
}

/* Hashes a text of `n` bytes, 1 to FILE_SIZE, in blocks, since the verifier examines each possible end of the loop. */
static __always_inline u64 perl_text_hash(u64 *words, u32 n)
{
	u32 whole = n / 8;
	u64 h = n;

	if (whole > FILE_SIZE / 8)
		return 0;
	/* Clears the rest of the block, which still has bytes of an earlier text. */
	words[whole] &= n % 8 ? ~0ull >> (64 - n % 8 * 8) : 0;
	for (u32 i = 1; i < TEXT_BLOCK / 8; i++)
		words[whole + i] = 0;
	for (u32 block = 0; block < FILE_SIZE / TEXT_BLOCK && block * TEXT_BLOCK < n; block++)
		for (u32 i = 0; i < TEXT_BLOCK / 8; i++)
			h = mix(h, words[block * (TEXT_BLOCK / 8) + i]);
	return h;
}

/* Returns the key of a C string. */
static __always_inline u64 perl_text_key(struct perl_cache *c, u64 text)
{
	long n;

	if (text == c->file)
		return c->file_key;
	n = text ? read_user_text((char *)c->text, FILE_SIZE, text) : 0;
	if (n > 6 && is_eval_file(c->text))
		n = 6;
	c->file = text;
	c->file_key = n > 0 && n <= FILE_SIZE ? perl_text_hash(c->text, (u32)n) : 0;
	return c->file_key;
}

/* Returns the file of a statement, as a C string; 0 if there is none. */
static __always_inline u64 perl_file(const struct perl_layout *l, bool threads, u64 cop, u8 *bytes)
{
	u64 file = 0, body = 0, hek = 0;

	if (!cop || !read_user(&file, 8, cop + l->cop_file) || !file)
		return 0;
	if (threads)
		return file;
	/* A glob called "_<FILE". */
	return read_user(&body, 8, file) && read_user(&hek, 8, body + l->gv_namehek) && hek ? hek + HEK_TEXT + 2 : 0;
}

static __always_inline u32 perl_line(const struct perl_layout *l, u64 cop)
{
	u32 line = 0;

	return cop && read_user(&line, 4, cop + l->cop_line) ? line : 0;
}

/* Returns the line of a sub's first statement; 0 if it has none. */
static __always_inline u32 perl_start_line(const struct perl_layout *l, const u8 *code)
{
	u64 op = field64(code, l->cv_start);
	u16 type = 0;

	if (!op || !read_user(&type, 2, op + l->op_type))
		return 0;
	type &= 0x1ff;
	return type == l->nextstate || type == l->dbstate ? perl_line(l, op) : 0;
}

static __always_inline u64 special_free(u64 key)
{
	return key < FUNCTION_SPECIAL ? key + FUNCTION_SPECIAL : key;
}

#endif
