/* size.h: sizes with units. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include "err.h"
#include <stdint.h>

#define SIZE_EXAMPLES "500M, 10G or a number of bytes"

/* Parses "500M", "10G", "10GB", "10 GiB", "1.5g", or bytes without a unit; units are powers of 1,024. Returns -EINVAL
 * with a sentence for anything else and above 10^18 bytes. */
int size_parse(const char *text, uint64_t *ret, struct err *err);

#endif
