/* secret.h: keeps a secret such that comparing, removing and displaying it does not reveal it. Independent of PHP. */
#ifndef STROBE_SECRET_H
#define STROBE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MIN	16		/* bytes; shorter ones can be guessed */
#define SECRET_MAX	256

struct secret {
	unsigned char bytes[SECRET_MAX];	/* zero-padded */
	size_t size;				/* 0: no secret */
	bool refused;				/* one was set with an invalid length */
};

/* Takes ownership of the secret; empty means none. */
void secret_set(struct secret *s, const char *p, size_t n);

/* Whether a candidate is the secret, plain or URL-encoded. The time depends only on the candidate's length: neither on
 * the number of matching bytes nor on the length of the secret. */
bool secret_equals(const struct secret *s, const char *p, size_t n);

/* Whether a text contains the secret, plain or URL-encoded, even repeatedly. */
bool secret_is_in(const struct secret *s, const char *p, size_t n);

/* Decodes %XX, and + to a blank. Returns the length; `out` may be `p`. */
size_t url_decode(char *out, const char *p, size_t n);

#endif
