/* punycode.h: decodes identifiers with characters beyond ASCII in mangled names (RFC 3492). */
#ifndef BASE_PUNYCODE_H
#define BASE_PUNYCODE_H

#include "intern.h"

#include <stdbool.h>
#include <stdint.h>

#define PUNYCODE_MAX	256u	/* code points per identifier */

/* `plain` has the ASCII characters, `s` encodes the others and their positions. Returns false if that is malformed or
 * too long. */
bool punycode_decode(struct str plain, struct str s, uint32_t codes[PUNYCODE_MAX], uint32_t *ret_count);

#endif
