/* hash.h: XXH3 for long inputs, in the widest vectors that the processor has.
 *
 * libxxhash is compiled for any processor of its kind; on x86 it may also have the code for newer ones, which is chosen
 * at run time. The hashes are the same. For short inputs include <xxhash.h>: choosing would cost more than it saves.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <xxhash.h>
#ifdef STROBE_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#endif
