/* rust_reader.h: the bytes of a mangled Rust name, and the demangled name so far; shared by rust_name.c and
 * rust_const.c. */
#ifndef BASE_RUST_READER_H
#define BASE_RUST_READER_H

#include "buf.h"
#include "intern.h"

#include <stdbool.h>
#include <stdint.h>

struct rust_reader {
	const char *start, *p, *end;	/* after "_R" */
	struct buf out;
	unsigned silent;		/* above 0: parts are read but not printed */
	unsigned depth, steps, steps_max;
	uint64_t lifetimes;		/* number of lifetimes bound here */
	bool failed;
};

struct rust_identifier {
	struct str text;
	bool is_punycode;
};

/* Stops reading: all later bytes count as missing. */
void rust_fail(struct rust_reader *r);
/* Returns the next byte, NUL at the end. */
char rust_peek(const struct rust_reader *r);

/* Consumes the byte if it is this one. */
bool rust_eat(struct rust_reader *r, char c);
char rust_take(struct rust_reader *r);
void rust_put(struct rust_reader *r, const char *text);
void rust_put_number(struct rust_reader *r, uint64_t n);

uint64_t rust_take_decimal(struct rust_reader *r);
/* Reads a base-62 number: "_" is 0, "0_" is 1. */
uint64_t rust_take_62(struct rust_reader *r);
/* Returns 0 if there is none. */
uint64_t rust_take_optional_62(struct rust_reader *r, char tag);

/* Fails if it is invalid Punycode. */
void rust_put_identifier(struct rust_reader *r, struct rust_identifier id);
struct rust_identifier rust_take_identifier(struct rust_reader *r);

/* Called for each part that may contain others. */
bool rust_enter(struct rust_reader *r);
/* Continues at an earlier position, and returns the current one; NULL if the position is invalid. */
const char *rust_go_back(struct rust_reader *r);
void rust_return_to(struct rust_reader *r, const char *from);

/* Puts a list up to "E", separated by commas; returns its length. */
size_t rust_put_list(struct rust_reader *r, void (*one)(struct rust_reader *));

/* Parts that may contain each other. */
void rust_put_path(struct rust_reader *r, bool in_value);
void rust_put_type(struct rust_reader *r);
void rust_put_const(struct rust_reader *r, bool in_value);

#endif
