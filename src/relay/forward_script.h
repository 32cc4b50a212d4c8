/* forward_script.h: forward.lua as the build embeds it (embed_script.py). */
#ifndef RELAY_FORWARD_SCRIPT_H
#define RELAY_FORWARD_SCRIPT_H

#include <stddef.h>

#define FORWARD_SCRIPT_SHA1_SIZE	40u

extern const char forward_script[];		/* no string: there is no NUL behind it */
extern const size_t forward_script_size;
extern const char forward_script_sha1[];	/* in hexadecimal, for EVALSHA */

#endif
