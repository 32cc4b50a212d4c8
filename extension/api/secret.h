/* secret.h: a secret that comparing, cleaning and showing do not give away. Knows nothing of PHP. */
#ifndef STROBE_SECRET_H
#define STROBE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MIN	16		/* bytes; what is shorter can be guessed */
#define SECRET_MAX	256

struct secret {
	unsigned char bytes[SECRET_MAX];	/* zeroes behind its end */
	size_t size;				/* 0: there is none */
	bool refused;				/* there was one of a length that is not allowed */
};

/* Takes the secret over; an empty one is none. */
void secret_set(struct secret *s, const char *p, size_t n);

/* Whether a candidate is the secret, as it stands or URL-encoded. The time it takes depends on the candidate's length
 * only: neither on how much of it is right nor on the length of the secret. */
bool secret_equals(const struct secret *s, const char *p, size_t n);

/* Whether the secret is anywhere in a text, as it stands or URL-encoded, even several times over. */
bool secret_is_in(const struct secret *s, const char *p, size_t n);

/* Decodes %XX, and + to a blank. Returns the length; `out` may be `p`. */
size_t url_decode(char *out, const char *p, size_t n);

#endif
