/* quarantine.c: finds files with records of other versions, and renames them. */
#include "quarantine.h"

#include "log.h"
#include "mem.h"
#include "private_file.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_MAX	1000u

struct foreign {
	unsigned version;		/* the first one found; 0: none */
	uint64_t records;
	uint64_t samples, known;	/* samples in readable records, and the number of these records */
};

/* Returns the next offset, from `at`, at which a record of any version begins. Bodies of unknown records are
 * searched, too. */
static off_t next_magic(int fd, off_t at, off_t end)
{
	char bytes[4096 + 3];

	while (end - at >= (off_t)RECORD_HEADER_1) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), at);
		const char *found;

		if (n < 4)
			return end;
		found = memmem(bytes, (size_t)n, "SPLR", 4);
		if (found)
			return at + (found - bytes);
		at += n - 3;
	}
	return end;
}

static struct foreign inspect(int fd, off_t end)
{
	struct foreign f = { 0 };
	struct record r;

	for (off_t at = 0; at < end; at = next_magic(fd, at, end)) {
		unsigned version;

		if (record_at(fd, at, end, &r) == 1) {
			f.samples += r.samples;
			f.known++;
			at += record_size(&r);
			continue;
		}
		version = record_foreign_version(fd, at, end);
		f.version = f.version ? f.version : version;
		f.records += version != 0;
		at++;
	}
	return f;
}

/* Renames without replacing an existing file. */
static int rename_free(const char *path, unsigned version, char **ret)
{
	assert(version > 0);		/* only files of other versions are renamed */
	for (unsigned i = 1; i <= NAMES_MAX; i++) {
		_cleanup_(freep) char *to = i == 1 ? xasprintf("%s.version-%u", path, version)
						   : xasprintf("%s.version-%u-%u", path, version, i);

		if (!renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE)) {
			*ret = TAKE_PTR(to);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int quarantine_foreign(const char *path, struct spool_counters *counters, struct err *err)
{
	_cleanup_(fd_closep) int fd = -1;
	_cleanup_(freep) char *to = NULL;
	struct foreign f;
	struct stat st;
	int r = private_file_open(path, O_RDONLY, &fd, err);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (fstat(fd, &st))
		return err_set(err, -errno, "cannot open '%s': %s", path, strerror(errno));
	f = inspect(fd, st.st_size);
	if (!f.version)
		return 0;
	r = rename_free(path, f.version, &to);
	if (r < 0)
		return err_set(err, r, "cannot set aside '%s', which a newer Strobe has written: %s", path, strerror(-r));
	counters->files_set_aside++;
	counters->records_set_aside += f.records + f.known;
	log_warning("'%s' was written by a newer Strobe (spool version %u): kept as '%s' and not forwarded, "
		    "with %llu entries or batches, and %llu more of %llu samples; to forward them, move them to "
		    "a new spool of a newer Strobe", path, f.version, to, (unsigned long long)f.records,
		    (unsigned long long)f.known, (unsigned long long)f.samples);
	return 1;
}
