/* php_registry.h: remembers the files that have been examined, and which of them are a PHP or Perl that can be sampled.
 *
 * A file is examined once, no matter which processes run it: programs when the kernel reports them or from /proc, and
 * libraries of programs that are not an interpreter themselves (mod_php, embedding). If the table of offsets does not
 * match a process, the file is refused, and the reason kept for the user.
 */
#ifndef CAPTURE_PHP_REGISTRY_H
#define CAPTURE_PHP_REGISTRY_H

#include "perl_offsets.h"
#include "php_image.h"
#include "bpf_sampler.h"
#include <sys/types.h>

struct php_registry;

/* Copies the tables of offsets. `s` receives the results; it may be NULL. Files of languages outside the set
 * (languages.h) are ignored. */
struct php_registry *php_registry_new(struct sampler *s, const struct php_offsets *php, const struct perl_offsets *perl,
				      u8 languages);
struct php_registry *php_registry_free(struct php_registry *r);		/* NULL is fine; returns NULL */

/* Inspects a process' program, and its libraries if it may have loaded libphp or libperl. Returns LANGUAGE_PHP or
 * LANGUAGE_PERL (languages.h), 0 if it has neither, or an error with a sentence: -ESRCH if the process has ended,
 * -EACCES if it may not be inspected, -ENOTSUP if it is missing in the table of offsets or does not match it. */
int php_registry_add_process(struct php_registry *r, pid_t pid, struct err *err);

/* Compares the table of offsets again with processes that were not conclusive when they were added, such as idle
 * workers. Call it about once a second. */
void php_registry_check_again(struct php_registry *r);

/* Returns the PHP (or Perl) of a process, for readers of its memory. Returns the same as php_registry_add_process. */
int php_registry_find(struct php_registry *r, pid_t pid, struct hosted_php *ret, struct err *err);

/* Examines the PHPs and Perls in the directories of PATH, so that the first short-lived process is known before it
 * runs. */
void php_registry_add_path(struct php_registry *r);

/* Answers events: a process runs a new file, or may have loaded a library. */
void php_registry_answer(struct php_registry *r, const struct binary_event *e);
void php_registry_answer_host(struct php_registry *r, const struct process_event *e);

/* Returns the reason why a PHP or Perl is not sampled; "" if there is none. */
const char *php_registry_refused(const struct php_registry *r);

/* Returns the number of files refused so far. */
size_t php_registry_refusals(const struct php_registry *r);

#endif
