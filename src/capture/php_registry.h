/* php_registry.h: the files that have been examined, and which of them are a PHP, or Perl, that can be sampled.
 *
 * A file is examined once, whichever processes run it: programs when the kernel reports them or from /proc, and libraries of programs
 * without an interpreter of their own (mod_php, embeddings). A table of offsets that does not fit a process is refused, and the
 * reason kept for the person.
 */
#ifndef CAPTURE_PHP_REGISTRY_H
#define CAPTURE_PHP_REGISTRY_H

#include "perl_offsets.h"
#include "php_image.h"
#include "bpf_sampler.h"
#include <sys/types.h>

struct php_registry;

/* Copies the tables of offsets. `s` receives what is found; it may be NULL. Files of languages outside the set
 * (languages.h) are ignored. */
struct php_registry *php_registry_new(struct sampler *s, const struct php_offsets *php, const struct perl_offsets *perl,
				      u8 languages);
struct php_registry *php_registry_free(struct php_registry *r);		/* NULL is fine; returns NULL */

/* Looks at a process' program, and its libraries if it may have loaded libphp or libperl. Returns LANGUAGE_PHP or LANGUAGE_PERL
 * (languages.h) if it has that, 0 if neither, or an error with a sentence: -ESRCH if the process is gone, -EACCES if it may not
 * be inspected, -ENOTSUP for one that the table of offsets does not know or does not fit. */
int php_registry_add_process(struct php_registry *r, pid_t pid, struct err *err);

/* Compares the table of offsets again with processes that had nothing to compare it with when they were added, such as idle
 * workers. To be called each second or so. */
void php_registry_check_again(struct php_registry *r);

/* The PHP (or Perl) of a process, for readers of its memory. Returns what php_registry_add_process does. */
int php_registry_find(struct php_registry *r, pid_t pid, struct hosted_php *ret, struct err *err);

/* Looks at the PHPs and Perls in the directories of PATH, so that the first short-lived process is known before it runs. */
void php_registry_add_path(struct php_registry *r);

/* Answers events: a process runs a file that was never seen, or may have loaded a library. */
void php_registry_answer(struct php_registry *r, const struct binary_event *e);
void php_registry_answer_host(struct php_registry *r, const struct process_event *e);

/* The reason why a PHP or Perl is not sampled; "" if there is none. */
const char *php_registry_refused(const struct php_registry *r);

/* The number of files refused so far. */
size_t php_registry_refusals(const struct php_registry *r);

#endif
