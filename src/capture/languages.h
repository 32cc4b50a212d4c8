/* languages.h: sets of the languages whose stacks are walked, as bits of struct sampler_settings. */
#ifndef CAPTURE_LANGUAGES_H
#define CAPTURE_LANGUAGES_H

#include "bpf/event.h"
#include <stdbool.h>

#define LANGUAGE_PHP	((u8)(1u << BINARY_PHP))
#define LANGUAGE_PERL	((u8)(1u << BINARY_PERL))

/* Parses one language, as typed by the user; returns false if unknown. */
bool languages_parse(const char *name, u8 *ret);

/* Returns "PHP", "Perl", or "PHP or Perl". */
const char *languages_name(u8 languages);

/* Returns the symbols by which a file with these languages is recognized. */
const char *languages_symbols(u8 languages);

#endif
