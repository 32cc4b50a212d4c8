/* config_file.h: the options of a command from three places: a YAML file whose keys are their names, the environment
 * (STROBE_LISTEN for --listen), and the command line. The later wins over the earlier, a whole list over a whole list.
 *
 *	listen: 127.0.0.1:8787
 *	from:
 *	  - unix:/run/strobe/strobe.sock
 *	  - resp://127.0.0.1:6379
 *	retain: 90
 */
#ifndef DAEMON_CONFIG_FILE_H
#define DAEMON_CONFIG_FILE_H

#include "arena.h"
#include "options.h"
#include "yaml_tree.h"

struct config {
	char **argv;			/* one command line: options of the file, then of the environment, then the
					 * user's */
	int argc;
	size_t capacity;
	/* The origins of options set in the file or the environment. For a list there is one per item; otherwise item
	 * is NULL. */
	struct config_place { const char *name, *item, *place; } *places;
	size_t place_count, place_capacity;
	struct yaml_tree tree;
	struct arena memory;
};

void config_init(struct config *c);
void config_done(struct config *c);

/* Reads `path` (NULL: no file; with a leading minus, as in systemd: optional) and the
 * environment and puts them before the command line in c->argv. Call it when options_parse has filled the targets from
 * the command line alone: a list that is filled wins. -EINVAL with file and line. 1: the file is Arc Lamp's, and
 * nothing of it was taken. */
int config_read(struct config *c, const struct command_spec *spec, const char *path, int argc, char **argv,
		struct err *err);

/* Warns of variables STROBE_… that belong neither to `spec` nor to `other` nor to any other part of the
 * project: one sentence each, with the nearest name, and without the value. */
void config_warn_of_variables(const struct command_spec *spec, const struct command_spec *other);

/* Returns "strobe.yaml:7" or "STROBE_LISTEN"; NULL if the option was set on the command line or not at all. */
const char *config_place(const struct config *c, const char *option);

/* The same for an item of a list: the last one with this text. */
const char *config_item_place(const struct config *c, const char *option, const char *item);

#endif
