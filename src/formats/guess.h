/* guess.h: guesses the type of a file that is not a profile, for the error message. */
#ifndef FORMATS_GUESS_H
#define FORMATS_GUESS_H

#include "buf.h"

/* Appends "it looks like a PNG image" or, for text, the first line that is not a folded stack. */
void guess_content(const char *bytes, size_t n, struct buf *out);

#endif
