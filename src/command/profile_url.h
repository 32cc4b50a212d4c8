/* profile_url.h: a page or API answer of a daemon as the input of a command.
 *
 *	http://HOST:8787/?from=-1h&entry=api*		the page: what it shows, as a profile
 *	http://HOST:8787/runs/SOURCE/ID			a run
 *	http://HOST:8787/api/v1/profile?...		any address of the API that is about a profile
 *	http://HOST:8787/index.php?run=ID&source=NS	a link of uprofiler's or xhprof's pages
 *
 * The same question goes to /api/v1/profile, in the native format. Options of how it is shown (sort, format, function)
 * are left out; the column that is named is remembered.
 */
#ifndef COMMAND_PROFILE_URL_H
#define COMMAND_PROFILE_URL_H

#include "err.h"
#include "format.h"
#include "options.h"

/* The row of --token-file for commands that read profiles. */
extern const char *profile_url_token_file;
#define PROFILE_URL_OPTION													\
	{ OPTION_STRING, 0, "token-file", "FILE", &profile_url_token_file,							\
	  "File with the token for URLs (or STROBE_TOKEN)." }

/* Whether the name of an input is an address: http:// or https://. */
bool profile_url_is(const char *name);

/* Refuses the URL of a store (sqlite:DIR, clickhouse://HOST/DATABASE) as an input: -EINVAL with the command that reads it. 0 for any
 * other name, also for that of a file which looks like such a URL. */
int profile_url_refuse_store(const char *name, struct err *err);

/* The value of the first parameter that begins like this ("scale=") and has one, as it stands in the address; empty if there is none. */
struct str profile_url_value(const char *url, const char *begin);

/* Whether the address is that of a comparison, and then that of its side "before" or "after"; the caller frees it. */
bool profile_url_is_comparison(const char *url);
char *profile_url_side(const char *url, const char *side);

/* Appends the part in which the sides of that comparison differ: "run shop/1", "deploy=6", "2026-11-21T07:00:00Z to
 * 2026-11-21T08:00:00Z", where
 * times relative to now are those of the side's profile; nothing if that cannot be told from the address. */
void profile_url_name_side(const char *url, bool is_before, const struct profile *p, struct buf *out);

/* The same address without its filters of stacks, for the caller to free; NULL if it has none. */
char *profile_url_without_filters(const char *url);

/* A question to a daemon. */
struct profile_url {
	struct buf base;		/* "http://127.0.0.1:8787" */
	struct buf path;		/* "/api/v1/profile?..."; of an old link, that link */
	struct buf column;		/* the one that the address names; empty if none */
	bool is_old_link;		/* the daemon answers with where it leads to */
};

/* -EINVAL with a sentence for an address that has no profile. Call profile_url_done in any case. */
int profile_url_parse(struct profile_url *u, const char *url, struct err *err);
void profile_url_done(struct profile_url *u);

/* Fetches the profile, and adds it to `p` as format_load does: -ENODATA with the daemon's own reason if nothing was found.
 * `column` (may be NULL) has `size` bytes and gets the column that the address names, unless it has one already. */
int profile_url_load(const char *url, struct profile *p, const struct format_options *o, char *column, size_t size,
		     struct err *err);

#endif
