/* jit.h: detects whether code compiled by opcache's JIT may run in this process.
 *
 * PHP checks its interrupt flag in compiled code, too, but continues from there with inconsistent registers and
 * instruction pointers: with opcache.jit=function on PHP 8.2, and with either mode on PHP 8.4, programs then compute wrong
 * results, loop forever or crash (php-src pull request 21910 fixes one part). So interrupts and the JIT exclude each
 * other.
 *
 * Compiled code is in opcache's shared memory and is run by all processes that share it, even if opcache.jit is off
 * in them. So it matters whether the JIT was ever on in any descendant of the process that started PHP.
 * opcache_get_status() would tell, but warns if opcache.restrict_api forbids it; so the settings are read.
 */
#ifndef STROBE_JIT_H
#define STROBE_JIT_H

#include <stdbool.h>

/* Call it in MINIT. `on_start` is called in a PHP thread whose program has just enabled the JIT, before any code is
 * compiled. */
void jit_startup(void (*on_start)(void));
void jit_shutdown(void);

/* Call it at the start of each request. */
void jit_request_start(void);

/* Whether compiled code may run. */
bool jit_may_run(void);

#endif
