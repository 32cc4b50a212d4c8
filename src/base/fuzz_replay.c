/* fuzz_replay.c: the main() of a fuzz target that is built without libFuzzer.
 *
 * It runs the target on every given file, or file in a given directory, and on variants of small ones: every
 * truncation, and every byte changed in a few ways. So the corpus is also tested by every `make test`, with every
 * compiler and sanitizer. It fails if there is nothing to replay. */
#include "io.h"
#include "mem.h"
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#define NEAR_MAX	4096			/* size of files whose variants are tested, too */
#define INPUTS_MAX	200000			/* limit for all variants together */
#define FILE_MAX	((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t inputs, neighbors;

/* Uses memory of exactly that size, so that a sanitizer detects each access beyond its end. */
static void run(const void *bytes, size_t n)
{
	uint8_t *copy = xmalloc(n);

	if (n)
		memcpy(copy, bytes, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
	inputs++;
}

static void run_near(char *bytes, size_t n)
{
	static const unsigned char flips[] = { 0x01, 0x80, 0xff };

	for (size_t i = 0; i < n && neighbors < INPUTS_MAX; i++, neighbors++)
		run(bytes, i);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(flips) && neighbors < INPUTS_MAX; k++, neighbors++) {
			bytes[i] = (char)(bytes[i] ^ flips[k]);
			run(bytes, n);
			bytes[i] = (char)(bytes[i] ^ flips[k]);
		}
}

static int replay_file(const char *path)
{
	struct err err;
	struct buf b;
	int r;

	buf_init(&b);
	r = io_read_file(path, &b, FILE_MAX, &err);
	if (r < 0) {
		printf("# %s\n", err.text);
	} else {
		run(b.data, b.size);
		if (b.size <= NEAR_MAX)
			run_near(b.data, b.size);
	}
	buf_done(&b);
	return r;
}

static int replay(const char *path)
{
	struct dirent **list = NULL;
	struct stat st;
	int n, r = 0;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return replay_file(path);
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (list[i]->d_name[0] != '.') {
			char *inner = xasprintf("%s/%s", path, list[i]->d_name);
			int one = replay_file(inner);

			r = one < 0 ? one : r;
			free(inner);
		}
		free(list[i]);
	}
	free(list);
	return n < 0 ? -errno : r;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	int failed = 0;

	name += strncmp(name, "fuzz_", 5) ? 0 : 5;
	for (int i = 1; i < argc; i++)
		if (replay(argv[i]) < 0) {
			printf("not ok - fuzz %s: cannot replay %s\n", name, argv[i]);
			failed = 1;
		}
	if (inputs == 0)
		failed = 1;
	printf("%s - fuzz %s: %zu inputs replayed\n", failed ? "not ok" : "ok", name, inputs);
	return failed;
}
