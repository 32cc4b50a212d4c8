/* profile_json.h: writes a profile as members of a JSON object; docs/api.md documents them. */
#ifndef SERVE_PROFILE_JSON_H
#define SERVE_PROFILE_JSON_H

#include "json.h"
#include "profile.h"

void profile_json_about(struct json *j, const struct profile *p);	/* columns, and … */
void profile_json_facts(struct json *j, const struct profile *p);	/* period, labels */
void profile_json_tree(struct json *j, const struct profile *p);	/* strings, frames, nodes */

#endif
