/* multipart.h: parses the body of a form with files (multipart/form-data, RFC 7578).
 *
 *	--BOUNDARY CRLF
 *	headers CRLF CRLF	including Content-Disposition: form-data; name="N"; filename="F"
 *	bytes CRLF
 *	--BOUNDARY CRLF …	the next part, or
 *	--BOUNDARY--
 *
 * A body is valid if:
 *	1. The body begins with "--" and 1 to 70 characters other than control characters: the boundary.
 *	2. Each part has headers of at most MULTIPART_HEADERS bytes, with a name, and ends before a boundary.
 *	3. There are at most MULTIPART_PARTS.
 *
 * Only names are copied. A file's name is untrusted, and never used as a path.
 */
#ifndef SERVE_MULTIPART_H
#define SERVE_MULTIPART_H

#include "buf.h"
#include "err.h"
#include <stdbool.h>

#define MULTIPART_PARTS		256u
#define MULTIPART_HEADERS	4096u
#define MULTIPART_NAME		256u

struct multipart {
	const char *at, *end;		/* `at` is after the boundary of the next part */
	const char *boundary;		/* points into the body; includes the leading dashes */
	size_t boundary_size;
	unsigned parts;
};

struct multipart_part {
	char name[MULTIPART_NAME], file[MULTIPART_NAME];	/* file: "" for a plain field; truncated if longer */
	bool is_file;
	const char *bytes;
	size_t size;
};

/* -EINVAL with a sentence. `body` must outlive the last part. */
int multipart_begin(struct multipart *m, const char *body, size_t n, struct err *err);

/* Returns 1 with the next part in `ret`, 0 at the end, or -EINVAL. */
int multipart_next(struct multipart *m, struct multipart_part *ret, struct err *err);

#endif
