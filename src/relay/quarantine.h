/* quarantine.h: files of the spool that a newer Strobe has written.
 *
 * After a downgrade they cannot be read, and must not be truncated or overwritten either: they are renamed.
 */
#ifndef RELAY_QUARANTINE_H
#define RELAY_QUARANTINE_H

#include "spool.h"

/* If the file has records of an unknown version, renames it to `<path>.version-<n>`, or with `-2`, `-3`, … behind it if
 * there is such a file, and counts and logs file and records. Returns 1 then, and 0 if there are none, or no
 * file. */
int quarantine_foreign(const char *path, struct spool_counters *counters, struct err *err);

#endif
