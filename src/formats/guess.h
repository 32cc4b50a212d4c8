/* guess.h: what a file seems to be that is no profile, for the sentence that says so. */
#ifndef FORMATS_GUESS_H
#define FORMATS_GUESS_H

#include "buf.h"

/* Appends "it looks like a PNG image", or of text which line is the first that is no folded stack. */
void guess_content(const char *bytes, size_t n, struct buf *out);

#endif
