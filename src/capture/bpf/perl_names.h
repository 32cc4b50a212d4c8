/* perl_names.h: reads the name of a Perl frame, when its key is seen for the first time.
 *
 * The strings are copied while the sub is on a stack, so that naming needs no living process later.
 */
#ifndef CAPTURE_BPF_PERL_NAMES_H
#define CAPTURE_BPF_PERL_NAMES_H

#include "perl_walk.h"

/* Copies as much of the text as fits, and returns its length; 0 if it cannot be read. */
static __always_inline u32 perl_copy_text(char *to, u32 capacity, u64 text)
{
	long n;

	to[0] = 0;
	n = text ? read_user_text(to, capacity, text) : 0;
	return n > 0 ? (u32)n - 1 : 0;
}

static __always_inline u32 perl_copy_name(char *to, u32 capacity, u64 hek)
{
	to[0] = 0;
	return hek ? perl_copy_text(to, capacity, hek + HEK_TEXT) : 0;
}

static __always_inline void perl_describe_code(const struct perl_layout *l, u64 code, u8 *body, u8 *bytes,
					       struct function_event *e)
{
	struct perl_name name = { 0, 0 };
	u64 head[2] = { 0 };

	if (!read_user(head, 16, code) || !read_user(body, CODE_BYTES, head[0]) || !perl_code_name(l, body, bytes, &name)) {
		e->unreadable = 1;
		return;
	}
	e->name_size = perl_copy_name(e->name, NAME_SIZE, name.hek);
	e->class_size = name.stash ? perl_copy_name(e->scope, NAME_SIZE, perl_stash_hek(l, name.stash, bytes)) : 0;
	e->file_size = perl_copy_text(e->file, FILE_SIZE, field64(body, l->cv_file));
	e->line_start = perl_start_line(l, body);
	e->unreadable = !e->name_size;
}

/* Describes the location of an eval, and the file that it reads. */
static __always_inline void perl_describe_eval(const struct perl_layout *l, bool threads, u64 where, u8 *context, u8 *bytes,
					       struct function_event *e)
{
	u64 text = 0, cop;

	if (!read_user(context, CONTEXT_BYTES, where)) {
		e->unreadable = 1;
		return;
	}
	cop = field64(context, l->cx_oldcop);
	if (e->kind == PERL_REQUIRE && read_user(&text, 8, field64(context, l->cx_namesv) + SV_UNION))
		e->name_size = perl_copy_text(e->name, NAME_SIZE, text);
	e->file_size = perl_copy_text(e->file, FILE_SIZE, perl_file(l, threads, cop, bytes));
	e->line_start = perl_line(l, cop);
	e->unreadable = e->kind == PERL_REQUIRE && !e->name_size;
}

/* Fills in everything but type and id, for frame `at` of a walk that has just ended. */
static __always_inline void perl_describe(const struct perl_layout *l, struct php_walk *s, struct perl_walk *w, u32 at,
					  struct function_event *e)
{
	u64 where = s->functions[at];
	u8 *body = (u8 *)s->function, *bytes = (u8 *)w->bytes;

	e->kind = w->kinds[at];
	e->unreadable = e->name_size = e->class_size = e->file_size = e->line_start = 0;
	e->name[0] = e->scope[0] = e->file[0] = 0;
	switch (e->kind) {
	case PERL_SUB:
	case PERL_FORMAT:
		perl_describe_code(l, where, body, bytes, e);
		break;
	case PERL_EVAL:
	case PERL_REQUIRE:
		perl_describe_eval(l, w->threads, where, body, bytes, e);
		break;
	case PERL_FILE:
		e->file_size = perl_copy_text(e->file, FILE_SIZE, perl_file(l, w->threads, where, bytes));
		e->unreadable = !e->file_size;
		break;
	}
}

/* Reports the program in place of a request's script: fills in all of the event. Returns false, and id 0, if it is
 * unknown. */
static __always_inline bool perl_request(const struct perl_walk *w, struct request_event *e)
{
	e->type = EVENT_REQUEST;
	e->id = 0;
	__builtin_memset(e->method, 0, sizeof(e->method));
	if (!w->program || read_user_text(e->script, FILE_SIZE, w->program) <= 1)
		return false;
	e->id = mix(w->program_key, EVENT_REQUEST) | 1;
	return true;
}

#endif
