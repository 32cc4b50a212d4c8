/* sqlite_damaged.c: days that were set aside, wholly or in part, and are missing from answers. */
#include "mem.h"
#include "sqlite_store.h"
#include <dirent.h>
#include <string.h>

/* "2026-11-21.db.corrupt-1". */
static int64_t day_set_aside(const char *name)
{
	const char *end = strstr(name, ".corrupt-");
	_cleanup_(freep) char *file = NULL;
	size_t n = strlen(name);

	if (!end || (n > 4 && strcmp(name + n - 4, "-wal") == 0))
		return -1;
	file = xstrndup(name, (size_t)(end - name));
	return day_of_name(file);
}

size_t sqlite_store_damaged(const struct sqlite_store *s, int64_t **ret)
{
	DIR *dir = opendir(s->directory);
	size_t count = 0, capacity = 0;
	struct dirent *e;

	*ret = NULL;
	while (dir && (e = readdir(dir))) {
		int64_t day = day_set_aside(e->d_name);
		size_t i = 0;

		while (i < count && (*ret)[i] != day)
			i++;
		if (day < 0 || i < count)
			continue;
		GROW(ret, &capacity, count + 1);
		(*ret)[count++] = day;
	}
	if (dir)
		closedir(dir);
	return count;
}
