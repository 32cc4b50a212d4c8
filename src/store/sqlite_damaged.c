/* sqlite_damaged.c: days that were set aside, wholly or in part, and are missing from answers. */
#include "mem.h"
#include "sqlite_store.h"
#include <dirent.h>

size_t sqlite_store_damaged(const struct sqlite_store *s, int64_t **ret)
{
	DIR *dir = opendir(s->directory);
	size_t count = 0, capacity = 0;
	struct dirent *e;

	*ret = NULL;
	while (dir && (e = readdir(dir))) {
		bool set_aside = false;
		int64_t day = day_of_piece(e->d_name, &set_aside);
		size_t i = 0;

		while (i < count && (*ret)[i] != day)
			i++;
		if (day < 0 || !set_aside || i < count)
			continue;
		GROW(ret, &capacity, count + 1);
		(*ret)[count++] = day;
	}
	if (dir)
		closedir(dir);
	return count;
}
