/* remote_memory.c: reads memory with process_vm_readv. */

#include "remote_memory.h"

#include "map.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define BUFFER_BYTES	(256u << 10)
#define BLOCKS		4096u
#define LARGE_BLOCKS	64u
#define GAP_BYTES	2048u

struct block {
	u64 address;
	u32 size, offset;		/* size 0: not readable */
};

/* Global to the program: threads must not read at the same time. */
static struct {
	pid_t pid;
	u64 calls;
	struct map starts;		/* address -> index of `blocks` */
	struct block blocks[BLOCKS];
	u32 large[LARGE_BLOCKS];
	u32 count, large_count, used;
	u8 bytes[BUFFER_BYTES] __attribute__((aligned(8)));
} memory;

void remote_memory_select(pid_t pid)
{
	memory.pid = pid;
	remote_memory_forget();
}

void remote_memory_forget(void)
{
	map_clear(&memory.starts);
	memory.count = memory.large_count = memory.used = 0;
}

u64 remote_memory_calls(void)
{
	return memory.calls;
}

static ssize_t read_some(void *to, size_t size, const struct iovec *remote, size_t count)
{
	struct iovec local = { to, size };

	memory.calls++;
	return process_vm_readv(memory.pid, &local, 1, remote, count, 0);
}

bool remote_memory_is_open(void)
{
	struct iovec nowhere = { (void *)8, 8 };
	u64 there;

	return read_some(&there, sizeof(there), &nowhere, 1) >= 0 || errno != EPERM;
}

/* --- the cache of fetched memory */

/* Reserves space for a range, unless it was already fetched or there is none left. */
static bool plan(const struct remote_range *r)
{
	u32 at = map_get(&memory.starts, r->address);
	struct block *b;

	if (!r->address || !r->size || (at != MAP_NONE && memory.blocks[at].size >= r->size))
		return false;
	if (memory.count == BLOCKS || r->size > BUFFER_BYTES - memory.used)
		return false;
	b = &memory.blocks[memory.count];
	*b = (struct block){ r->address, r->size, memory.used };
	memory.used += (r->size + 7) & ~7u;
	map_set(&memory.starts, r->address, memory.count);
	if (r->size >= LARGE_BYTES && memory.large_count < LARGE_BLOCKS)
		memory.large[memory.large_count++] = memory.count;
	memory.count++;
	return true;
}

static int by_address(const void *a, const void *b)
{
	u64 x = memory.blocks[*(const u32 *)a].address, y = memory.blocks[*(const u32 *)b].address;

	return x < y ? -1 : x > y;
}

/* The arguments of one system call: parts of the process' memory, each with blocks that are close together. */
static struct {
	struct iovec remote[IOV_MAX], local[IOV_MAX];
	u32 ends[IOV_MAX];		/* index after the last block of each part */
	u32 remote_count, local_count;
	u8 gaps[GAP_BYTES];		/* receives the bytes between blocks, which are discarded */
} batch;

/* Tells whether the block should be read with the previous part: a part costs as much as copying 2 KB. */
static bool joins(const struct block *b, u32 gap, u64 *ret_between)
{
	const struct iovec *last = batch.remote_count ? &batch.remote[batch.remote_count - 1] : NULL;
	u64 end = last ? (u64)(uintptr_t)last->iov_base + last->iov_len : 0;

	if (!last || b->address < end || b->address - end > gap)
		return false;
	*ret_between = b->address - end;
	return gap;
}

static void fill_batch(const u32 *numbers, u32 count, u32 gap)
{
	batch.remote_count = batch.local_count = 0;
	for (u32 i = 0; i < count && batch.local_count + 2 <= IOV_MAX; i++) {
		const struct block *b = &memory.blocks[numbers[i]];
		u64 between = 0;

		if (joins(b, gap, &between)) {
			if (between)
				batch.local[batch.local_count++] = (struct iovec){ batch.gaps, between };
			batch.remote[batch.remote_count - 1].iov_len += between + b->size;
		} else {
			batch.remote[batch.remote_count++] = (struct iovec){ (void *)(uintptr_t)b->address, b->size };
		}
		batch.local[batch.local_count++] = (struct iovec){ memory.bytes + b->offset, b->size };
		batch.ends[batch.remote_count - 1] = i + 1;
	}
}

/* Reads blocks in the order of their addresses. A part that cannot be read is retried block by block. */
static void read_blocks(const u32 *numbers, u32 count, u32 gap)
{
	while (count) {
		u32 good = 0, first, end;
		ssize_t got;

		fill_batch(numbers, count, gap);
		memory.calls++;
		got = process_vm_readv(memory.pid, batch.local, batch.local_count, batch.remote, batch.remote_count, 0);
		while (good < batch.remote_count && got >= (ssize_t)batch.remote[good].iov_len)
			got -= (ssize_t)batch.remote[good++].iov_len;
		end = batch.ends[good < batch.remote_count ? good : good - 1];
		first = good ? batch.ends[good - 1] : 0;
		if (end - first == 1)
			memory.blocks[numbers[first]].size = 0;
		else if (end > first)
			read_blocks(numbers + first, end - first, 0);
		numbers += end;
		count -= end;
	}
}

void remote_memory_fetch(const struct remote_range *ranges, size_t count)
{
	static u32 numbers[BLOCKS];
	u32 first = memory.count, n;

	for (size_t i = 0; i < count; i++)
		plan(&ranges[i]);
	n = memory.count - first;
	for (u32 i = 0; i < n; i++)
		numbers[i] = first + i;
	qsort(numbers, n, sizeof(*numbers), by_address);
	read_blocks(numbers, n, GAP_BYTES);
}

const void *remote_memory_find(u64 address, u32 size)
{
	u32 at = map_get(&memory.starts, address);

	if (at != MAP_NONE && memory.blocks[at].size >= size)
		return memory.bytes + memory.blocks[at].offset;
	for (u32 i = memory.large_count; i-- > 0; ) {
		const struct block *b = &memory.blocks[memory.large[i]];

		if (address >= b->address && size <= b->size && address - b->address <= b->size - size)
			return memory.bytes + b->offset + (address - b->address);
	}
	return NULL;
}

/* --- for the walkers */

bool read_user(void *to, u32 size, u64 address)
{
	struct iovec remote = { (void *)(uintptr_t)address, size };
	const void *there = memory.count ? remote_memory_find(address, size) : NULL;

	if (there) {
		memcpy(to, there, size);
		return true;
	}
	return read_some(to, size, &remote, 1) == (ssize_t)size;
}

/* Reads in parts that end with a page, since the text may end just before a page that is not mapped. */
long read_user_text(char *to, u32 size, u64 address)
{
	u32 done = 0;

	while (done + 1 < size) {
		size_t part = 4096 - (address + done) % 4096;
		struct iovec remote;
		ssize_t n;
		char *nul;

		if (part > size - 1 - done)
			part = size - 1 - done;
		remote = (struct iovec){ (void *)(uintptr_t)(address + done), part };
		n = read_some(to + done, part, &remote, 1);
		if (n <= 0)
			return -1;
		nul = memchr(to + done, 0, (size_t)n);
		if (nul)
			return nul - to + 1;
		done += (u32)n;
	}
	to[done] = 0;
	return done + 1;
}
