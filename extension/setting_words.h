/* setting_words.h: parses the values of settings, and suggests corrections for invalid ones. Needs only strings of PHP.
 */
#ifndef STROBE_SETTING_WORDS_H
#define STROBE_SETTING_WORDS_H

#include "php.h"

/* Parses a number without anything after it. */
bool setting_number(const zend_string *s, double *ret);

/* Parses on or off as PHP does. */
bool setting_switch(const zend_string *s, bool *ret);

/* Returns the word of a NULL-terminated list most similar to `n` bytes at `p`; NULL if none is. */
const char *setting_nearest(const char *p, size_t n, const char *const *words);

/* Each writes a suggestion to `out` and returns it, or NULL: seconds from "10ms" or from microseconds, a share from
 * "10%", "1/1000" or 50, the nearest limit of a range. */
#define SETTING_GUESS 32
const char *setting_guess_seconds(const zend_string *s, double min, double max, char out[SETTING_GUESS]);
const char *setting_guess_share(const zend_string *s, char out[SETTING_GUESS]);
const char *setting_guess_range(const zend_string *s, double min, double max, char out[SETTING_GUESS]);

#endif
