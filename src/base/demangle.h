/* demangle.h: names as compilers write them into symbols, as people write them into programs.
 *
 *	_ZN5myapp4main17h0123456789abcdefE	Rust: myapp::main
 *	_$LT$A$u20$as$u20$B$GT$::f::h0123…	the same, half read by perf: <A as B>::f
 *	_RNvC5myapp4main			Rust's second form (rust_name.h): myapp::main
 *	_ZNSt6vectorIiSaIiEE9push_backEOi	C++: std::vector<int, std::allocator<int> >::push_back(int&&)
 *
 * C++ is read by its own library, if there is one on this machine.
 */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include "buf.h"
#include "intern.h"
#include <stdbool.h>

/* Appends the name. For any other name it appends nothing and returns false. */
bool demangle_put(struct buf *out, struct str name);

#endif
