/* groups.h: the group of a frame, for colors that show structure: its layer (PHP, Perl, native code, the kernel) or
 * its package. Both are derived from the name and the file, so they work for folded stacks as well as for our own
 * profiles.
 */
#ifndef RENDER_GROUPS_H
#define RENDER_GROUPS_H

#include "intern.h"
#include "palette.h"

enum group_layer { LAYER_PHP, LAYER_PERL, LAYER_NATIVE, LAYER_JIT, LAYER_KERNEL, LAYERS };

extern const char *const group_layer_names[LAYERS];

enum group_layer group_layer(struct str name, struct str file);

/* Tells whether a frame is the script itself, with a path that does not reveal its language: "/usr/bin/podchecker" in
 * the file of that name. Its layer is LAYER_NATIVE. (Files that are read or written are frames, too, but have no
 * file.) */
bool group_is_script(struct str name, struct str file);

/* Returns a Composer package by its folder, the first two parts of a namespace, a class, a library, a folder, or
 * "kernel"; the result is part of the arguments, or constant. Empty if unknown. */
struct str group_package(struct str name, struct str file);

/* Return the colors: a hue per group, a shade per name, all light enough for black text. */
struct rgb group_layer_color(enum group_layer layer, struct str name);
struct rgb group_package_color(struct str package, struct str name);

#endif
