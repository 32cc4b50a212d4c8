/* multipart.c: parses the parts of a form, in the order of the rules in multipart.h. */
#include "multipart.h"

#include <string.h>
#include <strings.h>

#define BOUNDARY_MAX	70u

static int invalid(struct err *err)
{
	return err_set(err, -EINVAL, "the form is not multipart/form-data");
}

int multipart_begin(struct multipart *m, const char *body, size_t n, struct err *err)
{
	const char *end = n ? memmem(body, n < BOUNDARY_MAX + 4 ? n : BOUNDARY_MAX + 4, "\r\n", 2) : NULL;

	*m = (struct multipart){ .end = body + n, .boundary = body };
	if (!end || end - body < 3 || memcmp(body, "--", 2))
		return invalid(err);
	for (const char *p = body; p < end; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return invalid(err);
	m->boundary_size = (size_t)(end - body);
	m->at = end;
	return 0;
}

/* Reads the value of NAME="…" in a header of `n` bytes, truncated to the size of `ret`. */
static bool get_parameter(const char *line, size_t n, const char *name, char ret[MULTIPART_NAME])
{
	size_t name_size = strlen(name), size = 0;
	const char *end = line + n, *p;

	for (p = line; (p = memchr(p, ';', (size_t)(end - p))); ) {
		p++;
		while (p < end && *p == ' ')
			p++;
		if ((size_t)(end - p) <= name_size + 2 || strncasecmp(p, name, name_size) || memcmp(p + name_size, "=\"", 2))
			continue;
		for (p += name_size + 2; p < end && *p != '"'; p++)
			if (size < MULTIPART_NAME - 1 && *p)
				ret[size++] = *p;
		ret[size] = 0;
		return p < end;
	}
	return false;
}

static bool take_header(const char *line, size_t n, struct multipart_part *ret)
{
	static const char disposition[] = "Content-Disposition:";

	if (n < sizeof(disposition) - 1 || strncasecmp(line, disposition, sizeof(disposition) - 1))
		return true;
	ret->is_file = get_parameter(line, n, "filename", ret->file);
	return get_parameter(line, n, "name", ret->name);
}

/* Returns the text after the empty line that ends the headers, NULL if they are malformed. */
static const char *take_headers(const char *at, const char *end, struct multipart_part *ret)
{
	const char *limit = end - at > MULTIPART_HEADERS ? at + MULTIPART_HEADERS : end;

	for (;;) {
		const char *newline = memmem(at, (size_t)(limit - at), "\r\n", 2);

		if (!newline)
			return NULL;
		if (newline == at)
			return *ret->name ? at + 2 : NULL;
		if (!take_header(at, (size_t)(newline - at), ret))
			return NULL;
		at = newline + 2;
	}
}

/* Finds the CRLF before the next boundary. */
static const char *find_boundary(const struct multipart *m, const char *at)
{
	while ((at = memmem(at, (size_t)(m->end - at), "\r\n--", 4))) {
		if ((size_t)(m->end - at - 2) >= m->boundary_size + 2 && !memcmp(at + 2, m->boundary, m->boundary_size) &&
		    (!memcmp(at + 2 + m->boundary_size, "\r\n", 2) || !memcmp(at + 2 + m->boundary_size, "--", 2)))
			return at;
		at += 2;
	}
	return NULL;
}

int multipart_next(struct multipart *m, struct multipart_part *ret, struct err *err)
{
	const char *end;

	*ret = (struct multipart_part){ 0 };
	if (m->end - m->at >= 2 && !memcmp(m->at, "--", 2))
		return 0;
	if (m->parts++ == MULTIPART_PARTS)
		return err_set(err, -EINVAL, "the form has more than %u files and fields; send fewer at a time", MULTIPART_PARTS);
	ret->bytes = m->end - m->at < 2 ? NULL : take_headers(m->at + 2, m->end, ret);
	/* The CRLF of an empty part is the one that ends its headers. */
	end = ret->bytes ? find_boundary(m, ret->bytes - 2) : NULL;
	if (!end)
		return invalid(err);
	ret->size = end < ret->bytes ? 0 : (size_t)(end - ret->bytes);
	m->at = end + 2 + m->boundary_size;
	return 1;
}
