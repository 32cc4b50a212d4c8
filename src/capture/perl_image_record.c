/* perl_image_record.c: a tool for developers: records the memory read by a walk over a Perl process, in the format of
 * memory_image.h. The process must not run.
 *
 *	tests/data/perl/record PERL > tests/data/perl/NAME.image
 */
#include "bpf/perl_names.h"
#include "perl_image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t pid;

static ssize_t read_remote(void *to, size_t size, u64 address)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

static void put(const u8 *bytes, size_t n, u64 address)
{
	printf("%llx ", (unsigned long long)address);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

bool read_user(void *to, u32 size, u64 address)
{
	if (read_remote(to, size, address) != (ssize_t)size)
		return false;
	put(to, size, address);
	return true;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		if (read_remote(to + i, 1, address + i) != 1)
			return -1;
		if (i == size - 1)
			to[i] = 0;
		if (!to[i]) {
			put((u8 *)to, i + 1, address);
			return (long)i + 1;
		}
	}
	return -1;
}

static u64 text_start(void)
{
	char path[64];
	unsigned long long start = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	/* The program's name must not contain blanks here. */
	if (f) {
		for (unsigned field = 1; field < 26; field++)
			if (fscanf(f, "%*s") < 0)
				break;
		if (fscanf(f, "%llu", &start) != 1)
			start = 0;
		fclose(f);
	}
	return start;
}

static struct php_walk stack;
static struct perl_walk walk;
static struct function_event event;

int main(int argc, char **argv)
{
	struct perl_offsets offsets;
	struct perl_image i;
	struct perl_place *p = &i.binary.perl;
	struct err err = { 0 };
	u64 bias, interpreter = 1;
	char path[64];

	if (argc != 2 || (pid = (pid_t)atol(argv[1])) < 1)
		return fputs("usage: perl_image_record PID\n", stderr), 1;
	perl_offsets_init(&offsets);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (perl_image_read(open(path, O_RDONLY), path, &offsets, &i, &err) != 1 || !(bias = text_start()))
		return fprintf(stderr, "no Perl: %s\n", err.text), 1;
	bias -= i.binary.text;
	if (p->threads && read_remote(&interpreter, 8, i.first_interpreter + bias) != 8)
		return fputs("cannot read the process\n", stderr), 1;
	printf("# Perl %s\nminor=%u\nthreads=%u\nbias=%llu\ninterpreter=%llu\ncurstackinfo=%llu\ncurcop=%llu\n", i.version, i.minor,
	       p->threads, (unsigned long long)bias, (unsigned long long)interpreter, (unsigned long long)p->curstackinfo,
	       (unsigned long long)p->curcop);
	if (!perl_walk_start(&stack, &walk, p, bias, interpreter))
		return fputs("cannot begin\n", stderr), 1;
	while (perl_walk_step(&stack, &walk, &p->layout))
		;
	for (u32 at = 0; at < stack.count; at++)
		perl_describe(&p->layout, &stack, &walk, at, &event);
	return 0;
}
