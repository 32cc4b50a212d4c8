/* scopes.h: the current labels and unit of work of each fiber.
 *
 * A scope has the labels of a stretch of code: of the request, a unit, or Strobe\with_labels(). A new scope is nested
 * in the current one and inherits its labels. Each fiber has a current scope; a new fiber starts in that of its
 * starter, and moves to the enclosing scope when that ends. Ending a scope also ends nested ones begun by the same
 * fiber. Those begun by other fibers continue: they move to the enclosing scope, and lose the labels inherited from
 * the one that ended.
 *
 * The scope of the running fiber is what the sampler sees: in STROBE_G(own_labels), labels_version and unsampled.
 */
#ifndef STROBE_SCOPES_H
#define STROBE_SCOPES_H

#include "work.h"

#include <stdbool.h>

struct scope {
	struct scope *outer;		/* enclosing scope; NULL: this is that of the request */
	struct scope *inner;		/* first open scope directly inside */
	struct scope *sibling, **sibling_link;	/* siblings directly inside `outer`; NULL: ended, or that of the
						 * request */
	uint64_t fiber;			/* number of the fiber that began it */
	struct work *work;		/* the innermost enclosing work */
	unsigned references;
	bool over;
	struct scope *next, **link;	/* list of all scopes except that of the request */
	struct request_labels labels;	/* all labels of the program, including inherited ones */
};

struct api_thread;

void scopes_startup(void);			/* call it in MINIT */

/* Begins the scope of a request, without labels. */
void scopes_request_start(struct api_thread *a);

/* Ends all scopes; with `free_all` also frees them, since they are no longer referenced. */
void scopes_request_end(struct api_thread *a, bool free_all);

/* Begins a scope for the running fiber, inside the current one; `work` NULL: that of the enclosing scope. The caller
 * must end it. NULL without memory. */
struct scope *scope_begin(struct api_thread *a, struct work *work);
void scope_end(struct api_thread *a, struct scope *s);

/* Makes another scope current for a moment; a second call restores the previous one. */
void scope_visit(struct api_thread *a, struct scope *s);

/* Sets a label in all scopes of a unit of work, in all fibers, until the work ends. */
void scopes_set_label(struct api_thread *a, const struct work *work, const struct request_label *label);

/* Call these before and after changing the labels, or the work, of the current scope. */
void scopes_changing(void);
void scopes_changed(struct api_thread *a);

#endif
