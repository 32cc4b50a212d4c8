/* err.h: an error: a number for the program and a sentence for the user.
 *
 * A function that can fail returns 0 or more on success and a negative errno on failure, and takes `struct err *`
 * last. The sentence says what was being done, to what, and where to look; it has no newline and no "strobe:".
 * Its text is fit for a terminal (text_put_plain) and has no passwords (secrets.h).
 * Everything below the commands hands errors up; only src/cli prints them. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "cleanup.h"

struct err {
	int code;		/* negative errno, 0 if nothing failed */
	const char *option;	/* name of the option with the invalid value, "token-file"; NULL: unknown */
	const char *item;	/* which item of its list; NULL: unknown */
	char text[1024];
};

/* Fills `err` (NULL is fine) and returns `code`, so that `return err_set(err, -errno, "…")` reads well. */
int err_set(struct err *err, int code, const char *format, ...) _printf_(3, 4);

/* Prepends "…: " to the sentence, and returns its code (-EIO if `err` is NULL). */
int err_prefix(struct err *err, const char *format, ...) _printf_(2, 3);

/* Records the option, and the item of its list (NULL: none), whose value is invalid, for a caller that knows where it
 * was set; returns the code. Both must live as long as `err`. A sentence that begins with "--OPTION" already names it. */
int err_about(struct err *err, const char *option, const char *item);

#endif
