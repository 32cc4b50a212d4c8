/* classes.h: shared by the classes of namespace Strobe. */
#ifndef STROBE_CLASSES_H
#define STROBE_CLASSES_H

#include "api_thread.h"
#include "call_tree.h"

#include "zend_exceptions.h"

extern zend_class_entry *strobe_exception_ce, *strobe_profile_ce;

void trace_class_register(void);
void sampler_class_register(void);
void profile_class_register(void);

/* Makes a class uncloneable and unserializable, without dynamic properties. */
void class_seal(zend_class_entry *ce, zend_object_handlers *handlers, size_t offset,
		zend_object_free_obj_t free_object);

/* Makes a Strobe\Profile of a tree and takes ownership of the tree. */
void profile_object_init(zval *out, struct call_tree *t);

/* Called at the end of the request: running samplers are dropped and traces become runs; the objects remain, and
 * report that they have ended. */
void trace_class_request_end(struct api_thread *a);
void sampler_class_request_end(struct api_thread *a);

/* Whether something may be started: a request is running and not shutting down. Throws if not. */
bool api_may_start(void);

/* The pending exception if the program threw it; NULL for those that unwind the stack for exit() or a destroyed
 * fiber. */
zend_object *class_exception(void);

/* Whether an object is destroyed by an exception, exit() or the end of the request. */
bool class_must_stay_silent(void);

/* Calls the program's callable; its return value or exception goes to the caller. */
void class_call(zend_fcall_info *call, zend_fcall_info_cache *cache, zval *return_value);

#endif
