/* tracer.c: the call observer and its sessions. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "tracer.h"

bool tracer_available(void)
{
	return false;
}

struct trace_session *tracer_start(const struct trace_options *options)
{
	return NULL;
}

struct call_tree *tracer_stop(struct trace_session *s)
{
	return NULL;
}

void tracer_drop(struct trace_session *s)
{
}

void tracer_startup(void)
{
}

void tracer_shutdown(void)
{
}

void tracer_request_start(void)
{
}

void tracer_request_end(void)
{
}
