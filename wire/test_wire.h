/* test_wire.h: random numbers, and a parser whose input is an exact allocation, for tests of the wire format. */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H

#include "mem.h"
#include "strobe_wire.h"
#include "test.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static inline uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static inline uint32_t below(uint32_t n)
{
	return (uint32_t)(next_random() >> 33) % n;
}

/* A value of any magnitude. */
static inline int64_t any_value(void)
{
	uint64_t v = next_random() >> below(64);

	return (int64_t)(below(2) ? v : 0 - v);
}

/* Parses a copy of exact size, so that a sanitizer detects reads beyond its end. */
static inline enum strobe_wire_error parse_exactly(const uint8_t *bytes, size_t n, struct strobe_wire_message *m)
{
	uint8_t *exact = xmalloc(n);
	enum strobe_wire_error e;

	if (n)
		memcpy(exact, bytes, n);
	e = strobe_wire_parse(exact, n, m);
	free(exact);
	return e;
}

#endif
