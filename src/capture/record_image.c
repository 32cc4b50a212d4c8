/* record_image.c: records the memory of a PHP process for test_php_images.c. Usage: record_image PID > IMAGE
 *
 * Records the memory read by the walk over a real PHP process, and by the comparison with correct and wrong tables of
 * offsets, for test_php_images.c. Run it on a script that sleeps. The first line is "php MAJOR MINOR FRAME GLOBALS
 * EXCEPTION", then one line per read: the address and the bytes, in hexadecimal. Failed reads are not recorded, so
 * they fail again. */

#include "bpf/php_names.h"
#include "bpf/php_walk.h"
#include "php_check.h"
#include "php_image.h"
#include "shifted_offsets.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static pid_t pid;

#define READS	65536u

static struct {
	u64 address;
	size_t size;
} reads[READS];
static size_t read_count;

static bool is_written(u64 address, size_t n)
{
	for (size_t i = 0; i < read_count; i++)
		if (address >= reads[i].address && address + n <= reads[i].address + reads[i].size)
			return true;
	if (read_count == READS)
		abort();
	reads[read_count].address = address;
	reads[read_count++].size = n;
	return false;
}

static void put_read(u64 address, const u8 *bytes, size_t n)
{
	if (is_written(address, n))
		return;
	printf("%llx ", (unsigned long long)address);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

bool read_user(void *to, u32 size, u64 address)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)size)
		return false;
	put_read(address, to, size);
	return true;
}

long read_user_text(char *to, u32 size, u64 address)
{
	for (u32 i = 0; i < size; i++) {
		struct iovec local = { to + i, 1 }, remote = { (void *)(uintptr_t)(address + i), 1 };

		if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != 1)
			return -1;
		if (!to[i]) {
			put_read(address, (u8 *)to, i + 1);
			return i + 1;
		}
	}
	return -1;
}

static void walk(const struct php_image *image, u64 frame)
{
	static struct php_walk w;
	static struct function_event e;

	php_walk_start(&w, frame);
	for (u32 i = 0; i < PHP_STEPS && php_walk_step(&w, &image->binary.layout); i++)
		;
	for (u32 i = 0; i < w.count; i++)
		if (w.frames[i].function >= FUNCTION_SPECIAL)
			php_describe(&image->binary.layout, w.functions[i], (u8 *)w.function, &e);
}

static void compare(const struct php_image *image, u64 bias)
{
	char why[128];
	struct php_image shifted = *image;

	php_check(image, bias, 0, why, sizeof(why));
	for (size_t i = 0; i < ARRAY_SIZE(shifted_fields); i++) {
		shifted.binary.layout = shifted_layout(&image->binary.layout, &shifted_fields[i]);
		php_check(&shifted, bias, 0, why, sizeof(why));
	}
}

int main(int argc, char **argv)
{
	struct php_offsets offsets;
	struct php_image image;
	struct err err = { 0 };
	char path[64];
	u64 bias, at, frame;
	struct iovec local = { &frame, 8 }, remote;
	int fd;

	pid = argc == 2 ? atoi(argv[1]) : 0;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	php_offsets_init(&offsets);
	if (fd < 0 || php_image_read(fd, path, &offsets, &image, &err) != 1 || image.binary.zts ||
	    !php_check_bias(&image, pid, &bias)) {
		fprintf(stderr, "cannot record %s: %s\n", path, err.text);
		return 1;
	}
	at = image.binary.executor_globals + bias;
	remote = (struct iovec){ (void *)(uintptr_t)(at + image.binary.layout.current_execute_data), 8 };
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != 8 || !frame) {
		fprintf(stderr, "process %d runs no PHP function\n", (int)pid);
		return 1;
	}
	printf("php %u %u %llx %llx %llx\n", image.major, image.minor, (unsigned long long)frame, (unsigned long long)at,
	       (unsigned long long)(image.exception_class + bias));
	walk(&image, frame);
	compare(&image, bias);
	return 0;
}
