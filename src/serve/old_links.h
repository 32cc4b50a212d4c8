/* old_links.h: redirects URLs of the xhprof and uprofiler pages, which people have in tickets, chats and scripts.
 *
 *	/index.php?run=ID&source=NS		one run
 *	…run=1,2,3&wts=20,30,50			several, aggregated
 *	…run1=A&run2=B				B compared with A
 *	…&symbol=F				one function of any of these
 *	…&sort=cpu				by these values, if each run has them; excl_cpu is the same
 *	/callgraph.php?…			the call graph of any of these; func=F, threshold=0.01
 *	/typeahead.php?q=…&run=…		names of functions, one on a line
 *
 * Each is also found below /xhprof_html/ and /uprofiler_html/, and index.php as "/". They redirect to Strobe's own
 * pages. Without `source`, all sources are searched: links of both programs omit their default.
 */
#ifndef SERVE_OLD_LINKS_H
#define SERVE_OLD_LINKS_H

#include "http.h"
#include "views.h"

void old_index(struct server_context *s, const struct request *q, struct response *r);
void old_callgraph(struct server_context *s, const struct request *q, struct response *r);
void old_typeahead(struct server_context *s, const struct request *q, struct response *r);
void old_links_folder(struct server_context *s, const struct request *q, struct response *r); /* the content of a folder */

/* "/" shows the page of a range, unless the parameters are those of index.php. */
void old_links_root(struct server_context *s, const struct request *q, struct response *r);

/* Reads the runs that the parameters name, possibly none. -EINVAL or -ENOENT with a sentence; `weights` must outlive
 * `ret`. */
int old_runs(const struct server_context *s, const struct params *p, struct views *ret, struct buf *weights, struct err *err);

#endif
