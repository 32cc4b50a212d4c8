/* perl_check.c: compares the fields at the offsets with values that every Perl has there. */

#include "perl_check.h"

#include "bpf/perl_walk.h"
#include "remote_memory.h"

#include <string.h>

#define STACKINFOS	64u
#define TYPE_MAX	32u		/* highest type of a stackinfo; Perl has a dozen */
#define CONTEXT_MAX	(16 << 20)

static bool has_text(u64 hek, const char *expected)
{
	char text[16];

	return hek && read_user_text(text, sizeof(text), hek + HEK_TEXT) > 0 && !strcmp(text, expected);
}

/* Finds the original name of a glob. */
static bool own_name(const struct perl_layout *l, u64 glob, u8 *bytes, struct perl_name *ret)
{
	u64 body;

	if (!read_user(&body, sizeof(body), glob) || !read_user(bytes, GLOB_BYTES, body))
		return false;
	ret->hek = field64(bytes, l->gv_namehek);
	ret->stash = field64(bytes, l->gv_stash);
	return true;
}

static bool is_text(u64 hek)
{
	char text[2];

	return hek && read_user_text(text, sizeof(text), hek + HEK_TEXT) > 0;
}

/* Every interpreter has the package main, with the variable $_. A program may alias that, as with `*_ = *other`. */
static enum php_check check_names(const struct perl_layout *l, u64 stash, u64 glob, const char **ret_why)
{
	u8 bytes[PHP_FUNCTION_MAX] __attribute__((aligned(8)));
	struct perl_name name;

	if (!has_text(perl_stash_hek(l, stash, bytes), "main"))
		return *ret_why = "its main package is not named 'main'", PHP_CHECK_WRONG;
	if (!own_name(l, glob, bytes, &name) || !has_text(name.hek, "_") || name.stash != stash ||
	    !perl_glob_name(l, glob, bytes, &name) || !is_text(name.hek))
		return *ret_why = "its variable $_ is not named '_'", PHP_CHECK_WRONG;
	return has_text(name.hek, "_") ? PHP_CHECK_FITS : PHP_CHECK_UNKNOWN;
}

/* Checks that the stackinfos lead to the main one. Reads of a running process may be torn. */
static enum php_check check_stack(const struct perl_layout *l, u64 stackinfo)
{
	u8 bytes[STACKINFO_BYTES] __attribute__((aligned(8)));

	for (unsigned i = 0; i < STACKINFOS; i++) {
		int top;

		if (!read_user(bytes, sizeof(bytes), stackinfo) || field32(bytes, l->si_type) > TYPE_MAX)
			return PHP_CHECK_WRONG;
		top = (int)field32(bytes, l->si_cxsubix);
		if (top < -1 || top > CONTEXT_MAX)
			return PHP_CHECK_WRONG;
		if (field32(bytes, l->si_type) == STACKINFO_MAIN)
			return PHP_CHECK_FITS;
		stackinfo = field64(bytes, l->si_prev);
	}
	return PHP_CHECK_UNKNOWN;
}

enum php_check perl_check(const struct perl_image *i, pid_t pid, u64 bias, char *ret_why, size_t size)
{
	const struct perl_place *p = &i->binary.perl;
	const struct perl_layout *l = &p->layout;
	u64 interpreter = 0, stash, glob, stackinfo;
	enum php_check result = PHP_CHECK_UNKNOWN;
	const char *why = "its stacks do not lead to a main one";

	remote_memory_select(pid);
	if (p->threads && (!i->first_interpreter || !read_user(&interpreter, 8, i->first_interpreter + bias) || !interpreter))
		return PHP_CHECK_UNKNOWN;
	/* Perl sets the stack up last. */
	if (!read_user(&stackinfo, 8, perl_member(p, bias, interpreter, l->curstackinfo, p->curstackinfo)) || !stackinfo ||
	    !read_user(&stash, 8, perl_member(p, bias, interpreter, l->defstash, p->defstash)) || !stash ||
	    !read_user(&glob, 8, perl_member(p, bias, interpreter, l->defgv, p->defgv)) || !glob)
		return PHP_CHECK_UNKNOWN;
	for (unsigned n = 0; n < 20; n++) {
		result = check_names(l, stash, glob, &why);
		if (result == PHP_CHECK_FITS && read_user(&stackinfo, 8, perl_member(p, bias, interpreter, l->curstackinfo,
										     p->curstackinfo)))
			result = check_stack(l, stackinfo);
		if (result != PHP_CHECK_WRONG)
			return result;
	}
	snprintf(ret_why, size, "%s", why);
	return result;
}
