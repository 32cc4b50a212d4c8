/* fuzz_spool.c: any bytes as the files of a spool: what can be read is read, what cannot is counted, and both add up.
 *
 * The first byte says which file the others are: a segment, or one of the two of the window; or that they are the messages
 * of a whole part, which no change of a file's bytes gets past its hashes. */
#include "window.h"

#include "log.h"
#include "mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = { "0000000000000001.spool", "window-1", "window-0", "position" };
static char directory[64];

static void remove_directory(void)
{
	_cleanup_(freep) char *lock = xasprintf("%s/lock", directory);

	unlink(lock);
	rmdir(directory);
}

static void make_directory(void)
{
	struct stat st;

	log_set_level(-1);
	snprintf(directory, sizeof(directory), "%s/strobe-fuzz-XXXXXX", stat("/dev/shm", &st) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(directory))
		abort();
	atexit(remove_directory);
}

static void put_file(const char *name, const void *bytes, size_t n)
{
	_cleanup_(freep) char *path = xasprintf("%s/%s", directory, name);
	_cleanup_(fd_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (record_write(fd, 0, bytes, n) < 0)
		abort();
}

static void put_part(const void *messages, size_t n)
{
	struct record r = { .kind = RECORD_PART, .first = true, .last = true, .window = 1, .samples = 10, .owner = 5 };
	_cleanup_(freep) uint8_t *bytes = xmalloc(RECORD_HEADER + ZSTD_compressBound(n));

	n = ZSTD_compress(bytes + RECORD_HEADER, ZSTD_compressBound(n), messages, n, 1);
	record_seal(&r, bytes + RECORD_HEADER, n, bytes);
	put_file("window-1", bytes, RECORD_HEADER + n);
}

static void remove_files(void)
{
	struct dirent *d;
	DIR *dir = opendir(directory);

	while (dir && (d = readdir(dir))) {		/* those that were set aside, too */
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, d->d_name);

		unlink(path);
	}
	if (dir)
		closedir(dir);
}

static void check(const struct spool_counters *n)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < SPOOL_DROPS; i++)
		dropped += n->samples_dropped[i];
	if (n->samples_recovered + n->samples_received != n->samples_forwarded + n->samples_deduplicated + dropped + n->samples_waiting)
		abort();
}

static void drain(struct spool *s)
{
	struct spool_entry e = { 0 };

	buf_init(&e.body);
	while (spool_next(s, &e) == 1)
		spool_done(s);
	buf_done(&e.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool_counters counters = { 0 };
	struct spool *s = NULL;
	struct window *w = NULL;

	if (!*directory)
		make_directory();
	if (!size || size > 1 << 20)
		return 0;
	if (data[0] % (ARRAY_SIZE(names) + 1) == ARRAY_SIZE(names))
		put_part(data + 1, size - 1);
	else
		put_file(names[data[0] % (ARRAY_SIZE(names) + 1)], data + 1, size - 1);
	if (spool_open(directory, (uint64_t)1 << 30, &counters, &s, NULL) < 0 ||
	    window_open(directory, "web1", s, &counters, &w, NULL) < 0)
		abort();
	drain(s);
	check(&counters);
	if (window_close(w, NULL) < 0)
		abort();
	drain(s);
	check(&counters);
	if (counters.samples_waiting || counters.records_waiting)
		abort();
	window_free(w);
	spool_close(s);
	remove_files();
	return 0;
}
