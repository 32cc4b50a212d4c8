/* quarantine.h: files of the spool that a newer Strobe has written.
 *
 * After a downgrade they cannot be read, and must not be truncated or overwritten either: they are renamed.
 */
#ifndef RELAY_QUARANTINE_H
#define RELAY_QUARANTINE_H

#include "spool.h"

/* If the file has records of an unknown version, renames it to `<path>.version-<n>` (`-2`, `-3` … are appended if
 * that exists), counts and logs the file and its records, and returns 1. Returns 0 if it has none, or does not exist. */
int quarantine_foreign(const char *path, struct spool_counters *counters, struct err *err);

#endif
