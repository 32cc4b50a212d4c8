/* request_labels.c: reads the labels of a request from SAPI and settings. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "request_labels.h"
#include "guarded_read.h"
#include "php_strobe.h"
#include "strobe_assert.h"

#include "SAPI.h"

#include <errno.h>
#include <unistd.h>

static char host[256];

void request_labels_startup(void)
{
	if (gethostname(host, sizeof(host) - 1))
		host[0] = '\0';
}

static bool is_key(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool letter = (p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_';

		if (!letter && (i == 0 || p[i] < '0' || p[i] > '9'))
			return false;
	}
	return n > 0 && n < sizeof(((struct request_label *)0)->key);
}

static struct request_label *find(struct request_labels *l, const char *key, size_t key_size)
{
	for (unsigned i = 0; i < l->count; i++)
		if (strlen(l->items[i].key) == key_size && memcmp(l->items[i].key, key, key_size) == 0)
			return &l->items[i];
	return NULL;
}

/* Control bytes become "?". */
static void set_value(struct request_label *label, const char *value, size_t size)
{
	if (size >= sizeof(label->value))
		size = sizeof(label->value) - 1;
	for (size_t i = 0; i < size; i++)
		label->value[i] = (unsigned char)value[i] < 0x20 || value[i] == 0x7f ? '?' : value[i];
	label->value[size] = '\0';
}

struct request_label *request_labels_find(struct request_labels *l, const char *key)
{
	return find(l, key, strlen(key));
}

bool request_labels_has(const struct request_labels *l, const char *key, size_t key_size)
{
	return find((struct request_labels *)l, key, key_size) != NULL;
}

int request_labels_set(struct request_labels *l, const char *key, size_t key_size, const char *value, size_t value_size)
{
	struct request_label *label;

	if (!is_key(key, key_size))
		return -EINVAL;
	STROBE_ASSERT(l->count <= REQUEST_LABELS);
	label = find(l, key, key_size);
	if (!label) {
		if (l->count == REQUEST_LABELS)
			return -ENOSPC;
		label = &l->items[l->count++];
		memcpy(label->key, key, key_size);
		label->key[key_size] = '\0';
	}
	set_value(label, value, value_size);
	label->inherited = false;
	return 0;
}

void request_labels_add(struct request_labels *l, const struct request_labels *more)
{
	for (unsigned i = 0; i < more->count; i++) {
		const struct request_label *label = &more->items[i];

		request_labels_set(l, label->key, strlen(label->key), label->value, strlen(label->value));
	}
}

/* Copies only elements in use, since 32 labels are 10 KB. Text copied while it is being written still ends with a 0. */
bool request_labels_copy(struct request_labels *to, const struct request_labels *from)
{
	if (!GUARDED_READ_MEMBER(&to->count, struct request_labels, from, count) || to->count > REQUEST_LABELS ||
	    (to->count && !guarded_read(to->items, from->items, to->count * sizeof(*to->items))))
		return false;
	for (unsigned i = 0; i < to->count; i++) {
		to->items[i].key[sizeof(to->items[i].key) - 1] = '\0';
		to->items[i].value[sizeof(to->items[i].value) - 1] = '\0';
	}
	return true;
}

bool request_labels_remove(struct request_labels *l, const char *key, size_t key_size)
{
	struct request_label *label = find(l, key, key_size);
	struct request_label *last = &l->items[l->count];

	if (!label)
		return false;
	STROBE_ASSERT(label >= l->items && label < last);
	memmove(label, label + 1, (size_t)((char *)last - (char *)(label + 1)));
	l->count--;
	return true;
}

/* Adds a label unless its key exists. */
static void add(struct request_labels *l, const char *key, size_t key_size, const char *value, size_t value_size)
{
	if (!find(l, key, key_size))
		request_labels_set(l, key, key_size, value, value_size);
}

static void trim(const char **p, const char **end)
{
	while (*p < *end && (**p == ' ' || **p == '\t'))
		(*p)++;
	while (*p < *end && ((*end)[-1] == ' ' || (*end)[-1] == '\t'))
		(*end)--;
}

/* One element of "pool=api, deploy=7". */
struct configured {
	const char *part, *end;		/* the text of the element */
	const char *key, *key_end, *value;	/* NULL without "=" */
};

/* Reads the next element of a list; false at its end. */
static bool next_configured(const char **p, struct configured *ret)
{
	const char *list = *p, *equals;

	if (!list || !*list)
		return false;
	*ret = (struct configured){ .part = list, .end = list + strcspn(list, ",") };
	*p = *ret->end ? ret->end + 1 : ret->end;
	trim(&ret->part, &ret->end);
	equals = memchr(ret->part, '=', ret->end - ret->part);
	if (equals) {
		ret->key = ret->part;
		ret->key_end = equals;
		ret->value = equals + 1;
		trim(&ret->key, &ret->key_end);
		trim(&ret->value, &ret->end);
	}
	return true;
}

/* Skips elements without "=" or a valid key. */
static void add_configured(struct request_labels *l, const char *p)
{
	struct configured c;

	while (next_configured(&p, &c))
		if (c.key)
			add(l, c.key, c.key_end - c.key, c.value, c.end - c.value);
}

bool request_labels_check(const char *p, struct label_problem *ret)
{
	struct configured c;
	unsigned n = 0;

	for (*ret = (struct label_problem){ 0 }; !ret->why && next_configured(&p, &c);) {
		if (c.part == c.end)
			continue;
		if (!c.key)
			ret->why = "it has no \"=\"";
		else if (!is_key(c.key, c.key_end - c.key))
			ret->why = "a key is 1 to 64 letters, digits and \"_\", and does not begin with a digit";
		else if (++n > REQUEST_LABELS)
			ret->why = "there are more than 32 labels";
		ret->part = c.part;
		ret->size = c.end - c.part;
	}
	return ret->why != NULL;
}

/* Stores the script's file name without directory and ".php". A program given by -r or on standard input is "-". */
static void note_entry(void)
{
	const char *path = SG(request_info).path_translated;
	const char *name;
	size_t n;

	if (!path || !*path || strcmp(path, "Standard input code") == 0)
		path = "-";
	name = strrchr(path, '/');
	name = name && name[1] ? name + 1 : path;
	n = strlen(name);
	if (n > 4 && strcmp(name + n - 4, ".php") == 0)
		n -= 4;
	n = n < sizeof(STROBE_G(entry)) ? n : sizeof(STROBE_G(entry)) - 1;
	memcpy(STROBE_G(entry), name, n);
	STROBE_G(entry)[n] = '\0';
}

void request_labels_request_start(void)
{
	const char *method = SG(request_info).request_method;

	note_entry();
	snprintf(STROBE_G(method), sizeof(STROBE_G(method)), "%s", method ? method : "");
}

void request_labels_collect(struct request_labels *l)
{
	l->count = 0;
	add_configured(l, STROBE_G(labels));
	add(l, ZEND_STRL("entry"), STROBE_G(entry), strlen(STROBE_G(entry)));
	add(l, ZEND_STRL("sapi"), sapi_module.name, strlen(sapi_module.name));
	add(l, ZEND_STRL("host"), host, strlen(host));
	if (*STROBE_G(method))
		add(l, ZEND_STRL("method"), STROBE_G(method), strlen(STROBE_G(method)));
}
