/* size.c: parses sizes with units. */
#include "size.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

int size_parse(const char *text, uint64_t *ret, struct err *err)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double v = strtod(text, &end);
	bool is_number = end > text;
	int shift = 0;

	while (*end == ' ')
		end++;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end += 1 + (end[1] == 'i' || end[1] == 'I');
	}
	if (*end == 'B' || *end == 'b')
		end++;
	v *= (double)((uint64_t)1 << shift);
	if (!is_number || *end || !(v >= 0 && v < 1e18))
		return err_set(err, -EINVAL, "invalid size '%.60s'; use " SIZE_EXAMPLES, text);
	*ret = (uint64_t)v;
	return 0;
}
