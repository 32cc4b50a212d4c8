/* setting_words.c: parses numbers and words in settings. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "setting_words.h"

#include "snprintf.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool setting_number(const zend_string *s, double *ret)
{
	const char *end;

	if (ZSTR_LEN(s) == 0)
		return false;
	*ret = zend_strtod(ZSTR_VAL(s), &end);
	return *end == '\0' && end == ZSTR_VAL(s) + ZSTR_LEN(s) && isfinite(*ret);
}

bool setting_switch(const zend_string *s, bool *ret)
{
	static const char *const offs[] = { "", "0", "off", "no", "false", "none", NULL };

	*ret = zend_ini_parse_bool((zend_string *)s);
	for (size_t i = 0; !*ret; i++)
		if (!offs[i] || strcasecmp(ZSTR_VAL(s), offs[i]) == 0)
			return offs[i] != NULL;
	return true;
}

/* --- words */

#define LONGEST 24	/* bytes that are compared */

static unsigned smallest(unsigned a, unsigned b, unsigned c)
{
	unsigned n = a < b ? a : b;

	return n < c ? n : c;
}

/* Computes the Levenshtein distance, ignoring case. */
static unsigned distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned row[LONGEST + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_size; j++) {
			unsigned above = row[j];
			bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);

			row[j] = smallest(above + 1, row[j - 1] + 1, corner + !same);
			corner = above;
		}
	}
	return row[b_size];
}

const char *setting_nearest(const char *p, size_t n, const char *const *words)
{
	unsigned best = 1 + (unsigned)n / 4;
	const char *found = NULL;

	if (n < 2 || n > LONGEST)
		return NULL;
	for (; *words; words++) {
		size_t size = strlen(*words), common = size < n ? size : n;
		unsigned d;

		if (size > LONGEST)
			continue;
		/* Also finds "tideways" for "tideways_xhprof", and "sampling" for "sample". */
		d = common > 2 && strncasecmp(p, *words, common) == 0 ? 0 : distance(p, n, *words, size);
		if (d <= best && (!found || d < best)) {
			best = d;
			found = *words;
		}
	}
	return found;
}

/* --- numbers */

static const char *put(double v, char out[SETTING_GUESS])
{
	php_gcvt(v, 6, '.', 'e', out);
	return out;
}

/* Parses the number at the beginning, also with a decimal comma; *ret_rest is the text after it. */
static bool leading_number(const zend_string *s, double *ret, char rest[8])
{
	char copy[SETTING_GUESS], *comma;
	const char *end;

	if (ZSTR_LEN(s) == 0 || ZSTR_LEN(s) >= sizeof(copy))
		return false;
	strcpy(copy, ZSTR_VAL(s));
	if ((comma = strchr(copy, ',')))
		*comma = '.';
	*ret = zend_strtod(copy, &end);
	if (end == copy || !isfinite(*ret))
		return false;
	end += strspn(end, " ");
	if (strlen(end) >= 8)
		return false;
	strcpy(rest, end);
	return true;
}

const char *setting_guess_seconds(const zend_string *s, double min, double max, char out[SETTING_GUESS])
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { "\xc2\xb5s", 1e-6 }, { "ns", 1e-9 } };
	char rest[8];
	double v;

	if (!leading_number(s, &v, rest))
		return NULL;
	if (strcasecmp(rest, "hz") == 0 && v > 0 && 1 / v >= min && 1 / v <= max)
		return put(1 / v, out);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcasecmp(rest, units[i].name) == 0) {
			v *= units[i].seconds;
			/* Other profilers use microseconds. */
			if (i == 0 && v > max && v / 1e6 <= max)
				v /= 1e6;
			return v >= min && v <= max ? put(v, out) : NULL;
		}
	return NULL;
}

const char *setting_guess_share(const zend_string *s, char out[SETTING_GUESS])
{
	char rest[8];
	double v, of;

	if (!leading_number(s, &v, rest) || v < 0)
		return NULL;
	if (rest[0] == '/' && (of = zend_strtod(rest + 1, NULL)) >= v && of > 0)
		return put(v / of, out);
	if ((!*rest && v > 1 && v <= 100) || (strcmp(rest, "%") == 0 && v <= 100))
		return put(v / 100, out);
	return !*rest && v <= 1 ? put(v, out) : NULL;
}

const char *setting_guess_range(const zend_string *s, double min, double max, char out[SETTING_GUESS])
{
	double v;

	if (!setting_number(s, &v))
		return NULL;
	return put(v < min ? min : v > max ? max : floor(v), out);
}
