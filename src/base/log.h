/* log.h: one line per event on standard error; data goes to standard output only.
 *
 * Under systemd (JOURNAL_STREAM is set) lines begin with the journal's "<N>" priority, else with "strobe: ".
 * Only src/cli and long-running stages (collect, store's background work, serve) log; nothing logs per sample. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "cleanup.h"
#include <stdbool.h>
#include <stdint.h>

void log_error(const char *format, ...) _printf_(1, 2);
void log_warning(const char *format, ...) _printf_(1, 2);
void log_info(const char *format, ...) _printf_(1, 2);
void log_debug(const char *format, ...) _printf_(1, 2);

/* For recurring events, such as drops: returns true at most once a minute for each `*next_ns`, which starts at 0. */
bool log_is_due(int64_t *next_ns);

/* 0 errors, 1 warnings, 2 also events (the default), 3 also debugging. */
void log_set_level(int level);

#endif
