/* chrome.h: writes the format described in chrome.c. */
#ifndef FORMATS_CHROME_H
#define FORMATS_CHROME_H

#include "profile.h"

int chrome_write(const struct profile *p, uint32_t column, struct buf *out, struct err *err);

#endif
