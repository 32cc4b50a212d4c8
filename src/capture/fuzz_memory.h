/* fuzz_memory.h: simulates the memory of a process with any bytes, for the fuzzers of walkers. The input is repeated
 * endlessly, so that every pointer leads somewhere. */
#ifndef CAPTURE_FUZZ_MEMORY_H
#define CAPTURE_FUZZ_MEMORY_H

#include "bpf/user_memory.h"

#include <stddef.h>
#include <stdint.h>

static const uint8_t *memory;
static size_t memory_size;

/* A tenth of the addresses are not mapped. */
bool read_user(void *to, u32 size, u64 address)
{
	if (address % 10 == 7)
		return false;
	for (u32 i = 0; i < size; i++)
		((u8 *)to)[i] = memory[(address + i) % memory_size];
	return true;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		if (!read_user(to + i, 1, (address + i) * 10))
			return -1;
		if (i == size - 1)
			to[i] = 0;
		if (!to[i])
			return (long)i + 1;
	}
	return -1;
}

#endif
