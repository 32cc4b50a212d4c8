/* redis_source.h: "redis://…" and "rediss://…": subscribes to channels, or reads a stream, as its parameters say. */
#ifndef COLLECT_REDIS_SOURCE_H
#define COLLECT_REDIS_SOURCE_H

#include "source.h"

extern const struct source_ops redis_source_ops, redis_tls_source_ops;

#endif
