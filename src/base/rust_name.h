/* rust_name.h: demangles Rust's symbols in their second form, "v0", according to its specification
 * (https://doc.rust-lang.org/rustc/symbol-mangling/v0.html).
 *
 *	_RNvMNtC3foo3barNtB2_3Baz3run		<foo::bar::Baz>::run
 *	_RNCINvC3foo3barReE0B2_			foo::bar::<&str>::{closure#0}
 *
 * The results are names as in source code: without the hashes of crates and the types of constants.
 */
#ifndef BASE_RUST_NAME_H
#define BASE_RUST_NAME_H

#include "buf.h"
#include "intern.h"

#include <stdbool.h>

/* Appends the demangled name; returns false, and appends nothing, if it is malformed. A part of a name may refer back
 * to an earlier one, which is then repeated, so a short name may expand endlessly: names that expand more than 64
 * times, or to more than 4,096 bytes, count as malformed, too. */
bool rust_name_put(struct buf *out, struct str name);

#endif
