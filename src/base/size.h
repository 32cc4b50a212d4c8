/* size.h: sizes as people write them. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include "err.h"
#include <stdint.h>

#define SIZE_EXAMPLES "500M, 10G or a number of bytes"

/* "500M", "10G", "10GB", "10 GiB", "1.5g", bytes without a unit; by powers of 1,024. -EINVAL with a sentence for anything
 * else and above 10^18 bytes. */
int size_parse(const char *text, uint64_t *ret, struct err *err);

#endif
