/* php.c: finds and queries PHP. */

#include "php.h"

#include "capture_output.h"
#include "mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define PROBE_TIMEOUT_NS	(20 * NS_PER_SECOND)
#define MARK			"strobe-probe:"

static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -ENOENT;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int php_find_program(const char *name, char **ret_path)
{
	const char *p = getenv("PATH");
	int result = -ENOENT;

	if (strchr(name, '/')) {
		int r = check_program(name);

		if (r == 0)
			*ret_path = xstrdup(name);
		return r;
	}
	if (!*name)
		return -ENOENT;
	for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		int n = (int)strcspn(p, ":");
		_cleanup_(freep) char *path = xasprintf("%.*s%s%s", n, p, n ? "/" : "./", name);
		int r = check_program(path);

		if (r == 0) {
			*ret_path = TAKE_PTR(path);
			return 0;
		}
		if (r == -EACCES)
			result = r;
	}
	return result;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Matches php, php8, php8.2, php82: the command line PHP, but not php-fpm or php-config. */
static bool is_php_name(const char *name)
{
	return !strncmp(name, "php", 3) && name[3 + strspn(name + 3, "0123456789.")] == '\0';
}

/* php-fpm8.2 and php-cgi8.2 cannot be queried like the command line PHP of the same build. */
static char *sibling_name(const char *name)
{
	if (strncmp(name, "php-fpm", 7) && strncmp(name, "php-cgi", 7))
		return NULL;
	name += 7;
	return name[strspn(name, "0123456789.")] ? NULL : xasprintf("php%s", name);
}

/* Returns the program that the #! line of a script names, resolving env; NULL if there is none. */
static char *interpreter_of(const char *path)
{
	_cleanup_(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char line[256], *save = NULL, *word;
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t\r", &save);
	if (word && !strcmp(last_part(word), "env"))
		do {
			word = strtok_r(NULL, " \t\r", &save);
		} while (word && (*word == '-' || strchr(word, '=')));
	return word ? xstrdup(word) : NULL;
}

int php_find(const char *program, char **ret_path, struct err *err)
{
	_cleanup_(freep) char *sibling = sibling_name(last_part(program));
	_cleanup_(freep) char *interpreter = NULL;

	if (is_php_name(last_part(program))) {
		*ret_path = xstrdup(program);
		return 0;
	}
	if (sibling && php_find_program(sibling, ret_path) == 0)
		return 0;
	interpreter = interpreter_of(program);
	if (interpreter && is_php_name(last_part(interpreter)) && php_find_program(interpreter, ret_path) == 0)
		return 0;
	if (php_find_program("php", ret_path) == 0)
		return 0;
	return err_set(err, -ENOENT, "found no PHP: '%s' is not PHP, and there is no `php` in PATH; install PHP's command "
		       "line program, or put it into PATH", program);
}

/* Removes and returns the next tab-separated field. */
static char *take_field(char **p)
{
	char *field = *p ? strsep(p, "\t\r\n") : NULL;

	return xstrdup(field ? field : "");
}

static int read_answer(char *output, struct php *ret, struct err *err)
{
	char *p = strstr(output, MARK);
	char *strobe;

	if (!p) {
		output[strcspn(output, "\r\n")] = '\0';
		return err_set(err, -ENOEXEC, "'%s' does not respond like PHP%s%.200s", ret->path,
			       *output ? ": " : "", output);
	}
	p += strlen(MARK);
	ret->version = take_field(&p);
	ret->minor = take_field(&p);
	ret->build = take_field(&p);
	ret->extension_dir = take_field(&p);
	strobe = take_field(&p);
	ret->has_strobe = !strcmp(strobe, "1");
	free(strobe);
	return 0;
}

int php_probe(const char *path, struct php *ret, struct err *err)
{
	/* PHP's own settings apply, since they determine whether strobe is loaded; but no user code runs. */
	const char *const argv[] = {
		path, "-d", "disable_functions=", "-d", "auto_prepend_file=", "-d", "auto_append_file=",
		"-d", "error_reporting=0", "-d", "display_startup_errors=0", "-d", "xdebug.mode=off",
		"-d", "strobe.mode=off", "-r",
		"ob_start(); phpinfo(INFO_GENERAL); $i = ob_get_clean();"
		"preg_match('/^PHP Extension Build => (\\S+)/m', $i, $m);"
		"echo \"\\n" MARK "\", PHP_VERSION, \"\\t\", PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION, \"\\t\","
		"$m[1] ?? '', \"\\t\", ini_get('extension_dir'), \"\\t\", (int)extension_loaded('strobe'), \"\\n\";",
		NULL
	};
	_cleanup_(buf_done) struct buf output = { 0 };
	int r;

	buf_init(&output);
	*ret = (struct php){ .path = xstrdup(path) };
	r = capture_output(argv, PROBE_TIMEOUT_NS, &output, err);
	if (r >= 0)
		r = read_answer(output.data, ret, err);
	if (r < 0)
		php_done(ret);
	return r;
}

void php_done(struct php *p)
{
	free(p->path);
	free(p->version);
	free(p->minor);
	free(p->build);
	free(p->extension_dir);
	*p = (struct php){ 0 };
}

/* Tells whether an option of PHP takes the next word of the command as its value. */
static bool takes_next(const char *option)
{
	return option[1] && strchr("cdrfBREFzSt", option[1]) && !option[2];
}

bool php_ignores_settings(int argc, char **argv)
{
	if (!is_php_name(last_part(argv[0])))
		return false;
	for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "-n"))
			return true;
		i += takes_next(argv[i]);
	}
	return false;
}

/* Collects the options -c and -d of the command, if it is PHP itself. Returns the number of words. */
static int settings_of(int argc, char **argv, const char **ret)
{
	int n = 0;

	if (!is_php_name(last_part(argv[0])))
		return 0;
	for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--"); i++) {
		bool both = takes_next(argv[i]) && i + 1 < argc;

		if (argv[i][1] == 'c' || argv[i][1] == 'd') {
			ret[n++] = argv[i];
			if (both)
				ret[n++] = argv[i + 1];
		}
		i += both;
	}
	return n;
}

bool php_jit_prevents_samples(const char *path, int argc, char **argv)
{
	static const char *const probe[] = {
		"-d", "opcache.restrict_api=", "-d", "disable_functions=", "-d", "auto_prepend_file=", "-d", "auto_append_file=",
		"-d", "error_reporting=0", "-d", "display_startup_errors=0", "-d", "opcache.preload=", "-d", "strobe.mode=off", "-r",
		"$on = in_array(strtolower((string)get_cfg_var('strobe.instrument')), ['1', 'on', 'yes', 'true'], true);"
		"$s = function_exists('opcache_get_status') ? opcache_get_status(false) : [];"
		"echo \"\\n" MARK "\", (int)(!$on && ($s['jit']['on'] ?? false)), \"\\n\";",
	};
	_cleanup_(freep) const char **words = xcalloc((size_t)argc + ARRAY_SIZE(probe) + 2, sizeof(*words));
	_cleanup_(buf_done) struct buf output = { 0 };
	int n = 1 + settings_of(argc, argv, words + 1);

	words[0] = path;
	memcpy(words + n, probe, sizeof(probe));
	buf_init(&output);
	return capture_output(words, PROBE_TIMEOUT_NS, &output, NULL) >= 0 && strstr(output.data, MARK "1\n");
}
