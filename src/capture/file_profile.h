/* file_profile.h: a profile of the calls that a stack registry counted: PHP's frames, the operation, the file. */
#ifndef CAPTURE_FILE_PROFILE_H
#define CAPTURE_FILE_PROFILE_H

#include "stack_registry.h"

/* Implementation of stack_registry_profile and stack_registry_each for file I/O. */
struct profile *file_profile(struct stack_registry *b, const struct stack_registry_layers *layers);
void file_profile_each(struct stack_registry *b, const struct stack_registry_layers *layers, void *data,
		       void (*label)(void *data, const struct count_key *key, struct labels *ret),
		       void (*take)(void *data, struct profile *p));

#endif
