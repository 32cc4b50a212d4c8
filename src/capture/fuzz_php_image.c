/* fuzz_php_image.c: inspects any bytes as the program of a process. */
#include "php_image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct php_offsets o;
	struct php_image image;
	struct err err = { 0 };
	int fd = memfd_create("fuzz", MFD_CLOEXEC), r;

	if (!o.count)
		php_offsets_init(&o);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	r = php_image_read(fd, "fuzz", &o, &image, &err);
	if ((r < 0 && !*err.text) || (r == 1 && (!image.major || !image.binary.executor_globals)))
		abort();
	close(fd);
	return 0;
}
