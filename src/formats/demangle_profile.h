/* demangle_profile.h: all functions of a profile by the names that people write (demangle.h). */
#ifndef FORMATS_DEMANGLE_PROFILE_H
#define FORMATS_DEMANGLE_PROFILE_H

#include "profile.h"

/* Functions that come to have one name become one. */
void demangle_profile(struct profile *p);

#endif
