/* secrets.h: removes passwords from texts that people read: errors, log lines, and the command line as `ps` shows it.
 *
 * A password is the text before the @ of a URL, after the colon if there is one, and the value of a parameter password, passwd,
 * secret or token: "redis://ann:***@host/?password=***". Without a colon, clickhouse:, otlp: and pyroscope: have a user there, and no
 * password. A URL ends at a blank. */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>

/* In place, in `size` bytes; what no longer fits is cut. Returns whether there was one. */
bool secrets_redact(char *text, size_t size);

/* A copy of the text without them. The caller frees it. */
char *secrets_shown(const char *text);

#endif
