/* fuzz_perl_image.c: inspects any bytes as an ELF file that may contain Perl. */
#include "perl_image.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct perl_offsets offsets;
	struct perl_image i;
	struct err err = { 0 };
	int fd = memfd_create("elf", MFD_CLOEXEC), code;

	if (!offsets.count)
		perl_offsets_init(&offsets);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	code = perl_image_read(fd, "file", &offsets, &i, &err);
	if (code > 1 || (code < 0 && !*err.text) || (code == 1 && i.binary.kind != BINARY_PERL))
		abort();
	close(fd);
	return 0;
}
