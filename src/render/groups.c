/* groups.c: derives layers and packages from names: suffixes of perf's collapsers, brackets of modules, namespaces,
 * folders of Composer.
 */

#include "groups.h"

#include "text.h"

#include <math.h>
#include <string.h>

const char *const group_layer_names[LAYERS] = { "PHP", "Perl", "native", "JIT", "kernel" };

static bool is_php_file(struct str s)
{
	return text_ends(s, ".php") || text_ends(s, ".phtml") || text_ends(s, ".inc") || text_has(s, ".php:") ||
	       text_starts(s, "phar://");
}

/* Tells whether the sampler could not name the frame. */
static bool is_php_runtime(struct str name)
{
	return text_starts(name, "[unknown php]") || text_starts(name, "[outside PHP functions]");
}

/* PHP's names are namespaces with backslashes, {main} and {closure…}, files for file scope; and Class::method, which
 * C++ has, too, but there with brackets, templates or blanks. */
static bool is_php_name(struct str name)
{
	if (is_php_runtime(name) || text_starts(name, "{main}") || text_starts(name, "{closure") || text_has(name, "::{closure") ||
	    is_php_file(name))
		return true;
	if (text_has(name, "`") || text_has(name, ".so") || text_has(name, "("))
		return false;
	return text_has(name, "\\") || (text_has(name, "::") && !text_has(name, "<") && !text_has(name, " "));
}

static bool is_perl_file(struct str s)
{
	return text_ends(s, ".pl") || text_ends(s, ".pm");
}

/* Recognizes names as written by `strobe record`. */
static bool is_perl_name(struct str name)
{
	return is_perl_file(name) || text_starts(name, "[unknown perl]") || text_starts(name, "[outside Perl functions]") ||
	       text_starts(name, "main::") || text_starts(name, "(eval)") || text_starts(name, "require ") ||
	       text_has(name, "::__ANON__[") || text_ends(name, " (format)");
}

static bool is_library(struct str file)
{
	return text_ends(file, ".so") || text_has(file, ".so.");
}

enum group_layer group_layer(struct str name, struct str file)
{
	if (text_ends(name, "_[k]") || text_has(name, "[kernel") || text_has(file, "[kernel") ||
	    text_starts(name, "vmlinux`") || text_has(name, "/vmlinux-") || text_has(file, "/vmlinux-") || text_ends(file, ".ko"))
		return LAYER_KERNEL;
	if (text_ends(name, "_[j]"))
		return LAYER_JIT;
	/* Rust's names look like methods. */
	if (is_library(file))
		return LAYER_NATIVE;
	if (is_php_file(file) || is_php_file(name))
		return LAYER_PHP;
	if (is_perl_file(file) || is_perl_name(name))
		return LAYER_PERL;
	return is_php_name(name) ? LAYER_PHP : LAYER_NATIVE;
}

bool group_is_script(struct str name, struct str file)
{
	bool is_itself = file.n == name.n && !memcmp(file.p, name.p, name.n);

	return is_itself && text_starts(name, "/") && !is_library(name) && group_layer(name, file) == LAYER_NATIVE;
}

/* Returns the part before the `count`th separator; all if there are fewer. */
static struct str first_parts(struct str s, char separator, unsigned count)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == separator && --count == 0)
			return (struct str){ s.p, i };
	return s;
}

static struct str before_last(struct str s, char separator)
{
	const char *at = s.n ? memrchr(s.p, separator, s.n) : NULL;

	return (struct str){ s.p, at ? (size_t)(at - s.p) : 0 };
}

static struct str after_last(struct str s, char separator)
{
	const char *at = s.n ? memrchr(s.p, separator, s.n) : NULL;

	return at ? (struct str){ at + 1, s.n - (size_t)(at + 1 - s.p) } : s;
}

/* Returns "symfony/console" for /srv/app/vendor/symfony/console/Application.php. */
static struct str composer_package(struct str path)
{
	static const char folder[] = "/vendor/";
	const char *at = path.n ? memmem(path.p, path.n, folder, sizeof(folder) - 1) : NULL;
	struct str inside;

	if (!at)
		return (struct str){ "", 0 };
	at += sizeof(folder) - 1;
	inside = first_parts((struct str){ at, path.n - (size_t)(at - path.p) }, '/', 2);
	return memchr(inside.p, '/', inside.n) && !is_php_file(inside) ? inside : (struct str){ "", 0 };
}

/* Returns the class of Class::method, or the first two parts of the namespace of Name\Space\Class. */
static struct str owner(struct str name)
{
	const char *method = memmem(name.p, name.n, "::", 2);
	struct str type = { name.p, method ? (size_t)(method - name.p) : 0 }, space;

	space = before_last(type.n ? type : name, '\\');
	return space.n ? first_parts(space, '\\', 2) : type;
}

/* Returns "libc.so.6" for libc.so.6`malloc and for malloc [libc.so.6]. */
static struct str module(struct str name)
{
	const char *tick = name.n > 1 ? memchr(name.p + 1, '`', name.n - 1) : NULL;

	if (tick)
		return (struct str){ name.p, (size_t)(tick - name.p) };
	if (text_ends(name, "]") && !text_ends(name, "_[k]") && !text_ends(name, "_[j]") && !text_ends(name, "_[i]") &&
	    !text_ends(name, "_[w]")) {
		struct str last = after_last(name, '[');

		return (struct str){ last.p, last.n - 1 };
	}
	return (struct str){ "", 0 };
}

struct str group_package(struct str name, struct str file)
{
	struct str found = composer_package(file.n ? file : name);
	enum group_layer layer = group_layer(name, file);

	if (layer == LAYER_KERNEL)
		return (struct str){ "kernel", 6 };
	if (!found.n)
		found = module(name);
	if (!found.n && is_library(file))
		found = after_last(file, '/');
	if (!found.n && (layer == LAYER_PHP || layer == LAYER_PERL) && !text_starts(name, "/") && !text_starts(name, "{"))
		found = owner(name);
	if (!found.n && file.n)
		found = before_last(file, '/');
	if (!found.n && text_starts(name, "/"))
		found = before_last(name, '/');
	if (!found.n && text_has(name, "/"))
		found = before_last(first_parts(name, '/', 4), '/');
	if (!found.n && text_has(name, "::") && !text_has(name, "("))
		found = first_parts(name, ':', 1);
	return found;
}

/* FNV-1a with mixing: the low bits of FNV alone are similar for similar names. */
static uint32_t stir(struct str s)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 16777619u;
	h = (h ^ h >> 15) * 0x2c1b3c6du;
	return h ^ h >> 13;
}

static int channel(double n, double hue, double saturation, double lightness)
{
	double k = fmod(n + hue / 30, 12), a = saturation * fmin(lightness, 1 - lightness);
	double c = lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));

	return (int)lrint(255 * c);
}

static struct rgb from_hsl(double hue, double saturation, double lightness)
{
	return (struct rgb){ channel(0, hue, saturation, lightness), channel(8, hue, saturation, lightness),
			     channel(4, hue, saturation, lightness) };
}

#define SHADES	9u

static double shade(struct str name)
{
	return (double)(stir(name) % SHADES) / (SHADES - 1);
}

/* Orange, blue, yellow, purple: distinguishable with all kinds of color vision, also by lightness. */
struct rgb group_layer_color(enum group_layer layer, struct str name)
{
	static const struct {
		double hue, saturation, lightness;
	} styles[LAYERS] = {
		[LAYER_PHP] = { 24, 0.88, 0.64 },
		[LAYER_PERL] = { 150, 0.45, 0.60 },
		[LAYER_NATIVE] = { 206, 0.62, 0.66 },
		[LAYER_JIT] = { 52, 0.80, 0.62 },
		[LAYER_KERNEL] = { 292, 0.38, 0.70 },
	};

	return from_hsl(styles[layer].hue, styles[layer].saturation, styles[layer].lightness + 0.08 * shade(name));
}

struct rgb group_package_color(struct str package, struct str name)
{
	if (!package.n)
		return from_hsl(40, 0.06, 0.74 + 0.08 * shade(name));
	return from_hsl(stir(package) % 360, 0.58, 0.68 + 0.1 * shade(name));
}
