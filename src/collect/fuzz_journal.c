/* fuzz_journal.c: any bytes as what a journal's records say, and as the file itself.
 *
 * Records have checksums that chance never meets, so they are put around the bytes here: behind a first byte that is
 * not 0 the input is a row of bodies, each with its length in a byte in front. Behind a 0 it is the file. Whatever was
 * read, the journal goes on: what it is told afterwards it knows the next time. */
#include "io.h"
#include "journal.h"
#include "ledger.h"
#include "log.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NEW_ID	0x5ad0be5ad0be5ad0ull

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[64], path[96];

static void remove_all(void)
{
	char lock[128];

	unlink(path);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	rmdir(directory);
}

/* Uses a file system in memory if possible, since each record is synced. */
static void make_place(void)
{
	log_set_level(0);
	snprintf(directory, sizeof(directory), "%s/strobe-journal-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(directory))
		abort();
	snprintf(path, sizeof(path), "%s/collect.journal", directory);
	atexit(remove_all);
}

static void put_records(const uint8_t *p, const uint8_t *end, struct buf *file)
{
	while (p < end) {
		size_t n = *p++;

		if (n > (size_t)(end - p))
			n = (size_t)(end - p);
		ledger_put(file, p, n);
		p += n;
	}
}

static struct journal *open_again(struct journal *j)
{
	struct err err = { 0 };

	journal_close(j);
	if (journal_open(path, &j, &err) < 0)
		abort();
	return j;
}

/* Calls the journal as a collector does. */
static void use(struct journal *j)
{
	struct source source = { .url = (char *)"redis://h/?stream=s&group=g" };
	struct ack_token t = { 0, 1, 2 };
	struct open_batch_share share = { .source = &source, .ack_tokens = &t, .ack_token_count = 1 };
	struct open_batch b = { .batch.id = NEW_ID, .now_ns = 5, .shares = &share, .share_count = 1 };
	struct err err = { 0 };
	int64_t now_ns;

	journal_batch_of(j, "a", &t, &now_ns);
	journal_seen(j, 1);
	if (journal_begin(j, &b, &err) < 0)
		abort();
}

static void check_that_it_knows(struct journal *j)
{
	struct ack_token t = { 0, 1, 2 };
	int64_t now_ns = 0;

	if (journal_batch_of(j, "redis://h/?stream=s&group=g", &t, &now_ns) != NEW_ID || now_ns != 5)
		abort();
	journal_end(j, NEW_ID);
	journal_caught_up(j, "redis://h/?stream=s&group=g");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct journal *j = NULL;
	struct err err = { 0 };
	struct buf file;

	if (!size)
		return 0;
	if (!*path)
		make_place();
	buf_init(&file);
	if (data[0])
		put_records(data + 1, data + size, &file);
	else
		buf_put(&file, data + 1, size - 1);
	if (io_write_file(path, file.data, file.size, &err) < 0)
		abort();
	j = open_again(NULL);
	use(j);
	j = open_again(j);
	check_that_it_knows(j);
	journal_close(j);
	buf_done(&file);
	return 0;
}
