/* hash.h: XXH3 for long inputs, with the widest vectors of the processor.
 *
 * libxxhash is compiled for the oldest supported processor; on x86 it may also include code for newer ones, which is
 * selected at run time. The hashes are the same. For short inputs include <xxhash.h>: choosing would cost more than
 * it saves.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <xxhash.h>
#ifdef STROBE_XXH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#endif
