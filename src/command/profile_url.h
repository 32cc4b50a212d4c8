/* profile_url.h: a page or API answer of a daemon as the input of a command.
 *
 *	http://HOST:8787/?from=-1h&entry=api*		the page: what it shows, as a profile
 *	http://HOST:8787/runs/SOURCE/ID			a run
 *	http://HOST:8787/api/v1/profile?...		any URL of the API that returns a profile
 *	http://HOST:8787/index.php?run=ID&source=NS	a link of uprofiler's or xhprof's pages
 *
 * The same query is sent to /api/v1/profile, in the native format. Presentation options (sort, format, function) are
 * dropped; a column named in the URL is remembered.
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

/* Whether the name of an input is a URL: http:// or https://. */
bool profile_url_is(const char *name);

/* Refuses the URL of a store (sqlite:DIR, clickhouse://HOST/DATABASE) as an input: -EINVAL with the command that
 * reads it. Returns 0 for any other name, including an existing file that is named like such a URL. */
int profile_url_refuse_store(const char *name, struct err *err);

/* Returns the value of the first parameter that begins with `begin` ("scale="), unescaped as in the URL; empty if
 * there is none. */
struct str profile_url_value(const char *url, const char *begin);

/* Whether the URL is that of a comparison; if so, returns the URL of its side "before" or "after", which the caller
 * frees. */
bool profile_url_is_comparison(const char *url);
char *profile_url_side(const char *url, const char *side);

/* Appends the part in which the sides of the comparison differ: "run shop/1", "deploy=6", "2026-11-21T07:00:00Z to
 * 2026-11-21T08:00:00Z", where relative times are replaced by those of the side's profile; nothing if the URL does
 * not tell. */
void profile_url_name_side(const char *url, bool is_before, const struct profile *p, struct buf *out);

/* Returns the URL without filters of stacks; NULL if it has none. The caller frees. */
char *profile_url_without_filters(const char *url);

/* A request to a daemon. */
struct profile_url {
	struct buf base;		/* "http://127.0.0.1:8787" */
	struct buf path;		/* "/api/v1/profile?..."; for an old link, the link itself */
	struct buf column;		/* the column named in the URL; empty if none */
	bool is_old_link;		/* the daemon answers with a redirect */
};

/* -EINVAL with a sentence if the URL has no profile. Call profile_url_done in any case. */
int profile_url_parse(struct profile_url *u, const char *url, struct err *err);
void profile_url_done(struct profile_url *u);

/* Fetches the profile, and adds it to `p` as format_load does: -ENODATA with the daemon's own reason if nothing was
 * found. `column` (may be NULL) has `size` bytes and gets the column that the URL names, unless it has one already. */
int profile_url_load(const char *url, struct profile *p, const struct format_options *o, char *column, size_t size,
		     struct err *err);

#endif
