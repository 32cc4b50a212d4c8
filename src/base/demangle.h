/* demangle.h: converts names from symbols back to the form used in source code.
 *
 *	_ZN5myapp4main17h0123456789abcdefE	Rust: myapp::main
 *	_$LT$A$u20$as$u20$B$GT$::f::h0123…	the same, half demangled by perf: <A as B>::f
 *	_RNvC5myapp4main			Rust's second form (rust_name.h): myapp::main
 *	_ZNSt6vectorIiSaIiEE9push_backEOi	C++: std::vector<int, std::allocator<int> >::push_back(int&&)
 *
 * C++ names are demangled by the C++ library, if it is installed.
 */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

#include "buf.h"
#include "intern.h"
#include <stdbool.h>

/* Appends the demangled name. Appends nothing and returns false for any other name. */
bool demangle_put(struct buf *out, struct str name);

#endif
