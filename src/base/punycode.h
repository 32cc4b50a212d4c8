/* punycode.h: identifiers with characters beyond ASCII, as mangled names write them (RFC 3492). */
#ifndef BASE_PUNYCODE_H
#define BASE_PUNYCODE_H

#include "intern.h"

#include <stdbool.h>
#include <stdint.h>

#define PUNYCODE_MAX	256u	/* code points of an identifier */

/* `plain` are the ASCII characters, `s` says where others stand among them. False if that is malformed or too long. */
bool punycode_decode(struct str plain, struct str s, uint32_t codes[PUNYCODE_MAX], uint32_t *ret_count);

#endif
