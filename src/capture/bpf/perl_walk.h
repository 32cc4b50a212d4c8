/* perl_walk.h: converts Perl's context stack to the frames that caller() shows, leaf first.
 *
 * A stack is a chain of stackinfos: a sort block, a tied variable, a signal handler, DESTROY each begin one, and si_prev
 * leads to the one that they interrupted. Each has an array of contexts, most of which are blocks and loops; si_cxsubix
 * and old_cxsubix link those of subs, formats and evals, so that all others are skipped. A frame's line is that of
 * the statement that called the next frame, which is stored in the next frame's context.
 *
 * Compiled for BPF and as plain C, where tests run it over recorded memory. The frames go into a php_walk.
 */
#ifndef CAPTURE_BPF_PERL_WALK_H
#define CAPTURE_BPF_PERL_WALK_H

#include "perl_key.h"
#include "php_walk.h"

#define PERL_STEPS		512u	/* frames and stackinfos of one walk */
#define STACKINFO_BYTES		48u
#define CONTEXT_BYTES		80u	/* size of PERL_CONTEXT up to cv */
#define CONTEXT_TYPE		15u
#define CONTEXT_SUB		9u
#define CONTEXT_FORMAT		10u
#define CONTEXT_EVAL		11u
#define STACKINFO_MAIN		1u	/* PERLSI_MAIN: nothing is below it */

struct perl_walk {
	u64 stackinfo;			/* stackinfo to be visited; 0: the end */
	u64 contexts;			/* its array of contexts */
	s64 context;			/* index of the next frame's context; negative: none left */
	u64 program, program_key;	/* its file, as a C string, once the walk has reached it; 0: unknown */
	u64 cop;			/* statement being executed in the next frame */
	u32 type;			/* type of the stackinfo */
	u32 threads;
	u32 unfinished;			/* frames left out because they were being entered or left */
	u32 entered;			/* the leaf has not reached its first statement */
	struct perl_cache cache;
	u64 bytes[PHP_FUNCTION_MAX / 8];
	u8 kinds[PHP_DEPTH];		/* enum perl_kind, of each frame */
};

/* Returns the running thread's interpreter, 0 if it has none; without threads, any other number. `thread` is the
 * thread pointer. */
static __always_inline u64 perl_interpreter(const struct perl_place *p, u64 bias, u64 thread)
{
	u64 perl = 0, at = thread + p->tls_offset;

	if (!p->threads)
		return 1;
	if (p->tls_module) {
		/* The C library's table of thread-local blocks, of 16 bytes each. */
		u64 number = 0, table = 0;

		if (!read_user(&number, 8, p->tls_module + bias) || !read_user(&table, 8, thread + 8) ||
		    !read_user(&at, 8, table + number * 16))
			return 0;
		at += p->tls_offset;
	}
	return read_user(&perl, 8, at) ? perl : 0;
}

/* Returns the address of a member of the interpreter: by its offset, or that of the global variable. */
static __always_inline u64 perl_member(const struct perl_place *p, u64 bias, u64 interpreter, u16 offset, u64 variable)
{
	return p->threads ? interpreter + offset : variable + bias;
}

/* Continues with the innermost context of a stackinfo. `bytes` has room for PHP_FUNCTION_MAX. */
static __always_inline bool perl_walk_enter(struct perl_walk *w, const struct perl_layout *l, u64 stackinfo, u8 *bytes)
{
	if (!read_user(bytes, STACKINFO_BYTES, stackinfo)) {
		w->stackinfo = 0;
		return false;
	}
	w->stackinfo = stackinfo;
	w->contexts = field64(bytes, l->si_cxstack);
	w->context = (s64)(int)field32(bytes, l->si_cxsubix);
	w->type = field32(bytes, l->si_type);
	return true;
}

static __always_inline void perl_walk_push(struct php_walk *s, struct perl_walk *w, u32 kind, u64 where, u64 key, u32 line,
					   u32 flags)
{
	w->kinds[s->count & (PHP_DEPTH - 1)] = (u8)kind;
	php_walk_push(s, where, key, line, flags);
}

static __always_inline void perl_walk_unknown(struct php_walk *s, u32 *counter)
{
	(*counter)++;
	php_walk_push(s, 0, FUNCTION_UNKNOWN_PERL, 0, 0);
}

/* Begins a walk; returns false if there is nothing to walk, such as before the program is compiled. */
static __always_inline bool perl_walk_start(struct php_walk *s, struct perl_walk *w, const struct perl_place *p, u64 bias,
					    u64 interpreter)
{
	const struct perl_layout *l = &p->layout;
	u64 stackinfo = 0;

	php_walk_start(s, 0);
	w->threads = p->threads;
	w->unfinished = w->entered = 0;
	w->cache.code = w->cache.file = w->cache.file_key = 0;
	for (u32 i = 0; i < STASHES; i++)
		w->cache.stashes[i] = w->cache.stash_keys[i] = 0;
	w->program = w->cop = 0;
	return read_user(&stackinfo, 8, perl_member(p, bias, interpreter, l->curstackinfo, p->curstackinfo)) && stackinfo &&
	       read_user(&w->cop, 8, perl_member(p, bias, interpreter, l->curcop, p->curcop)) &&
	       perl_walk_enter(w, l, stackinfo, (u8 *)s->execute_data);
}

enum perl_code {
	PERL_CODE_RUNS,
	PERL_CODE_UNFINISHED,
	PERL_CODE_UNREADABLE,
};

/* Reads the sub of a context. Perl writes a context step by step, so the top one may still refer to the sub before;
 * code that is running has a depth. */
static __always_inline enum perl_code perl_code_read(const struct perl_layout *l, u64 code, u8 *ret_body)
{
	u64 head[3] = { 0 };
	u32 type;

	if (!code || !read_user(head, SV_HEAD, code))
		return PERL_CODE_UNFINISHED;
	type = sv_flags(head) & SV_TYPE_MASK;
	if (type != l->type_code && type != l->type_format)
		return PERL_CODE_UNFINISHED;
	if (!read_user(ret_body, CODE_BYTES, head[0]))
		return PERL_CODE_UNREADABLE;
	return field32(ret_body, l->cv_depth) ? PERL_CODE_RUNS : PERL_CODE_UNFINISHED;
}

static __always_inline enum perl_code perl_code_key(struct perl_cache *c, const struct perl_layout *l, u64 code, u32 kind,
						    u8 *body, u8 *bytes, u64 *ret)
{
	struct perl_name name = { 0, 0 };
	enum perl_code state;
	u64 hek = 0, key;

	if (code && code == c->code) {
		*ret = c->code_key;
		return PERL_CODE_RUNS;
	}
	state = perl_code_read(l, code, body);
	if (state != PERL_CODE_RUNS)
		return state;
	if (!perl_code_name(l, body, bytes, &name) || !read_user(&hek, 8, name.hek))
		return PERL_CODE_UNREADABLE;
	if (!(hek >> 32))
		return PERL_CODE_UNFINISHED;
	key = mix(mix(kind, hek), perl_stash_key(l, c, name.stash, bytes));
	key = mix(key, perl_text_key(c, field64(body, l->cv_file)));
	/* All closures have the same name, and are distinguished by their first line. */
	if (hek >> 32 == ANON_SIZE)
		key = mix(key, perl_start_line(l, body));
	c->code = code;
	*ret = c->code_key = special_free(key);
	return PERL_CODE_RUNS;
}

static __always_inline void perl_walk_code(struct php_walk *s, struct perl_walk *w, const struct perl_layout *l, u32 kind,
					   const u8 *context)
{
	u64 code = field64(context, l->cx_cv), key = 0;

	switch (perl_code_key(&w->cache, l, code, kind, (u8 *)s->function, (u8 *)w->bytes, &key)) {
	case PERL_CODE_RUNS:
		/* Without an op to return to, it was called from C code, which runs it in a separate loop over ops. */
		perl_walk_push(s, w, kind, code, key, perl_line(l, w->cop), field64(context, l->cx_retop) ? 0 : FRAME_TOP);
		break;
	case PERL_CODE_UNFINISHED:
		w->unfinished++;
		break;
	case PERL_CODE_UNREADABLE:
		perl_walk_unknown(s, &s->unreadable_functions);
		break;
	}
}

/* An eval is identified by its location, and one that reads a file also by that file's name. */
static __always_inline void perl_walk_eval(struct php_walk *s, struct perl_walk *w, const struct perl_layout *l, u64 where,
					   const u8 *context)
{
	u64 name = field64(context, l->cx_namesv), cop = field64(context, l->cx_oldcop), text = 0, key;
	u32 kind = name ? PERL_REQUIRE : PERL_EVAL;

	key = mix(mix(kind, perl_text_key(&w->cache, perl_file(l, w->threads, cop, (u8 *)w->bytes))), perl_line(l, cop));
	if (name && read_user(&text, 8, name + SV_UNION))
		key = mix(key, perl_text_key(&w->cache, text));
	perl_walk_push(s, w, kind, where, special_free(key), perl_line(l, w->cop), 0);
}

/* Continues after the last frame of a stackinfo: with the one that it interrupted, or the program's own code. */
static __always_inline bool perl_walk_leave(struct php_walk *s, struct perl_walk *w, const struct perl_layout *l)
{
	u64 previous = 0, file;

	if (w->type != STACKINFO_MAIN && !read_user(&previous, 8, w->stackinfo + l->si_prev)) {
		perl_walk_unknown(s, &s->unreadable_frames);
		return false;
	}
	if (previous) {
		if (perl_walk_enter(w, l, previous, (u8 *)s->execute_data))
			return true;
		perl_walk_unknown(s, &s->unreadable_frames);
		return false;
	}
	file = w->program = perl_file(l, w->threads, w->cop, (u8 *)w->bytes);
	if (!file)
		return false;
	w->program_key = special_free(mix(PERL_FILE, perl_text_key(&w->cache, file)));
	perl_walk_push(s, w, PERL_FILE, w->cop, w->program_key, perl_line(l, w->cop), FRAME_TOP);
	return false;
}

/* Until the leaf reaches its first statement, its current statement is that of its caller. */
static __always_inline void perl_walk_check_leaf(struct php_walk *s, struct perl_walk *w, u64 caller_cop)
{
	if (s->count == 1)
		w->entered = w->cop == caller_cop;
	else if (s->count == 2 && w->entered && s->frames[0].function != s->frames[1].function)
		s->frames[0].line = 0;
}

/* Handles one frame. Returns whether there may be another one. */
static __always_inline bool perl_walk_step(struct php_walk *s, struct perl_walk *w, const struct perl_layout *l)
{
	u8 *context = (u8 *)s->execute_data;
	u64 where, cop;
	s64 outer;
	u32 before = s->count;

	if (!w->stackinfo)
		return false;
	if (s->count >= PHP_DEPTH - 1) {
		php_walk_truncate(s);
		return false;
	}
	if (w->context < 0) {
		bool more = perl_walk_leave(s, w, l);

		if (s->count > before)
			perl_walk_check_leaf(s, w, 0);
		return more;
	}
	where = w->contexts + (u64)w->context * l->cx_size;
	if (!read_user(context, CONTEXT_BYTES, where)) {
		perl_walk_unknown(s, &s->unreadable_frames);
		return false;
	}
	cop = field64(context, l->cx_oldcop);
	outer = (s64)(int)field32(context, l->cx_oldsubix);
	switch (context[0] & CONTEXT_TYPE) {
	case CONTEXT_SUB:
		perl_walk_code(s, w, l, PERL_SUB, context);
		break;
	case CONTEXT_FORMAT:
		perl_walk_code(s, w, l, PERL_FORMAT, context);
		break;
	case CONTEXT_EVAL:
		perl_walk_eval(s, w, l, where, context);
		break;
	default:
		w->unfinished++;
	}
	if (s->count > before)
		perl_walk_check_leaf(s, w, cop);
	w->cop = cop;
	if (outer >= w->context) {
		perl_walk_unknown(s, &s->unreadable_frames);
		return false;
	}
	w->context = outer;
	return true;
}

#endif
