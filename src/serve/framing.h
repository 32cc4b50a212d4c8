/* framing.h: finds the boundaries of a connection's requests, with strict parsing.
 *
 * A proxy and we must never disagree about that, or one of its users could send a request that the proxy counts as the
 * body of another. So everything ambiguous is refused (RFC 9112, sections 2.2, 5 and 6):
 *   1. the first line is a method, a target and HTTP/1.0 or HTTP/1.1, with one space between them;
 *   2. a name is a token immediately followed by its colon, and no line continues the one before;
 *   3. no NUL, no other control byte except a tab in a value, and no CR without its LF;
 *   4. one Content-Length at most, of digits alone, and none beside a Transfer-Encoding;
 *   5. one Transfer-Encoding at most, which is "chunked", and only in HTTP/1.1;
 *   6. an address has at most FRAMING_TARGET_MAX bytes;
 *   7. chunks have a size in hexadecimal digits, and CRLF behind their data; what follows them announces no length.
 *
 * Only the state is kept: bytes come in pieces of any size and stay the caller's.
 */
#ifndef SERVE_FRAMING_H
#define SERVE_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAMING_TARGET_MAX	16384u	/* above it there may be no room for the headers; shorter ones get a better
					 * error */

struct framing {
	uint8_t state, version;		/* version: the digit after "HTTP/1." */
	bool in_trailer, has_length, has_coding;
	uint8_t at;			/* in the name, or in the compared text */
	char name[20];			/* in lower case; longer ones are irrelevant */
	uint64_t left;			/* unread bytes of the body or the chunk */
	uint8_t digits;
	const char *problem;		/* NULL: none so far */
	bool is_http2;			/* the problem is a first line of HTTP/2 */
	bool is_long;			/* the problem is the length of the address */
	uint32_t target;		/* bytes of the address so far */
};

void framing_init(struct framing *f);

/* Returns the number of bytes that belong to requests that are valid so far. If that is less than `n`, the request
 * that begins there is refused, f->problem is the reason, and everything after it is refused, too. Returns 0 for a
 * request that was valid in an earlier call and is refused now. */
size_t framing_take(struct framing *f, const char *bytes, size_t n);

#endif
