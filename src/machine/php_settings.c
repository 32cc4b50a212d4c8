/* php_settings.c: collects settings from php.ini, the scan directories and the command line. */
#include "php_settings.h"

#include "mem.h"
#include "php_ini.h"
#include "php_setting_check.h"

#include <string.h>
#include <strings.h>

#define FILE_MAX	((size_t)1 << 20)

void php_settings_add(struct php_settings *s, const char *name, const char *value, const char *file, unsigned line)
{
	GROW(&s->items, &s->capacity, s->count + 1);
	s->items[s->count++] = (struct php_setting){ xstrdup(name), xstrdup(value), xstrdup(file), line, false };
}

void php_settings_add_pool(struct php_settings *s, const struct php_settings *pool)
{
	for (size_t i = 0; i < pool->count; i++) {
		const struct php_setting *item = &pool->items[i];
		struct setting_verdict verdict;

		php_settings_add(s, item->name, item->value, item->file, item->line);
		s->items[s->count - 1].no_effect = php_setting_check(item->name, item->value, &verdict) && verdict.ignored;
	}
}

static void note_unreadable(struct php_settings *s, const char *path, int error)
{
	if (s->unreadable)
		return;
	s->unreadable = xstrdup(path);
	s->unreadable_error = error;
}

/* --- files */

struct file {
	struct php_settings *settings;
	const char *path;
};

static bool is_for_some_requests(const char *section)
{
	return !strncasecmp(section, "HOST=", 5) || !strncasecmp(section, "PATH=", 5);
}

static void add_line(const struct php_ini_line *l, void *data)
{
	const struct file *f = data;

	if (!*l->key && !is_for_some_requests(l->section))
		php_settings_add(f->settings, l->name, l->value, f->path, l->line);
}

/* Returns false if the file does not exist. */
static bool read_file(struct php_settings *s, const struct root_dir *root, const char *path)
{
	struct file f = { s, path };
	_cleanup_(buf_done) struct buf b = { 0 };
	int r;

	buf_init(&b);
	r = root_dir_read(root, path, FILE_MAX, &b);
	if (r == -ENOENT || r == -ENOTDIR)
		return false;
	if (r < 0)
		note_unreadable(s, path, -r);
	else
		php_ini_parse(b.data, b.size, add_line, &f);
	return true;
}

/* php-SAPI.ini takes precedence over php.ini. */
static bool read_main_of(struct php_settings *s, const struct root_dir *root, const char *directory, const char *sapi)
{
	_cleanup_(freep) char *of_sapi = xasprintf("%s/php-%s.ini", directory, sapi), *usual = xasprintf("%s/php.ini", directory);

	if (*sapi && read_file(s, root, of_sapi))
		s->ini_file = TAKE_PTR(of_sapi);
	else if (read_file(s, root, usual))
		s->ini_file = TAKE_PTR(usual);
	return s->ini_file;
}

static void read_main(struct php_settings *s, const struct root_dir *root, const struct php_binary *php, const char *given)
{
	struct stat st;

	/* -c and PHPRC name a file or a directory. */
	if (given && *given && root_dir_stat(root, given, &st) == 0 && !S_ISDIR(st.st_mode)) {
		if (read_file(s, root, given))
			s->ini_file = xstrdup(given);
		return;
	}
	if (given && *given && read_main_of(s, root, given, php->sapi))
		return;
	if (php->ini_directory)
		read_main_of(s, root, php->ini_directory, php->sapi);
}

static void scan(struct php_settings *s, const struct root_dir *root, const char *directory)
{
	struct root_dir_names names;
	int r = root_dir_list(root, directory, "*.ini", &names);

	if (r < 0 && r != -ENOENT && r != -ENOTDIR)
		note_unreadable(s, directory, -r);
	for (size_t i = 0; r == 0 && i < names.count; i++) {
		_cleanup_(freep) char *path = xasprintf("%s/%s", directory, names.items[i]);

		s->files += read_file(s, root, path);
	}
	root_dir_names_done(&names);
}

/* PHP_INI_SCAN_DIR is a list; an empty element means the directory that PHP was built with. */
static void scan_all(struct php_settings *s, const struct root_dir *root, const struct php_binary *php, const char *list)
{
	for (const char *p = list ? list : ""; ; ) {
		size_t n = strcspn(p, ":");
		_cleanup_(freep) char *part = xstrndup(p, n);

		if (n || php->scan_directory)
			scan(s, root, n ? part : php->scan_directory);
		if (!p[n])
			break;
		p += n + 1;
	}
}

/* --- the command line */

struct words {
	const char *p, *end;
};

static const char *next_word(struct words *w)
{
	const char *word = w->p;

	if (w->p >= w->end)
		return NULL;
	w->p += strnlen(word, (size_t)(w->end - w->p)) + 1;
	return word;
}

static void add_definition(struct php_settings *s, const char *text)
{
	_cleanup_(freep) char *line = xasprintf("%s%s", text, strchr(text, '=') ? "" : "=1");
	struct file f = { s, "" };

	php_ini_parse(line, strlen(line), add_line, &f);
}

/* Parses options up to the script's name. php-fpm has a title instead, which does not begin with a dash. */
static void read_command(const char *command, size_t size, bool *ret_ignores, const char **ret_ini, struct php_settings *s)
{
	struct words w = { command, command + size };
	const char *word = next_word(&w);

	*ret_ignores = false;
	*ret_ini = NULL;
	while (word && (word = next_word(&w)) && word[0] == '-' && word[1] && strcmp(word, "--")) {
		const char *value = word[2] ? word + 2 : NULL;

		if (!strcmp(word, "-n"))
			*ret_ignores = true;
		if (!strchr("cdrfBREFzStyp", word[1]))
			continue;
		if (!value && !(value = next_word(&w)))
			break;
		if (word[1] == 'c')
			*ret_ini = value;
		if (word[1] == 'd' && s)
			add_definition(s, value);
		if (strchr("rfF", word[1]))
			break;
	}
}

void php_settings_load(const struct root_dir *root, const struct php_binary *php, const struct php_settings_from *from,
		       struct php_settings *ret)
{
	static const struct php_settings_from nothing;
	const char *ini = NULL;
	bool ignores = false;

	*ret = (struct php_settings){ 0 };
	if (!from)
		from = &nothing;
	if (from->command)
		read_command(from->command, from->command_size, &ignores, &ini, NULL);
	if (!ignores) {
		read_main(ret, root, php, ini ? ini : from->phprc);
		scan_all(ret, root, php, from->scan);
	}
	if (from->command)
		read_command(from->command, from->command_size, &ignores, &ini, ret);
}

void php_settings_done(struct php_settings *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->items[i].name);
		free(s->items[i].value);
		free(s->items[i].file);
	}
	free(s->items);
	free(s->ini_file);
	free(s->unreadable);
	*s = (struct php_settings){ 0 };
}

/* --- looking them up */

const struct php_setting *php_settings_find(const struct php_settings *s, const char *name)
{
	for (size_t i = s->count; i > 0; i--)
		if (!s->items[i - 1].no_effect && !strcmp(s->items[i - 1].name, name))
			return &s->items[i - 1];
	return NULL;
}

const char *php_settings_get(const struct php_settings *s, const char *name, const char *otherwise)
{
	const struct php_setting *found = php_settings_find(s, name);

	return found ? found->value : otherwise;
}

/* Whether the file name is that of the extension: "/usr/lib/php/20220829/strobe.so" for "strobe". */
static bool names_extension(const char *value, const char *name)
{
	const char *slash = strrchr(value, '/'), *last = slash ? slash + 1 : value;
	size_t n = strlen(last);

	if (n > 3 && !strcmp(last + n - 3, ".so"))
		n -= 3;
	return n == strlen(name) && !strncmp(last, name, n);
}

size_t php_settings_extensions(const struct php_settings *s, const char *name, const struct php_setting **ret)
{
	size_t count = 0;

	*ret = NULL;
	for (size_t i = 0; i < s->count; i++) {
		const struct php_setting *item = &s->items[i];

		if ((strcmp(item->name, "extension") && strcmp(item->name, "zend_extension")) || !names_extension(item->value, name))
			continue;
		if (!count++)
			*ret = item;
	}
	return count;
}

char *php_settings_extension_path(const struct php_settings *s, const struct php_binary *php, const struct php_setting *line)
{
	const char *directory = php_settings_get(s, "extension_dir", php->extension_directory);
	size_t n = strlen(line->value);

	if (line->value[0] == '/')
		return xstrdup(line->value);
	if (!directory || !*directory)
		return NULL;
	return xasprintf("%s/%s%s", directory, line->value, n > 3 && !strcmp(line->value + n - 3, ".so") ? "" : ".so");
}
