/* palette.c: computes colors from names, like flamegraph.pl. */

#include "palette.h"

#include "mem.h"
#include "text.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* The random components of a color, each in [0, 1). */
struct dice {
	double v1, v2, v3;
};

static int scaled(double v, int range)
{
	return (int)(range * v);
}

static struct rgb hot(struct dice d)
{
	return (struct rgb){ 205 + scaled(d.v3, 50), scaled(d.v1, 230), scaled(d.v2, 55) };
}

static struct rgb mem(struct dice d)
{
	return (struct rgb){ 0, 190 + scaled(d.v2, 50), scaled(d.v1, 210) };
}

static struct rgb io(struct dice d)
{
	int x = 80 + scaled(d.v1, 60);

	return (struct rgb){ x, x, 190 + scaled(d.v2, 55) };
}

static struct rgb red(struct dice d)
{
	int x = 50 + scaled(d.v1, 80);

	return (struct rgb){ 200 + scaled(d.v1, 55), x, x };
}

static struct rgb green(struct dice d)
{
	int x = 50 + scaled(d.v1, 60);

	return (struct rgb){ x, 200 + scaled(d.v1, 55), x };
}

static struct rgb blue(struct dice d)
{
	int x = 80 + scaled(d.v1, 60);

	return (struct rgb){ x, x, 205 + scaled(d.v1, 50) };
}

static struct rgb aqua(struct dice d)
{
	int x = 165 + scaled(d.v1, 55);

	return (struct rgb){ 50 + scaled(d.v1, 60), x, x };
}

static struct rgb yellow(struct dice d)
{
	int x = 175 + scaled(d.v1, 55);

	return (struct rgb){ x, x, 50 + scaled(d.v1, 20) };
}

static struct rgb purple(struct dice d)
{
	int x = 190 + scaled(d.v1, 65);

	return (struct rgb){ x, 80 + scaled(d.v1, 60), x };
}

static struct rgb orange(struct dice d)
{
	return (struct rgb){ 190 + scaled(d.v1, 65), 90 + scaled(d.v1, 65), 0 };
}

typedef struct rgb (*mix)(struct dice);

/* Recognizes names of the Java class library and of the usual domains, including JVM signatures ("Ljava/lang/…"). */
static bool is_java(struct str s)
{
	static const char *const packages[] = { "java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/" };

	if (s.n && *s.p == 'L')
		s = (struct str){ s.p + 1, s.n - 1 };
	for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
		if (text_starts(s, packages[i]))
			return true;
	return false;
}

static mix by_java(struct str s)
{
	if (text_ends(s, "_[j]"))
		return green;
	if (text_ends(s, "_[i]"))
		return aqua;
	if (is_java(s) || text_has(s, ":::"))	/* perf-map-agent puts ::: between class and method */
		return green;
	if (text_has(s, "::"))
		return yellow;
	return text_ends(s, "_[k]") ? orange : red;
}

static mix by_perl(struct str s)
{
	if (text_has(s, "::"))
		return yellow;
	if (text_has(s, "Perl") || text_has(s, ".pl"))
		return green;
	return text_ends(s, "_[k]") ? orange : red;
}

static bool is_script(struct str s)
{
	const char *slash = memchr(s.p, '/', s.n);

	return slash && text_has((struct str){ slash, (size_t)(s.p + s.n - slash) }, ".js");
}

static mix by_js(struct str s)
{
	if (text_ends(s, "_[j]"))
		return text_has(s, "/") ? green : aqua;
	if (text_has(s, "::"))
		return yellow;
	if (is_script(s))
		return green;
	if (text_has(s, ":"))
		return aqua;
	if (s.n == 1 && *s.p == ' ')
		return green;
	return text_has(s, "_[k]") ? orange : red;
}

static mix by_chain(struct str s)
{
	return text_has(s, "_[w]") ? aqua : blue;
}

struct palette {
	mix plain;			/* NULL if the name decides */
	mix (*by_name)(struct str name);
	mix middle;
	const char *background;
};

const char *const palette_names[] = {
	"hot", "mem", "io", "wakeup", "chain", "java", "js", "perl",
	"red", "green", "blue", "aqua", "yellow", "purple", "orange", NULL
};

/* In the order of the names above. */
static const struct palette palettes[] = {
	{ hot, NULL, hot, "yellow" },	  { mem, NULL, mem, "green" },	    { io, NULL, io, "blue" },
	{ aqua, NULL, aqua, "blue" },	  { NULL, by_chain, blue, "blue" }, { NULL, by_java, green, "yellow" },
	{ NULL, by_js, green, "yellow" }, { NULL, by_perl, green, "yellow" },
	{ red, NULL, red, "grey" },	  { green, NULL, green, "grey" },   { blue, NULL, blue, "grey" },
	{ aqua, NULL, aqua, "grey" },	  { yellow, NULL, yellow, "grey" }, { purple, NULL, purple, "grey" },
	{ orange, NULL, orange, "grey" },
};

const struct palette *palette_find(const char *name)
{
	_Static_assert(ARRAY_SIZE(palettes) + 1 == ARRAY_SIZE(palette_names), "a name for each palette");

	for (size_t i = 0; palette_names[i]; i++)
		if (!strcmp(palette_names[i], name))
			return &palettes[i];
	return NULL;
}

/* Returns the next code point; a byte of invalid UTF-8 is returned as itself. */
static uint32_t next_character(const char **p, const char *end)
{
	uint32_t c;
	unsigned n = text_decode(*p, end, &c);

	if (n == 0) {
		c = (unsigned char)**p;
		n = 1;
	}
	*p += n;
	return c;
}

/* Hashes eight ASCII characters at once, the usual case: this took a sixth of the time of a picture. */
static bool add_eight(const char *p, uint32_t *sum)
{
	uint64_t eight;

	memcpy(&eight, p, sizeof(eight));
	if (eight & 0x8080808080808080u)
		return false;
	eight = (eight & 0x00ff00ff00ff00ffu) + (eight >> 8 & 0x00ff00ff00ff00ffu);
	*sum += (uint32_t)(eight * 0x0001000100010001u >> 48);
	return true;
}

static uint32_t sum_of(struct str name)
{
	uint32_t sum = 0;

	for (const char *p = name.p, *end = p + name.n; p < end;) {
		if (end - p >= 8 && add_eight(p, &sum))
			p += 8;
		else
			sum += next_character(&p, end);
	}
	return sum;
}

/* Computes the first number of drand48 after srand48(sum of the code points): Perl's rand since 5.20. */
static struct dice dice_by_sum(struct str name)
{
	uint64_t x = ((uint64_t)sum_of(name) << 16) + 0x330e;
	double v;

	x = (x * 0x5deece66dULL + 0xb) & ((1ULL << 48) - 1);
	v = (double)x / 281474976710656.0;
	return (struct dice){ v, v, v };
}

/* Computes a weighted value in [0, 1] from three characters; the first has the largest weight. */
static double weigh(const uint32_t *characters, size_t n)
{
	double vector = 0, weight = 1, max = 1;
	uint32_t mod = 10;

	for (size_t i = 0; i < n && i < 3; i++, mod++) {
		vector += (double)(characters[i] % mod) / (mod - 1) * weight;
		max += weight;
		weight *= 0.70;
	}
	return 1 - vector / max;
}

#define WEIGHED 3

/* A module's name before a backtick is ignored. */
static size_t first_characters(struct str name, uint32_t *ret)
{
	const char *p = name.p, *end = name.p + name.n, *tick;
	size_t n = 0;

	tick = name.n > 1 ? memchr(p + 1, '`', name.n - 1) : NULL;
	if (tick)
		p = tick + 1;
	while (p < end && n < WEIGHED)
		ret[n++] = next_character(&p, end);
	return n;
}

/* The same for the reversed name: the last three characters before the last backtick. */
static size_t last_characters(struct str name, uint32_t *ret)
{
	const char *p = name.p, *end = name.p + name.n, *tick;
	size_t n = 0;

	tick = name.n > 1 ? memrchr(p, '`', name.n - 1) : NULL;
	if (tick)
		end = tick;
	while (p < end) {
		memmove(ret + 1, ret, (WEIGHED - 1) * sizeof(*ret));
		ret[0] = next_character(&p, end);
		n += n < WEIGHED;
	}
	return n;
}

static struct dice dice_by_hash(struct str name)
{
	uint32_t first[WEIGHED] = { 0 }, last[WEIGHED] = { 0 };
	double v1 = weigh(first, first_characters(name, first)), v2 = weigh(last, last_characters(name, last));

	return (struct dice){ v1, v2, v2 };
}

/* Recognizes the separator that stack collapsers put between user and kernel frames, or between waker and sleeper. */
bool palette_is_separator(struct str name)
{
	return (name.n == 1 && *name.p == '-') || (name.n == 2 && !memcmp(name.p, "--", 2));
}

static struct rgb mix_color(const struct palette *p, struct str name, struct dice d)
{
	int gray = name.n == 1 ? 200 : 160;

	if (palette_is_separator(name))
		return (struct rgb){ gray, gray, gray };
	return (p->plain ? p->plain : p->by_name(name))(d);
}

struct rgb palette_color(const struct palette *p, struct str name, bool hash)
{
	return mix_color(p, name, hash ? dice_by_hash(name) : dice_by_sum(name));
}

static double share(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

struct rgb palette_random(const struct palette *p, struct str name, uint64_t seed)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(name.p, name.n, seed);

	return mix_color(p, name, (struct dice){ share(h.low64), share(h.high64), share(h.low64 ^ h.high64 << 21) });
}

struct rgb palette_parse(struct str text, struct rgb otherwise)
{
	_cleanup_(freep) char *copy = xstrndup(text.p, text.n);
	struct rgb c;
	int end = 0;

	if (sscanf(copy, "rgb(%3d ,%3d ,%3d )%n", &c.r, &c.g, &c.b, &end) != 3 && (end = 0, true))
		if (sscanf(copy, "#%2x%2x%2x%n", (unsigned *)&c.r, (unsigned *)&c.g, (unsigned *)&c.b, &end) != 3)
			end = 0;
	if (end == 0 || (size_t)end != text.n || (c.r | c.g | c.b) < 0 || c.r > 255 || c.g > 255 || c.b > 255)
		return otherwise;
	return c;
}

struct rgb palette_middle(const struct palette *p)
{
	return p->middle((struct dice){ 0.5, 0.5, 0.5 });
}

void palette_put(struct buf *b, struct rgb c)
{
	buf_puts(b, "rgb(");
	buf_put_i64(b, c.r);
	buf_putc(b, ',');
	buf_put_i64(b, c.g);
	buf_putc(b, ',');
	buf_put_i64(b, c.b);
	buf_putc(b, ')');
}

static bool is_hex_color(const char *s)
{
	size_t n = *s == '#' ? strspn(s + 1, "0123456789abcdefABCDEF") : 0;

	return (n == 3 || n == 6) && s[n + 1] == 0;
}

bool palette_background(const struct palette *p, const char *name, char ret_top[8], char ret_bottom[8])
{
	static const char *const gradients[][3] = {
		{ "yellow", "#eeeeee", "#eeeeb0" },
		{ "blue", "#eeeeee", "#e0e0ff" },
		{ "green", "#eef2ee", "#e0ffe0" },
		{ "grey", "#f8f8f8", "#e8e8e8" },
	};

	if (!name)
		name = p->background;
	if (is_hex_color(name)) {
		snprintf(ret_top, 8, "%s", name);
		snprintf(ret_bottom, 8, "%s", name);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(gradients); i++) {
		if (strcmp(gradients[i][0], name))
			continue;
		snprintf(ret_top, 8, "%s", gradients[i][1]);
		snprintf(ret_bottom, 8, "%s", gradients[i][2]);
		return true;
	}
	return false;
}
