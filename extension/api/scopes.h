/* scopes.h: which labels hold, and for which work, in each fiber.
 *
 * A scope is the labels that hold for a while: those of the request, of a unit, of Strobe\with_labels(). A new one begins
 * with what holds, and lies inside of what was there. Each fiber is in a scope; one that is started gets that of whoever
 * starts it, and when that ends, what is around it. A scope that ends also ends those inside of it that the same fiber has
 * begun. Those that another fiber has begun go on: they lie in what is around it, and lose the labels that it gave them.
 *
 * The scope of the running fiber is what the sampler sees: in STROBE_G(own_labels), labels_version and unsampled.
 */
#ifndef STROBE_SCOPES_H
#define STROBE_SCOPES_H

#include "work.h"

#include <stdbool.h>

struct scope {
	struct scope *outer;		/* around it; NULL: it is that of the request */
	struct scope *inner;		/* the first one right inside of it that is not over */
	struct scope *sibling, **sibling_link;	/* among those right inside of `outer`; NULL: over, or that of the request */
	uint64_t fiber;			/* the number of the fiber that has begun it */
	struct work *work;		/* the innermost work that it lies in */
	unsigned references;
	bool over;
	struct scope *next, **link;	/* among all but that of the request */
	struct request_labels labels;	/* all that the program has given, those of the scopes around it among them */
};

struct api_thread;

void scopes_startup(void);			/* in MINIT */

/* The scope of a request that begins, without labels. */
void scopes_request_start(struct api_thread *a);

/* Ends all; with `free_all` nobody has any of them in hand any more. */
void scopes_request_end(struct api_thread *a, bool free_all);

/* A new scope for the running fiber, inside the one that it is in; `work` NULL: that of the scope around it. Whoever begins
 * it ends it. NULL without memory. */
struct scope *scope_begin(struct api_thread *a, struct work *work);
void scope_end(struct api_thread *a, struct scope *s);

/* Lets another scope hold for a moment, until what held is entered again by the same way. */
void scope_visit(struct api_thread *a, struct scope *s);

/* Sets a label of all scopes of a work, in whichever fiber: it holds to the end of the work. */
void scopes_set_label(struct api_thread *a, const struct work *work, const struct request_label *label);

/* Before and after a change of the labels, or of the work, of the scope that holds now. */
void scopes_changing(void);
void scopes_changed(struct api_thread *a);

#endif
