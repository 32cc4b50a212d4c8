/* demangle_profile.h: demangles the names of all functions of a profile (demangle.h). */
#ifndef FORMATS_DEMANGLE_PROFILE_H
#define FORMATS_DEMANGLE_PROFILE_H

#include "profile.h"

/* Functions that get the same name are merged. */
void demangle_profile(struct profile *p);

#endif
