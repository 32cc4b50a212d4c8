/* secrets.h: removes passwords from texts that people read: errors, log lines, and the command line as `ps` shows it.
 *
 * A password is the text before the @ of a URL, after the colon if there is one, and the value of a parameter password, passwd,
 * secret or token: "redis://ann:***@host/?password=***". Without a colon, clickhouse:, otlp: and pyroscope: URLs have
 * a user there, not a password. A URL ends at a blank. */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

/* Works in place, in `size` bytes; text that no longer fits is cut. Returns whether there was a password. */
bool secrets_redact(char *text, size_t size);

/* Returns a copy of the text without passwords. The caller frees it. */
char *secrets_shown(const char *text);

#endif
