/* languages.h: sets of the languages whose stacks are walked, as bits of struct sampler_settings. */
#ifndef CAPTURE_LANGUAGES_H
#define CAPTURE_LANGUAGES_H

#include "bpf/event.h"
#include <stdbool.h>

#define LANGUAGE_PHP	((u8)(1u << BINARY_PHP))
#define LANGUAGE_PERL	((u8)(1u << BINARY_PERL))

/* One language, by the name that a person types; false if unknown. */
bool languages_parse(const char *name, u8 *ret);

/* "PHP", "Perl", "PHP or Perl". */
const char *languages_name(u8 languages);

/* The symbols by which a file is known to have them. */
const char *languages_symbols(u8 languages);

#endif
