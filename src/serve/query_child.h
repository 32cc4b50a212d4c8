/* query_child.h: the process of one query. */
#ifndef SERVE_QUERY_CHILD_H
#define SERVE_QUERY_CHILD_H

#include "query_starter.h"

/* Exit status if the answer is too large; MEM_EXIT_STATUS (mem.h) if memory was exhausted. */
#define QUERY_EXIT_ANSWER 3

/* Reads the request from `channel`, responds, and exits. `parent` is the process that started this one. */
void query_child(pid_t parent, int channel, int body, const struct query_start *start) __attribute__((noreturn));

#endif
