/* rust_name.h: Rust's names of symbols in their second form, "v0", read by its specification
 * (https://doc.rust-lang.org/rustc/symbol-mangling/v0.html).
 *
 *	_RNvMNtC3foo3barNtB2_3Baz3run		<foo::bar::Baz>::run
 *	_RNCINvC3foo3barReE0B2_			foo::bar::<&str>::{closure#0}
 *
 * Names are those that people write: without the hashes of crates, and without the types of constants.
 */
#ifndef BASE_RUST_NAME_H
#define BASE_RUST_NAME_H

#include "buf.h"
#include "intern.h"

#include <stdbool.h>

/* Appends the name; false, and nothing, if it is malformed. A part of a name may refer back to an earlier one, which is then
 * repeated, so a short name can expand endlessly: names that expand more than 64 times, or to more than 4,096 bytes, are
 * malformed, too. */
bool rust_name_put(struct buf *out, struct str name);

#endif
