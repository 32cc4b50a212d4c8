/* guess.h: what a file seems to be that is no profile, for the sentence that says so. */
#ifndef FORMATS_GUESS_H
#define FORMATS_GUESS_H

#include <stddef.h>

/* "it looks like a PNG image": always text, never NULL. */
const char *guess_content(const char *bytes, size_t n);

#endif
